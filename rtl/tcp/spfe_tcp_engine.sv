// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Protocol engine: applies events to the state of all sessions, one event every four cycles, or
/// every five within a session (spfe_tcp_eng_flow). Stages of the pipeline:
///
///   select  choose an event (while the previous one is in decide)
///   read    read the state of its session
///   calc    compute differences and comparisons
///   judge   determine the case
///   decide  compute new state and commands
///   write   write the state and hand the commands to spfe_tcp_eng_out
///
/// The search for a listening session, the timer walk and the next-hop walk run in parallel with
/// the pipeline. Their results are events.
module spfe_tcp_engine
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// log2 of the number of 16-byte words in the ring memory, over all sessions.
  parameter int unsigned MemAddrBits = 16,
  /// 1: NewReno congestion control (RFC 5681, 6582).
  parameter bit CongestionControl = 1'b0,
  /// 1: raise EvStatus at each state change of a session.
  parameter bit StatusEvents = 1'b0,
  /// 1: raise EvCredit when an ACK frees bytes in the ring.
  parameter bit CreditEvents = 1'b0,
  /// 1: acknowledge each data segment at once; 0: delay acknowledgements.
  parameter bit InstantAck = 1'b0
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// One-cycle pulse per tick, the unit of all timers; from outside the core.
  input logic tick_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// Received segment; from the receiver, which cannot stall.
  input seg_t seg_i,
  /// seg_i is valid; one cycle.
  input logic seg_valid_i,
  /// Delivery command to the receiver.
  output rcv_cmd_t rcv_cmd_o,
  output logic rcv_cmd_valid_o,
  input logic rcv_cmd_ready_i,
  /// Session whose RCV.NXT the engine reads; to the receiver.
  output sid_t rcv_sid_o,
  /// RCV.NXT of rcv_sid_o, in the same cycle.
  input seq_t rcv_nxt_i,
  /// Four-tuple of a session, to the receiver.
  output key_cmd_t key_cmd_o,
  /// key_cmd_o is valid; one cycle.
  output logic key_cmd_valid_o,
  /// Session whose lowest acceptable ACK the receiver reads.
  input sid_t ack_sid_i,
  /// Lowest acceptable ACK of ack_sid_i, in the same cycle: SND.UNA - MAX.SND.WND, or ISS + 1 in
  /// SYN-RECEIVED.
  output seq_t ack_lo_o,

  /// Header table entry, to the transmitter.
  output hdr_cmd_t hdr_cmd_o,
  output logic hdr_cmd_valid_o,
  input logic hdr_cmd_ready_i,
  /// Send state of a session, to the transmitter.
  output snd_cmd_t snd_cmd_o,
  output logic snd_cmd_valid_o,
  input logic snd_cmd_ready_i,
  /// Segment to send, to the transmitter.
  output tx_cmd_t tx_cmd_o,
  output logic tx_cmd_valid_o,
  input logic tx_cmd_ready_i,
  /// Report from the transmitter: a segment was sent, or a message is left to the engine.
  input tx_done_t tx_done_i,
  input logic tx_done_valid_i,
  output logic tx_done_ready_o,
  /// Session whose send pointers the engine reads; to the transmitter.
  output sid_t snd_sid_o,
  /// Send pointers of snd_sid_o, in the same cycle.
  input snd_ptr_t snd_ptr_i,

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

  /// Event to the user.
  output event_t event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Pulses for the statistics counters.
  output eng_count_t count_o
);
  localparam int unsigned Bits = $clog2(SessionCount);
  localparam int unsigned RingBits = MemAddrBits + 4 - Bits;
  localparam logic [31:0] RingBytes = 32'd1 << RingBits;
  typedef logic [Bits-1:0] slot_t;

  if (SessionCount < 2 || SessionCount > 256) begin : gen_bad_sessions
    $error("spfe_tcp_engine: SessionCount is %0d; 2 to 256 are possible", SessionCount);
  end
  if (MemAddrBits < Bits || RingBits > 30) begin : gen_bad_ring
    $error("spfe_tcp_engine: MemAddrBits %0d gives rings of 2^%0d bytes", MemAddrBits, RingBits);
  end

  // ---- event sources
  logic segf_valid, segf_pop, segf_ready, unused_segf_almost;
  logic [4:0] unused_segf_count;
  eng_seg_t segf_in, segf;
  seq_t last_d;

  assign segf_in = '{seg: seg_i, off: seg_i.seq - seg_i.rcv_nxt};

  spfe_fifo #(
    .Width($bits(eng_seg_t)),
    .Depth(16)
  ) i_segments (
    .clk_i,
    .rst_i,
    .valid_i(seg_valid_i && seg_i.hit),
    .ready_o(segf_ready),
    .data_i(segf_in),
    .valid_o(segf_valid),
    .ready_i(segf_pop),
    .data_o(segf),
    .count_o(unused_segf_count),
    .almost_full_o(unused_segf_almost)
  );
  assign last_d = segf.off + 32'(segf.seg.len) + 32'(segf.seg.flags.syn) +
      32'(segf.seg.flags.fin) - 32'd1;

  slot_t find_slot, find_sid, arp_slot, arp_sid, mac_sid, due_sid, queue_sid;
  eng_tup_t find_tup, arp_tup, read_tup;
  logic find_syn, find_reset, find_drop, anon_free;
  logic arp_req, mac_req, query_free, due, due_ready, queue_valid, op_req;
  seg_t find_seg;
  seq_t find_iss, op_iss, iss_clock;
  arp_answer_t arp_answer;
  mac_t mac_new;
  when_t now;
  logic view_wait, init;
  sid_t view_sid;

  // ---- pipeline
  logic can, pick_done, pick_serve, took_other, room, out_ready;
  logic read, calc, judge, decide, fire;
  kind_e other_kind, kind, write_kind;
  sid_t sid, write_sid;
  slot_t write_slot;
  seg_t seg_q;
  seq_t dist_q, last_q, iss_q, snd_nxt_q, consumed_q, written_q, rcv_nxt_q;
  tx_done_t done, done_q;
  logic done_valid;
  mac_t mac_q;
  eng_tcb_t read_tcb, tcb_q, tcb_final, tcb_written;
  eng_tup_t tup_q, tup_final;
  eng_pre_t pre_d, pre_q;
  eng_pred_t pred_d, pred_q;
  eng_class_t class_d, class_q;
  eng_case_t case_d, case_q;
  eng_ctx_t ctx;
  eng_dec_t dec_d, dec_q;
  logic unused_bits;
  logic [15:0] rto;
  logic [31:0] credit_q;
  logic we;
  slot_t we_slot;

  assign unused_bits = ^{cfg_i, ack_sid_i, pred_q};

  // Select.
  spfe_tcp_eng_flow #(
    .SessionCount(SessionCount)
  ) i_flow (
    .clk_i,
    .rst_i,
    .init_i(init),
    .seg_valid_i(segf_valid),
    .seg_sid_i(segf.seg.sid),
    .done_valid_i(done_valid),
    .done_sid_i(done.sid),
    .serve_valid_i(queue_valid),
    .serve_sid_i(sid_t'(queue_sid)),
    .room_i(room),
    .out_ready_i(out_ready),
    .arp_i(arp_req),
    .arp_sid_i(sid_t'(arp_sid)),
    .mac_i(mac_req),
    .mac_sid_i(sid_t'(mac_sid)),
    .op_i(op_req),
    .op_sid_i(op_i.sid),
    .view_i(view_wait),
    .view_sid_i(view_sid),
    .syn_i(find_syn),
    .syn_sid_i(sid_t'(find_sid)),
    .reset_i(find_reset),
    .can_o(can),
    .pick_seg_o(segf_pop),
    .pick_done_o(pick_done),
    .pick_serve_o(pick_serve),
    .other_kind_o(other_kind),
    .took_other_o(took_other),
    .read_o(read),
    .sid_o(sid),
    .kind_o(kind),
    .calc_o(calc),
    .judge_o(judge),
    .decide_o(decide),
    .fire_o(fire),
    .write_sid_o(write_sid),
    .write_kind_o(write_kind)
  );

  always_ff @(posedge clk_i) begin
    if (can) begin
      seg_q <= segf_valid ? segf.seg : find_seg;
      dist_q <= segf.off;
      last_q <= last_d;
      done_q <= done;
      iss_q <= other_kind == KindOp ? op_iss : find_iss;
      mac_q <= mac_new;
    end
    if (read) begin
      tcb_q <= read_tcb;
      tup_q <= read_tup;
      pre_q <= pre_d;
      snd_nxt_q <= snd_ptr_i.nxt;
      consumed_q <= snd_ptr_i.consumed;
      written_q <= snd_ptr_i.written;
      rcv_nxt_q <= rcv_nxt_i;
    end
    if (calc) begin
      pred_q <= pred_d;
      class_q <= class_d;
    end
    if (judge) case_q <= case_d;
    if (decide) begin
      dec_q <= dec_d;
      credit_q <= RingBytes - (kind == KindView ? pred_q.stored : pred_q.stored_ack);
    end
  end

  // Read.
  assign snd_sid_o = sid;
  assign rcv_sid_o = sid;
  assign write_slot = slot_t'(write_sid);

  spfe_tcp_eng_pre #(
    .CongestionControl(CongestionControl)
  ) i_pre (
    .seg_i(seg_q),
    .dist_i(dist_q),
    .last_i(last_q),
    .tcb_i(read_tcb),
    .rcv_wnd_i(cfg_i.rcv_wnd),
    .rto_init_i(cfg_i.rto_init),
    .pre_o(pre_d)
  );

  // Calc.
  spfe_tcp_eng_calc i_calc (
    .seg_i(seg_q),
    .done_i(done_q),
    .tcb_i(tcb_q),
    .pre_i(pre_q),
    .snd_nxt_i(snd_nxt_q),
    .consumed_i(consumed_q),
    .written_i(written_q),
    .rcv_nxt_i(rcv_nxt_q),
    .now_i(now),
    .mss_i(cfg_i.mss),
    .rto_min_i(cfg_i.rto_min),
    .syn_tries_i(cfg_i.syn_tries),
    .data_tries_i(cfg_i.data_tries),
    .p_o(pred_d)
  );

  spfe_tcp_eng_class i_class (
    .seg_i(seg_q),
    .tcb_i(tcb_q),
    .pre_i(pre_q),
    .class_o(class_d)
  );

  // Judge and decide.
  assign ctx = '{
      sid: sid,
      tcb: tcb_q,
      tup: tup_q,
      seg: seg_q,
      done: done_q,
      op: op_i,
      arp: arp_answer,
      mac: mac_q,
      iss: iss_q,
      snd_nxt: snd_nxt_q,
      now: now,
      room: room,
      pre: pre_q,
      p: pred_q
    };

  spfe_tcp_eng_judge #(
    .InstantAck(InstantAck),
    .CongestionControl(CongestionControl)
  ) i_judge (
    .kind_i(kind),
    .ctx_i(ctx),
    .class_i(class_q),
    .case_o(case_d)
  );

  spfe_tcp_eng_decide #(
    .CreditEvents(CreditEvents)
  ) i_decide (
    .kind_i(kind),
    .ctx_i(ctx),
    .case_i(case_q),
    .wscale_en_i(cfg_i.wscale_en),
    .query_free_i(query_free),
    .dec_o(dec_d)
  );

  // Write.
  spfe_tcp_eng_finish #(
    .CongestionControl(CongestionControl)
  ) i_finish (
    .clk_i,
    .decide_i(decide),
    .tcb_i(tcb_q),
    .p_i(pred_q),
    .dec_i(dec_q),
    .now_i(now),
    .rto_max_i(cfg_i.rto_max),
    .persist_max_i(cfg_i.persist_max),
    .time_wait_i(cfg_i.time_wait),
    .delack_i(cfg_i.delack),
    .tcb_o(tcb_final),
    .tup_o(tup_final),
    .rto_o(rto)
  );

  spfe_tcp_eng_state #(
    .SessionCount(SessionCount)
  ) i_state (
    .clk_i,
    .rst_i,
    .init_o(init),
    .we_i(fire && dec_q.we),
    .slot_i(write_slot),
    .tcb_i(tcb_final),
    .tup_i(tup_final),
    .we_o(we),
    .slot_o(we_slot),
    .tcb_o(tcb_written),
    .read_slot_i(slot_t'(sid)),
    .read_tcb_o(read_tcb),
    .read_tup_o(read_tup),
    .find_slot_i(find_slot),
    .find_tup_o(find_tup),
    .arp_slot_i(arp_slot),
    .arp_tup_o(arp_tup),
    .ack_slot_i(slot_t'(ack_sid_i)),
    .ack_lo_o
  );

  // ---- beside the pipeline
  spfe_tcp_eng_queue #(
    .SessionCount(SessionCount)
  ) i_queue (
    .clk_i,
    .rst_i,
    .push_i(fire && dec_q.we && wants_service(tcb_final)),
    .push_sid_i(write_slot),
    .walk_i(due),
    .walk_sid_i(due_sid),
    .walk_ready_o(due_ready),
    .valid_o(queue_valid),
    .sid_o(queue_sid),
    .pop_i(pick_serve)
  );

  spfe_tcp_eng_sent #(
    .SessionCount(SessionCount)
  ) i_sent (
    .clk_i,
    .rst_i,
    .done_i(tx_done_i),
    .valid_i(tx_done_valid_i),
    .ready_o(tx_done_ready_o),
    .done_o(done),
    .valid_o(done_valid),
    .take_i(pick_done),
    .reset_i(took_other && kind == KindReset),
    .anon_free_o(anon_free)
  );

  spfe_tcp_eng_tick #(
    .SessionCount(SessionCount)
  ) i_tick (
    .clk_i,
    .rst_i,
    .tick_i,
    .we_i(we),
    .sid_i(we_slot),
    .tcb_i(tcb_written),
    .now_o(now),
    .iss_clock_o(iss_clock),
    .due_o(due),
    .due_sid_o(due_sid),
    .due_ready_i(due_ready)
  );

  spfe_tcp_eng_find #(
    .SessionCount(SessionCount)
  ) i_find (
    .clk_i,
    .rst_i,
    .tick_i,
    .silent_i(cfg_i.rst_silent),
    .iss_key_i(cfg_i.iss_key),
    .iss_clock_i(iss_clock),
    .seg_i,
    .seg_valid_i(seg_valid_i && !seg_i.hit),
    .slot_o(find_slot),
    .tup_i(find_tup),
    .anon_free_i(anon_free),
    .syn_valid_o(find_syn),
    .syn_ready_i(took_other && kind == KindSyn),
    .syn_sid_o(find_sid),
    .syn_iss_o(find_iss),
    .reset_valid_o(find_reset),
    .reset_ready_i(took_other && kind == KindReset),
    .seg_o(find_seg),
    .drop_o(find_drop)
  );

  spfe_tcp_eng_arp #(
    .SessionCount(SessionCount),
    .VifCount(VifCount)
  ) i_arp (
    .clk_i,
    .rst_i,
    .vif_i(cfg_i.vif),
    .ask_i(fire && dec_q.query),
    .ask_sid_i(write_slot),
    .ask_tup_i(dec_q.tup),
    .free_o(query_free),
    .void_i(fire && write_kind == KindOp),
    .void_sid_i(write_slot),
    .query_o(arp_query_o),
    .query_valid_o(arp_query_valid_o),
    .answer_i(arp_answer_i),
    .answer_valid_i(arp_answer_valid_i),
    .arp_valid_o(arp_req),
    .arp_take_i(took_other && kind == KindArp),
    .arp_ready_i(fire && write_kind == KindArp),
    .arp_sid_o(arp_sid),
    .arp_o(arp_answer),
    .update_i(arp_update_i),
    .update_valid_i(arp_update_valid_i),
    .update_ready_o(arp_update_ready_o),
    .slot_o(arp_slot),
    .tup_i(arp_tup),
    .mac_valid_o(mac_req),
    .mac_ready_i(took_other && kind == KindMac),
    .mac_sid_o(mac_sid),
    .mac_o(mac_new)
  );

  spfe_tcp_eng_op #(
    .SessionCount(SessionCount)
  ) i_op (
    .clk_i,
    .rst_i,
    .op_i,
    .op_valid_i,
    .op_ready_o,
    .iss_key_i(cfg_i.iss_key),
    .iss_clock_i(iss_clock),
    .valid_o(op_req),
    .iss_o(op_iss),
    .take_i(took_other && kind == KindOp),
    .done_i(fire && write_kind == KindOp && dec_q.op_done),
    .again_i(fire && write_kind == KindOp && !dec_q.op_done)
  );

  spfe_tcp_eng_out #(
    .CongestionControl(CongestionControl)
  ) i_out (
    .clk_i,
    .rst_i,
    .valid_i(fire),
    .ready_o(out_ready),
    .sid_i(write_sid),
    .dec_i(dec_q),
    .cwnd_i(tcb_final.cwnd),
    .mss_i(cfg_i.mss),
    .receive_i(cfg_i.rcv_wnd != '0),
    .room_o(room),
    .rcv_cmd_o,
    .rcv_cmd_valid_o,
    .rcv_cmd_ready_i,
    .key_cmd_o,
    .key_cmd_valid_o,
    .hdr_cmd_o,
    .hdr_cmd_valid_o,
    .hdr_cmd_ready_i,
    .snd_cmd_o,
    .snd_cmd_valid_o,
    .snd_cmd_ready_i,
    .tx_cmd_o,
    .tx_cmd_valid_o,
    .tx_cmd_ready_i
  );

  spfe_tcp_eng_view #(
    .SessionCount(SessionCount)
  ) i_view (
    .clk_i,
    .rst_i,
    .sid_i(view_sid_i),
    .req_i(view_req_i),
    .wait_o(view_wait),
    .sid_o(view_sid),
    .take_i(took_other && kind == KindView),
    .done_i(fire && write_kind == KindView),
    .tcb_i(tcb_q),
    .tup_i(tup_q),
    .snd_nxt_i(snd_nxt_q),
    .rcv_nxt_i(rcv_nxt_q),
    .rto_i(rto),
    .credit_i(credit_q),
    .view_o,
    .valid_o(view_valid_o)
  );

  logic event_idle, event_lost;

  spfe_tcp_eng_event #(
    .StatusEvents(StatusEvents)
  ) i_event (
    .clk_i,
    .rst_i,
    .valid_i(fire),
    .sid_i(write_sid),
    .dec_i(dec_q),
    .state_i(tcb_q.state),
    .tup_i(tup_q),
    .credit_i(credit_q),
    .idle_o(event_idle),
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .lost_o(event_lost)
  );

  // ---- counters
  always_comb begin
    count_o = fire ? dec_q.count : '0;
    count_o.lost_event = event_lost;
    count_o.syn_drop = count_o.syn_drop || find_drop;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_segments :
    assert (rst_i || !(seg_valid_i && seg_i.hit) || segf_ready)
    else $error("segments come faster than they are looked at");
    a_events :
    assert (rst_i || !fire || event_idle)
    else $error("more events in a decision than cycles to tell them");
  end
`endif
endmodule
