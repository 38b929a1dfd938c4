// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Flow through the pipeline of the engine: which event goes into it, and which stages have one.
///
/// Stages are read, calc, judge, decide and write. The next event is chosen when the one before it is
/// in decide, and is read while that one writes; of the same session, a cycle later. So there are
/// four cycles from event to event, five within a session.
module spfe_tcp_eng_flow
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
    /// Sessions, 2 to 256.
    parameter int unsigned SessionCount = 16
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// The sessions are being cleared: no event now.
    input logic init_i,
    /// A segment waits; from the FIFO.
    input logic seg_valid_i,
    /// Its session.
    input sid_t seg_sid_i,
    /// The end of a transmission waits.
    input logic done_valid_i,
    /// Its session; above the last one it is no event.
    input sid_t done_sid_i,
    /// A session waits for service; from the queue.
    input logic serve_valid_i,
    /// Its number.
    input sid_t serve_sid_i,
    /// There is space for the command of one more event, and for those that are under way.
    input logic room_i,
    /// The commands before have been given on; from a register.
    input logic out_ready_i,
    /// An answer about a next hop waits.
    input logic arp_i,
    /// For this session.
    input sid_t arp_sid_i,
    /// A session with a next hop that has changed waits.
    input logic mac_i,
    /// Its number.
    input sid_t mac_sid_i,
    /// An operation of software waits.
    input logic op_i,
    /// Its session.
    input sid_t op_sid_i,
    /// Software waits for a view.
    input logic view_i,
    /// Of this session.
    input sid_t view_sid_i,
    /// A SYN for a listening session waits.
    input logic syn_i,
    /// That session.
    input sid_t syn_sid_i,
    /// A segment of no session waits for its reset.
    input logic reset_i,
    /// An event is chosen.
    output logic pick_o,
    /// With pick_o: its kind.
    output kind_e pick_kind_o,
    /// With pick_o: it is neither segment nor end of transmission nor service.
    output logic pick_other_o,
    /// Kind of the last one of those that wait or do not.
    output kind_e other_kind_o,
    /// The event leaves the read stage.
    output logic read_o,
    /// Session of it, and of those in calc, judge and decide.
    output sid_t sid_o,
    /// Their kind.
    output kind_e kind_o,
    /// An event is in calc.
    output logic calc_o,
    /// An event is in judge.
    output logic judge_o,
    /// An event is in decide.
    output logic decide_o,
    /// The event in write is carried out.
    output logic fire_o,
    /// Session of it.
    output sid_t write_sid_o,
    /// Its kind.
    output kind_e write_kind_o
);
  logic can, pick_seg, pick_done, pick_serve, others, turn_q;
  logic read_q, calc_q, judge_q, decide_q, write_q;
  kind_e kind_q, write_kind_q;
  sid_t sid_q, write_sid_q, other_sid, pick_sid;

  always_comb begin
    others = 1'b1;
    other_kind_o = KindReset;
    other_sid = sid_t'(SessionCount);
    if (arp_i) begin
      other_kind_o = KindArp;
      other_sid = arp_sid_i;
    end else if (mac_i) begin
      other_kind_o = KindMac;
      other_sid = mac_sid_i;
    end else if (op_i) begin
      other_kind_o = KindOp;
      other_sid = op_sid_i;
    end else if (view_i) begin
      other_kind_o = KindView;
      other_sid = view_sid_i;
    end else if (syn_i) begin
      other_kind_o = KindSyn;
      other_sid = syn_sid_i;
    end else begin
      others = reset_i && room_i;
    end
  end

  assign can = !init_i && !read_q && !calc_q && !judge_q;
  assign pick_seg = seg_valid_i;
  assign pick_done = !seg_valid_i && done_valid_i && 32'(done_sid_i) < SessionCount;
  assign pick_serve = !seg_valid_i && !pick_done && serve_valid_i && room_i && !(turn_q && others);
  assign pick_other_o = can && !seg_valid_i && !pick_done && !pick_serve && others;
  assign pick_o = can && (pick_seg || pick_done || pick_serve || others);

  always_comb begin
    if (pick_seg) begin
      pick_kind_o = KindSegment;
      pick_sid = seg_sid_i;
    end else if (pick_done) begin
      pick_kind_o = KindDone;
      pick_sid = done_sid_i;
    end else if (pick_serve) begin
      pick_kind_o = KindServe;
      pick_sid = serve_sid_i;
    end else begin
      pick_kind_o = other_kind_o;
      pick_sid = other_sid;
    end
  end

  assign fire_o = write_q && out_ready_i;
  // The state that an event reads has to be written; what it reads it overwrites.
  assign read_o = read_q && (!write_q || (out_ready_i && write_sid_q != sid_q));
  assign calc_o = calc_q;
  assign judge_o = judge_q;
  assign decide_o = decide_q;
  assign sid_o = sid_q;
  assign kind_o = kind_q;
  assign write_sid_o = write_sid_q;
  assign write_kind_o = write_kind_q;

  always_ff @(posedge clk_i) begin
    read_q <= pick_o || (read_q && !read_o);
    calc_q <= read_o;
    judge_q <= calc_q;
    decide_q <= judge_q;
    write_q <= decide_q || (write_q && !fire_o);
    if (can) begin
      kind_q <= pick_kind_o;
      sid_q <= pick_sid;
    end
    if (decide_q) begin
      write_kind_q <= kind_q;
      write_sid_q <= sid_q;
    end
    if (pick_o) turn_q <= pick_other_o ? 1'b0 : turn_q || (pick_kind_o == KindServe);
    if (rst_i) begin
      read_q <= 1'b0;
      calc_q <= 1'b0;
      judge_q <= 1'b0;
      decide_q <= 1'b0;
      write_q <= 1'b0;
      turn_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_sid: assert (!read_q || 32'(sid_q) <= SessionCount)
        else $error("session %0d of %0d", sid_q, SessionCount);
      a_write: assert (!(decide_q && write_q && !fire_o))
        else $error("decision before the last one was carried out");
    end
  end
`endif
endmodule
