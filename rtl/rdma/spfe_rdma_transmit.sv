// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sends a packet of SFRP: path, header with its CRC, payload with its CRC, and EOP. A payload that
/// the store does not give back right ends with EEP.
module spfe_rdma_transmit
  import spfe_rdma_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Bits of an address of the store, which is in units of 16 bytes.
  parameter int unsigned AddrWidth = 8
) (
  input logic clk_i,
  input logic rst_i,

  /// Header; size is 5, or 6 with a reply path.
  input header_t header_i,
  /// Reply path of up to 8 bytes, zeros behind it; byte 0 is sent first. With header_i of size 6.
  input logic [7:0][7:0] reply_i,
  /// Path before it; with header_i.
  input path_t path_i,
  /// Bytes of the path, at most 24; with header_i.
  input logic [4:0] path_bytes_i,
  /// Bytes of payload, all of which are in the store; with header_i.
  input logic [16:0] bytes_i,
  /// Which of two stores; with header_i.
  input logic bank_i,
  /// Virtual channel; with header_i.
  input logic [4:0] vc_i,
  /// The packet is described.
  input logic valid_i,
  /// It is taken; the one before it is nearly sent.
  output logic ready_o,

  /// Reads the store.
  output logic re_o,
  /// Which store, and the address in it; with re_o.
  output logic [AddrWidth:0] raddr_o,
  /// Its bytes, a cycle after re_o, until the next read.
  input logic [15:0][7:0] rdata_i,
  /// They are wrong; with rdata_i, for one cycle.
  input logic failed_i,

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
    Body,
    Check,
    End
  } state_e;

  state_e state_q, after_head;
  // Header and reply path, the first byte in the highest bits.
  logic [367:0] header_q;
  logic [63:0] reply;
  logic long_q;
  path_t path_q;
  logic [4:0] path_bytes_q;
  logic [16:0] left_q, bytes_q;
  logic [14:0] step_q;
  logic bank_q, wrong_q;
  logic [4:0] vc_q;
  logic [15:0] crc16_q, crc16, crc16_sent;
  logic [31:0] crc32_q, crc32;
  // Bytes of this step, before and after the check of the header is put in.
  logic [3:0][7:0] plain, chunk;
  logic [2:0] count, crc_count;
  logic take, ends, ready;

  for (genvar i = 0; i < 8; i++) begin : gen_reply
    assign reply[63-8*i-:8] = reply_i[i];
  end
  assign ready_o = state_q == Rest;
  assign take = state_q != Rest && ready;
  assign after_head = bytes_q != '0 ? Body : End;

  always_comb begin
    plain = '0;
    count = 3'd4;
    ends = 1'b0;
    unique case (state_q)
      Path: begin
        for (int unsigned i = 0; i < 4; i++) plain[i] = path_q[i];
        if (path_bytes_q < 5'd4) count = path_bytes_q[2:0];
        ends = path_bytes_q <= 5'd4;
      end
      Head: begin
        for (int unsigned i = 0; i < 4; i++) plain[i] = header_q[367-8*i-:8];
        ends = step_q == (long_q ? 15'd11 : 15'd9);
      end
      Body: begin
        for (int unsigned i = 0; i < 4; i++) plain[i] = rdata_i[{step_q[1:0], 2'(i)}];
        if (left_q < 17'd4) count = left_q[2:0];
        ends = left_q <= 17'd4;
      end
      Check: begin
        for (int unsigned i = 0; i < 4; i++) plain[i] = ~crc32_q[31-8*i-:8];
        ends = 1'b1;
      end
      default: begin
        count = 3'd0;
        ends = 1'b1;
      end
    endcase
  end

  assign crc_count = state_q == Head && ends ? 3'd2 : count;
  spfe_rdma_crc i_crc (
    .crc16_i(crc16_q),
    .crc32_i(crc32_q),
    .data_i(plain),
    .count_i(crc_count),
    .crc16_o(crc16),
    .crc32_o(crc32)
  );

  for (genvar i = 0; i < 16; i++) begin : gen_mirror
    assign crc16_sent[i] = crc16[15-i];
  end
  always_comb begin
    chunk = plain;
    if (state_q == Head && ends) begin
      chunk[2] = crc16_sent[15:8];
      chunk[3] = crc16_sent[7:0];
    end
  end

  spfe_rdma_join i_join (
    .clk_i,
    .rst_i,
    .data_i(chunk),
    .count_i(count),
    .end_i(state_q == End),
    .cut_i(wrong_q),
    .vc_i(vc_q),
    .valid_i(state_q != Rest),
    .ready_o(ready),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );

  // The first 16 bytes are read with the last word of the header, others with the word before them.
  assign re_o = take && ((state_q == Head && ends && bytes_q != '0) ||
                         (state_q == Body && !ends && step_q[1:0] == 2'd3));
  assign raddr_o = {bank_q, state_q == Head ? '0 : AddrWidth'((step_q + 15'd1) >> 2)};

  always_ff @(posedge clk_i) begin
    if (state_q == Rest && valid_i) begin
      header_q <= {header_i, reply};
      long_q <= header_i.size == 4'd6;
      path_q <= path_i;
      path_bytes_q <= path_bytes_i;
      bytes_q <= bytes_i;
      left_q <= bytes_i;
      bank_q <= bank_i;
      vc_q <= vc_i;
      wrong_q <= 1'b0;
      step_q <= '0;
      crc16_q <= '1;
      crc32_q <= '1;
      state_q <= path_bytes_i != '0 ? Path : Head;
    end else if (take) begin
      step_q <= ends ? '0 : step_q + 1'b1;
      if (state_q == Path) begin
        path_q <= path_q >> 32;
        path_bytes_q <= path_bytes_q - 5'(count);
      end
      if (state_q == Head) begin
        header_q <= header_q << 32;
        crc16_q <= crc16;
      end
      if (state_q == Body) begin
        left_q <= left_q - 17'(count);
        crc32_q <= crc32;
      end
      if (ends) begin
        unique case (state_q)
          Path: state_q <= Head;
          Head: state_q <= after_head;
          Body: state_q <= Check;
          Check: state_q <= End;
          default: state_q <= Rest;
        endcase
      end
    end
    if (failed_i) wrong_q <= 1'b1;
    if (rst_i) state_q <= Rest;
  end
endmodule
