// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Pipeline control of the engine: selects the next event and tracks which stages are occupied.
///
/// The stages are read, calc, judge, decide and write. The next event is selected while the
/// previous one is in decide, and reads its session while that one writes, or one cycle later if
/// both belong to the same session. So events start every four cycles, or every five within a
/// session.
module spfe_tcp_eng_flow
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// Initialisation after reset is running; no event may start.
  input logic init_i,
  /// Waiting events.
  input eng_reqs_t reqs_i,
  /// Which event is taken.
  output eng_take_t take_o,
  /// The command FIFO has room for one more event and those in progress.
  input logic room_i,
  /// All commands of the previous decision have been issued.
  input logic out_ready_i,
  /// An event may be selected in this cycle. Its inputs are registered even if none is.
  output logic can_o,
  /// Kind of the next event among the remaining sources.
  output kind_e other_kind_o,
  /// The event leaves the read stage.
  output logic read_o,
  /// Session of the event in read, calc, judge or decide.
  output sid_t sid_o,
  /// Kind of that event.
  output kind_e kind_o,
  /// An event is in calc.
  output logic calc_o,
  /// An event is in judge.
  output logic judge_o,
  /// An event is in decide.
  output logic decide_o,
  /// The event in the write stage is committed.
  output logic fire_o,
  /// Session of the event in the write stage.
  output sid_t write_sid_o,
  /// Kind of the event in the write stage.
  output kind_e write_kind_o
);
  logic pick, pick_other, done, serve, others, turn_q;
  logic can_q;  // read and calc are empty
  logic took_q;
  logic read_q, calc_q, judge_q, decide_q, write_q;
  logic other_d, other_q;
  kind_e pick_kind, kind_q, write_kind_q, other_kind_d, other_kind_q;
  sid_t sid_q, write_sid_q, other_sid_d, other_sid_q, pick_sid;

  // Next of the remaining sources. Each holds its request until it is accepted.
  always_comb begin
    other_d = 1'b1;
    other_kind_d = KindReset;
    other_sid_d = sid_t'(SessionCount);
    if (reqs_i.arp.valid) begin
      other_kind_d = KindArp;
      other_sid_d = reqs_i.arp.sid;
    end else if (reqs_i.mac.valid) begin
      other_kind_d = KindMac;
      other_sid_d = reqs_i.mac.sid;
    end else if (reqs_i.op.valid) begin
      other_kind_d = KindOp;
      other_sid_d = reqs_i.op.sid;
    end else if (reqs_i.view.valid) begin
      other_kind_d = KindView;
      other_sid_d = reqs_i.view.sid;
    end else if (reqs_i.syn.valid) begin
      other_kind_d = KindSyn;
      other_sid_d = reqs_i.syn.sid;
    end else begin
      other_d = reqs_i.reset;
    end
  end
  assign others = other_q && (other_kind_q != KindReset || room_i);
  assign other_kind_o = other_kind_q;
  always_comb begin
    take_o = '0;
    take_o.seg = can_q && reqs_i.seg.valid;
    take_o.done = can_q && done;
    take_o.serve = can_q && serve;
    take_o.arp = took_q && kind_q == KindArp;
    take_o.mac = took_q && kind_q == KindMac;
    take_o.op = took_q && kind_q == KindOp;
    take_o.view = took_q && kind_q == KindView;
    take_o.syn = took_q && kind_q == KindSyn;
    take_o.reset = took_q && kind_q == KindReset;
  end

  assign can_o = can_q;
  assign done = !reqs_i.seg.valid && reqs_i.done.valid && 32'(reqs_i.done.sid) < SessionCount;
  assign serve = !reqs_i.seg.valid && !done && reqs_i.serve.valid && room_i && !(turn_q && others);
  assign pick_other = can_q && !reqs_i.seg.valid && !done && !serve && others;
  assign pick = can_q && (reqs_i.seg.valid || done || serve || others);

  always_comb begin
    if (reqs_i.seg.valid) begin
      pick_kind = KindSegment;
      pick_sid = reqs_i.seg.sid;
    end else if (done) begin
      pick_kind = KindDone;
      pick_sid = reqs_i.done.sid;
    end else if (serve) begin
      pick_kind = KindServe;
      pick_sid = reqs_i.serve.sid;
    end else begin
      pick_kind = other_kind_q;
      pick_sid = other_sid_q;
    end
  end

  assign fire_o = write_q && out_ready_i;
  // An event may read a session only after the previous event has written it. The read also
  // overwrites the registers that the write stage still uses.
  assign read_o = read_q && (!write_q || (out_ready_i && write_sid_q != sid_q));
  assign calc_o = calc_q;
  assign judge_o = judge_q;
  assign decide_o = decide_q;
  assign sid_o = sid_q;
  assign kind_o = kind_q;
  assign write_sid_o = write_sid_q;
  assign write_kind_o = write_kind_q;

  always_ff @(posedge clk_i) begin
    // The event just committed may have voided the answer to a query.
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
    if (can_q) begin
      kind_q <= pick_kind;
      sid_q <= pick_sid;
    end
    if (decide_q) begin
      write_kind_q <= kind_q;
      write_sid_q <= sid_q;
    end
    if (pick_other) turn_q <= 1'b0;
    else if (can_q && serve) turn_q <= 1'b1;
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
      a_sid :
      assert (!read_q || 32'(sid_q) <= SessionCount)
      else $error("session %0d of %0d", sid_q, SessionCount);
      a_write :
      assert (!(decide_q && write_q && !fire_o))
      else $error("decision before the last one was carried out");
    end
  end
`endif
endmodule
