// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Protocol engine: applies events to the state of all sessions, one event every four cycles, or
/// every five within a session. Event sources feed a pipeline that owns the state; each decision
/// is committed with at most one command to the receiver and one to the transmitter.
module spfe_tcp_engine
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
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
  input logic clk_i,
  input logic rst_i,
  /// One-cycle pulse per tick, the unit of all timers; from outside the core.
  input logic tick_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// Received segment; from the receiver, which cannot stall.
  input seg_t seg_i,
  /// seg_i is valid; one cycle.
  input logic seg_valid_i,
  /// Session whose receive window has opened again and should be announced; from the receiver.
  input wnd_open_t wnd_open_i,
  /// wnd_open_i is taken.
  output logic wnd_open_ready_o,
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
  typedef logic [Bits-1:0] slot_t;

  if (SessionCount < 2 || SessionCount > 256) begin : gen_bad_sessions
    $error("spfe_tcp_engine: SessionCount is %0d; 2 to 256 are possible", SessionCount);
  end
  if (MemAddrBits < Bits || RingBits > 30) begin : gen_bad_ring
    $error("spfe_tcp_engine: MemAddrBits %0d gives rings of 2^%0d bytes", MemAddrBits, RingBits);
  end

  when_t now;
  eng_reqs_t reqs;
  eng_data_t data;
  eng_take_t take;
  eng_commit_t commit;
  logic commit_valid, query_free, room, out_ready, find_drop, event_idle, event_lost, we;
  slot_t find_slot, arp_slot, we_slot;
  eng_tup_t find_tup, arp_tup;
  eng_tcb_t we_tcb;
  sid_t read_sid;

  assign snd_sid_o = read_sid;
  assign rcv_sid_o = read_sid;

  spfe_tcp_eng_sources #(
    .SessionCount(SessionCount),
    .VifCount(VifCount)
  ) i_sources (
    .clk_i,
    .rst_i,
    .tick_i,
    .cfg_i,
    .now_o(now),
    .seg_i,
    .seg_valid_i,
    .wnd_open_i,
    .wnd_open_ready_o,
    .tx_done_i,
    .tx_done_valid_i,
    .tx_done_ready_o,
    .op_i,
    .op_valid_i,
    .op_ready_o,
    .view_sid_i,
    .view_req_i,
    .view_o,
    .view_valid_o,
    .arp_query_o,
    .arp_query_valid_o,
    .arp_answer_i,
    .arp_answer_valid_i,
    .arp_update_i,
    .arp_update_valid_i,
    .arp_update_ready_o,
    .reqs_o(reqs),
    .data_o(data),
    .take_i(take),
    .commit_i(commit),
    .commit_valid_i(commit_valid),
    .query_free_o(query_free),
    .drop_o(find_drop),
    .find_slot_o(find_slot),
    .find_tup_i(find_tup),
    .arp_slot_o(arp_slot),
    .arp_tup_i(arp_tup),
    .we_i(we),
    .we_slot_i(we_slot),
    .we_tcb_i(we_tcb)
  );

  spfe_tcp_eng_pipe #(
    .SessionCount(SessionCount),
    .RingBits(RingBits),
    .CongestionControl(CongestionControl),
    .CreditEvents(CreditEvents),
    .InstantAck(InstantAck)
  ) i_pipe (
    .clk_i,
    .rst_i,
    .cfg_i,
    .now_i(now),
    .reqs_i(reqs),
    .data_i(data),
    .take_o(take),
    .query_free_i(query_free),
    .room_i(room),
    .out_ready_i(out_ready),
    .commit_o(commit),
    .commit_valid_o(commit_valid),
    .read_sid_o(read_sid),
    .snd_ptr_i,
    .rcv_nxt_i,
    .find_slot_i(find_slot),
    .find_tup_o(find_tup),
    .arp_slot_i(arp_slot),
    .arp_tup_o(arp_tup),
    .ack_sid_i,
    .ack_lo_o,
    .we_o(we),
    .we_slot_o(we_slot),
    .we_tcb_o(we_tcb)
  );

  spfe_tcp_eng_out #(
    .CongestionControl(CongestionControl)
  ) i_out (
    .clk_i,
    .rst_i,
    .valid_i(commit_valid),
    .ready_o(out_ready),
    .commit_i(commit),
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

  spfe_tcp_eng_event #(
    .StatusEvents(StatusEvents)
  ) i_event (
    .clk_i,
    .rst_i,
    .valid_i(commit_valid),
    .commit_i(commit),
    .idle_o(event_idle),
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .lost_o(event_lost)
  );

  always_comb begin
    count_o = commit_valid ? commit.dec.count : '0;
    count_o.lost_event = event_lost;
    count_o.syn_drop = count_o.syn_drop || find_drop;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_events :
    assert (rst_i || !commit_valid || event_idle)
    else $error("the events of the last decision are still pending");
  end
`endif
endmodule
