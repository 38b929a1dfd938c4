// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sends a reply of RMAP: path, header with its CRC, data with their CRC, and EOP. The write bit of
/// the command decides the form. Data come in parts from the stores. A part that fails, or that a
/// store does not give back right, ends the reply with EEP.
module spfe_rmap_reply
  import spfe_rmap_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Bits of an address of a store, which is in units of 16 bytes.
  parameter int unsigned AddrWidth = 8
) (
  input logic clk_i,
  input logic rst_i,
  /// Virtual channel of replies, a constant.
  input logic [4:0] vc_i,

  /// Reply.
  input reply_t reply_i,
  input logic reply_valid_i,
  /// The reply before it is nearly sent.
  output logic reply_ready_o,
  /// The next part of its data.
  input reply_part_t part_i,
  input logic part_valid_i,
  /// The part before it has been read.
  output logic part_ready_o,

  /// Reads a store.
  output logic re_o,
  /// Which store, and the address in it; with re_o.
  output logic [AddrWidth:0] raddr_o,
  /// Its bytes, a cycle after re_o, until the next read.
  input logic [15:0][7:0] rdata_i,
  /// They are wrong; with rdata_i, for one cycle.
  input logic rfailed_i,

  /// Word for the virtual channel.
  output word_t word_o,
  /// Number of the channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  typedef enum logic [2:0] {
    Rest,
    Path,
    Head,
    Part,
    Body,
    Check,
    End
  } state_e;

  state_e state_q, behind;
  reply_t reply_q;
  logic [95:0] path_q;
  logic [3:0] path_bytes, path_bytes_q;
  logic [23:0] due_q;
  logic [16:0] left_q;
  logic [14:0] step_q;
  logic bank_q, wrong_q, reading_q;
  logic [7:0] crc_q, crc;
  // Bytes of this step, before and after the check of the header is put in.
  logic [3:0][7:0] plain, data;
  logic [2:0] count;
  logic take, ready, ends;
  instruction_t instruction;

  // Leading zeroes of a reply address are no part of the path, but a path of zeroes is one zero.
  always_comb begin
    path_bytes = reply_i.command.instruction.path_words != '0 ? 4'd1 : 4'd0;
    for (int unsigned i = 0; i < 12; i++) if (reply_i.path[i] != '0) path_bytes = 4'(i + 1);
  end

  always_comb begin
    instruction = reply_q.command.instruction;
    {instruction.reserved, instruction.command} = '0;
    plain = '0;
    count = 3'd4;
    ends = 1'b0;
    unique case (state_q)
      Path: begin
        for (int unsigned i = 0; i < 4; i++) plain[i] = path_q[95-8*i-:8];
        if (path_bytes_q < 4'd4) count = path_bytes_q[2:0];
        ends = path_bytes_q <= 4'd4;
      end
      Head: begin
        unique case (step_q[1:0])
          2'd0: plain = {reply_q.status, instruction, RmapProtocol, reply_q.command.initiator};
          2'd1: begin
            plain = {
              8'd0,
              reply_q.command.transaction[7:0],
              reply_q.command.transaction[15:8],
              reply_q.command.target
            };
            ends = instruction.write;
          end
          default: begin
            plain = {8'd0, reply_q.length[7:0], reply_q.length[15:8], reply_q.length[23:16]};
            ends = 1'b1;
          end
        endcase
      end
      Body: begin
        for (int unsigned i = 0; i < 4; i++) plain[i] = rdata_i[{step_q[1:0], 2'(i)}];
        if (left_q < 17'd4) count = left_q[2:0];
        ends = left_q <= 17'd4;
      end
      Check: begin
        plain = {24'd0, crc_q};
        count = 3'd1;
        ends = 1'b1;
      end
      default: begin
        count = 3'd0;
        ends = 1'b1;
      end
    endcase
  end

  spfe_rmap_crc i_crc (
    .crc_i(crc_q),
    .data_i(plain),
    .count_i(state_q == Head && ends ? 3'd3 : count),
    .crc_o(crc)
  );
  always_comb begin
    data = plain;
    if (state_q == Head && ends) data[3] = crc;
  end

  spfe_rdma_join i_join (
    .clk_i,
    .rst_i,
    .data_i(data),
    .count_i(count),
    .end_i(state_q == End),
    .cut_i(wrong_q),
    .vc_i,
    .valid_i(!(state_q inside {Rest, Part})),
    .ready_o(ready),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );
  assign take = ready && !(state_q inside {Rest, Part});

  // The first 16 bytes of a part are read when it comes, others with the word before them.
  assign re_o = (state_q == Part && part_valid_i && !part_i.fails)
      || (state_q == Body && take && !ends && step_q[1:0] == 2'd3);
  assign raddr_o = state_q == Part ? {part_i.bank, AddrWidth'(0)}
      : {bank_q, AddrWidth'((step_q + 15'd1) >> 2)};
  assign part_ready_o = state_q == Part;
  assign reply_ready_o = state_q == Rest;

  always_comb begin
    behind = Rest;
    unique case (state_q)
      Path: behind = Head;
      Head: begin
        behind = reply_q.length != '0 ? Part : Check;
        if (instruction.write) behind = End;
      end
      Body: behind = due_q == '0 ? Check : Part;
      Check: behind = End;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Rest && reply_valid_i) begin
      reply_q <= reply_i;
      due_q <= reply_i.length;
      path_q <= reply_i.path << (8 * (12 - 32'(path_bytes)));
      path_bytes_q <= path_bytes;
      {step_q, crc_q, wrong_q} <= '0;
      state_q <= path_bytes != '0 ? Path : Head;
    end else if (state_q == Part && part_valid_i) begin
      bank_q <= part_i.bank;
      left_q <= part_i.bytes;
      due_q <= due_q - 24'(part_i.bytes);
      state_q <= part_i.fails ? End : Body;
    end else if (take) begin
      step_q <= ends ? '0 : step_q + 1'b1;
      if (state_q == Path) begin
        path_q <= path_q << 32;
        path_bytes_q <= path_bytes_q - 4'(count);
      end
      if (state_q inside {Head, Body}) crc_q <= state_q == Head && ends ? '0 : crc;
      if (state_q == Body) left_q <= left_q - 17'(count);
      if (ends) state_q <= behind;
    end
    if (state_q == Part && part_valid_i && part_i.fails) wrong_q <= 1'b1;
    reading_q <= re_o;
    if (reading_q && rfailed_i) wrong_q <= 1'b1;
    if (rst_i) state_q <= Rest;
  end

  logic unused;
  assign unused = ^reply_q;
endmodule
