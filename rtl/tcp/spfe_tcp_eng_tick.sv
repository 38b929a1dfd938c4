// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Keeps the time, and at each tick walks over the timers of all sessions, one per cycle, in
/// parallel with the pipeline. A tick during a walk starts another walk afterwards.
module spfe_tcp_eng_tick
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of a session number; derived.
  localparam int unsigned Bits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// One-cycle pulse per tick.
  input logic tick_i,
  /// The state of a session is written.
  input logic we_i,
  /// Session that is written.
  input logic [Bits-1:0] sid_i,
  /// State that is written.
  input eng_tcb_t tcb_i,
  /// Ticks since reset.
  output when_t now_o,
  /// Time for initial sequence numbers.
  output seq_t iss_clock_o,
  /// A timer of due_sid_o has expired; to the queue.
  output logic due_o,
  /// Session of the expired timer.
  output logic [Bits-1:0] due_sid_o,
  input logic due_ready_i
);
  typedef struct packed {
    logic run;
    when_t at;
    logic dack;
    when_t dack_at;
  } timers_t;

  timers_t write_data, read_data, seen_q;
  logic walk_q, again_q, seen_valid_q;
  logic [Bits-1:0] slot_q, seen_slot_q;
  when_t now_q, late, dack_late;
  seq_t iss_clock_q;
  logic [9:0] cycles_q;
  logic stall;
  logic unused_bits;

  // Only the timers are used.
  assign unused_bits = ^tcb_i;

  assign write_data = '{
      run: tcb_i.tmr != TmNone,
      at: tcb_i.deadline,
      dack: tcb_i.dack,
      dack_at: tcb_i.dack_at
    };

  spfe_lutram #(
    .Width($bits(timers_t)),
    .Depth(SessionCount)
  ) i_timers (
    .clk_i,
    .we_i,
    .addr_i(sid_i),
    .data_i(write_data),
    .raddr_i(slot_q),
    .rdata_o(read_data)
  );

  assign late = now_q - seen_q.at;
  assign dack_late = now_q - seen_q.dack_at;
  assign due_o = seen_valid_q && ((seen_q.run && !late[TimeBits-1]) ||
      (seen_q.dack && !dack_late[TimeBits-1]));
  assign due_sid_o = seen_slot_q;
  assign stall = due_o && !due_ready_i;
  assign now_o = now_q;
  assign iss_clock_o = iss_clock_q;

  always_ff @(posedge clk_i) begin
    if (tick_i) begin
      now_q <= now_q + TimeBits'(1);
      again_q <= 1'b1;
    end
    if (!stall) begin
      seen_valid_q <= walk_q;
      seen_slot_q <= slot_q;
      seen_q <= read_data;
      if (walk_q) begin
        slot_q <= slot_q + Bits'(1);
        if (32'(slot_q) == SessionCount - 1) begin
          slot_q <= '0;
          walk_q <= 1'b0;
        end
      end else if (again_q && !tick_i) begin
        walk_q <= 1'b1;
        again_q <= 1'b0;
      end
    end
    // At 250 MHz and above this is never slower than the 4 us of RFC 9293, 3.4.1. Each tick adds a
    // step, in case the clock is gated between ticks.
    cycles_q <= cycles_q + 10'd1;
    iss_clock_q <= iss_clock_q + 32'(cycles_q == 10'd0) + (tick_i ? 32'd256 : 32'd0);
    if (rst_i) begin
      now_q <= '0;
      again_q <= 1'b0;
      walk_q <= 1'b0;
      slot_q <= '0;
      seen_valid_q <= 1'b0;
      cycles_q <= '0;
      iss_clock_q <= '0;
    end
  end

endmodule
