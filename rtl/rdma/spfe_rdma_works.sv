// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The work requests of a queue pair that have not completed, in order: how far each one is, and
/// which one sends next. Indices count from the oldest one.
module spfe_rdma_works
  import spfe_rdma_pair_pkg::*;
#(
  /// Work requests, a power of two from 4 to 64.
  parameter int unsigned Works = 32,
  /// Check bits of memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an index; follows from Works.
  localparam int unsigned Width = $clog2(Works)
) (
  input logic clk_i,
  input logic rst_i,
  /// Changes in this cycle.
  input works_do_t do_i,
  /// Index of the work request that changes.
  input logic [Width-1:0] index_i,
  /// Work request to add; there is room.
  input work_t post_i,
  /// Its place in the table.
  output logic [Width-1:0] place_o,

  /// Index to read.
  input logic [Width-1:0] read_index_i,
  /// The work request, from the next cycle on.
  output work_t work_o,
  /// How often it was repeated; with work_o.
  output progress_t progress_o,
  /// Its place in the table; with work_o.
  output logic [Width-1:0] work_place_o,
  /// New progress of the index that was read last.
  input progress_t put_i,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o,

  /// Number of work requests.
  output logic [Width:0] count_o,
  /// Those of them that were released.
  output logic [Width:0] rung_o,
  /// Index of the one that sends next.
  output logic [Width:0] cursor_o,
  /// Of the one read last, the oldest one, and the one that sends next: what was done with them.
  output works_view_t view_o
);
  logic [Width-1:0] base_q, cursor_place, place, read_q;
  logic [Width:0] count_q, rung_q, cursor_q;
  logic [Works-1:0] sent_q, done_q, data_q, ends_q, asks_q, retry_q;
  // Places before index_i, and before the one that sends next.
  logic [Works-1:0] older, early, behind, waits;
  logic [Width:0] outstanding;
  logic reads;

  assign cursor_place = base_q + cursor_q[Width-1:0];
  assign place = base_q + index_i;
  assign place_o = base_q + count_q[Width-1:0];
  for (genvar i = 0; i < Works; i++) begin : gen_place
    logic [Width-1:0] index;
    assign index = Width'(i) - base_q;
    assign older[i] = index < index_i;
    assign early[i] = {1'b0, index} < cursor_q;
    assign behind[i] = index >= index_i && {1'b0, index} <= cursor_q;
  end
  assign waits = sent_q & data_q & early;
  always_comb begin
    outstanding = '0;
    for (int unsigned i = 0; i < Works; i++) outstanding = outstanding + (Width + 1)'(waits[i]);
  end
  // Beyond the last one nothing may have been written.
  assign reads = do_i.read && {1'b0, read_index_i} < count_q;
  assign count_o = count_q;
  assign rung_o = rung_q;
  assign cursor_o = cursor_q;
  assign work_place_o = read_q;
  assign view_o = '{
      sent: sent_q[read_q],
      done: done_q[read_q],
      retry: retry_q[read_q],
      asks: asks_q[read_q] || ends_q[read_q],
      front_done: done_q[base_q],
      front_sent: sent_q[base_q],
      cursor_done: done_q[cursor_place],
      fenced: waits != '0,
      full: 32'(outstanding) >= ReadsMax,
      index_sent: sent_q[place]
    };

  always_ff @(posedge clk_i) begin
    if (do_i.post) count_q <= count_q + 1'b1;
    if (do_i.ring) rung_q <= count_q;
    if (do_i.sent && do_i.sent_last) cursor_q <= cursor_q + 1'b1;
    if (do_i.skip) cursor_q <= cursor_q + 1'b1;
    if (do_i.back) cursor_q <= {1'b0, index_i};
    if (do_i.pop) begin
      base_q <= base_q + 1'b1;
      count_q <= count_q - 1'b1;
      if (rung_q != '0) rung_q <= rung_q - 1'b1;
      if (cursor_q != '0) cursor_q <= cursor_q - 1'b1;
    end
    if (do_i.read) read_q <= base_q + read_index_i;
    if (do_i.clear || rst_i) begin
      count_q <= '0;
      rung_q <= '0;
      cursor_q <= '0;
    end
    if (rst_i) base_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (do_i.post) begin
      sent_q[place_o] <= 1'b0;
      done_q[place_o] <= 1'b0;
      data_q[place_o] <= brings_data(post_i.code);
      ends_q[place_o] <= 1'b0;
      asks_q[place_o] <= 1'b0;
      retry_q[place_o] <= 1'b0;
    end
    if (do_i.ring) ends_q[Width'(place_o-1'b1)] <= 1'b1;
    if (do_i.sent) sent_q[cursor_place] <= 1'b1;
    if (do_i.sent && do_i.sent_last) asks_q[cursor_place] <= do_i.sent_asks;
    if (do_i.ack) begin
      done_q <= done_q | (sent_q & ~data_q & older);
      sent_q <= sent_q & ~(~data_q & older);
    end
    if (do_i.finish) begin
      done_q[place] <= 1'b1;
      sent_q[place] <= 1'b0;
    end
    if (do_i.back) begin
      retry_q <= retry_q | (sent_q & behind);
      asks_q[place] <= 1'b1;
    end
    if (do_i.pop) begin
      sent_q[base_q] <= 1'b0;
      done_q[base_q] <= 1'b0;
    end
    if (do_i.clear || rst_i) begin
      sent_q <= '0;
      done_q <= '0;
    end
  end

  logic [1:0] failed, unused_corrected;
  spfe_ram_safe #(
    .Width($bits(work_t)),
    .Depth(Works),
    .Block(1'b0),
    .Protect(Protect)
  ) i_works (
    .clk_i,
    .we_i(do_i.post),
    .addr_i(place_o),
    .data_i(post_i),
    .rclk_i(clk_i),
    .re_i(reads),
    .raddr_i(base_q + read_index_i),
    .data_o(work_o),
    .corrected_o(unused_corrected[0]),
    .failed_o(failed[0])
  );
  spfe_ram_safe #(
    .Width($bits(progress_t)),
    .Depth(Works),
    .Block(1'b0),
    .Protect(Protect)
  ) i_progress (
    .clk_i,
    .we_i(do_i.post || do_i.put),
    .addr_i(do_i.post ? place_o : read_q),
    .data_i(do_i.post ? '0 : put_i),
    .rclk_i(clk_i),
    .re_i(reads),
    .raddr_i(base_q + read_index_i),
    .data_o(progress_o),
    .corrected_o(unused_corrected[1]),
    .failed_o(failed[1])
  );
  assign failed_o = failed != '0;

  if (Works < 4 || Works > 64 || (Works & (Works - 1)) != 0) begin : gen_bad_works
    $error("spfe_rdma_works: Works is %0d; powers of two from 4 to 64 are possible", Works);
  end

  logic unused;
  assign unused = ^unused_corrected;
endmodule
