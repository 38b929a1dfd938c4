// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Intake of messages: accepts or refuses them, sums their payload, and stores it in the FIFO to
/// the sender and in the ring memory.
module spfe_tcp_tx_intake
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the user stream in bits: 32, 64 or 128.
  parameter int unsigned UserWidth = 64,
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Longest message in bytes.
  parameter int unsigned Mss = 1460,
  /// 1: discard messages for a session that is not open; 0: stall the user side.
  parameter bit DropIfNotEstablished = 1'b0,
  /// log2 of the number of 16-byte words in the ring memory, over all sessions.
  parameter int unsigned MemAddrBits = 16,
  /// Bytes per beat of the user stream; derived.
  localparam int unsigned UserBytes = UserWidth / 8,
  /// Bytes per chunk; derived.
  localparam int unsigned MacBytes = MacWidth / 8
) (
  input logic clk_i,
  input logic rst_i,
  /// Longest message in bytes; from the configuration, at most Mss.
  input logic [15:0] mss_i,
  /// 1: refuse a message that finds no room in the ring; 0: stall it.
  input logic ring_refuse_i,

  /// Messages from the user.
  input user_tx_beat_t user_i,
  input logic user_valid_i,
  output logic user_ready_o,

  /// Sessions that may send live.
  input logic [SessionCount-1:0] go_i,
  /// Sessions that are open for user data.
  input logic [SessionCount-1:0] open_i,
  /// Sessions whose ring has room for a message of any length.
  input logic [SessionCount-1:0] room_i,
  /// Generation bit of each session; toggles when it is opened.
  input logic [SessionCount-1:0] gen_i,
  /// End of the data in the ring of the session in user_i.head.
  input seq_t written_i,
  /// Request to advance written over a whole message.
  output state_req_t req_o,
  output logic req_valid_o,
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,
  /// With res_valid_i: the pointer was as expected and has advanced.
  input logic res_match_i,

  /// Payload chunk of the oldest message that was not sent.
  output logic [MacWidth-1:0] data_o,
  /// Valid bytes of the chunk; 0 only if the message ended with an empty beat.
  output logic [$clog2(MacBytes):0] data_bytes_o,
  /// Last chunk of the message.
  output logic data_last_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// A message enters the queue in this cycle and its session may send live.
  output logic new_go_o,
  /// Session of that message.
  output sid_t new_sid_o,
  /// Sender: the oldest message that was not sent.
  output desc_t head_o,
  /// head_o is valid; held until head_pop_i.
  output logic head_valid_o,
  /// Sender removes the message.
  input logic head_pop_i,
  /// Payload sum of head_o.
  output sum_t head_sum_o,
  output logic head_sum_valid_o,
  /// Finisher: sum, length and status of the oldest message.
  output tail_t tail_o,
  /// The oldest message has ended and tail_o is valid.
  output logic tail_valid_o,
  /// Frees the slot of the oldest message.
  input logic tail_pop_i,

  /// A message was refused; raises EvTxRefused.
  output refusal_t refused_o,
  output logic refused_valid_o,
  input logic refused_ready_i,

  /// Number of writes queued before the memory, modulo 256.
  output logic [7:0] pushed_o,
  /// Number of writes accepted by the memory, modulo 256.
  output logic [7:0] popped_o,
  /// Write to the ring memory.
  output mem_write_t mem_wr_o,
  output logic mem_wr_valid_o,
  input logic mem_wr_ready_i
);
  logic beat_valid, beat_first, beat_last, beat_ring, commit, rollback, fifo_room, ring_room;
  logic [$clog2(UserBytes):0] beat_bytes;
  logic [UserWidth-1:0] beat_data;
  seq_t first_seq;
  logic desc_valid, desc_go, slot_room, status_valid, status_ok, sum_valid;
  desc_t desc;
  logic [15:0] total;
  sum_t sum;
  logic unused_bits;

  assign unused_bits = ^user_i;

  spfe_tcp_tx_user #(
    .SessionCount(SessionCount),
    .Width(UserWidth),
    .MacWidth(MacWidth),
    .DropIfNotEstablished(DropIfNotEstablished)
  ) i_user (
    .clk_i,
    .rst_i,
    .mss_i,
    .ring_refuse_i,
    .keep_i(user_i.keep[UserBytes-1:0]),
    .last_i(user_i.last),
    .head_i(user_i.head),
    .valid_i(user_valid_i),
    .ready_o(user_ready_o),
    .go_i,
    .open_i,
    .room_i,
    .gen_i,
    .written_i,
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
    .req_o,
    .req_valid_o,
    .req_ready_i,
    .res_valid_i,
    .res_match_i,
    .status_valid_o(status_valid),
    .status_ok_o(status_ok),
    .refused_o,
    .refused_valid_o,
    .refused_ready_i
  );
  assign new_go_o = desc_go;
  assign new_sid_o = desc.sid;

  always_comb begin
    for (int unsigned i = 0; i < UserBytes; i++) begin
      beat_data[i*8+:8] = i < 32'(beat_bytes) ? user_i.data[i*8+:8] : 8'd0;
    end
  end

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
    .valid_o(data_valid_o),
    .ready_i(data_ready_i),
    .data_o,
    .bytes_o(data_bytes_o),
    .last_o(data_last_o)
  );

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
    .head_valid_o,
    .head_o,
    .head_pop_i,
    .head_sum_valid_o,
    .head_sum_o,
    .tail_valid_o,
    .tail_o,
    .tail_pop_i
  );

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
    .sid_i(user_i.head.sid),
    .seq_i(first_seq),
    .data_i(beat_data),
    .bytes_i(beat_ring ? beat_bytes : '0),
    .room_o(ring_room),
    .pushed_o,
    .popped_o,
    .mem_wr_o,
    .mem_wr_valid_o,
    .mem_wr_ready_i
  );
endmodule
