// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The piece that spfe_host_rx_move puts in each of its states, and the header of a record.
module spfe_host_rx_piece
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_rx_pkg::*;
(
  /// Queue that has the turn.
  input logic [7:0] index_i,
  /// State of the turn.
  input move_e state_i,
  /// State of the queue.
  input move_t move_i,
  /// Bytes of the piece.
  input logic [12:0] count_i,
  /// What is wrong with a buffer.
  input status_e refused_i,
  /// The packet ends with the piece.
  input logic ends_i,
  /// With EEP.
  input logic eep_i,
  /// The piece completes its buffer.
  input logic completes_i,
  /// Header of the record, as a beat.
  output logic [127:0] header_o,
  /// The piece.
  output piece_t piece_o
);
  assign header_o = 128'({
    16'd0, 7'd0, !ends_i, 6'd0, ends_i ? {1'b0, eep_i} : 2'(END_MARKER_NONE), move_i.fill
  });

  always_comb begin
    piece_o = '0;
    piece_o.index = index_i;
    piece_o.domain = move_i.domain;
    piece_o.address = '{
      region: move_i.address.region,
      offset: move_i.address.offset + 48'(move_i.fill)
    };
    piece_o.bytes = count_i;
    piece_o.completes = completes_i;
    piece_o.job = '{
      index: 16'(index_i),
      flags: {13'd0, !ends_i, ends_i ? {1'b0, eep_i} : 2'(END_MARKER_NONE)},
      position: move_i.position,
      status: ends_i && eep_i ? STATUS_PACKET_CUT : STATUS_OK,
      packets: 16'd1,
      bytes: move_i.fill + 32'(count_i),
      urgent: ends_i && eep_i,
      buffer: move_i.number
    };
    if (state_i == MovePutHeader) begin
      piece_o.address = '{
        region: move_i.area.region,
        offset: move_i.area.offset + 48'(move_i.head)
      };
      piece_o.bytes = 13'(PACKED_HEADER_BYTES);
    end
    if (state_i == MovePublish) begin
      piece_o.bytes = '0;
      piece_o.completes = 1'b1;
      piece_o.job.flags = move_i.run_wrapped ? COMPLETION_FLAGS_WRAP : '0;
      piece_o.job.position = move_i.used_entries[15:0] - 16'd1;
      piece_o.job.status = STATUS_OK;
      piece_o.job.packets = move_i.run_records;
      piece_o.job.bytes = move_i.run_bytes;
      piece_o.job.urgent = 1'b0;
    end
    if (state_i == MoveRefuse) begin
      piece_o.bytes = '0;
      piece_o.completes = 1'b1;
      piece_o.job.flags = '0;
      piece_o.job.status = refused_i;
      piece_o.job.packets = '0;
      piece_o.job.bytes = '0;
      piece_o.job.urgent = 1'b1;
    end
  end

  logic unused;
  assign unused = ^move_i;
endmodule
