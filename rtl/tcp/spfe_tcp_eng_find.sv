// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Handles segments without a session. A segment without ACK searches for a listening session, one
/// slot per cycle: a SYN opens the session, anything else is dropped (RFC 9293, 3.10.7.2). Segments
/// that find no listener, and those with ACK, are answered with a reset. Segments that do not fit
/// into the FIFO are dropped.
module spfe_tcp_eng_find
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
  /// Send no resets (tcp_cfg_t).
  input logic silent_i,
  /// Connection that needs an initial sequence number.
  output eng_tup_t iss_tup_o,
  output logic iss_valid_o,
  /// iss_i is the number; one cycle.
  input logic iss_done_i,
  /// With iss_done_i: initial sequence number.
  input seq_t iss_i,
  /// Segment without a session; from the receiver.
  input seg_t seg_i,
  /// seg_i is valid; one cycle.
  input logic seg_valid_i,
  /// Slot to compare; to the four-tuple memory.
  output logic [Bits-1:0] slot_o,
  /// Four-tuple of slot_o, in the same cycle.
  input eng_tup_t tup_i,
  /// The shared header for resets is free: the last reset has been sent.
  input logic anon_free_i,
  /// A session accepts the SYN in seg_o; to the pipeline.
  output logic syn_valid_o,
  input logic syn_ready_i,
  /// The listening session.
  output logic [Bits-1:0] syn_sid_o,
  /// Our initial sequence number for the new connection.
  output seq_t syn_iss_o,
  /// The segment in seg_o must be answered with a reset; to the pipeline.
  output logic reset_valid_o,
  /// Pipeline accepts the reset.
  input logic reset_ready_i,
  /// Segment being handled.
  output seg_t seg_o,
  /// A SYN was dropped; one cycle.
  output logic drop_o
);
  /// Maximum number of resets per tick.
  localparam logic [4:0] ResetLimit = 5'd16;

  typedef enum logic [2:0] {
    FindIdle,
    FindIss,
    FindWalk,
    FindEnd,
    FindSyn,
    FindReset
  } find_e;

  find_e state_q;
  logic fifo_valid, fifo_ready, fifo_pop;
  logic [5:0] unused_count;
  logic unused_almost;
  seg_t head;
  logic [Bits-1:0] slot_q, seen_slot_q, found_q;
  logic seen_q, listens_q, same_q, busy_q;
  eng_tup_t seen_tup_q;
  vif_t vif_q;
  seq_t iss_q;
  ip_t ip_q;
  port_t port_q, lport_q;
  logic [4:0] resets_q;
  logic walks, drop, port_same, peer_same, ports_same;

  spfe_fifo #(
    .Width($bits(seg_t)),
    .Depth(32)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(seg_valid_i && fifo_ready && !seg_i.flags.rst),
    .ready_o(fifo_ready),
    .data_i(seg_i),
    .valid_o(fifo_valid),
    .ready_i(fifo_pop),
    .data_o(head),
    .count_o(unused_count),
    .almost_full_o(unused_almost)
  );

  assign walks = !head.flags.ack;
  assign drop = same_q || (listens_q ? !head.flags.syn : busy_q);
  assign iss_valid_o = state_q == FindIss;
  assign iss_tup_o = '{
      used: UseNone,
      vif: head.vif,
      ip: head.sip,
      port: head.sport,
      lport: head.dport
    };
  assign syn_iss_o = iss_q;
  assign slot_o = slot_q;
  assign syn_valid_o = state_q == FindSyn;
  assign syn_sid_o = found_q;
  assign reset_valid_o = state_q == FindReset && anon_free_i && resets_q < ResetLimit && !silent_i;
  assign seg_o = head;

  // Compare the slot read in the last cycle with the segment.
  assign port_same = seen_tup_q.lport == lport_q && seen_tup_q.vif == vif_q;
  assign peer_same = seen_tup_q.ip == ip_q;
  assign ports_same = seen_tup_q.port == port_q;

  always_comb begin
    fifo_pop = 1'b0;
    drop_o = seg_valid_i && !fifo_ready && seg_i.flags.syn;
    unique case (state_q)
      FindEnd: begin
        if (!seen_q && drop) begin
          fifo_pop = 1'b1;
          drop_o = head.flags.syn;
        end
      end
      FindSyn: fifo_pop = syn_ready_i;
      FindReset: fifo_pop = reset_ready_i || !reset_valid_o;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (iss_done_i) iss_q <= iss_i;
    seen_slot_q <= slot_q;
    seen_tup_q <= tup_i;
    vif_q <= head.vif;
    ip_q <= head.sip;
    port_q <= head.sport;
    lport_q <= head.dport;
  end

  always_ff @(posedge clk_i) begin
    seen_q <= state_q == FindWalk;
    unique case (state_q)
      FindIdle: begin
        slot_q <= '0;
        listens_q <= 1'b0;
        same_q <= 1'b0;
        busy_q <= 1'b0;
        if (fifo_valid) state_q <= walks ? FindIss : FindReset;
      end
      // This also gives the previous passive open time to reach the memory.
      FindIss: if (iss_done_i) state_q <= FindWalk;
      FindWalk: begin
        slot_q <= slot_q + Bits'(1);
        if (32'(slot_q) == SessionCount - 1) begin
          slot_q <= '0;
          state_q <= FindEnd;
        end
      end
      FindEnd: begin
        // The first cycle of this state still compares the last slot.
        if (!seen_q) begin
          if (drop) state_q <= FindIdle;
          else state_q <= listens_q ? FindSyn : FindReset;
        end
      end
      FindSyn: if (syn_ready_i) state_q <= FindIdle;
      FindReset: if (fifo_pop) state_q <= FindIdle;
      default: state_q <= FindIdle;
    endcase
    if (seen_q && port_same) begin
      unique case (seen_tup_q.used)
        UseListen: begin
          if (!listens_q && (peer_same || seen_tup_q.ip == 32'd0)) begin
            listens_q <= 1'b1;
            found_q <= seen_slot_q;
          end
        end
        UseActive: same_q <= same_q || (peer_same && ports_same);
        UsePassive: begin
          same_q <= same_q || (peer_same && ports_same);
          busy_q <= 1'b1;
        end
        default: ;
      endcase
    end
    if (tick_i) resets_q <= 5'd0;
    else if (reset_valid_o && reset_ready_i) resets_q <= resets_q + 5'd1;
    if (rst_i) begin
      state_q <= FindIdle;
      seen_q <= 1'b0;
      resets_q <= 5'd0;
    end
  end

endmodule
