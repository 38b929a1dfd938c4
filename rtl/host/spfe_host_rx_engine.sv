// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Receive queues of the contract, posted or packed, each on a virtual channel of its own, with one
/// AXI4 port. Words wait in the channel for a buffer, which stops no other channel.
/// contract/README.md has the rules.
module spfe_host_rx_engine
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_rx_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Queues, 2 or more: queue q belongs to channel q.
  parameter int unsigned Queues = 4,
  /// Virtual channels of a port; channels of the first port come first.
  parameter int unsigned Vcs = Queues,
  /// From this queue on, each is the only one of its port.
  parameter int unsigned Single = Queues,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Most bytes of a write, 64 to 4096.
  parameter int unsigned PartBytes = 1024,
  /// Beats of 16 bytes that wait for the bus, a power of two, from twice a write.
  parameter int unsigned Beats = 256,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues),
  /// Bits of a number of words in a beat; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Settings of a queue that is to start.
  input queue_context_t start_i,
  /// This queue, which is stopped.
  input logic [QueueWidth-1:0] start_queue_i,
  input logic start_valid_i,
  /// It works.
  output logic start_ready_o,
  /// Queues that are to stop, until they have.
  input logic [Queues-1:0] stop_i,
  /// Queues that have not started, and of which nothing is under way.
  output logic [Queues-1:0] stopped_o,
  /// Doorbell of a queue of this engine; always taken.
  input doorbell_t doorbell_i,
  input logic doorbell_valid_i,
  /// Device time, ns.
  input logic [63:0] time_i,
  /// What each queue waits for.
  output wait_e [Queues-1:0] wait_o,
  /// For one cycle: a queue has stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// For one cycle: counts of a queue.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
  /// Event vector to signal.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,

  /// Words of each channel.
  input word_t [Queues-1:0][Words-1:0] word_i,
  /// Their number.
  input logic [Queues-1:0][CountWidth-1:0] word_count_i,
  input logic [Queues-1:0] word_valid_i,
  output logic [Queues-1:0] word_ready_o,

  /// All accesses of earlier translations are to be answered; until fence_ready_o.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Translation that is needed.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The translation; one for each request.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// AXI4 port.
  output axi_master_t axi_o,
  /// Its inputs.
  input axi_slave_t axi_i
);
  // Users of the memory.
  localparam int unsigned Pieces = 0;
  localparam int unsigned Takes = 1;
  if (Words != 1 && Words != 2 && Words != 4) begin : gen_bad_words
    $error("spfe_host_rx_engine: Words is %0d; 1, 2 and 4 are possible", Words);
  end
  if (PartBytes < 64 || PartBytes > 4096 || Beats < PartBytes / 8) begin : gen_bad_part
    $error("spfe_host_rx_engine: PartBytes is %0d; 64 to 4096, at most 8 * Beats", PartBytes);
  end

  access_t [1:0] request;
  logic [1:0] request_valid, request_ready, read_valid, read_ready;
  logic [1:0] write_valid, write_ready, done;
  logic [1:0][127:0] write_data;
  translation_t result;
  read_t read;
  logic done_error;
  assign read_ready = '0;
  assign write_data[Takes] = '0;
  assign write_valid[Takes] = 1'b0;

  // What all engines have: rings, completions, lines.
  logic start, mover_fault;
  logic [Queues-1:0] on, halt, busy, mover_busy, dry, fetched;
  logic [Queues-1:0][5:0] level;
  logic [QueueWidth-1:0] peek_queue, pop_queue, turn;
  logic [4:0] pop_count;
  logic peek, job_valid, job_ready, full_ready;
  submission_t entry;
  job_t job;
  statistics_t sent;
  logic sent_valid;
  logic [Queues-1:0] failed_queue, memory_busy;
  logic [QueueWidth-1:0] bad_queue;
  logic [3:0] bad_buffer;
  logic [15:0] bad, lost;
  logic take_bad, full_valid;
  logic [31:0] full_used;
  spfe_host_queues #(
    .Queues(Queues),
    .Users(2),
    .Vcs(Vcs),
    .Single(Single),
    .Protect(Protect)
  ) i_queues (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i,
    .start_ready_o,
    .stop_i,
    .stopped_o,
    .doorbell_i,
    .doorbell_valid_i,
    .time_i,
    .error_o,
    .error_valid_o,
    .sent_i(sent),
    .sent_valid_i(sent_valid),
    .statistics_o,
    .statistics_valid_o,
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .start_o(start),
    .on_o(on),
    .halt_o(halt),
    .failed_o(failed_queue),
    .memory_busy_o(memory_busy),
    .busy_i(mover_busy),
    .fault_i(mover_fault),
    .fault_queue_i(turn),
    .level_o(level),
    .dry_o(dry),
    .fetched_o(fetched),
    .wants_i('0),
    .peek_queue_i(peek_queue),
    .peek_ahead_i('0),
    .peek_i(peek),
    .entry_o(entry),
    .pop_queue_i(pop_queue),
    .pop_count_i(pop_count),
    .job_i(job),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .bad_i(bad),
    .lost_i(lost),
    .bad_queue_o(bad_queue),
    .bad_buffer_o(bad_buffer),
    .take_bad_o(take_bad),
    .completing_o(busy),
    .full_valid_i(full_valid),
    .full_ready_o(full_ready),
    .full_queue_i(turn),
    .full_used_i(full_used),
    .request_i(request),
    .request_valid_i(request_valid),
    .request_ready_o(request_ready),
    .result_o(result),
    .read_o(read),
    .read_valid_o(read_valid),
    .read_ready_i(read_ready),
    .data_i(write_data),
    .data_valid_i(write_valid),
    .data_ready_o(write_ready),
    .done_o(done),
    .done_error_o(done_error),
    .fence_valid_i,
    .fence_ready_o,
    .translate_o,
    .translate_valid_o,
    .translate_ready_i,
    .translation_i,
    .translation_valid_i,
    .axi_o,
    .axi_i
  );

  // Buffers of posted queues; the ring is read by one part at a time.
  logic [Queues-1:0] has_entry, packed_queues, waits, take_busy, move_busy, write_busy, behind;
  logic [Queues-1:0] has_buffer, wrong_buffer;
  logic [QueueWidth-1:0] take_queue;
  logic take_peek, take_pop, move_peek, move_pop, read_buffer, take_buffer;
  buffer_t buffer;
  for (genvar q = 0; q < Queues; q++) begin : gen_entry
    assign has_entry[q] = level[q] != '0;
  end
  assign peek = move_peek || take_peek;
  assign peek_queue = move_peek ? turn : take_queue;
  assign pop_queue = move_pop ? turn : take_queue;
  assign pop_count = 5'(move_pop || take_pop);
  spfe_host_rx_take #(
    .Queues(Queues),
    .Protect(Protect)
  ) i_take (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i(start),
    .on_i(on & ~halt & ~packed_queues),
    .busy_o(take_busy),
    .level_i(has_entry),
    .peek_ready_i(!move_peek),
    .queue_o(take_queue),
    .peek_o(take_peek),
    .entry_i(entry),
    .pop_o(take_pop),
    .pop_ready_i(!move_pop),
    .request_o(request[Takes]),
    .request_valid_o(request_valid[Takes]),
    .request_ready_i(request_ready[Takes]),
    .result_i(result),
    .ready_o(has_buffer),
    .wrong_o(wrong_buffer),
    .read_queue_i(turn),
    .read_i(read_buffer),
    .buffer_o(buffer),
    .take_i(take_buffer)
  );

  gather_t gather;
  found_t found;
  logic keep, header_valid, beat_valid;
  logic [127:0] beat, header;
  logic [$clog2(Beats+1)-1:0] beats;
  piece_t piece;
  logic piece_valid, piece_ready;
  spfe_host_rx_move #(
    .Queues(Queues),
    .PartBytes(PartBytes),
    .Protect(Protect)
  ) i_move (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i(start),
    .on_i(on),
    .halt_i(halt),
    .busy_o(move_busy),
    .behind_i(behind),
    .packed_o(packed_queues),
    .waits_o(waits),
    .fault_o(mover_fault),
    .queue_o(turn),
    .level_i(has_entry),
    .dry_i(dry),
    .peek_o(move_peek),
    .entry_i(entry),
    .pop_o(move_pop),
    .ready_i(has_buffer),
    .wrong_i(wrong_buffer),
    .read_o(read_buffer),
    .buffer_i(buffer),
    .take_o(take_buffer),
    .word_valid_i,
    .gather_o(gather),
    .found_i(found),
    .keep_o(keep),
    .space_i(32'(beats) + PartBytes / 16 + 2 <= Beats),
    .header_o(header),
    .header_valid_o(header_valid),
    .piece_o(piece),
    .piece_valid_o(piece_valid),
    .piece_ready_i(piece_ready),
    .full_valid_o(full_valid),
    .full_ready_i(full_ready),
    .full_used_o(full_used),
    .statistics_o(sent),
    .statistics_valid_o(sent_valid)
  );
  spfe_host_rx_gather #(
    .Queues(Queues),
    .Words(Words)
  ) i_gather (
    .clk_i,
    .rst_i,
    .word_i,
    .word_count_i,
    .word_valid_i,
    .word_ready_o,
    .queue_i(turn),
    .gather_i(gather),
    .found_o(found),
    .beat_o(beat),
    .beat_valid_o(beat_valid)
  );
  logic [Queues-1:0] starts;
  always_comb begin
    starts = '0;
    starts[start_queue_i] = start;
  end
  spfe_host_rx_write #(
    .Queues(Queues),
    .Beats(Beats)
  ) i_write (
    .clk_i,
    .rst_i,
    .start_i(starts),
    .beat_i(header_valid ? header : beat),
    .beat_valid_i(header_valid || (beat_valid && keep)),
    .beats_o(beats),
    .piece_i(piece),
    .piece_valid_i(piece_valid),
    .piece_ready_o(piece_ready),
    .request_o(request[Pieces]),
    .request_valid_o(request_valid[Pieces]),
    .request_ready_i(request_ready[Pieces]),
    .result_i(result),
    .data_o(write_data[Pieces]),
    .data_valid_o(write_valid[Pieces]),
    .data_ready_i(write_ready[Pieces]),
    .done_i(done[Pieces]),
    .done_error_i(done_error),
    .job_o(job),
    .job_valid_o(job_valid),
    .job_ready_i(job_ready),
    .bad_queue_i(bad_queue),
    .bad_o(bad),
    .lost_o(lost),
    .bad_buffer_i(bad_buffer),
    .take_bad_i(take_bad),
    .busy_o(write_busy)
  );
  assign behind = write_busy | busy;
  assign mover_busy = take_busy | move_busy | behind;

  for (genvar q = 0; q < Queues; q++) begin : gen_wait
    always_comb begin
      wait_o[q] = WaitNothing;
      if (failed_queue[q]) wait_o[q] = WaitError;
      else if (!on[q]) wait_o[q] = WaitDisabled;
      else if (halt[q]) wait_o[q] = WaitStop;
      else if (waits[q]) wait_o[q] = WaitBuffer;
      else if (behind[q] || memory_busy[q]) wait_o[q] = WaitMemory;
      else if (!word_valid_i[q]) wait_o[q] = WaitChannel;
    end
  end

  logic unused;
  assign unused = ^{write_ready[Takes], done[Takes], read_valid, read, fetched};
endmodule
