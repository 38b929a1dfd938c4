// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Pipeline of the engine with the session state it owns. Stages of an event:
///
///   select  choose an event (while the previous one is in decide)
///   read    read the state of its session
///   calc    compute differences and comparisons
///   judge   determine the case
///   decide  compute new state and commands
///   write   write the state and commit the decision
module spfe_tcp_eng_pipe
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// log2 of the ring size of a session in bytes.
  parameter int unsigned RingBits = 16,
  /// 1: NewReno congestion control (RFC 5681, 6582).
  parameter bit CongestionControl = 1'b0,
  /// 1: raise EvCredit when an ACK frees bytes in the ring.
  parameter bit CreditEvents = 1'b0,
  /// 1: acknowledge each data segment at once; 0: delay acknowledgements.
  parameter bit InstantAck = 1'b0,
  /// Width of a session number; derived.
  localparam int unsigned Bits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Current time in ticks.
  input when_t now_i,

  /// Waiting events.
  input eng_reqs_t reqs_i,
  /// Data of the waiting events.
  input eng_data_t data_i,
  /// Which event is taken.
  output eng_take_t take_o,
  /// A next-hop query can be started.
  input logic query_free_i,
  /// The command FIFO has room for one more event and those in progress.
  input logic room_i,
  /// All commands of the previous decision have been issued.
  input logic out_ready_i,
  /// The event in the write stage.
  output eng_commit_t commit_o,
  /// commit_o is committed in this cycle.
  output logic commit_valid_o,

  /// Session whose send pointers and RCV.NXT are read.
  output sid_t read_sid_o,
  /// Send pointers of read_sid_o, in the same cycle.
  input snd_ptr_t snd_ptr_i,
  /// RCV.NXT of read_sid_o, in the same cycle.
  input seq_t rcv_nxt_i,
  /// Session to read; from the search for a listening session.
  input logic [Bits-1:0] find_slot_i,
  /// Four-tuple of find_slot_i, in the same cycle.
  output eng_tup_t find_tup_o,
  /// Session to read; from the next-hop walk.
  input logic [Bits-1:0] arp_slot_i,
  /// Four-tuple of arp_slot_i, in the same cycle.
  output eng_tup_t arp_tup_o,
  /// Session to read; from the receiver.
  input sid_t ack_sid_i,
  /// Lowest acceptable ACK of ack_sid_i, in the same cycle.
  output seq_t ack_lo_o,
  /// The state of a session is written, also during initialisation; to the timers.
  output logic we_o,
  /// Session that is written.
  output logic [Bits-1:0] we_slot_o,
  /// State that is written.
  output eng_tcb_t we_tcb_o
);
  localparam logic [31:0] RingBytes = 32'd1 << RingBits;
  typedef logic [Bits-1:0] slot_t;

  logic can, read, calc, judge, decide, fire, init;
  kind_e other_kind, kind, write_kind;
  sid_t sid, write_sid;
  seg_t seg_q;
  seq_t last_d, dist_q, last_q, iss_q, rcv_nxt_q;
  snd_ptr_t snd_ptr_q;
  tx_done_t done_q;
  mac_t mac_q;
  eng_tcb_t read_tcb, tcb_q, tcb_final;
  eng_tup_t read_tup, tup_q, tup_final;
  eng_pre_t pre_d, pre_q;
  eng_pred_t pred_d, pred_q;
  eng_class_t class_d, class_q;
  eng_case_t case_d, case_q;
  eng_ctx_t ctx;
  eng_dec_t dec_d, dec_q;
  logic [15:0] rto;
  logic [31:0] credit_q;
  logic unused_bits;

  assign unused_bits = ^{cfg_i, ack_sid_i};

  // ---- select
  assign last_d = data_i.seg.off + 32'(data_i.seg.seg.len) + 32'(data_i.seg.seg.flags.syn) +
      32'(data_i.seg.seg.flags.fin) - 32'd1;

  spfe_tcp_eng_flow #(
    .SessionCount(SessionCount)
  ) i_flow (
    .clk_i,
    .rst_i,
    .init_i(init),
    .reqs_i,
    .take_o,
    .room_i,
    .out_ready_i,
    .can_o(can),
    .other_kind_o(other_kind),
    .read_o(read),
    .calc_o(calc),
    .judge_o(judge),
    .decide_o(decide),
    .sid_o(sid),
    .kind_o(kind),
    .fire_o(fire),
    .write_sid_o(write_sid),
    .write_kind_o(write_kind)
  );

  always_ff @(posedge clk_i) begin
    if (can) begin
      seg_q <= reqs_i.seg.valid ? data_i.seg.seg : data_i.find_seg;
      dist_q <= data_i.seg.off;
      last_q <= last_d;
      done_q <= data_i.done;
      iss_q <= other_kind == KindOp ? data_i.op_iss : data_i.find_iss;
      mac_q <= data_i.mac;
    end
    if (read) begin
      tcb_q <= read_tcb;
      tup_q <= read_tup;
      pre_q <= pre_d;
      snd_ptr_q <= snd_ptr_i;
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

  // ---- read
  assign read_sid_o = sid;

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

  // ---- calc
  spfe_tcp_eng_calc i_calc (
    .seg_i(seg_q),
    .done_i(done_q),
    .tcb_i(tcb_q),
    .pre_i(pre_q),
    .snd_ptr_i(snd_ptr_q),
    .rcv_nxt_i(rcv_nxt_q),
    .now_i,
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

  // ---- judge and decide
  assign ctx = '{
      sid: sid,
      tcb: tcb_q,
      tup: tup_q,
      seg: seg_q,
      done: done_q,
      op: data_i.op,
      arp: data_i.arp,
      mac: mac_q,
      iss: iss_q,
      snd_nxt: snd_ptr_q.nxt,
      now: now_i,
      room: room_i,
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
    .query_free_i,
    .dec_o(dec_d)
  );

  // ---- write
  spfe_tcp_eng_finish #(
    .CongestionControl(CongestionControl)
  ) i_finish (
    .clk_i,
    .decide_i(decide),
    .tcb_i(tcb_q),
    .p_i(pred_q),
    .dec_i(dec_q),
    .now_i,
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
    .slot_i(slot_t'(write_sid)),
    .tcb_i(tcb_final),
    .tup_i(tup_final),
    .we_o,
    .slot_o(we_slot_o),
    .tcb_o(we_tcb_o),
    .read_slot_i(slot_t'(sid)),
    .read_tcb_o(read_tcb),
    .read_tup_o(read_tup),
    .find_slot_i,
    .find_tup_o,
    .arp_slot_i,
    .arp_tup_o,
    .ack_slot_i(slot_t'(ack_sid_i)),
    .ack_lo_o
  );

  assign commit_valid_o = fire;
  assign commit_o = '{
      kind: write_kind,
      sid: write_sid,
      dec: dec_q,
      tcb: tcb_final,
      old_tcb: tcb_q,
      old_tup: tup_q,
      snd_nxt: snd_ptr_q.nxt,
      rcv_nxt: rcv_nxt_q,
      rto: rto,
      credit: credit_q
    };
endmodule
