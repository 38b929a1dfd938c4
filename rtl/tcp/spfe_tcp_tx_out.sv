// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Output of the transmitter: fetches the segments of the engine, builds headers, and sends them,
/// live messages and frames of ARP and ICMP to the MAC.
module spfe_tcp_tx_out
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Longest segment in bytes.
  parameter int unsigned Mss = 1460,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: set PSH in every live segment.
  parameter bit Push = 1'b0,
  /// log2 of the number of 16-byte words in the ring memory, over all sessions.
  parameter int unsigned MemAddrBits = 16,
  /// Number of register stages before the MAC; each adds one cycle of latency.
  parameter int unsigned OutputPipe = 0,
  /// 1: pad frames to 60 bytes; 0: the MAC pads.
  parameter bit MacPad = 1'b1,
  /// Bytes per beat; derived.
  localparam int unsigned MacBytes = MacWidth / 8
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// New entry of the header table; from the engine.
  input hdr_cmd_t hdr_cmd_i,
  input logic hdr_cmd_valid_i,
  /// Accepts hdr_cmd_i, which takes effect in the next cycle.
  output logic hdr_cmd_ready_o,
  /// Segment to send; from the engine.
  input tx_cmd_t tx_cmd_i,
  input logic tx_cmd_valid_i,
  output logic tx_cmd_ready_o,
  /// Report that a segment of the engine was sent.
  output tx_done_t cmd_done_o,
  output logic cmd_done_valid_o,
  input logic cmd_done_ready_i,
  /// A segment of the engine was sent; one cycle.
  output logic count_command_o,
  /// A segment with payload from the ring was sent; one cycle.
  output logic count_mem_o,

  /// Sessions that may send a message of any length live.
  input logic [SessionCount-1:0] go_i,
  /// Longest message that the session of head_i may send live; 0: none.
  input logic [15:0] fit_i,
  /// Payload chunk of the oldest message that was not sent.
  input logic [MacWidth-1:0] data_i,
  /// Valid bytes of the chunk.
  input logic [$clog2(MacBytes):0] data_bytes_i,
  /// Last chunk of the message.
  input logic data_last_i,
  input logic data_valid_i,
  output logic data_ready_o,
  /// A message enters the queue in this cycle and its session may send live.
  input logic new_go_i,
  /// Session of that message.
  input sid_t new_sid_i,
  /// Oldest message that was not sent.
  input desc_t head_i,
  input logic head_valid_i,
  /// The message has been sent, deferred or discarded; the queue removes it.
  output logic head_pop_o,
  /// Payload sum of head_i.
  input sum_t head_sum_i,
  input logic head_sum_valid_i,
  /// How the oldest message ended.
  output outcome_t outcome_o,
  /// outcome_o is valid.
  output logic outcome_valid_o,
  /// The finisher has room for another outcome and those in flight.
  input logic outcome_room_i,
  /// The finisher has no message left.
  input logic finish_idle_i,
  /// The finisher has completed a message that was not sent; live messages may start again.
  input logic finish_clear_i,

  /// Request of the sender to reserve the sequence numbers of a live message.
  output state_req_t live_req_o,
  output logic live_req_valid_o,
  input logic live_req_ready_i,
  /// The request of the sender has completed.
  input logic live_res_valid_i,
  /// With live_res_valid_i: the numbers are reserved; 0: the message is stale.
  input logic live_res_match_i,
  /// Request to advance SND.NXT over a segment of the engine.
  output state_req_t cmd_req_o,
  output logic cmd_req_valid_o,
  input logic cmd_req_ready_i,
  /// The request for a segment of the engine has completed.
  input logic cmd_res_valid_i,
  /// Session of the segment of the engine.
  output sid_t cmd_sid_o,
  /// SND.NXT of cmd_sid_o, in the same cycle.
  input seq_t cmd_nxt_i,
  /// Session whose RCV.NXT is needed for a header.
  output sid_t rcv_sid_o,
  /// RCV.NXT of rcv_sid_o, in the same cycle; from the receiver.
  input seq_t rcv_nxt_i,
  /// A header of rcv_sid_o announces a window.
  output wnd_req_t wnd_req_o,
  /// Window in bytes, before scaling; two cycles after wnd_req_o.
  input logic [31:0] wnd_i,

  /// Number of writes queued before the ring memory, modulo 256.
  input logic [7:0] pushed_i,
  /// Number of writes accepted by the ring memory, modulo 256.
  input logic [7:0] popped_i,
  /// Word address of a read of the ring memory.
  output logic [31:0] mem_rd_o,
  output logic mem_rd_valid_o,
  input logic mem_rd_ready_i,
  /// Read data; answers come in order, with any latency.
  input logic [127:0] mem_rsp_i,
  input logic mem_rsp_valid_i,

  /// Frames of ARP and ICMP; valid stays high within a frame.
  input mac_beat_t net_i,
  input logic net_valid_i,
  output logic net_ready_o,

  /// Frames to the MAC; valid stays high within a frame.
  output mac_beat_t mac_o,
  output logic mac_valid_o,
  input logic mac_ready_i,
  /// A live frame was aborted.
  output logic aborted_o,
  /// Session of the aborted frame.
  output sid_t aborted_sid_o
);
  localparam int unsigned Lanes = MacBytes / 4;

  if (MacWidth != 32 && MacWidth != 64) begin : gen_bad_mac
    $error("spfe_tcp_tx_out: MacWidth is %0d; 32 and 64 are possible", MacWidth);
  end

  // ---- segments of the engine
  segment_t seg;
  sid_t seg_sid;
  logic seg_valid, seg_begins, seg_left, chunk_valid, chunk_ready;
  logic [MacWidth-1:0] chunk;
  frame_t frame;

  spfe_tcp_tx_cmd #(
    .SessionCount(SessionCount),
    .MacBytes(MacBytes),
    .MemAddrBits(MemAddrBits),
    .Size(Mss)
  ) i_cmd (
    .clk_i,
    .rst_i,
    .mss_i(cfg_i.mss),
    .wscale_i(cfg_i.wscale),
    .cmd_i(tx_cmd_i),
    .cmd_valid_i(tx_cmd_valid_i),
    .cmd_ready_o(tx_cmd_ready_o),
    .seg_o(seg),
    .seg_valid_o(seg_valid),
    .seg_sid_o(seg_sid),
    .chunk_o(chunk),
    .chunk_valid_o(chunk_valid),
    .chunk_ready_i(chunk_ready),
    .begins_i(seg_begins),
    .left_i(seg_left),
    .frame_i(frame),
    .req_o(cmd_req_o),
    .req_valid_o(cmd_req_valid_o),
    .req_ready_i(cmd_req_ready_i),
    .res_valid_i(cmd_res_valid_i),
    .done_o(cmd_done_o),
    .done_valid_o(cmd_done_valid_o),
    .done_ready_i(cmd_done_ready_i),
    .pushed_i,
    .popped_i,
    .mem_rd_o,
    .mem_rd_valid_o,
    .mem_rd_ready_i,
    .mem_rsp_i,
    .mem_rsp_valid_i
  );
  assign cmd_sid_o = seg.cmd.sid;
  assign count_command_o = seg_left;
  assign count_mem_o = seg_left && seg.cmd.len != '0;

  // ---- headers
  hdr_t [1:0] hdr;
  hdr_t hdr_cmd_q;  // entry for the command that is waiting
  sid_t live_sid;
  logic idle, load, load_live;
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
    .vif_i(cfg_i.vif),
    .fragment_i(cfg_i.fragment),
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
    .cfg_i,
    .idle_i(idle),
    .load_i(load),
    .live_i(load_live),
    .hdr_i(load_live ? hdr[0] : hdr_cmd_q),
    .start_words_o(start_words),
    .desc_i(head_i),
    .seg_i(seg),
    .snd_nxt_i(cmd_nxt_i),
    .rcv_nxt_i,
    .wnd_req_o,
    .wnd_i,
    .payload_sum_i(payload_sum),
    .index_i(index),
    .words_o(words),
    .checks_o(checks),
    .frame_o(frame)
  );

  // ---- sender
  mac_beat_t [OutputPipe:0] pipe;
  logic [OutputPipe:0] pipe_valid, pipe_ready;

  spfe_tcp_tx_send #(
    .SessionCount(SessionCount),
    .MacBytes(MacBytes),
    .MacPad(MacPad)
  ) i_send (
    .clk_i,
    .rst_i,
    .go_i,
    .fit_i,
    .head_valid_i,
    .head_i,
    .head_pop_o,
    .head_sum_valid_i,
    .head_sum_i,
    .new_go_i,
    .new_sid_i,
    .data_i,
    .data_bytes_i,
    .data_last_i,
    .data_valid_i,
    .data_ready_o,
    .cmd_i(seg),
    .cmd_valid_i(seg_valid),
    .cmd_begins_o(seg_begins),
    .cmd_left_o(seg_left),
    .cmd_data_i(chunk),
    .cmd_data_valid_i(chunk_valid),
    .cmd_data_ready_o(chunk_ready),
    .net_i,
    .net_valid_i,
    .net_ready_o,
    .idle_o(idle),
    .load_o(load),
    .load_live_o(load_live),
    .live_sid_o(live_sid),
    .sid_o(rcv_sid_o),
    .start_words_i(start_words),
    .index_o(index),
    .words_i(words),
    .checks_i(checks),
    .frame_i(frame),
    .payload_sum_o(payload_sum),
    .req_o(live_req_o),
    .req_valid_o(live_req_valid_o),
    .req_ready_i(live_req_ready_i),
    .res_valid_i(live_res_valid_i),
    .res_match_i(live_res_match_i),
    .outcome_o,
    .outcome_valid_o,
    .outcome_room_i,
    .finish_idle_i,
    .finish_clear_i,
    .mac_o(pipe[0]),
    .mac_valid_o(pipe_valid[0]),
    .mac_ready_i(pipe_ready[0]),
    .aborted_o,
    .aborted_sid_o
  );

  // ---- output registers
  for (genvar i = 0; i < OutputPipe; i++) begin : gen_pipe
    spfe_slice #(
      .Width($bits(mac_beat_t))
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
  assign mac_o = pipe[OutputPipe];
endmodule
