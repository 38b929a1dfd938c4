// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Memory accesses of an engine: asks for the translation of each, and has the two bus masters.
/// Users take turns. An access that goes beyond what is contiguous is cut short, and its user is
/// told. Nothing keeps a translation for later, so a fence waits for the accesses that have begun.
module spfe_host_access
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Users, 2 or more.
  parameter int unsigned Users = 5,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a user's number; follows from Users.
  localparam int unsigned UserWidth = $clog2(Users)
) (
  input logic clk_i,
  input logic rst_i,

  /// Access that each user asks for.
  input access_t [Users-1:0] request_i,
  input logic [Users-1:0] request_valid_i,
  /// The access has begun, or was refused; see result_o.
  output logic [Users-1:0] request_ready_o,
  /// With request_ready_o: whether it has begun, and its bytes, or those that a check found.
  output translation_t result_o,

  /// Bytes that were read, in the order of the accesses.
  output read_t rd_o,
  /// They are for this user.
  output logic [Users-1:0] rd_valid_o,
  input logic [Users-1:0] rd_ready_i,

  /// Bytes to write, in the order of the accesses of a user.
  input logic [Users-1:0][127:0] wr_data_i,
  input logic [Users-1:0] wr_valid_i,
  output logic [Users-1:0] wr_ready_o,
  /// For one cycle: the oldest write of this user is in memory.
  output logic [Users-1:0] done_o,
  /// The bus reported an error in it.
  output logic done_error_o,
  /// Writes that have begun; free-running.
  output logic [15:0] begun_o,
  /// Writes that are answered.
  output logic [15:0] answered_o,

  /// All accesses of earlier translations are to be answered; until fence_ready_o.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Translation that is needed.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The translation; one for each request.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// AXI4 port.
  output axi_master_t axi_o,
  /// Its inputs.
  input axi_slave_t axi_i
);
  typedef enum logic [2:0] {
    Rest,
    Ask,
    Hear,
    Begin,
    Tell
  } state_e;

  state_e state_q;
  logic [UserWidth-1:0] user_q, user;
  logic [Users-1:0] unused_grant;
  logic any, take;
  access_t request_q;
  translation_t result_q;

  logic [15:0] begin_count_q, answer_count_q;
  assign begun_o = begin_count_q;
  assign answered_o = answer_count_q;

  // The user of the last access waits a cycle, in which it withdraws its request.
  // Users of accesses that are under way: for the data of reads and writes, and for answers.
  logic rd_room, wr_room, owe_room, rd_known, wr_known, owe_known;
  logic rd_begin, wr_begin, rd_take, wr_take, done;
  logic rd_cmd_ready, wr_cmd_ready;
  logic [UserWidth-1:0] rd_user, wr_user, owe_user;
  logic [4:0] rd_open, unused_wr, owe_open;
  logic [2:0] unused_full;
  logic rd_valid, rd_last;

  // A read that the bus master cannot take yet must not stop a write: its data may wait for it.
  logic [Users-1:0] able;
  for (genvar i = 0; i < Users; i++) begin : gen_able
    assign able[i] = request_i[i].check || (request_i[i].write ?
        wr_room && owe_room && wr_cmd_ready : rd_room && rd_cmd_ready);
  end
  assign take = state_q == Rest && any;
  spfe_arb_rr #(
    .Ports(Users)
  ) i_turn (
    .clk_i,
    .rst_i,
    .request_i(request_valid_i & able),
    .used_i(take),
    .grant_o(unused_grant),
    .index_o(user),
    .valid_o(any)
  );

  assign translate_o = '{
      address: request_q.address,
      length: request_q.length,
      domain: request_q.domain,
      local_write: request_q.write,
      remote_write: 1'b0,
      remote_read: 1'b0,
      local_read: !request_q.write
    };
  assign translate_valid_o = state_q == Ask;
  assign result_o = result_q;
  always_comb begin
    request_ready_o = '0;
    request_ready_o[user_q] = state_q == Tell;
  end

  assign rd_begin = state_q == Begin && !request_q.write && rd_room;
  assign wr_begin = state_q == Begin && request_q.write && wr_room && owe_room;
  assign rd_take = rd_valid && rd_known && rd_ready_i[rd_user];

  spfe_fifo #(
    .Width(UserWidth),
    .Depth(16)
  ) i_reads (
    .clk_i,
    .rst_i,
    .data_i(user_q),
    .valid_i(rd_begin && rd_cmd_ready),
    .ready_o(rd_room),
    .data_o(rd_user),
    .valid_o(rd_known),
    .ready_i(rd_take && rd_last),
    .count_o(rd_open),
    .almost_full_o(unused_full[0])
  );
  // The words of a write that its user still has to give.
  logic [UserWidth+31:0] write_in, write_out;
  logic [31:0] word_q;
  logic wr_last, wr_data_ready;
  assign write_in = {user_q, (request_q.length[31:0] - 32'd1) >> 4};
  assign wr_user = write_out[32+:UserWidth];
  assign wr_last = word_q == write_out[31:0];
  assign wr_take = wr_known && wr_valid_i[wr_user] && wr_data_ready;
  spfe_fifo #(
    .Width(UserWidth + 32),
    .Depth(16)
  ) i_writes (
    .clk_i,
    .rst_i,
    .data_i(write_in),
    .valid_i(wr_begin && wr_cmd_ready),
    .ready_o(wr_room),
    .data_o(write_out),
    .valid_o(wr_known),
    .ready_i(wr_take && wr_last),
    .count_o(unused_wr),
    .almost_full_o(unused_full[1])
  );
  spfe_fifo #(
    .Width(UserWidth),
    .Depth(16)
  ) i_owed (
    .clk_i,
    .rst_i,
    .data_i(user_q),
    .valid_i(wr_begin && wr_cmd_ready),
    .ready_o(owe_room),
    .data_o(owe_user),
    .valid_o(owe_known),
    .ready_i(done),
    .count_o(owe_open),
    .almost_full_o(unused_full[2])
  );

  assign rd_last = rd_o.last;
  always_comb begin
    rd_valid_o = '0;
    wr_ready_o = '0;
    done_o = '0;
    rd_valid_o[rd_user] = rd_valid && rd_known;
    wr_ready_o[wr_user] = wr_data_ready && wr_known;
    done_o[owe_user] = done;
  end
  // What has begun when the fence comes is answered before it ends; users go on meanwhile, because
  // an answer may wait for them.
  logic fenced_q;
  logic [15:0] read_count_q, read_done_q, read_mark_q, write_mark_q, read_behind, write_behind;
  assign read_behind = read_done_q - read_mark_q;
  assign write_behind = answer_count_q - write_mark_q;
  assign fence_ready_o = fenced_q && !read_behind[15] && !write_behind[15];
  always_ff @(posedge clk_i) begin
    if (rd_begin && rd_cmd_ready) read_count_q <= read_count_q + 16'd1;
    if (rd_take && rd_last) read_done_q <= read_done_q + 16'd1;
    if (fence_valid_i && !fenced_q && state_q == Rest) begin
      fenced_q <= 1'b1;
      read_mark_q <= read_count_q;
      write_mark_q <= begin_count_q;
    end
    if (fence_ready_o) fenced_q <= 1'b0;
    if (rst_i) begin
      fenced_q <= 1'b0;
      read_count_q <= '0;
      read_done_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (take) begin
        user_q <= user;
        request_q <= request_i[user];
        state_q <= Ask;
      end
      Ask: if (translate_ready_i) state_q <= Hear;
      Hear:
      if (translation_valid_i) begin
        result_q <= translation_i;
        if (48'(translation_i.bytes) < request_q.length)
          request_q.length <= 48'(translation_i.bytes);
        state_q <= translation_i.status == STATUS_OK && !request_q.check ? Begin : Tell;
      end
      Begin: if ((rd_begin && rd_cmd_ready) || (wr_begin && wr_cmd_ready)) state_q <= Tell;
      default: state_q <= Rest;
    endcase
    if (wr_begin && wr_cmd_ready) begin_count_q <= begin_count_q + 16'd1;
    if (done) answer_count_q <= answer_count_q + 16'd1;
    if (wr_take) word_q <= wr_last ? '0 : word_q + 32'd1;
    if (rst_i) begin
      state_q <= Rest;
      user_q <= '0;
      begin_count_q <= '0;
      answer_count_q <= '0;
      word_q <= '0;
    end
  end

  logic [3:0] unused_end;
  spfe_axi_read #(
    .Protect(Protect)
  ) i_read (
    .clk_i,
    .rst_i,
    .cmd_addr_i(result_q.address),
    .cmd_len_i(request_q.length[31:0]),
    .cmd_valid_i(rd_begin),
    .cmd_ready_o(rd_cmd_ready),
    .data_o(rd_o.data),
    .end_o(unused_end),
    .last_o(rd_o.last),
    .error_o(rd_o.error),
    .valid_o(rd_valid),
    .ready_i(rd_known && rd_ready_i[rd_user]),
    .ar_addr_o(axi_o.ar_addr),
    .ar_id_o(axi_o.ar_id),
    .ar_len_o(axi_o.ar_len),
    .ar_valid_o(axi_o.ar_valid),
    .ar_ready_i(axi_i.ar_ready),
    .r_data_i(axi_i.r_data),
    .r_id_i(axi_i.r_id),
    .r_resp_i(axi_i.r_resp),
    .r_last_i(axi_i.r_last),
    .r_valid_i(axi_i.r_valid),
    .r_ready_o(axi_o.r_ready)
  );
  spfe_axi_write i_write (
    .clk_i,
    .rst_i,
    .cmd_addr_i(result_q.address),
    .cmd_len_i(request_q.length[31:0]),
    .cmd_valid_i(wr_begin),
    .cmd_ready_o(wr_cmd_ready),
    .data_i(wr_data_i[wr_user]),
    .valid_i(wr_known && wr_valid_i[wr_user]),
    .ready_o(wr_data_ready),
    .done_o(done),
    .done_error_o,
    .aw_addr_o(axi_o.aw_addr),
    .aw_id_o(axi_o.aw_id),
    .aw_len_o(axi_o.aw_len),
    .aw_valid_o(axi_o.aw_valid),
    .aw_ready_i(axi_i.aw_ready),
    .w_data_o(axi_o.w_data),
    .w_strb_o(axi_o.w_strb),
    .w_last_o(axi_o.w_last),
    .w_valid_o(axi_o.w_valid),
    .w_ready_i(axi_i.w_ready),
    .b_id_i(axi_i.b_id),
    .b_resp_i(axi_i.b_resp),
    .b_valid_i(axi_i.b_valid),
    .b_ready_o(axi_o.b_ready)
  );

  logic unused;
  assign unused = ^{
    unused_end,
    unused_wr,
    unused_full,
    unused_grant,
    owe_known,
    rd_open,
    owe_open,
    read_behind,
    write_behind
  };
endmodule
