// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Transmitter: sends the messages of the user, the segments of the engine and the frames of ARP
/// and ICMP to the MAC. docs/tcp-core.md describes its operation and the state it owns.
module spfe_tcp_tx
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Width of the user stream in bits: 32, 64 or 128.
  parameter int unsigned UserWidth = 64,
  /// Largest IP packet in bytes, 576 to 9000.
  parameter int unsigned Mtu = 1500,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: discard messages for a session that is not open; 0: stall the user side.
  parameter bit DropIfNotEstablished = 1'b0,
  /// 1: set PSH in every live segment.
  parameter bit Push = 1'b0,
  /// log2 of the number of 16-byte words in the ring memory, over all sessions.
  parameter int unsigned MemAddrBits = 16,
  /// Number of register stages before the MAC; each adds one cycle of latency.
  parameter int unsigned OutputPipe = 0,
  /// 1: pad frames to 60 bytes; 0: the MAC pads.
  parameter bit MacPad = 1'b1
) (
  input logic clk_i,
  /// Synchronous reset, active high; closes all sessions.
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// Messages from the user.
  input user_tx_beat_t user_i,
  input logic user_valid_i,
  output logic user_ready_o,

  /// Frames to the MAC; valid stays high within a frame.
  output mac_beat_t mac_o,
  /// A beat is offered; stays high until the end of the frame.
  output logic mac_valid_o,
  input logic mac_ready_i,

  /// Frames of ARP and ICMP; valid stays high within a frame.
  input mac_beat_t net_i,
  input logic net_valid_i,
  output logic net_ready_o,

  /// New entry of the header table; from the engine.
  input hdr_cmd_t hdr_cmd_i,
  input logic hdr_cmd_valid_i,
  /// Accepts hdr_cmd_i, which takes effect in the next cycle.
  output logic hdr_cmd_ready_o,
  /// New send state of a session; from the engine.
  input snd_cmd_t snd_cmd_i,
  input logic snd_cmd_valid_i,
  /// Accepts snd_cmd_i, which takes effect four cycles later.
  output logic snd_cmd_ready_o,
  /// Segment to send; from the engine.
  input tx_cmd_t tx_cmd_i,
  input logic tx_cmd_valid_i,
  output logic tx_cmd_ready_o,
  /// Report to the engine: a message or segment was sent, or a message is left to the engine.
  output tx_done_t tx_done_o,
  output logic tx_done_valid_o,
  input logic tx_done_ready_i,

  /// Session whose send pointers the engine reads.
  input sid_t eng_sid_i,
  /// Send pointers of eng_sid_i, in the same cycle.
  output snd_ptr_t eng_ptr_o,
  /// Session whose SND.NXT the receiver reads.
  input sid_t rx_sid_i,
  /// SND.NXT of rx_sid_i, in the same cycle.
  output seq_t rx_nxt_o,
  /// Session whose RCV.NXT the transmitter needs for a header.
  output sid_t rcv_sid_o,
  /// RCV.NXT of rcv_sid_o, in the same cycle; from the receiver.
  input seq_t rcv_nxt_i,
  /// A header of rcv_sid_o announces a window; to the receiver.
  output wnd_req_t wnd_req_o,
  /// Window in bytes, before scaling; two cycles after wnd_req_o. From the receiver.
  input logic [31:0] wnd_i,

  /// Write to the ring memory.
  output mem_write_t mem_wr_o,
  output logic mem_wr_valid_o,
  /// Memory accepts the write; every later read must return it.
  input logic mem_wr_ready_i,
  /// Word address of a read of the ring memory.
  output logic [31:0] mem_rd_o,
  output logic mem_rd_valid_o,
  input logic mem_rd_ready_i,
  /// Read data; answers come in order, with any latency.
  input logic [127:0] mem_rsp_i,
  input logic mem_rsp_valid_i,

  /// Event to the user.
  output event_t event_o,
  /// event_o is valid, for one cycle.
  output logic event_valid_o,
  /// Pulses for the statistics counters.
  output tx_count_t count_o
);
  localparam int unsigned MacBytes = MacWidth / 8;
  localparam int unsigned Mss = Mtu - 40;
  localparam int unsigned RingBits = MemAddrBits + 4 - $clog2(SessionCount);
  localparam int unsigned AskSend = 0;
  localparam int unsigned AskFinish = 1;
  localparam int unsigned AskCmd = 2;

  if (Mtu < 576 || Mtu > 9000) begin : gen_bad_mtu
    $error("spfe_tcp_tx: Mtu is %0d; 576 to 9000 are possible", Mtu);
  end
  if ((1 << RingBits) < Mss) begin : gen_bad_ring
    $error(
      "spfe_tcp_tx: a ring of %0d bytes has no room for a segment of %0d; raise MemAddrBits",
      1 << RingBits,
      Mss
    );
  end

  // Local copy: the configuration registers have a high fan-out across the core.
  tcp_cfg_t cfg_q;
  always_ff @(posedge clk_i) cfg_q <= cfg_i;

  desc_t head;  // oldest message that was not sent

  // ---- send state of the sessions
  state_req_t [2:0] req;
  state_req_t user_req;
  logic [2:0] req_valid, req_ready, res_valid;
  logic res_match, user_req_valid, user_req_ready, user_done, user_match;
  logic [SessionCount-1:0] go, open, room, gen;
  sid_t cmd_sid;
  seq_t cmd_nxt, user_written;
  logic [15:0] fit;

  spfe_tcp_tx_state #(
    .SessionCount(SessionCount),
    .RingBits(RingBits)
  ) i_state (
    .clk_i,
    .rst_i,
    .mss_i(cfg_q.mss),
    .req_i(req),
    .req_valid_i(req_valid),
    .req_ready_o(req_ready),
    .res_valid_o(res_valid),
    .res_match_o(res_match),
    .user_req_i(user_req),
    .user_valid_i(user_req_valid),
    .user_ready_o(user_req_ready),
    .user_done_o(user_done),
    .user_match_o(user_match),
    .snd_cmd_i,
    .snd_cmd_valid_i,
    .snd_cmd_ready_o,
    .go_o(go),
    .fit_sid_i(head.sid),
    .fit_o(fit),
    .open_o(open),
    .room_o(room),
    .eng_sid_i,
    .eng_nxt_o(eng_ptr_o.nxt),
    .eng_consumed_o(eng_ptr_o.consumed),
    .eng_written_o(eng_ptr_o.written),
    .rx_sid_i,
    .rx_nxt_o,
    .cmd_sid_i(cmd_sid),
    .cmd_nxt_o(cmd_nxt),
    .user_sid_i(user_i.head.sid),
    .user_written_o(user_written),
    .gen_o(gen)
  );

  // ---- intake of messages
  logic [MacWidth-1:0] data;
  logic [$clog2(MacBytes):0] data_bytes;
  logic data_last, data_valid, data_ready, new_go;
  sid_t new_sid;
  sum_t head_sum;
  logic head_valid, head_pop, head_sum_valid;
  tail_t tail;
  logic tail_valid, tail_pop;
  refusal_t refused;
  logic refused_valid, refused_ready;
  logic [7:0] pushed, popped;

  spfe_tcp_tx_intake #(
    .SessionCount(SessionCount),
    .UserWidth(UserWidth),
    .MacWidth(MacWidth),
    .Mss(Mss),
    .DropIfNotEstablished(DropIfNotEstablished),
    .MemAddrBits(MemAddrBits)
  ) i_intake (
    .clk_i,
    .rst_i,
    .mss_i(cfg_q.mss),
    .ring_refuse_i(cfg_q.ring_refuse),
    .user_i,
    .user_valid_i,
    .user_ready_o,
    .go_i(go),
    .open_i(open),
    .room_i(room),
    .gen_i(gen),
    .written_i(user_written),
    .req_o(user_req),
    .req_valid_o(user_req_valid),
    .req_ready_i(user_req_ready),
    .res_valid_i(user_done),
    .res_match_i(user_match),
    .data_o(data),
    .data_bytes_o(data_bytes),
    .data_last_o(data_last),
    .data_valid_o(data_valid),
    .data_ready_i(data_ready),
    .new_go_o(new_go),
    .new_sid_o(new_sid),
    .head_o(head),
    .head_valid_o(head_valid),
    .head_pop_i(head_pop),
    .head_sum_o(head_sum),
    .head_sum_valid_o(head_sum_valid),
    .tail_o(tail),
    .tail_valid_o(tail_valid),
    .tail_pop_i(tail_pop),
    .refused_o(refused),
    .refused_valid_o(refused_valid),
    .refused_ready_i(refused_ready),
    .pushed_o(pushed),
    .popped_o(popped),
    .mem_wr_o,
    .mem_wr_valid_o,
    .mem_wr_ready_i
  );

  // ---- frames
  tx_done_t cmd_done;
  logic cmd_done_valid, cmd_done_ready, count_command, count_mem, aborted;
  sid_t aborted_sid;
  outcome_t outcome;
  logic outcome_valid, outcome_room, finish_idle, finish_clear;

  spfe_tcp_tx_out #(
    .SessionCount(SessionCount),
    .MacWidth(MacWidth),
    .Mss(Mss),
    .VifCount(VifCount),
    .Push(Push),
    .MemAddrBits(MemAddrBits),
    .OutputPipe(OutputPipe),
    .MacPad(MacPad)
  ) i_out (
    .clk_i,
    .rst_i,
    .cfg_i(cfg_q),
    .hdr_cmd_i,
    .hdr_cmd_valid_i,
    .hdr_cmd_ready_o,
    .tx_cmd_i,
    .tx_cmd_valid_i,
    .tx_cmd_ready_o,
    .cmd_done_o(cmd_done),
    .cmd_done_valid_o(cmd_done_valid),
    .cmd_done_ready_i(cmd_done_ready),
    .count_command_o(count_command),
    .count_mem_o(count_mem),
    .go_i(go),
    .fit_i(fit),
    .data_i(data),
    .data_bytes_i(data_bytes),
    .data_last_i(data_last),
    .data_valid_i(data_valid),
    .data_ready_o(data_ready),
    .new_go_i(new_go),
    .new_sid_i(new_sid),
    .head_i(head),
    .head_valid_i(head_valid),
    .head_pop_o(head_pop),
    .head_sum_i(head_sum),
    .head_sum_valid_i(head_sum_valid),
    .outcome_o(outcome),
    .outcome_valid_o(outcome_valid),
    .outcome_room_i(outcome_room),
    .finish_idle_i(finish_idle),
    .finish_clear_i(finish_clear),
    .live_req_o(req[AskSend]),
    .live_req_valid_o(req_valid[AskSend]),
    .live_req_ready_i(req_ready[AskSend]),
    .live_res_valid_i(res_valid[AskSend]),
    .live_res_match_i(res_match),
    .cmd_req_o(req[AskCmd]),
    .cmd_req_valid_o(req_valid[AskCmd]),
    .cmd_req_ready_i(req_ready[AskCmd]),
    .cmd_res_valid_i(res_valid[AskCmd]),
    .cmd_sid_o(cmd_sid),
    .cmd_nxt_i(cmd_nxt),
    .rcv_sid_o,
    .rcv_nxt_i,
    .wnd_req_o,
    .wnd_i,
    .pushed_i(pushed),
    .popped_i(popped),
    .mem_rd_o,
    .mem_rd_valid_o,
    .mem_rd_ready_i,
    .mem_rsp_i,
    .mem_rsp_valid_i,
    .net_i,
    .net_valid_i,
    .net_ready_o,
    .mac_o,
    .mac_valid_o,
    .mac_ready_i,
    .aborted_o(aborted),
    .aborted_sid_o(aborted_sid)
  );

  // ---- completion of messages, events
  logic count_live, count_deferred, count_bad_sum;

  spfe_tcp_tx_finish #(
    .Push(Push)
  ) i_finish (
    .clk_i,
    .rst_i,
    .outcome_valid_i(outcome_valid),
    .outcome_i(outcome),
    .outcome_room_o(outcome_room),
    .idle_o(finish_idle),
    .clear_o(finish_clear),
    .tail_valid_i(tail_valid),
    .tail_i(tail),
    .tail_pop_o(tail_pop),
    .req_o(req[AskFinish]),
    .req_valid_o(req_valid[AskFinish]),
    .req_ready_i(req_ready[AskFinish]),
    .res_valid_i(res_valid[AskFinish]),
    .res_match_i(res_match),
    .cmd_done_i(cmd_done),
    .cmd_done_valid_i(cmd_done_valid),
    .cmd_done_ready_o(cmd_done_ready),
    .done_o(tx_done_o),
    .done_valid_o(tx_done_valid_o),
    .done_ready_i(tx_done_ready_i),
    .aborted_i(aborted),
    .aborted_sid_i(aborted_sid),
    .refused_i(refused),
    .refused_valid_i(refused_valid),
    .refused_ready_o(refused_ready),
    .event_o,
    .event_valid_o,
    .count_live_o(count_live),
    .count_deferred_o(count_deferred),
    .count_bad_sum_o(count_bad_sum)
  );

  tx_count_t count_q;
  always_ff @(posedge clk_i) begin
    count_q.frames <= mac_valid_o && mac_ready_i && mac_o.last;
    count_q.live <= count_live;
    count_q.deferred <= count_deferred;
    count_q.command <= count_command;
    count_q.aborted <= aborted;
    count_q.bad_sum <= count_bad_sum;
    count_q.refused <= event_valid_o && event_o.kind == EvTxRefused;
    count_q.mem_segments <= count_mem;
    if (rst_i) count_q <= '0;
  end
  assign count_o = count_q;
endmodule
