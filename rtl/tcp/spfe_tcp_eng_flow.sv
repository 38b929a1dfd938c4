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
    /// An event may be chosen in this cycle: what it needs is kept, also if there is none.
    output logic can_o,
    /// A segment is chosen.
    output logic pick_seg_o,
    /// The end of a transmission is chosen.
    output logic pick_done_o,
    /// The service of a session is chosen.
    output logic pick_serve_o,
    /// Kind of the other event that is next; from a register.
    output kind_e other_kind_o,
    /// Another event was chosen in the cycle before; kind_o is its kind.
    output logic took_other_o,
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
  logic pick, pick_other, done, serve, others, turn_q;
  logic can_q;  // nothing in read, calc and judge
  logic took_q;
  logic read_q, calc_q, judge_q, decide_q, write_q;
  logic other_d, other_q;
  kind_e pick_kind, kind_q, write_kind_q, other_kind_d, other_kind_q;
  sid_t sid_q, write_sid_q, other_sid_d, other_sid_q, pick_sid;

  // Who of the others is next; they keep still until they are taken.
  always_comb begin
    other_d = 1'b1;
    other_kind_d = KindReset;
    other_sid_d = sid_t'(SessionCount);
    if (arp_i) begin
      other_kind_d = KindArp;
      other_sid_d = arp_sid_i;
    end else if (mac_i) begin
      other_kind_d = KindMac;
      other_sid_d = mac_sid_i;
    end else if (op_i) begin
      other_kind_d = KindOp;
      other_sid_d = op_sid_i;
    end else if (view_i) begin
      other_kind_d = KindView;
      other_sid_d = view_sid_i;
    end else if (syn_i) begin
      other_kind_d = KindSyn;
      other_sid_d = syn_sid_i;
    end else begin
      other_d = reset_i;
    end
  end
  assign others = other_q && (other_kind_q != KindReset || room_i);
  assign other_kind_o = other_kind_q;
  assign took_other_o = took_q;

  assign can_o = can_q;
  assign pick_seg_o = can_o && seg_valid_i;
  assign done = !seg_valid_i && done_valid_i && 32'(done_sid_i) < SessionCount;
  assign serve = !seg_valid_i && !done && serve_valid_i && room_i && !(turn_q && others);
  assign pick_done_o = can_o && done;
  assign pick_serve_o = can_o && serve;
  assign pick_other = can_o && !seg_valid_i && !done && !serve && others;
  assign pick = can_o && (seg_valid_i || done || serve || others);

  always_comb begin
    if (seg_valid_i) begin
      pick_kind = KindSegment;
      pick_sid = seg_sid_i;
    end else if (done) begin
      pick_kind = KindDone;
      pick_sid = done_sid_i;
    end else if (serve) begin
      pick_kind = KindServe;
      pick_sid = serve_sid_i;
    end else begin
      pick_kind = other_kind_q;
      pick_sid = other_sid_q;
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
    // What was carried out may make the answer to a query void.
    other_q <= other_d && !fire_o;
    other_kind_q <= other_kind_d;
    other_sid_q <= other_sid_d;
    took_q <= pick_other;
    can_q <= !init_i && !pick && !read_q && !calc_q;
    read_q <= pick || (read_q && !read_o);
    calc_q <= read_o;
    judge_q <= calc_q;
    decide_q <= judge_q;
    write_q <= decide_q || (write_q && !fire_o);
    if (can_o) begin
      kind_q <= pick_kind;
      sid_q <= pick_sid;
    end
    if (decide_q) begin
      write_kind_q <= kind_q;
      write_sid_q <= sid_q;
    end
    if (pick_other) turn_q <= 1'b0;
    else if (pick_serve_o) turn_q <= 1'b1;
    if (rst_i) begin
      other_q <= 1'b0;
      took_q <= 1'b0;
      can_q <= 1'b0;
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
