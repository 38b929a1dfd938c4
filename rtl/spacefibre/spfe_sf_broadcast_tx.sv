// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Broadcast messages to send and their flow control (ECSS-E-ST-50-11C, 5.7.5). The messages stay
/// in memory until they are acknowledged; spfe_sf_recovery has the positions.
module spfe_sf_broadcast_tx
  import spfe_sf_link_pkg::*;
#(
  /// Check bits of the memory; see spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: the credit starts again; messages that were not sent yet become LATE.
  input logic clear_i,
  /// Rows for each broadcast frame; 0: none may be sent.
  input logic [18:0] rows_i,

  /// Message of the user; its field late is ignored.
  input broadcast_t user_i,
  input logic user_valid_i,
  output logic user_ready_o,

  /// A row is sent.
  input logic row_i,
  /// Messages cannot go at once: those that wait, and those that come now, are LATE.
  input logic late_i,
  /// Messages that come now are LATE.
  input logic late_new_i,
  /// Everything that was sent and not acknowledged becomes LATE.
  input logic late_sent_i,
  /// Position of the first message that was never sent.
  input logic [4:0] taken_i,
  /// Position of the next message to send.
  input logic [4:0] next_i,
  /// A new message may be sent.
  output logic ready_o,
  /// The new message is taken.
  input logic take_i,
  /// The next message, by the position of the cycle before.
  output broadcast_t message_o,
  /// Broadcast frames that may be sent.
  output logic [8:0] credit_o,
  /// A wrong bit of the memory was corrected.
  output logic ram_corrected_o,
  /// A word of the memory is wrong.
  output logic ram_failed_o
);
  localparam int unsigned Most = 256;

  // The message of the last cycle is in memory, but not to be sent yet.
  logic [4:0] tail_q, seen_q;
  // Messages before this position, if they still wait, are LATE.
  logic [4:0] late_end_q;
  logic [15:0] late_q;
  logic push_q, pushed_q;
  logic [4:0] next_q;
  logic [8:0] credit_q;
  logic [18:0] left_q;
  broadcast_t read;

  assign user_ready_o = tail_q - taken_i < 5'(Broadcasts);
  assign ready_o = seen_q != taken_i && credit_q != '0;
  assign credit_o = credit_q;

  spfe_ram_safe #(
    .Width($bits(broadcast_t)),
    .Depth(16),
    .Block(1'b0),
    .Protect(Protect)
  ) i_messages (
    .clk_i,
    .we_i(user_valid_i && user_ready_o),
    .addr_i(tail_q[3:0]),
    .data_i(user_i),
    .rclk_i(clk_i),
    .re_i(next_i != tail_q),
    .raddr_i(next_i[3:0]),
    .data_o(read),
    .corrected_o(ram_corrected_o),
    .failed_o(ram_failed_o)
  );

  // The message that became visible now is judged by the state after the cycle before.
  logic waits_late;
  assign waits_late = late_end_q != taken_i || (pushed_q && late_new_i && seen_q - taken_i == 5'd1);
  always_comb begin
    message_o = read;
    message_o.lost = 1'b0;
    // A message that was never sent is LATE if it waited too long.
    message_o.late = next_q == taken_i ? waits_late : late_q[next_q[3:0]];
  end

  // The credit is that after the next row.
  logic gains;
  assign gains = row_i && left_q == 19'd1;

  always_ff @(posedge clk_i) begin
    push_q <= user_valid_i && user_ready_o;
    pushed_q <= push_q;
    if (user_valid_i && user_ready_o) tail_q <= tail_q + 5'd1;
    seen_q <= tail_q;
    next_q <= next_i;
    if (take_i) begin
      late_q[taken_i[3:0]] <= waits_late;
      // An empty range stays empty.
      if (!waits_late) late_end_q <= taken_i + 5'd1;
    end
    if (late_i || (pushed_q && late_new_i)) late_end_q <= seen_q;
    if (late_sent_i) late_q <= '1;
    if (row_i && left_q != '0) left_q <= gains ? rows_i : left_q - 19'd1;
    if (gains && !take_i && credit_q != 9'(Most)) credit_q <= credit_q + 9'd1;
    if (take_i && !gains && credit_q != '0) credit_q <= credit_q - 9'd1;
    if (clear_i) begin
      // The first row counts before it is sent.
      credit_q <= 9'(rows_i == 19'd1);
      left_q <= rows_i > 19'd1 ? rows_i - 19'd1 : rows_i;
      late_end_q <= seen_q;
    end
    if (rst_i) begin
      tail_q <= '0;
      seen_q <= '0;
      late_end_q <= '0;
      push_q <= 1'b0;
      pushed_q <= 1'b0;
    end
  end
  logic unused_late;
  assign unused_late = ^{read.late, read.lost};
endmodule
