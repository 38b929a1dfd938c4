// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What a packet means for an initiator: the checks and rules of docs/rdma.md, without state.
module spfe_rdma_judge
  import spfe_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// Largest payload of a packet that is stored, bytes.
  parameter int unsigned Segment = 4096,
  /// Bits of an index of a work request.
  parameter int unsigned Width = 5
) (
  /// Packet that has ended.
  input packet_t packet_i,
  /// Configuration of the queue pair.
  input pair_t pair_i,
  /// Its state.
  input queue_pair_state_e state_i,
  /// Request number of CONNECT.
  input logic [31:0] connect_i,
  /// Number of the oldest message.
  input logic [15:0] base_i,
  /// Work requests.
  input logic [Width:0] count_i,
  /// The one with the packet's number.
  input work_t work_i,
  /// It was sent, and is not done.
  input logic sent_i,
  /// Its repetitions.
  input progress_t progress_i,
  /// The verdict.
  output verdict_t verdict_o
);
  header_t header;
  logic [7:0] code, status;
  logic [15:0] index, missing;
  logic ours, response, known, untouched, stopped, is_read;
  logic [32:0] data_end;
  assign header = packet_i.header;
  assign code = {1'b0, header.code[6:0]};
  assign response = header.code[7];
  assign status = header.status;
  assign index = header.number - base_i;
  assign missing = header.immediate[15:0] - base_i;
  // The receiver has checked protocol, header and own address.
  assign ours = packet_i.drop == DropForInitiator && packet_i.body == SfrpOk &&
      header.receiver_queue == pair_i.own && header.sender_queue == pair_i.partner &&
      code >= OpWrite && code <= OpDisconnect;
  assign known = state_i == QUEUE_PAIR_STATE_READY && index < 16'(count_i) && sent_i &&
      work_i.number == header.request && work_i.code == code[3:0] && code[7:4] == '0;
  assign is_read = work_i.code == OpRead[3:0];
  assign stopped = !(status inside {SfrpBadVersion, SfrpBadOpcode, SfrpBadQueue, SfrpGeneral});
  assign untouched = stopped && !is_read && header.address == '0;
  assign data_end = 33'(progress_i.arrived) + 33'(header.length);

  always_comb begin
    verdict_o = '{
      action: TakeInvalid,
      ack: 1'b0,
      status: STATUS_OK,
      detail: '0,
      unknown: 1'b1,
      followers: 1'b1,
      again: missing,
      ends: header.flags.last
    };
    if (ours && !response && code == OpCredit) verdict_o.action = TakeCredit;
    else if (ours && response && code == OpDisconnect) begin
      verdict_o.action = TakeStale;
    end else if (ours && response && code == OpConnect) begin
      verdict_o.action = TakeStale;
      if (state_i == QUEUE_PAIR_STATE_CONNECTING && header.request == connect_i) begin
        verdict_o.action = status == '0 ? TakeConnected : TakeRefused;
        verdict_o.status = refused(status);
        verdict_o.detail = status;
        verdict_o.unknown = 1'b0;
        verdict_o.followers = 1'b0;
      end
    end else if (ours && response && !known) begin
      verdict_o.action = TakeStale;
    end else if (ours && response && status == '0) begin
      verdict_o.ack = 1'b1;
      unique case (code)
        OpRead: begin
          verdict_o.action = TakeData;
          if (header.address != 64'(progress_i.arrived)) verdict_o.action = TakeStale;
          else if (data_end > 33'(work_i.bytes) || header.length > Segment ||
                   header.flags.last != (data_end == 33'(work_i.bytes))) begin
            verdict_o.action = TakeFail;
            verdict_o.status = STATUS_REMOTE_DATA;
          end
        end
        OpFetchAdd, OpCompareSwap: begin
          verdict_o.action = TakeValue;
          if (header.length != 32'd8) begin
            verdict_o.action = TakeFail;
            verdict_o.status = STATUS_REMOTE_DATA;
          end
        end
        OpInfo, OpRegions: begin
          verdict_o.action = TakeData;
          verdict_o.ends = 1'b1;
          if (header.length > work_i.bytes) begin
            verdict_o.action = TakeFail;
            verdict_o.status = STATUS_TOO_LONG;
            verdict_o.detail = SfrpTooLong;
            verdict_o.unknown = 1'b0;
          end else if (header.length > Segment) begin
            verdict_o.action = TakeFail;
            verdict_o.status = STATUS_REMOTE_DATA;
          end
        end
        OpWrite, OpSend: verdict_o.action = TakeDone;
        default: verdict_o.action = TakeFlushed;
      endcase
    end else if (ours && response) begin
      verdict_o.ack = !(status inside {SfrpBadVersion, SfrpBadOpcode, SfrpBadQueue, SfrpSequence});
      verdict_o.detail = status;
      verdict_o.status = refused(status);
      unique case (status)
        SfrpSequence: begin
          verdict_o.action = missing <= index ? TakeMissing : TakeNothing;
          verdict_o.status = STATUS_NO_ANSWER;
          verdict_o.detail = '0;
        end
        SfrpNotReady, SfrpBusy: verdict_o.action = TakePause;
        SfrpPayloadCrc, SfrpShort, SfrpLong, SfrpEep: verdict_o.action = TakeAgain;
        default: begin
          verdict_o.action = TakeFail;
          verdict_o.unknown = !untouched;
          verdict_o.followers = !(stopped && !is_read);
        end
      endcase
    end
  end

  logic unused;
  assign unused = ^{packet_i, header, pair_i, work_i, progress_i};
endmodule
