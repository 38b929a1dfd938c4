// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decides on requests outside of the sequence of messages (INFO, REGIONS, CONNECT, DISCONNECT),
/// and on those that are refused before their place in it counts: steps 5 to 7 of the checks of
/// docs/rdma.md. Without state.
module spfe_rdma_manage
  import spfe_rdma_pkg::*;
(
  /// The request.
  input packet_t packet_i,
  /// Its opcode is one of the sequence.
  input logic sequenced_i,
  /// The queue pair that it names is here.
  input logic here_i,
  /// Messages that its initiator may have sent in all, for CONNECT.
  input logic [31:0] credit_i,
  /// What to do.
  output decision_t decision_o
);
  header_t header;
  assign header = packet_i.header;

  always_comb begin
    decision_o = '{action: DoAnswer, drop: DropNone, status: SfrpOk, default: '0};
    if (header.version != Version) begin
      decision_o.action = DoRefuse;
      decision_o.status = SfrpBadVersion;
      decision_o.immediate = {16'd0, 4'd0, Version, 4'd0, Version};
    end else if (sequenced_i) begin
      decision_o.action = DoRefuse;
      decision_o.status = SfrpBadQueue;
    end else if (!(header.code inside {OpInfo, OpRegions, OpConnect, OpDisconnect})) begin
      decision_o.action = DoRefuse;
      decision_o.status = SfrpBadOpcode;
    end else if (packet_i.body != SfrpOk) begin
      decision_o.action = DoRefuse;
      decision_o.status = packet_i.body;
    end else if (header.code == OpConnect) begin
      decision_o.immediate = credit_i;
      if (!here_i) begin
        decision_o.action = DoRefuse;
        decision_o.status = SfrpBadQueue;
        decision_o.immediate = '0;
      end
    end
  end

  logic unused;
  assign unused = ^{packet_i, header};
endmodule
