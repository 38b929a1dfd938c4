// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Time, and the walk over all timers that each tick starts: one slot a cycle, beside the pipeline.
/// A tick during a walk starts another one after it.
module spfe_tcp_eng_tick
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
    /// Sessions, 2 or more.
    parameter int unsigned SessionCount = 16,
    /// Bits of a session number; not to be set.
    localparam int unsigned Bits = $clog2(SessionCount)
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Unit of time.
    input logic tick_i,
    /// Timers of a session change; from the pipeline.
    input logic we_i,
    /// Which one.
    input logic [Bits-1:0] sid_i,
    /// Its new state.
    input eng_tcb_t tcb_i,
    /// Ticks since reset.
    output when_t now_o,
    /// Clock for initial sequence numbers.
    output seq_t iss_clock_o,
    /// A timer of this session has run out; to the queue.
    output logic due_o,
    /// Its number.
    output logic [Bits-1:0] due_sid_o,
    /// It is taken.
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

  // Of structures handed on whole, and of distances but their sign.
  assign unused_bits = ^{tcb_i};

  assign write_data = '{
      run: tcb_i.tmr != TmNone,
      at: tcb_i.deadline,
      dack: tcb_i.dack,
      dack_at: tcb_i.dack_at
  };

  spfe_lutram #(
      .WIDTH($bits(timers_t)),
      .DEPTH(SessionCount)
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
    // Never slower than the 4 us of RFC 9293, 3.4.1, at 250 MHz and above; a step for each tick, in
    // case the clock stands still between ticks.
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
