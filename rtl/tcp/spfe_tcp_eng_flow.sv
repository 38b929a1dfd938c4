// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Pipeline control of the engine: selects the next event and tracks which stages are occupied.
///
/// The stages are read, calc, judge, decide and write. The next event is selected while the
/// previous one is in decide, and reads its session while that one writes, or one cycle later if
/// both belong to the same session. So events start every four cycles, or every five within a session.
module spfe_tcp_eng_flow
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// Initialisation after reset is running; no event may start.
  input logic init_i,
  /// A segment waits in the FIFO.
  input logic seg_valid_i,
  /// Session of the segment.
  input sid_t seg_sid_i,
  /// A report of the transmitter waits.
  input logic done_valid_i,
  /// Session of the report; a number out of range is no event.
  input sid_t done_sid_i,
  /// A session waits for service.
  input logic serve_valid_i,
  /// Session that waits for service.
  input sid_t serve_sid_i,
  /// The command FIFO has room for one more event and those in progress.
  input logic room_i,
  /// All commands of the previous decision have been issued.
  input logic out_ready_i,
  /// An answer of address resolution waits.
  input logic arp_i,
  /// Session of the answer.
  input sid_t arp_sid_i,
  /// A changed next hop waits for a session.
  input logic mac_i,
  /// Session with the changed next hop.
  input sid_t mac_sid_i,
  /// An operation of software waits.
  input logic op_i,
  /// Session of the operation.
  input sid_t op_sid_i,
  /// A view request waits.
  input logic view_i,
  /// Session of the view request.
  input sid_t view_sid_i,
  /// A SYN for a listening session waits.
  input logic syn_i,
  /// Listening session.
  input sid_t syn_sid_i,
  /// A segment without a session waits for its reset.
  input logic reset_i,
  /// An event may be selected in this cycle. Its inputs are registered even if none is.
  output logic can_o,
  /// A segment is selected.
  output logic pick_seg_o,
  /// A report of the transmitter is selected.
  output logic pick_done_o,
  /// The service of a session is selected.
  output logic pick_serve_o,
  /// Kind of the next event among the remaining sources.
  output kind_e other_kind_o,
  /// An event of kind_o from the remaining sources was selected in the previous cycle.
  output logic took_other_o,
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
