// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decides on a request in sequence, steps 8 to 11 of the checks of docs/rdma.md, and what is known
/// of its initiator afterwards. Without state. After an access to memory that failed it is asked
/// again, with failed_i.
module spfe_rdma_decide
  import spfe_rdma_pkg::*;
#(
  /// There is software that reads notifications.
  parameter bit Notes = 1'b1,
  /// Messages go into buffers; otherwise they become notifications.
  parameter bit Receives = 1'b0
) (
  /// The request.
  input packet_t packet_i,
  /// Largest payload of a packet, bytes.
  input logic [16:0] segment_i,
  /// Its initiator.
  input peer_t peer_i,
  /// A region has its key.
  input logic region_valid_i,
  /// That region.
  input region_t region_i,
  /// There is a buffer for a message.
  input logic buffer_valid_i,
  /// Its bytes.
  input logic [31:0] buffer_bytes_i,
  /// Messages that the initiator may have sent in all, but for the one of the request.
  input logic [31:0] credit_i,
  /// The memory did not take what was to be written.
  input logic failed_i,
  /// What to do.
  output decision_t decision_o,
  /// The initiator afterwards.
  output peer_t peer_o
);
  header_t header;
  logic signed [15:0] order;
  logic is_read, is_write, is_atomic, answers, missing, runs;
  sfrp_status_e status, access, reason;
  logic [31:0] reason_immediate;
  logic [63:0] offset, next, start, room;
  logic [32:0] message_end;
  logic permitted;
  peer_t clean;

  assign header = packet_i.header;
  assign order = signed'(header.number - peer_i.expected);
  assign is_read = header.code == OpRead;
  assign is_write = header.code == OpWrite;
  assign is_atomic = header.code inside {OpFetchAdd, OpCompareSwap};
  assign answers = header.flags.ack && header.flags.last;

  // Key, bounds, rights and initiator (step 9), with arithmetic that cannot wrap.
  assign offset = header.address - region_i.base;
  assign room = is_atomic ? 64'd8 : 64'(header.length);
  assign permitted = (!region_i.listed || header.sender == region_i.initiators[0] ||
                      header.sender == region_i.initiators[1] ||
                      header.sender == region_i.initiators[2] ||
                      header.sender == region_i.initiators[3]) &&
      (is_read ? region_i.read : is_write ? region_i.write : region_i.atomic);
  always_comb begin
    access = SfrpOk;
    if (!region_valid_i) access = SfrpBadKey;
    else if (header.address < region_i.base || room > region_i.bytes ||
             offset > region_i.bytes - room) begin
      access = SfrpBounds;
    end else if (!permitted) begin
      access = SfrpAccess;
    end
  end

  // Why the operation cannot be executed now.
  assign message_end = {1'b0, header.address[31:0]} + {1'b0, header.length};
  always_comb begin
    reason = SfrpOk;
    reason_immediate = '0;
    unique case (header.code)
      OpWrite:
      if (access != SfrpOk) reason = access;
      else if (header.length > 32'(segment_i)) reason = SfrpBadLength;
      else reason = packet_i.body;
      OpRead:
      if (packet_i.body != SfrpOk) reason = packet_i.body;
      else if (access != SfrpOk) reason = access;
      else if (header.length > ReadMax) reason = SfrpBadLength;
      OpFetchAdd, OpCompareSwap:
      if (access != SfrpOk) reason = access;
      else if (header.length != (header.code == OpFetchAdd ? 32'd8 : 32'd16) ||
               header.address[2:0] != '0) begin
        reason = SfrpBadLength;
      end else begin
        reason = packet_i.body;
      end
      OpSend:
      if (message_end > {1'b0, header.address[63:32]} || header.length > 32'(segment_i) ||
          header.flags.last != (message_end == {1'b0, header.address[63:32]}) ||
          header.flags.first != (header.address[31:0] == '0)) begin
        reason = SfrpBadLength;
      end else if (Receives && !buffer_valid_i) begin
        reason = SfrpNotReady;
        reason_immediate = NotReadyUs;
      end else if (Receives && header.address[63:32] > buffer_bytes_i) begin
        reason = SfrpTooLong;
        reason_immediate = buffer_bytes_i;
      end else if (Receives) begin
        reason = packet_i.body;
      end else if (!Notes) begin
        reason = SfrpBadQueue;
      end else if (header.address[63:32] > 32'(NoteBytes)) begin
        reason = SfrpTooLong;
        reason_immediate = 32'(NoteBytes);
      end else begin
        reason = packet_i.body;
      end
      default: reason = packet_i.body;
    endcase
    if (reason == SfrpOk && failed_i) reason = SfrpMemory;
  end

  // Where a WRITE goes on.
  assign clean = header.flags.first ? cleared(peer_i) : peer_i;
  assign start = clean.open ? peer_i.open_start : header.address;
  assign next = header.address + 64'(header.length);

  function automatic peer_t cleared(input peer_t peer);
    peer_t result;
    result = peer;
    result.open = 1'b0;
    result.told = 1'b0;
    return result;
  endfunction

  /// The initiator after its expected message.
  function automatic peer_t advanced(input peer_t peer);
    peer_t result;
    result = cleared(peer);
    result.expected = peer.expected + 16'd1;
    return result;
  endfunction

  always_comb begin
    missing = 1'b0;
    runs = 1'b0;
    status = SfrpOk;
    decision_o = '{
      action: DoDrop,
      drop: DropDrained,
      status: SfrpOk,
      immediate: '0,
      bytes: '0,
      answer: answers,
      executed: 1'b0,
      total: header.length
    };
    peer_o = peer_i;
    if (order < 0) begin
      // It was executed before.
      if (packet_i.body != SfrpOk) status = packet_i.body;
      else if (is_read && access != SfrpOk) status = access;
      else if (is_read && header.length > ReadMax) status = SfrpBadLength;
      if (status != SfrpOk) begin
        decision_o.action = DoRefuse;
        decision_o.status = status;
      end else begin
        decision_o.action = is_read ? DoRead : is_atomic ? DoResult :
            answers || header.code == OpFlush ? DoAnswer : DoNothing;
        decision_o.immediate = is_read || is_atomic ? '0 : credit_i;
      end
    end else if (order > 0) begin
      missing = 1'b1;
    end else if (header.flags.first) begin
      runs = !peer_i.failed;
      decision_o.action = DoRefuse;
      decision_o.status = peer_i.failed_status;
      decision_o.immediate = peer_i.failed_immediate;
    end else if (!peer_i.failed) begin
      if (!peer_i.open || peer_i.open_request != header.request) missing = 1'b1;
      else if (header.address == peer_i.open_next) runs = 1'b1;
      else if (header.address >= peer_i.open_start && header.address < peer_i.open_next) begin
        // The network has repeated a packet.
        decision_o.action = DoNothing;
      end else begin
        missing = 1'b1;
      end
    end

    // A gap is reported once.
    if (missing && !peer_i.told && !peer_i.failed) begin
      decision_o.action = DoRefuse;
      decision_o.status = SfrpSequence;
      decision_o.immediate = 32'(order > 0 ? peer_i.expected : header.number);
      peer_o.told = 1'b1;
    end

    if (runs && reason != SfrpOk) begin
      decision_o.action = DoRefuse;
      decision_o.status = reason;
      decision_o.immediate = reason_immediate;
      decision_o.bytes = clean.open ? peer_i.open_next - peer_i.open_start : '0;
      peer_o = clean;
      // What is left of the message is discarded without a word.
      peer_o.open = 1'b0;
      peer_o.told = 1'b1;
      if (!is_transient(reason)) begin
        peer_o.failed = 1'b1;
        peer_o.failed_status = reason;
        peer_o.failed_immediate = reason_immediate;
      end
    end else if (runs) begin
      decision_o.executed = 1'b1;
      decision_o.immediate = '0;
      decision_o.status = SfrpOk;
      peer_o = advanced(clean);
      unique case (header.code)
        OpWrite: begin
          decision_o.action = DoWrite;
          decision_o.immediate = credit_i;
          decision_o.bytes = next - start;
          decision_o.total = 32'(next - start);
        end
        OpRead: decision_o.action = DoRead;
        OpSend: begin
          decision_o.action = Receives ? DoWrite : answers ? DoAnswer : DoNothing;
          peer_o.sends = peer_i.sends + 32'd1;
          decision_o.immediate = Receives ? credit_i : credit_i + 32'd1;
          decision_o.bytes = 64'(header.address[63:32]);
          decision_o.total = header.address[63:32];
        end
        OpFetchAdd, OpCompareSwap: begin
          decision_o.action = DoAtomic;
          decision_o.bytes = 64'd8;
          decision_o.total = 32'd8;
          peer_o.next_result = peer_i.next_result + 4'd1;
          if (peer_i.results != 5'(Results)) peer_o.results = peer_i.results + 5'd1;
        end
        default: decision_o.action = DoAnswer;
      endcase
      if (!header.flags.last && (header.code == OpWrite || (Receives && header.code == OpSend)))
      begin
        peer_o = clean;
        peer_o.open = 1'b1;
        peer_o.open_request = header.request;
        peer_o.open_next = next;
        peer_o.open_start = start;
      end
    end
  end

  logic unused;
  assign unused = ^{packet_i, peer_i, region_i, header};
endmodule
