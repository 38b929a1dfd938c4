// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The next packet of a work request, or CONNECT: its header and the bytes that it carries. Without
/// state. Segments end where the remote address is a multiple of the segment.
module spfe_rdma_segment
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  /// The queue pair.
  input pair_t pair_i,
  /// CONNECT is to be sent.
  input logic connect_i,
  /// Its request number.
  input logic [31:0] request_i,
  /// The work request.
  input work_t work_i,
  /// Bytes of it that were sent.
  input logic [31:0] offset_i,
  /// It asks for an acknowledgement.
  input logic asks_i,
  /// The message was sent before.
  input logic retry_i,
  /// Number of the message.
  input logic [15:0] number_i,
  /// Header.
  output header_t header_o,
  /// Bytes of payload.
  output logic [12:0] payload_o,
  /// Bytes of the work request in this packet.
  output logic [31:0] length_o,
  /// It is the last packet of the message.
  output logic last_o
);
  logic [31:0] left, room, place, mask;
  logic segmented, atomic, question;
  assign question = is_question(work_i.code);
  assign segmented = {4'd0, work_i.code} inside {OpWrite, OpSend};
  assign atomic = {4'd0, work_i.code} inside {OpFetchAdd, OpCompareSwap};
  assign left = work_i.bytes - offset_i;
  assign mask = (32'd1 << pair_i.segment_log2) - 32'd1;
  assign place = (work_i.code == OpWrite[3:0] ? work_i.address[31:0] : '0) + offset_i;
  assign room = mask - (place & mask) + 32'd1;
  assign last_o = !segmented || left <= room;
  assign length_o = last_o ? left : room;
  always_comb begin
    payload_o = segmented ? length_o[12:0] : '0;
    if (work_i.code == OpFetchAdd[3:0]) payload_o = 13'd8;
    if (work_i.code == OpCompareSwap[3:0]) payload_o = 13'd16;
  end

  always_comb begin
    header_o = '0;
    header_o.receiver = pair_i.target;
    header_o.protocol = pair_i.protocol;
    header_o.version = Version;
    header_o.size = pair_i.reply_bytes == '0 ? 4'd5 : 4'd6;
    header_o.status = VcOfArrival;
    header_o.sender = pair_i.address;
    header_o.path_bytes = 8'(pair_i.reply_bytes);
    header_o.sender_queue = pair_i.own;
    header_o.receiver_queue = pair_i.partner;
    header_o.number = number_i;
    header_o.flags.retry = retry_i;
    if (connect_i) begin
      header_o.code = OpConnect;
      header_o.flags.ack = 1'b1;
      header_o.flags.first = 1'b1;
      header_o.flags.last = 1'b1;
      header_o.request = request_i;
    end else begin
      header_o.code = {4'd0, work_i.code};
      header_o.flags.first = offset_i == '0;
      header_o.flags.last = last_o;
      header_o.flags.ack = last_o && asks_i;
      header_o.flags.solicited = last_o && work_i.solicited;
      header_o.flags.immediate = last_o && work_i.has_immediate;
      header_o.flags.payload_crc = payload_o != '0;
      header_o.request = work_i.number;
      header_o.key = question ? '0 : work_i.key;
      header_o.length = atomic || question ? 32'(payload_o) : length_o;
      header_o.address = work_i.code == OpSend[3:0] ? {work_i.bytes, offset_i} :
          question ? '0 : work_i.address + 64'(offset_i);
      header_o.immediate = last_o ? work_i.immediate : '0;
    end
  end

  logic unused;
  assign unused = ^{pair_i, work_i};
endmodule
