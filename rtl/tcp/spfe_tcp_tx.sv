// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Transmitter: sends the messages of the user, the segments of the engine and the frames of ARP
/// and ICMP to the MAC. docs/tcp-core.md describes its operation and the state it owns.
module spfe_tcp_tx
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
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
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high; closes all sessions.
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// Message data from the user: first byte in bits 7:0, all beats full except the last.
  input logic [UserWidth-1:0] user_data_i,
  /// Valid bytes of the beat.
  input logic [UserWidth/8-1:0] user_keep_i,
  /// The user offers a beat.
  input logic user_valid_i,
  /// Transmitter accepts the beat.
  output logic user_ready_o,
  /// Last beat of the message.
  input logic user_last_i,
  /// First beat: session number.
  input sid_t user_sid_i,
  /// First beat: 1 length known, 2 length and checksum known, other values nothing known.
  input logic [1:0] user_mode_i,
  /// First beat: message length in bytes (modes 1 and 2).
  input logic [15:0] user_len_i,
  /// First beat: ones-complement sum of the message, not inverted (mode 2).
  input sum_t user_sum_i,
  /// First beat: set PSH in the segment.
  input logic user_push_i,

  /// Frame data to the MAC, without preamble and FCS; first byte in bits 7:0.
  output logic [MacWidth-1:0] mac_data_o,
  /// Valid bytes of the beat.
  output logic [MacWidth/8-1:0] mac_keep_o,
  /// A beat is offered; stays high until the end of the frame.
  output logic mac_valid_o,
  /// MAC accepts the beat.
  input logic mac_ready_i,
  /// Last beat of the frame.
  output logic mac_last_o,
  /// With mac_last_o: the MAC must invalidate the frame.
  output logic mac_err_o,

  /// Frame data from ARP and ICMP; valid stays high within a frame.
  input logic [MacWidth-1:0] net_data_i,
  /// Valid bytes of the beat.
  input logic [MacWidth/8-1:0] net_keep_i,
  /// A beat is offered.
  input logic net_valid_i,
  /// Transmitter accepts the beat.
  output logic net_ready_o,
  /// Last beat of the frame.
  input logic net_last_i,

  /// New entry of the header table; from the engine.
  input hdr_cmd_t hdr_cmd_i,
  /// hdr_cmd_i is valid; held until accepted.
  input logic hdr_cmd_valid_i,
  /// Accepts hdr_cmd_i, which takes effect in the next cycle.
  output logic hdr_cmd_ready_o,
  /// New send state of a session; from the engine.
  input snd_cmd_t snd_cmd_i,
  /// snd_cmd_i is valid; held until accepted.
  input logic snd_cmd_valid_i,
  /// Accepts snd_cmd_i, which takes effect four cycles later.
  output logic snd_cmd_ready_o,
  /// Segment to send; from the engine.
  input tx_cmd_t tx_cmd_i,
  /// tx_cmd_i is valid; held until accepted.
  input logic tx_cmd_valid_i,
  /// Accepts tx_cmd_i.
  output logic tx_cmd_ready_o,
  /// Report to the engine: a message or segment was sent, or a message is left to the engine.
  output tx_done_t tx_done_o,
  /// tx_done_o is valid.
  output logic tx_done_valid_o,
  /// Engine accepts tx_done_o.
  input logic tx_done_ready_i,

  /// Session whose send pointers the engine reads.
  input sid_t eng_sid_i,
  /// SND.NXT of eng_sid_i, in the same cycle.
  output seq_t eng_nxt_o,
  /// End of the data of eng_sid_i that was sent live or left to the engine.
  output seq_t eng_consumed_o,
  /// End of the data of eng_sid_i in the ring.
  output seq_t eng_written_o,
  /// Session whose SND.NXT the receiver reads.
  input sid_t rx_sid_i,
  /// SND.NXT of rx_sid_i, in the same cycle.
  output seq_t rx_nxt_o,
  /// Session whose RCV.NXT the transmitter needs for a header.
  output sid_t rcv_sid_o,
  /// RCV.NXT of rcv_sid_o, in the same cycle; from the receiver.
  input seq_t rcv_nxt_i,

  /// A write to the ring memory is offered.
  output logic mem_wr_valid_o,
  /// Memory accepts the write; every later read must return it.
  input logic mem_wr_ready_i,
  /// Word address of the write.
  output logic [MemAddrBits-1:0] mem_wr_addr_o,
  /// Data of the write.
  output logic [127:0] mem_wr_data_o,
  /// Byte enables of the write.
  output logic [15:0] mem_wr_mask_o,
  /// A read of the ring memory is requested.
  output logic mem_rd_valid_o,
  /// Memory accepts the read request.
  input logic mem_rd_ready_i,
  /// Word address of the read.
  output logic [MemAddrBits-1:0] mem_rd_addr_o,
  /// Read data is valid. Answers come in order, with any latency.
  input logic mem_rsp_valid_i,
  /// Read data.
  input logic [127:0] mem_rsp_data_i,

  /// Event to the user.
  output event_t event_o,
  /// event_o is valid, for one cycle.
  output logic event_valid_o,
  /// Pulses for the statistics counters.
  output tx_count_t count_o
);
  localparam int unsigned UserBytes = UserWidth / 8;
  localparam int unsigned MacBytes = MacWidth / 8;
  localparam int unsigned Lanes = MacBytes / 4;
  localparam int unsigned Mss = Mtu - 40;
  localparam int unsigned RingBits = MemAddrBits + 4 - $clog2(SessionCount);
  localparam int unsigned AskSend = 0;
  localparam int unsigned AskFinish = 1;
  localparam int unsigned AskCmd = 2;

  if (MacWidth != 32 && MacWidth != 64) begin : gen_bad_mac
    $error("spfe_tcp_tx: MacWidth is %0d; 32 and 64 are possible", MacWidth);
  end
  if (UserWidth != 32 && UserWidth != 64 && UserWidth != 128) begin : gen_bad_user
    $error("spfe_tcp_tx: UserWidth is %0d; 32, 64 and 128 are possible", UserWidth);
  end
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

  // ---- send state of the sessions
  state_req_t [2:0] req;
  state_req_t user_req;
  logic [2:0] req_valid, req_ready, res_valid;
  logic res_match, user_req_valid, user_req_ready, user_done, user_match;
  logic [SessionCount-1:0] go, open, room, gen;
  seq_t cmd_nxt, user_written;
  tx_cmd_t seg;

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
    .open_o(open),
    .room_o(room),
    .eng_sid_i,
    .eng_nxt_o,
    .eng_consumed_o,
    .eng_written_o,
    .rx_sid_i,
    .rx_nxt_o,
    .cmd_sid_i(seg.sid),
    .cmd_nxt_o(cmd_nxt),
    .user_sid_i,
    .user_written_o(user_written),
    .gen_o(gen)
  );

  // ---- user side
  logic beat_valid, beat_first, beat_last, beat_ring, commit, rollback, fifo_room, ring_room;
  logic [$clog2(UserBytes):0] beat_bytes;
  logic [UserWidth-1:0] beat_data;
  seq_t first_seq;
  logic desc_valid, desc_go, slot_room, status_valid, status_ok;
  desc_t desc;
  logic [15:0] total;
  logic refused_valid, refused_ready;
  sid_t refused_sid;
  refused_e refused_why;

  spfe_tcp_tx_user #(
    .SessionCount(SessionCount),
    .Width(UserWidth),
    .MacWidth(MacWidth),
    .DropIfNotEstablished(DropIfNotEstablished)
  ) i_user (
    .clk_i,
    .rst_i,
    .mss_i(cfg_q.mss),
    .ring_refuse_i(cfg_q.ring_refuse),
    .keep_i(user_keep_i),
    .valid_i(user_valid_i),
    .ready_o(user_ready_o),
    .last_i(user_last_i),
    .sid_i(user_sid_i),
    .mode_i(user_mode_i),
    .len_i(user_len_i),
    .sum_i(user_sum_i),
    .push_i(user_push_i),
    .go_i(go),
    .open_i(open),
    .room_i(room),
    .gen_i(gen),
    .written_i(user_written),
    .flow_ok_i(fifo_room && ring_room),
    .slot_ok_i(slot_room),
    .beat_valid_o(beat_valid),
    .beat_first_o(beat_first),
    .beat_last_o(beat_last),
    .beat_bytes_o(beat_bytes),
    .beat_ring_o(beat_ring),
    .commit_o(commit),
    .rollback_o(rollback),
    .first_seq_o(first_seq),
    .desc_valid_o(desc_valid),
    .desc_go_o(desc_go),
    .desc_o(desc),
    .total_o(total),
    .req_o(user_req),
    .req_valid_o(user_req_valid),
    .req_ready_i(user_req_ready),
    .res_valid_i(user_done),
    .res_match_i(user_match),
    .status_valid_o(status_valid),
    .status_ok_o(status_ok),
    .refused_valid_o(refused_valid),
    .refused_ready_i(refused_ready),
    .refused_sid_o(refused_sid),
    .refused_why_o(refused_why)
  );

  always_comb begin
    for (int unsigned i = 0; i < UserBytes; i++) begin
      beat_data[i*8+:8] = i < 32'(beat_bytes) ? user_data_i[i*8+:8] : 8'd0;
    end
  end

  // ---- payload sum, FIFO, message slots, ring
  logic sum_valid;
  sum_t sum;
  spfe_tcp_tx_sum #(
    .Bytes(UserBytes)
  ) i_sum (
    .clk_i,
    .rst_i,
    .valid_i(beat_valid),
    .first_i(beat_first),
    .last_i(beat_last),
    .data_i(beat_data),
    .valid_o(sum_valid),
    .sum_o(sum)
  );

  logic data_valid, data_ready, data_last;
  logic [MacWidth-1:0] data;
  logic [$clog2(MacBytes):0] data_bytes;
  spfe_tcp_tx_fifo #(
    .UserBytes(UserBytes),
    .MacBytes(MacBytes),
    .Size(2 * Mss)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(beat_valid),
    .first_i(beat_first),
    .last_i(beat_last),
    .data_i(beat_data),
    .bytes_i(beat_bytes),
    .commit_i(commit),
    .rollback_i(rollback),
    .room_o(fifo_room),
    .valid_o(data_valid),
    .ready_i(data_ready),
    .data_o(data),
    .bytes_o(data_bytes),
    .last_o(data_last)
  );

  logic head_valid, head_pop, head_sum_valid, tail_valid, tail_ok, tail_pop;
  desc_t head;
  sum_t head_sum, tail_sum;
  logic [15:0] tail_len;
  spfe_tcp_tx_queue i_queue (
    .clk_i,
    .rst_i,
    .desc_valid_i(desc_valid),
    .desc_i(desc),
    .sum_valid_i(sum_valid),
    .sum_i(sum),
    .len_i(total),
    .status_valid_i(status_valid),
    .status_ok_i(status_ok),
    .room_o(slot_room),
    .head_valid_o(head_valid),
    .head_o(head),
    .head_pop_i(head_pop),
    .head_sum_valid_o(head_sum_valid),
    .head_sum_o(head_sum),
    .tail_valid_o(tail_valid),
    .tail_sum_o(tail_sum),
    .tail_len_o(tail_len),
    .tail_ok_o(tail_ok),
    .tail_pop_i(tail_pop)
  );

  logic [7:0] pushed, popped;
  spfe_tcp_tx_ring #(
    .SessionCount(SessionCount),
    .UserBytes(UserBytes),
    .MemAddrBits(MemAddrBits)
  ) i_ring (
    .clk_i,
    .rst_i,
    .valid_i(beat_valid && (beat_ring || beat_last)),
    .first_i(beat_first),
    .last_i(beat_last),
    .sid_i(user_sid_i),
    .seq_i(first_seq),
    .data_i(beat_data),
    .bytes_i(beat_ring ? beat_bytes : '0),
    .room_o(ring_room),
    .pushed_o(pushed),
    .popped_o(popped),
    .mem_valid_o(mem_wr_valid_o),
    .mem_ready_i(mem_wr_ready_i),
    .mem_addr_o(mem_wr_addr_o),
    .mem_data_o(mem_wr_data_o),
    .mem_mask_o(mem_wr_mask_o)
  );

  // ---- segments of the engine
  sid_t read_sid, seg_sid;
  seq_t read_seq;
  logic [15:0] read_len;
  logic read_start, read_give, read_busy, read_valid, read_ready, seg_valid, seg_begins, seg_left;
  logic chunk_valid, chunk_ready;
  logic [MacWidth-1:0] read_chunk, chunk;
  sum_t read_sum, seg_sum;
  logic [15:0] seg_bytes, frame_bytes;
  logic [3:0] seg_options;
  seq_t frame_seq, frame_ack;
  tx_done_t cmd_done;
  logic cmd_done_valid, cmd_done_ready;

  spfe_tcp_tx_cmd #(
    .SessionCount(SessionCount),
    .MacBytes(MacBytes)
  ) i_cmd (
    .clk_i,
    .rst_i,
    .mss_i(cfg_q.mss),
    .wscale_i(cfg_q.wscale),
    .cmd_i(tx_cmd_i),
    .cmd_valid_i(tx_cmd_valid_i),
    .cmd_ready_o(tx_cmd_ready_o),
    .read_start_o(read_start),
    .read_sid_o(read_sid),
    .read_seq_o(read_seq),
    .read_len_o(read_len),
    .read_busy_i(read_busy),
    .read_sum_i(read_sum),
    .give_o(read_give),
    .read_valid_i(read_valid),
    .read_ready_o(read_ready),
    .read_chunk_i(read_chunk),
    .seg_valid_o(seg_valid),
    .seg_o(seg),
    .seg_sid_o(seg_sid),
    .seg_bytes_o(seg_bytes),
    .seg_options_o(seg_options),
    .seg_sum_o(seg_sum),
    .chunk_valid_o(chunk_valid),
    .chunk_ready_i(chunk_ready),
    .chunk_o(chunk),
    .begins_i(seg_begins),
    .left_i(seg_left),
    .left_seq_i(frame_seq),
    .left_ack_i(frame_ack),
    .req_o(req[AskCmd]),
    .req_valid_o(req_valid[AskCmd]),
    .req_ready_i(req_ready[AskCmd]),
    .res_valid_i(res_valid[AskCmd]),
    .done_o(cmd_done),
    .done_valid_o(cmd_done_valid),
    .done_ready_i(cmd_done_ready)
  );

  spfe_tcp_tx_read #(
    .SessionCount(SessionCount),
    .MacBytes(MacBytes),
    .MemAddrBits(MemAddrBits),
    .Size(Mss)
  ) i_read (
    .clk_i,
    .rst_i,
    .start_i(read_start),
    .sid_i(read_sid),
    .seq_i(read_seq),
    .len_i(read_len),
    .busy_o(read_busy),
    .sum_o(read_sum),
    .pushed_i(pushed),
    .popped_i(popped),
    .mem_valid_o(mem_rd_valid_o),
    .mem_ready_i(mem_rd_ready_i),
    .mem_addr_o(mem_rd_addr_o),
    .rsp_valid_i(mem_rsp_valid_i),
    .rsp_data_i(mem_rsp_data_i),
    .give_i(read_give),
    .give_seq_i(read_seq[3:0]),
    .give_len_i(read_len),
    .chunk_valid_o(read_valid),
    .chunk_ready_i(read_ready),
    .chunk_o(read_chunk)
  );

  // ---- headers
  hdr_t [1:0] hdr;
  hdr_t hdr_cmd_q;  // entry for the command that is waiting
  sid_t live_sid;
  logic idle, load, load_live, has_tag;
  logic [4:0] index;
  logic [Lanes-1:0][31:0] start_words, words;
  logic [Lanes-1:0][15:0] checks;
  sum_t payload_sum;

  spfe_tcp_tx_table #(
    .SessionCount(SessionCount),
    .VifCount(VifCount)
  ) i_table (
    .clk_i,
    .rst_i,
    .vif_i(cfg_q.vif),
    .cmd_i(hdr_cmd_i),
    .cmd_valid_i(hdr_cmd_valid_i),
    .cmd_ready_o(hdr_cmd_ready_o),
    .sid_i({seg_sid, live_sid}),
    .hdr_o(hdr)
  );

  always_ff @(posedge clk_i) hdr_cmd_q <= hdr[1];

  spfe_tcp_tx_head #(
    .Lanes(Lanes),
    .VifCount(VifCount),
    .Push(Push)
  ) i_head (
    .clk_i,
    .rst_i,
    .cfg_i(cfg_q),
    .idle_i(idle),
    .load_i(load),
    .live_i(load_live),
    .hdr_i(load_live ? hdr[0] : hdr_cmd_q),
    .start_words_o(start_words),
    .desc_i(head),
    .cmd_i(seg),
    .cmd_bytes_i(seg_bytes),
    .cmd_options_i(seg_options),
    .snd_nxt_i(cmd_nxt),
    .rcv_nxt_i,
    .payload_sum_i(payload_sum),
    .index_i(index),
    .words_o(words),
    .checks_o(checks),
    .tagged_o(has_tag),
    .seq_o(frame_seq),
    .ack_o(frame_ack),
    .bytes_o(frame_bytes)
  );

  // ---- sender
  logic out_valid, out_ready, out_last, out_err, aborted;
  logic [MacWidth-1:0] out_data;
  logic [MacBytes-1:0] out_keep;
  sid_t aborted_sid;
  outcome_t outcome;
  logic outcome_valid, outcome_room, finish_idle, finish_clear;

  spfe_tcp_tx_send #(
    .SessionCount(SessionCount),
    .MacBytes(MacBytes),
    .MacPad(MacPad)
  ) i_send (
    .clk_i,
    .rst_i,
    .go_i(go),
    .head_valid_i(head_valid),
    .head_i(head),
    .head_pop_o(head_pop),
    .head_sum_valid_i(head_sum_valid),
    .head_sum_i(head_sum),
    .new_go_i(desc_go),
    .new_sid_i(desc.sid),
    .data_valid_i(data_valid),
    .data_ready_o(data_ready),
    .data_i(data),
    .data_bytes_i(data_bytes),
    .data_last_i(data_last),
    .cmd_valid_i(seg_valid),
    .cmd_sid_i(seg.sid),
    .cmd_seq_nxt_i(seg.seq_nxt),
    .cmd_bytes_i(seg_bytes),
    .cmd_sum_i(seg_sum),
    .cmd_data_valid_i(chunk_valid),
    .cmd_data_ready_o(chunk_ready),
    .cmd_data_i(chunk),
    .cmd_begins_o(seg_begins),
    .cmd_left_o(seg_left),
    .net_data_i,
    .net_keep_i,
    .net_valid_i,
    .net_ready_o,
    .net_last_i,
    .idle_o(idle),
    .load_o(load),
    .load_live_o(load_live),
    .live_sid_o(live_sid),
    .sid_o(rcv_sid_o),
    .start_words_i(start_words),
    .index_o(index),
    .words_i(words),
    .checks_i(checks),
    .tagged_i(has_tag),
    .ack_i(frame_ack),
    .bytes_i(frame_bytes),
    .payload_sum_o(payload_sum),
    .req_o(req[AskSend]),
    .req_valid_o(req_valid[AskSend]),
    .req_ready_i(req_ready[AskSend]),
    .res_valid_i(res_valid[AskSend]),
    .res_match_i(res_match),
    .outcome_valid_o(outcome_valid),
    .outcome_o(outcome),
    .outcome_room_i(outcome_room),
    .finish_idle_i(finish_idle),
    .finish_clear_i(finish_clear),
    .mac_data_o(out_data),
    .mac_keep_o(out_keep),
    .mac_valid_o(out_valid),
    .mac_ready_i(out_ready),
    .mac_last_o(out_last),
    .mac_err_o(out_err),
    .aborted_o(aborted),
    .aborted_sid_o(aborted_sid)
  );

  // ---- completion of messages, events
  event_t finish_event;
  logic finish_event_valid, finish_event_ready, count_live, count_deferred, count_bad_sum;

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
    .tail_sum_i(tail_sum),
    .tail_len_i(tail_len),
    .tail_ok_i(tail_ok),
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
    .event_o(finish_event),
    .event_valid_o(finish_event_valid),
    .event_ready_i(finish_event_ready),
    .count_live_o(count_live),
    .count_deferred_o(count_deferred),
    .count_bad_sum_o(count_bad_sum)
  );

  spfe_tcp_tx_events i_events (
    .clk_i,
    .rst_i,
    .aborted_i(aborted),
    .aborted_sid_i(aborted_sid),
    .finish_i(finish_event),
    .finish_valid_i(finish_event_valid),
    .finish_ready_o(finish_event_ready),
    .refused_valid_i(refused_valid),
    .refused_sid_i(refused_sid),
    .refused_why_i(refused_why),
    .refused_ready_o(refused_ready),
    .event_o,
    .event_valid_o
  );

  // ---- output registers
  localparam int unsigned BeatBits = MacWidth + MacBytes + 2;
  logic [OutputPipe:0] pipe_valid, pipe_ready;
  logic [OutputPipe:0][BeatBits-1:0] pipe;
  assign pipe_valid[0] = out_valid;
  assign pipe[0] = {out_err, out_last, out_keep, out_data};
  assign out_ready = pipe_ready[0];
  for (genvar i = 0; i < OutputPipe; i++) begin : gen_pipe
    spfe_slice #(
      .Width(BeatBits)
    ) i_slice (
      .clk_i,
      .rst_i,
      .valid_i(pipe_valid[i]),
      .ready_o(pipe_ready[i]),
      .data_i(pipe[i]),
      .valid_o(pipe_valid[i+1]),
      .ready_i(pipe_ready[i+1]),
      .data_o(pipe[i+1])
    );
  end
  assign mac_valid_o = pipe_valid[OutputPipe];
  assign pipe_ready[OutputPipe] = mac_ready_i;
  assign {mac_err_o, mac_last_o, mac_keep_o, mac_data_o} = pipe[OutputPipe];

  always_ff @(posedge clk_i) begin
    count_o.frames <= mac_valid_o && mac_ready_i && mac_last_o;
    count_o.live <= count_live;
    count_o.deferred <= count_deferred;
    count_o.command <= seg_left;
    count_o.aborted <= aborted;
    count_o.bad_sum <= count_bad_sum;
    count_o.refused <= event_valid_o && event_o.kind == EvTxRefused;
    count_o.mem_segments <= seg_left && seg.len != '0;
    if (rst_i) count_o <= '0;
  end
endmodule
