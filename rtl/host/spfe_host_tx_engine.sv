// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Transmit queues of the contract, each on a virtual channel of its own, with one AXI4 port. A
/// part of a packet is read from memory when the buffer of its channel has room for it, so a
/// channel that takes no words stops no other. contract/README.md has the rules.
module spfe_host_tx_engine
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_tx_pkg::*;
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
  /// Bytes of a part of a packet, 64 to 4096.
  parameter int unsigned PartBytes = 256 * Words,
  /// Beats in the buffer of a channel, a power of two, from twice a part.
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

  /// Words for each channel.
  output word_t [Queues-1:0][Words-1:0] word_o,
  /// Their number.
  output logic [Queues-1:0][CountWidth-1:0] word_count_o,
  output logic [Queues-1:0] word_valid_o,
  input logic [Queues-1:0] word_ready_i,

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
  // A part, a beat that it begins or ends with, and the end of a packet that is cut.
  localparam int unsigned PartBeats = PartBytes / (4 * Words) + 2 + 2;
  localparam int unsigned LevelWidth = $clog2(Beats + 1);

  if (Words != 1 && Words != 2 && Words != 4) begin : gen_bad_words
    $error("spfe_host_tx_engine: Words is %0d; 1, 2 and 4 are possible", Words);
  end
  if (PartBytes < 64 || PartBytes > 4096) begin : gen_bad_part
    $error("spfe_host_tx_engine: PartBytes is %0d; 64 to 4096 are possible", PartBytes);
  end
  if (Beats < 2 * PartBytes / (4 * Words)) begin : gen_bad_beats
    $error("spfe_host_tx_engine: Beats is %0d; two parts need more", Beats);
  end

  access_t [0:0] request;
  logic [0:0] request_valid, request_ready, read_valid, read_ready;
  logic [0:0] write_valid, write_ready, done;
  logic [0:0][127:0] write_data;
  translation_t result;
  read_t read;
  logic done_error;
  assign write_data = '0;
  assign write_valid = '0;

  // What all engines have: rings, completions, lines.
  logic start, mover_fault;
  logic [Queues-1:0] on, halt, busy, mover_busy, dry, fetched, wants;
  logic [Queues-1:0][5:0] level;
  logic [QueueWidth-1:0] peek_queue, pop_queue, fault_queue;
  logic [4:0] peek_ahead, pop_count;
  logic peek, job_valid, job_ready, full_ready;
  submission_t entry;
  job_t job;
  statistics_t sent;
  logic sent_valid;
  logic [Queues-1:0] failed_queue, memory_busy;
  logic [QueueWidth-1:0] unused_bad_queue;
  logic [3:0] unused_bad_buffer;
  logic unused_bad, unused_full;
  spfe_host_queues #(
    .Queues(Queues),
    .Users(1),
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
    .fault_queue_i(fault_queue),
    .level_o(level),
    .dry_o(dry),
    .fetched_o(fetched),
    .wants_i(wants),
    .peek_queue_i(peek_queue),
    .peek_ahead_i(peek_ahead),
    .peek_i(peek),
    .entry_o(entry),
    .pop_queue_i(pop_queue),
    .pop_count_i(pop_count),
    .job_i(job),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .bad_i('0),
    .lost_i('0),
    .bad_queue_o(unused_bad_queue),
    .bad_buffer_o(unused_bad_buffer),
    .take_bad_o(unused_bad),
    .completing_o(busy),
    .full_valid_i(1'b0),
    .full_ready_o(full_ready),
    .full_queue_i('0),
    .full_used_i('0),
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

  // Parts of submissions, in the order of their reads.
  part_t part_in, part;
  logic part_in_valid, part_room, part_valid, part_ready;
  logic [Queues-1:0] room, plan_busy, failed_part, failed_now;
  logic [4:0] unused_parts;
  logic unused_part_full;
  spfe_host_tx_plan #(
    .Queues(Queues),
    .Words(Words),
    .PartBytes(PartBytes),
    .Protect(Protect)
  ) i_plan (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i(start),
    .on_i(on),
    .halt_i(halt),
    .busy_o(plan_busy),
    .room_i(room),
    .failed_i(failed_now),
    .fault_o(mover_fault),
    .fault_queue_o(fault_queue),
    .level_i(level),
    .dry_i(dry),
    .fetched_i(fetched),
    .wants_o(wants),
    .peek_queue_o(peek_queue),
    .peek_ahead_o(peek_ahead),
    .peek_o(peek),
    .entry_i(entry),
    .pop_queue_o(pop_queue),
    .pop_count_o(pop_count),
    .request_o(request[0]),
    .request_valid_o(request_valid[0]),
    .request_ready_i(request_ready[0]),
    .result_i(result),
    .part_o(part_in),
    .part_valid_o(part_in_valid),
    .part_ready_i(part_room)
  );
  spfe_fifo #(
    .Width($bits(part_t)),
    .Depth(16)
  ) i_parts (
    .clk_i,
    .rst_i,
    .data_i(part_in),
    .valid_i(part_in_valid),
    .ready_o(part_room),
    .data_o(part),
    .valid_o(part_valid),
    .ready_i(part_ready),
    .count_o(unused_parts),
    .almost_full_o(unused_part_full)
  );

  note_t note;
  logic note_valid, note_ready, note_done;
  logic [QueueWidth-1:0] note_queue;
  word_t [Words-1:0] words;
  logic [CountWidth-1:0] count;
  spfe_host_tx_words #(
    .Queues(Queues),
    .Words(Words)
  ) i_words (
    .clk_i,
    .rst_i,
    .part_i(part),
    .part_valid_i(part_valid),
    .part_ready_o(part_ready),
    .read_i(read),
    .read_valid_i(read_valid[0]),
    .read_ready_o(read_ready[0]),
    .note_o(note),
    .note_valid_o(note_valid),
    .note_ready_i(note_ready),
    .failed_o(failed_part),
    .words_o(words),
    .count_o(count)
  );
  spfe_host_tx_tell #(
    .Queues(Queues),
    .Protect(Protect)
  ) i_tell (
    .clk_i,
    .rst_i,
    .start_queue_i,
    .start_valid_i(start),
    .note_i(note),
    .note_valid_i(note_valid),
    .note_ready_o(note_ready),
    .done_o(note_done),
    .done_queue_o(note_queue),
    .job_o(job),
    .job_valid_o(job_valid),
    .job_ready_i(job_ready),
    .statistics_o(sent),
    .statistics_valid_o(sent_valid)
  );

  // The buffer of each channel: what is promised to parts under way counts as used.
  for (genvar q = 0; q < Queues; q++) begin : gen_channel
    logic [LevelWidth-1:0] used;
    logic [LevelWidth+1:0] promised_q;
    logic [4:0] parts_q, lasts_q;
    logic comes, goes, ends, ready, unused_almost;
    assign comes = part_in_valid && part_room && 32'(part_in.index) == q;
    assign goes = part_valid && part_ready && 32'(part.index) == q;
    assign ends = note_done && 32'(note_queue) == q;
    assign room[q] = 32'(used) + 32'(promised_q) + 32'(PartBeats) <= Beats;
    assign failed_now[q] = failed_part[q] && lasts_q == '0;
    assign mover_busy[q] = plan_busy[q] || parts_q != '0 || busy[q];

    always_ff @(posedge clk_i) begin
      promised_q <= promised_q + (comes ? (LevelWidth + 2)'(part_in.room) : '0)
          - (goes ? (LevelWidth + 2)'(part.room) : '0);
      parts_q <= parts_q + 5'(comes) - 5'(ends);
      lasts_q <= lasts_q + 5'(comes && part_in.last) - 5'(goes && part.last);
      if (rst_i) begin
        promised_q <= '0;
        parts_q <= '0;
        lasts_q <= '0;
      end
    end

    spfe_fifo #(
      .Width(CountWidth + 36 * Words),
      .Depth(Beats)
    ) i_buffer (
      .clk_i,
      .rst_i,
      .data_i({count, words}),
      .valid_i(count != '0 && 32'(part.index) == q),
      .ready_o(ready),
      .data_o({word_count_o[q], word_o[q]}),
      .valid_o(word_valid_o[q]),
      .ready_i(word_ready_i[q]),
      .count_o(used),
      .almost_full_o(unused_almost)
    );

    always_comb begin
      wait_o[q] = WaitNothing;
      if (failed_queue[q]) wait_o[q] = WaitError;
      else if (!on[q]) wait_o[q] = WaitDisabled;
      else if (halt[q]) wait_o[q] = WaitStop;
      else if (!room[q]) wait_o[q] = WaitChannel;
      else if (parts_q != '0 || memory_busy[q]) wait_o[q] = WaitMemory;
      else if (level[q] == '0) wait_o[q] = WaitEntry;
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i) begin
      a_room :
      assert (rst_i || ready || count == '0 || 32'(part.index) != q)
      else $error("no room in the buffer of channel %0d", q);
    end
`endif
  end

  logic unused;
  assign unused = ^{
    unused_parts, unused_part_full, unused_bad_queue, unused_bad_buffer, unused_bad, full_ready,
    write_ready, done, done_error
  };
endmodule
