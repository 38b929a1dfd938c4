// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Makes words for virtual channels from the parts of submissions, in order. The bytes of the parts
/// of a packet follow each other without a gap; up to three bytes of each queue wait for the rest
/// of their word. The buffers of the channels have room for a part when it comes.
module spfe_host_tx_words
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_tx_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Words in a beat: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Bits of a number of words; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Part of a submission.
  input part_t part_i,
  input logic part_valid_i,
  output logic part_ready_o,
  /// Its bytes, if it is read.
  input read_t read_i,
  input logic read_valid_i,
  output logic read_ready_o,
  /// What became of it.
  output note_t note_o,
  output logic note_valid_o,
  input logic note_ready_i,
  /// Queues whose current submission has failed.
  output logic [Queues-1:0] failed_o,
  /// Words for the channel of the queue in note_o.
  output word_t [Words-1:0] words_o,
  /// Their number; 0: none.
  output logic [CountWidth-1:0] count_o
);
  localparam int unsigned Bytes = 4 * Words;
  localparam int unsigned Places = 16 / Bytes;
  localparam int unsigned PlaceWidth = Places > 1 ? $clog2(Places) : 1;
  localparam int unsigned QueueWidth = $clog2(Queues);

  // Of each queue: bytes that wait for the rest of their word, and whether a packet is open.
  logic [Queues-1:0][2:0][7:0] kept_q;
  logic [Queues-1:0][1:0] kept_count_q;
  logic [Queues-1:0] open_q, failed_q;
  logic [QueueWidth-1:0] q;
  assign q = part_i.index[QueueWidth-1:0];
  assign failed_o = failed_q;

  // A beat is taken in places of as many bytes as a beat of the channel has. An end marker that
  // does not fit behind its bytes follows in a cycle of its own (flush).
  logic
    started_q, flush_q, fails_q, failed, drains, fails, goes, at_end, closes, mark, spills, step;
  logic [12:0] left_q, left;
  logic [PlaceWidth-1:0] place_q;
  logic [127:0] beat;
  logic [Bytes-1:0][7:0] place;
  logic [4:0] fresh;
  logic [4:0] sum;
  assign failed = failed_q[q];
  assign left = started_q ? left_q : part_i.bytes;
  assign beat = part_i.read ? read_i.data : 128'(part_i.bytes_inline);
  if (Places > 1) begin : gen_places
    assign place = beat[8*Bytes*place_q+:8*Bytes];
  end else begin : gen_place
    assign place = beat;
  end
  // The bytes of a submission that has failed are dropped, beat by beat.
  assign drains = failed && part_i.read;
  assign fresh = failed || flush_q ? '0 : left > 13'(Bytes) ? 5'(Bytes) : left[4:0];
  assign at_end = drains ? read_i.last : left <= 13'(Bytes);
  assign fails = part_i.read && !flush_q && read_i.last && read_i.error && at_end;
  // An end marker follows the last byte: that of the packet, or EEP where it is cut.
  assign closes = part_i.cut || part_i.status != STATUS_OK || fails || fails_q || failed;
  assign mark = flush_q || (at_end
      && (closes ? open_q[q] || (fails && !failed && part_i.bytes != '0) : part_i.ends));
  assign sum = 5'(kept_count_q[q]) + fresh;
  assign spills = mark && sum >= 5'(Bytes);
  assign step = part_valid_i && (!part_i.read || read_valid_i || flush_q)
      && (note_ready_i || !at_end);
  assign goes = step && at_end && !spills;

  logic [Bytes+3:0][7:0] bytes;
  always_comb begin
    for (int unsigned i = 0; i < Bytes + 4; i++) begin
      bytes[i] = place[0];
      for (int unsigned kept = 0; kept < 4; kept++) begin
        if (32'(kept_count_q[q]) == kept) begin
          if (i < kept) bytes[i] = kept_q[q][i%3];
          else if (i - kept < Bytes) bytes[i] = place[(i-kept)%Bytes];
        end
      end
    end
    for (int unsigned i = 0; i < Words; i++) begin
      words_o[i] = '{k: 4'h0, bits: bytes[4*i+:4]};
      for (int unsigned j = 0; j < 4; j++) begin
        if (mark && !spills && 5'(4 * i + j) >= sum) begin
          words_o[i].k[j] = 1'b1;
          words_o[i].bits[8*j+:8] = 5'(4 * i + j) != sum ? Fill : closes || part_i.eep ? Eep : Eop;
        end
      end
    end
    count_o = CountWidth'(sum >> 2);
    if (mark && !spills) count_o = CountWidth'((sum + 5'd4) >> 2);
    if (spills) count_o = CountWidth'(Words);
    if (!step) count_o = '0;
  end

  assign part_ready_o = goes;
  assign read_ready_o = part_valid_i && part_i.read && !flush_q && step
      && (drains || at_end || 32'(place_q) == Places - 1);
  assign note_valid_o = goes;
  always_comb begin
    note_o = '{
      index: part_i.index,
      bytes: part_i.bytes,
      ends: part_i.ends,
      last: part_i.last,
      signals: part_i.signals,
      report: part_i.report,
      burst: part_i.burst,
      cut: part_i.cut,
      status: part_i.status,
      prior: part_i.prior,
      position: part_i.position
    };
    if (fails_q || fails || failed) note_o.status = STATUS_ACCESS_DENIED;
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      started_q <= !goes;
      left_q <= left - 13'(fresh);
      place_q <= goes || 32'(place_q) == Places - 1 ? '0 : place_q + 1'b1;
      flush_q <= spills && at_end && !goes;
      fails_q <= fails && !goes;
      if (!failed || mark) begin
        kept_count_q[q] <= mark && !spills ? '0 : sum[1:0];
        for (int unsigned i = 0; i < 3; i++) kept_q[q][i] <= bytes[5'(sum&5'h1c)+5'(i)];
      end
      if (goes) begin
        open_q[q] <= !mark && (open_q[q] || (part_i.bytes != '0 && !closes));
        failed_q[q] <= (fails || fails_q || failed) && !part_i.last;
      end
    end
    if (rst_i) begin
      started_q <= 1'b0;
      flush_q <= 1'b0;
      fails_q <= 1'b0;
      place_q <= '0;
      kept_count_q <= '0;
      open_q <= '0;
      failed_q <= '0;
    end
  end

  logic unused;
  assign unused = ^part_i;
endmodule
