// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_host_ring hands out an entry only with the phase of its position, in order, none twice, and
/// none of an access that failed, whatever the ring holds and however the bus cuts its answers.
module formal_ring
  import spfe_pkg::*;
  import spfe_host_pkg::*;
(
  input logic clk_i,
  /// Free: doorbells.
  input logic [1:0] rung_i,
  /// Free: the host is known to ring.
  input logic [1:0] need_i,
  /// Free: the access begins.
  input logic begins_i,
  /// Free: it is refused.
  input logic refused_i,
  /// Free: entries of it that are contiguous, less one.
  input logic [3:0] contiguous_i,
  /// Free: what the ring holds.
  input logic [127:0] data_i,
  /// Free: the bus reports an error.
  input logic error_i,
  /// Free: an answer is there.
  input logic answer_i,
  /// Free: queues that need entries behind those that are there.
  input logic [1:0] wants_i,
  /// Free: the entry to look at.
  input logic peek_queue_i,
  /// Free: its place.
  input logic [4:0] ahead_i,
  /// Free: entries to give up.
  input logic [4:0] pop_i
);
  logic [1:0] age_q = 2'd0;
  logic rst, start;
  assign rst = age_q == 2'd0;
  assign start = age_q == 2'd1 || age_q == 2'd2;

  queue_context_t context_in;
  access_t request;
  translation_t result;
  read_t read;
  logic asks, answers, fault, fault_queue, peeks, peeked_q = 1'b0, peek_queue_q;
  logic [1:0] dry, fetched, busy, need;
  logic [1:0][5:0] level;
  logic [4:0] pops, left_q = '0, taken, ahead_q;
  submission_t entry;
  status_e fault_status;
  logic [1:0][31:0] popped_q = '0;
  logic queue_q;

  always_comb begin
    context_in = '0;
    context_in.sq_log2 = 4'd2;
    context_in.sq = '{region: 16'h1001, offset: age_q == 2'd1 ? 48'h1000 : 48'h2000};
    taken = {1'b0, contiguous_i} + 5'd1;
    if (taken > request.length[8:4]) taken = request.length[8:4];
    result = '{
      status: refused_i ? STATUS_BAD_REGION : STATUS_OK,
      address: '0,
      bytes: 32'({taken, 4'd0})
    };
    read = '{data: data_i, last: left_q == 5'd1, error: error_i};
    answers = answer_i && left_q != '0;
    pops = 6'(pop_i) > level[peek_queue_i] ? '0 : pop_i;
    peeks = 6'(ahead_i) < level[peek_queue_i] && pops == '0;
  end

  spfe_host_ring #(
    .Queues(2)
  ) i_dut (
    .clk_i,
    .rst_i(rst),
    .start_i(context_in),
    .start_queue_i(age_q == 2'd2),
    .start_valid_i(start),
    .on_i({2{age_q == 2'd3}}),
    .halt_i('0),
    .rung_i(start ? '0 : rung_i),
    .busy_o(busy),
    .need_o(need),
    .need_i(need_i & need),
    .request_o(request),
    .request_valid_o(asks),
    .request_ready_i(asks && begins_i),
    .result_i(result),
    .read_i(read),
    .read_valid_i(answers),
    .fault_o(fault),
    .fault_queue_o(fault_queue),
    .fault_status_o(fault_status),
    .fetched_o(fetched),
    .level_o(level),
    .dry_o(dry),
    .wants_i,
    .peek_queue_i,
    .peek_ahead_i(ahead_i),
    .peek_i(peeks),
    .entry_o(entry),
    .pop_queue_i(peek_queue_i),
    .pop_count_i(pops)
  );

  always_ff @(posedge clk_i) begin
    if (age_q != 2'd3) age_q <= age_q + 2'd1;
    if (asks && begins_i && !refused_i) left_q <= taken;
    else if (answers) left_q <= left_q - 5'd1;
    peeked_q <= peeks && age_q == 2'd3;
    peek_queue_q <= peek_queue_i;
    ahead_q <= ahead_i;
    if (age_q == 2'd3) popped_q[peek_queue_i] <= popped_q[peek_queue_i] + 32'(pops);
    if (asks) queue_q <= request.address.offset[13];
  end

  logic [31:0] wanted;
  assign wanted = popped_q[request.address.offset[13]] + 32'(level[request.address.offset[13]]);
  always_ff @(posedge clk_i) begin
    if (age_q == 2'd3) begin
      a_level : assert (level[0] <= 6'd32 && level[1] <= 6'd32);
      // What is asked for is what follows the entries that are held.
      a_next : assert (!asks || request.address.offset[11:0] == {6'd0, wanted[1:0], 4'd0});
      a_end : assert (!asks || {1'b0, wanted[1:0]} + request.length[6:4] <= 3'd4);
      a_phase :
      assert (!peeked_q || pops != '0 || entry.phase
          == 16'(((popped_q[peek_queue_q] + 32'(ahead_q)) >> 2) + 32'd1));
      a_fault : assert (!fault || fault_status != STATUS_OK);
      c_entry : cover (peeked_q && entry.phase == 16'd1);
      c_fault : cover (fault);
    end
  end

  logic unused;
  assign unused = ^{fetched, busy, queue_q, fault_queue, request};
endmodule
