// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Event sources of the engine: queues segments and reports, and runs the search for a listening
/// session, the timer walk, the next-hop walk and the requests of software in parallel with the
/// pipeline.
module spfe_tcp_eng_sources
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// Width of a session number; derived.
  localparam int unsigned Bits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// One-cycle pulse per tick.
  input logic tick_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Current time in ticks.
  output when_t now_o,

  /// Received segment; from the receiver, which cannot stall.
  input seg_t seg_i,
  /// seg_i is valid; one cycle.
  input logic seg_valid_i,
  /// Session whose receive window has opened again and should be announced; from the receiver.
  input wnd_open_t wnd_open_i,
  /// wnd_open_i is taken.
  output logic wnd_open_ready_o,
  /// Report from the transmitter.
  input tx_done_t tx_done_i,
  input logic tx_done_valid_i,
  output logic tx_done_ready_o,
  /// Operation of software; from the registers.
  input op_cmd_t op_i,
  input logic op_valid_i,
  /// Accepts op_i when it is complete, or at once if the session does not exist.
  output logic op_ready_o,
  /// Session that software wants to view; from the registers.
  input sid_t view_sid_i,
  /// Requests a view of view_sid_i; one cycle.
  input logic view_req_i,
  /// View of a session.
  output view_t view_o,
  /// view_o is new; one cycle.
  output logic view_valid_o,
  /// Query for the MAC address of a next hop; to address resolution.
  output arp_query_t arp_query_o,
  /// arp_query_o is valid; held until the answer.
  output logic arp_query_valid_o,
  /// Answer of address resolution.
  input arp_answer_t arp_answer_i,
  /// arp_answer_i is valid; one cycle.
  input logic arp_answer_valid_i,
  /// The MAC address of a next hop was resolved or has changed; from address resolution.
  input arp_update_t arp_update_i,
  input logic arp_update_valid_i,
  /// Accepts arp_update_i after all sessions have been updated.
  output logic arp_update_ready_o,

  /// Waiting events.
  output eng_reqs_t reqs_o,
  /// Data of the waiting events.
  output eng_data_t data_o,
  /// Which event is taken.
  input eng_take_t take_i,
  /// The event in the write stage.
  input eng_commit_t commit_i,
  /// commit_i is committed in this cycle.
  input logic commit_valid_i,
  /// A next-hop query can be started.
  output logic query_free_o,
  /// A SYN was dropped; one cycle.
  output logic drop_o,

  /// Slot that the search for a listening session reads.
  output logic [Bits-1:0] find_slot_o,
  /// Four-tuple of find_slot_o, in the same cycle.
  input eng_tup_t find_tup_i,
  /// Slot that the next-hop walk reads.
  output logic [Bits-1:0] arp_slot_o,
  /// Four-tuple of arp_slot_o, in the same cycle.
  input eng_tup_t arp_tup_i,
  /// The state of a session is written; from the pipeline.
  input logic we_i,
  /// Session that is written.
  input logic [Bits-1:0] we_slot_i,
  /// State that is written.
  input eng_tcb_t we_tcb_i
);
  typedef logic [Bits-1:0] slot_t;

  logic seg_valid, seg_ready, done_valid, queue_valid, arp_valid, mac_valid, op_valid, view_wait;
  logic syn_valid, reset_valid, anon_free, due, due_ready, unused_almost;
  logic [4:0] unused_count;
  slot_t queue_sid, arp_sid, mac_sid, syn_sid, due_sid, commit_slot;
  sid_t view_sid;
  seq_t iss_clock, iss;
  eng_tup_t [1:0] iss_tup;
  logic [1:0] iss_valid, iss_done;
  eng_seg_t seg;
  logic unused_bits;

  assign unused_bits = ^cfg_i;
  assign commit_slot = slot_t'(commit_i.sid);

  // ---- segments
  assign seg = '{seg: seg_i, off: seg_i.seq - seg_i.rcv_nxt};

  spfe_fifo #(
    .Width($bits(eng_seg_t)),
    .Depth(16)
  ) i_segments (
    .clk_i,
    .rst_i,
    .valid_i(seg_valid_i && seg_i.hit),
    .ready_o(seg_ready),
    .data_i(seg),
    .valid_o(seg_valid),
    .ready_i(take_i.seg),
    .data_o(data_o.seg),
    .count_o(unused_count),
    .almost_full_o(unused_almost)
  );

  spfe_tcp_eng_find #(
    .SessionCount(SessionCount)
  ) i_find (
    .clk_i,
    .rst_i,
    .tick_i,
    .silent_i(cfg_i.rst_silent),
    .iss_tup_o(iss_tup[1]),
    .iss_valid_o(iss_valid[1]),
    .iss_done_i(iss_done[1]),
    .iss_i(iss),
    .seg_i,
    .seg_valid_i(seg_valid_i && !seg_i.hit),
    .slot_o(find_slot_o),
    .tup_i(find_tup_i),
    .anon_free_i(anon_free),
    .syn_valid_o(syn_valid),
    .syn_ready_i(take_i.syn),
    .syn_sid_o(syn_sid),
    .syn_iss_o(data_o.find_iss),
    .reset_valid_o(reset_valid),
    .reset_ready_i(take_i.reset),
    .seg_o(data_o.find_seg),
    .drop_o
  );

  // ---- reports, service and timers; the receiver reports like the transmitter, when that does not
  assign wnd_open_ready_o = wnd_open_i.valid && tx_done_ready_o && !tx_done_valid_i;
  spfe_tcp_eng_report #(
    .SessionCount(SessionCount)
  ) i_report (
    .clk_i,
    .rst_i,
    .done_i(tx_done_valid_i ? tx_done_i : '{kind: TxWindow, sid: wnd_open_i.sid, default: '0}),
    .valid_i(tx_done_valid_i || wnd_open_i.valid),
    .ready_o(tx_done_ready_o),
    .done_o(data_o.done),
    .valid_o(done_valid),
    .take_i(take_i.done),
    .reset_i(take_i.reset),
    .anon_free_o(anon_free)
  );

  spfe_tcp_eng_queue #(
    .SessionCount(SessionCount)
  ) i_queue (
    .clk_i,
    .rst_i,
    .push_i(commit_valid_i && commit_i.dec.we && wants_service(commit_i.tcb)),
    .push_sid_i(commit_slot),
    .walk_i(due),
    .walk_sid_i(due_sid),
    .walk_ready_o(due_ready),
    .valid_o(queue_valid),
    .sid_o(queue_sid),
    .pop_i(take_i.serve)
  );

  spfe_tcp_eng_tick #(
    .SessionCount(SessionCount)
  ) i_tick (
    .clk_i,
    .rst_i,
    .tick_i,
    .we_i,
    .sid_i(we_slot_i),
    .tcb_i(we_tcb_i),
    .now_o,
    .iss_clock_o(iss_clock),
    .due_o(due),
    .due_sid_o(due_sid),
    .due_ready_i(due_ready)
  );

  // ---- initial sequence numbers
  spfe_tcp_eng_iss i_iss (
    .clk_i,
    .rst_i,
    .key_i(cfg_i.iss_key),
    .clock_i(iss_clock),
    .tup_i(iss_tup),
    .valid_i(iss_valid),
    .done_o(iss_done),
    .iss_o(iss)
  );

  // ---- next hops
  spfe_tcp_eng_arp #(
    .SessionCount(SessionCount),
    .VifCount(VifCount)
  ) i_arp (
    .clk_i,
    .rst_i,
    .vif_i(cfg_i.vif),
    .ask_i(commit_valid_i && commit_i.dec.query),
    .ask_sid_i(commit_slot),
    .ask_tup_i(commit_i.dec.tup),
    .free_o(query_free_o),
    .void_i(commit_valid_i && commit_i.kind == KindOp),
    .void_sid_i(commit_slot),
    .query_o(arp_query_o),
    .query_valid_o(arp_query_valid_o),
    .answer_i(arp_answer_i),
    .answer_valid_i(arp_answer_valid_i),
    .arp_valid_o(arp_valid),
    .arp_take_i(take_i.arp),
    .arp_ready_i(commit_valid_i && commit_i.kind == KindArp),
    .arp_sid_o(arp_sid),
    .arp_o(data_o.arp),
    .update_i(arp_update_i),
    .update_valid_i(arp_update_valid_i),
    .update_ready_o(arp_update_ready_o),
    .slot_o(arp_slot_o),
    .tup_i(arp_tup_i),
    .mac_valid_o(mac_valid),
    .mac_ready_i(take_i.mac),
    .mac_sid_o(mac_sid),
    .mac_o(data_o.mac)
  );

  // ---- software
  spfe_tcp_eng_op #(
    .SessionCount(SessionCount)
  ) i_op (
    .clk_i,
    .rst_i,
    .op_i,
    .op_valid_i,
    .op_ready_o,
    .iss_tup_o(iss_tup[0]),
    .iss_valid_o(iss_valid[0]),
    .iss_done_i(iss_done[0]),
    .iss_i(iss),
    .valid_o(op_valid),
    .iss_o(data_o.op_iss),
    .take_i(take_i.op),
    .done_i(commit_valid_i && commit_i.kind == KindOp && commit_i.dec.op_done),
    .again_i(commit_valid_i && commit_i.kind == KindOp && !commit_i.dec.op_done)
  );
  assign data_o.op = op_i;

  spfe_tcp_eng_view #(
    .SessionCount(SessionCount)
  ) i_view (
    .clk_i,
    .rst_i,
    .sid_i(view_sid_i),
    .req_i(view_req_i),
    .wait_o(view_wait),
    .sid_o(view_sid),
    .take_i(take_i.view),
    .done_i(commit_valid_i && commit_i.kind == KindView),
    .commit_i,
    .view_o,
    .valid_o(view_valid_o)
  );

  assign reqs_o.seg = '{valid: seg_valid, sid: data_o.seg.seg.sid};
  assign reqs_o.done = '{valid: done_valid, sid: data_o.done.sid};
  assign reqs_o.serve = '{valid: queue_valid, sid: sid_t'(queue_sid)};
  assign reqs_o.arp = '{valid: arp_valid, sid: sid_t'(arp_sid)};
  assign reqs_o.mac = '{valid: mac_valid, sid: sid_t'(mac_sid)};
  assign reqs_o.op = '{valid: op_valid, sid: op_i.sid};
  assign reqs_o.view = '{valid: view_wait, sid: view_sid};
  assign reqs_o.syn = '{valid: syn_valid, sid: sid_t'(syn_sid)};
  assign reqs_o.reset = reset_valid;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_segments :
    assert (rst_i || !(seg_valid_i && seg_i.hit) || seg_ready)
    else $error("segments arrive faster than the engine handles them");
  end
`endif
endmodule
