// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decides at the end of a frame whether its segment is accepted, reported to the engine, or
/// dropped, and counts the reason. A dropped frame counts one reason, and so does a segment that is
/// reported but not accepted.
module spfe_tcp_rx_verdict
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// 1: the verdict falls one cycle after the last beat, when the checksums are known.
  parameter bit Checksum = 1'b1,
  /// 1: seg_valid_o comes one cycle later, when kept segments have moved RCV.NXT too.
  parameter bit Reordering = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// First beat of a frame.
  input logic start_i,
  /// Last beat of a frame.
  input logic last_i,
  /// With last_i: the FCS was wrong.
  input logic fcs_bad_i,
  /// Word 13 is on the bus.
  input logic at_end_i,
  /// Faults in the headers.
  input fault_t fault_i,
  /// All bytes of the IP packet have arrived, this beat included.
  input logic whole_i,
  /// The TCP header is too short or too long.
  input logic bad_doff_i,
  /// With Checksum: the checksum of the IP header is right.
  input logic ip_ok_i,
  /// With Checksum: the checksum of the segment is right.
  input logic tcp_ok_i,
  /// Control bit ACK.
  input logic ack_i,
  /// Control bit FIN.
  input logic fin_i,
  /// Payload in bytes.
  input logic [15:0] len_i,
  /// The session, and how the segment fits into it.
  input match_t match_i,
  /// The FIFO had no room for the segment.
  input logic no_room_i,
  /// The frame has ended: with its last beat or one cycle later.
  output logic finish_o,
  /// With finish_o: the payload is good; it is delivered or kept.
  output logic deliver_o,
  /// With finish_o: the segment is good and in order, and is accepted.
  output logic taken_o,
  /// One cycle after finish_o: an accepted segment moves RCV.NXT.
  output logic move_o,
  /// With move_o: the new RCV.NXT.
  output seq_t move_nxt_o,
  /// A segment for the engine: three cycles after the last beat, or four if the frame was so short
  /// that its end had to wait for the check of its ACK.
  output logic seg_valid_o,
  /// With seg_valid_o: the segment was accepted.
  output logic seg_taken_o,
  /// One cycle after finish_o: a segment of a session was bad.
  output logic bad_o,
  /// One cycle after finish_o: events to count.
  output rx_count_t count_o
);
  logic bad_q, move_q;
  seq_t move_nxt_q;
  logic reach_q;  // word 13 has arrived
  logic wait_q;  // the last beat has arrived, and the verdict has not
  logic fcs_bad_q, whole_q;
  logic end_q, good_q, late_q, late_taken_q;

  logic busy, reach, fcs_bad, whole, length_bad, sums_ok, good, data;

  // Registered inputs of the counters, for the cycle after finish_o.
  typedef struct packed {
    fault_t fault;
    logic fcs_bad, reach, length_bad, ip_ok, tcp_ok;
    logic hit, data, open, bad_ack, old, ahead, no_room;
  } reasons_t;
  reasons_t why_q;

  logic unused_match;
  assign unused_match = ^match_i;

  assign bad_o = bad_q;
  assign move_nxt_o = move_nxt_q;
  assign move_o = move_q;

  // A frame without payload and padding ends before its ACK is checked.
  assign busy = at_end_i;
  assign finish_o = wait_q || (last_i && !busy && !Checksum);

  assign reach = reach_q && (Checksum || wait_q || !start_i);
  assign fcs_bad = Checksum || wait_q ? fcs_bad_q : fcs_bad_i;
  assign whole = Checksum || wait_q ? whole_q : whole_i;
  assign sums_ok = !Checksum || (ip_ok_i && tcp_ok_i);
  assign length_bad = fault_i.length || !whole || bad_doff_i;
  assign good = !fcs_bad && reach && fault_i == '0 && !length_bad && sums_ok;

  assign deliver_o = good && match_i.hit && match_i.accept && match_i.ack_ok && match_i.fits &&
      !match_i.stale && !no_room_i;
  assign taken_o = deliver_o && !match_i.oos;
  assign data = len_i != '0 || fin_i;

  always_comb begin
    count_o = '0;
    count_o.frames = 1'b1;
    // A dropped frame counts the first reason that applies.
    if (why_q.fcs_bad) count_o.bad_fcs = 1'b1;
    else if (!why_q.reach) count_o.length = 1'b1;
    else if (why_q.fault.not_for_us) count_o.not_for_us = 1'b1;
    else if (why_q.fault.ip_options) count_o.ip_options = 1'b1;
    else if (why_q.fault.fragment) count_o.fragment = 1'b1;
    else if (why_q.fault.oversize) count_o.oversize = 1'b1;
    else if (why_q.length_bad) count_o.length = 1'b1;
    else if (!why_q.ip_ok) count_o.bad_ip_sum = 1'b1;
    else if (!why_q.tcp_ok) count_o.bad_tcp_sum = 1'b1;
    else begin
      count_o.segments = 1'b1;
      if (!why_q.hit) count_o.no_session = 1'b1;
      else if (why_q.data && !why_q.open) count_o.not_open = 1'b1;
      else if (why_q.bad_ack) count_o.bad_ack = 1'b1;
      else if (why_q.data && why_q.old) count_o.old = 1'b1;
      else if (why_q.data && why_q.ahead) count_o.out_of_order = 1'b1;
      else if (why_q.no_room) count_o.no_room = 1'b1;
    end
    if (!end_q) count_o = '0;
  end

  always_ff @(posedge clk_i) begin
    if (at_end_i) reach_q <= 1'b1;
    if (start_i) reach_q <= 1'b0;
    wait_q <= last_i && (busy || wait_q || Checksum);
    fcs_bad_q <= fcs_bad_i;
    whole_q <= whole_i;
    move_nxt_q <= match_i.nxt + {16'd0, len_i} + {31'd0, fin_i};
    end_q <= finish_o;
    good_q <= good;
    late_q <= end_q && good_q;
    late_taken_q <= move_q;
    move_q <= finish_o && taken_o;
    bad_q <= finish_o && match_i.hit && reach && fault_i == '0 && !good;
    why_q.fault <= fault_i;
    why_q.fcs_bad <= fcs_bad;
    why_q.reach <= reach;
    why_q.length_bad <= length_bad;
    why_q.ip_ok <= !Checksum || ip_ok_i;
    why_q.tcp_ok <= !Checksum || tcp_ok_i;
    why_q.hit <= match_i.hit;
    why_q.data <= data;
    why_q.open <= match_i.open;
    why_q.bad_ack <= match_i.open && ack_i && !match_i.ack_ok;
    why_q.old <= match_i.ahead[31];
    why_q.ahead <= match_i.ahead != '0;
    why_q.no_room <= no_room_i || (data && !match_i.fits);
    if (rst_i) begin
      wait_q <= 1'b0;
      end_q <= 1'b0;
      late_q <= 1'b0;
      move_q <= 1'b0;
      bad_q <= 1'b0;
    end
  end

  if (Checksum && !Reordering) begin : gen_soon
    assign seg_valid_o = late_q;
    assign seg_taken_o = late_taken_q;
  end else begin : gen_late
    logic later_q;
    logic later_taken_q;
    always_ff @(posedge clk_i) begin
      later_q <= late_q && !rst_i;
      later_taken_q <= late_taken_q;
    end
    assign seg_valid_o = later_q;
    assign seg_taken_o = later_taken_q;
  end
endmodule
