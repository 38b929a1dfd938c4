// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The notification of an operation that was executed, if software wants to know. Without state.
module spfe_rdma_note
  import spfe_rdma_pkg::*;
(
  /// Time, ns.
  input logic [63:0] time_ns_i,
  /// The request, one of the sequence.
  input packet_t packet_i,
  /// What was decided on it.
  input decision_t decision_i,
  /// Its region wants notifications.
  input logic notify_i,
  /// First bytes of the payload of a SEND.
  input logic [31:0][7:0] message_i,
  /// Notification.
  output note_t note_o,
  /// Software wants it.
  output logic wanted_o
);
  header_t header;
  assign header = packet_i.header;

  // One for a message of several packets, one for each SEND.
  assign wanted_o = decision_i.executed && header.code != OpFlush &&
      (header.code != OpWrite || header.flags.last) &&
      (header.code == OpSend || header.flags.solicited || notify_i);

  always_comb begin
    note_o = '0;
    note_o.time_ns = time_ns_i;
    note_o.initiator = header.sender;
    note_o.pair = header.sender_queue;
    note_o.opcode = header.code;
    note_o.has_region = header.code != OpSend;
    note_o.region = header.key[27:12];
    note_o.number = header.number;
    note_o.address = header.address;
    note_o.length = decision_i.total;
    note_o.has_immediate = header.flags.immediate;
    note_o.immediate = header.immediate;
    for (int unsigned i = 0; i < 32; i++) begin
      if (header.code == OpSend && i < header.length) note_o.data[i] = message_i[i];
    end
  end

  logic unused;
  assign unused = ^{packet_i, decision_i, header};
endmodule
