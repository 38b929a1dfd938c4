// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Receives packets of RMAP: checks the header, then takes what follows and keeps it in two stores
/// in turns. A full store is offered when another byte has come, because the last byte of a packet
/// may be its check.
module spfe_rmap_receive
  import spfe_rdma_pkg::*;
  import spfe_rmap_pkg::*;
#(
  /// Bytes of a store, a power of two.
  parameter int unsigned Segment = 4096,
  /// Bits of an address of a store; follows from Segment.
  localparam int unsigned AddrWidth = $clog2(Segment / 16)
) (
  input logic clk_i,
  input logic rst_i,
  /// A packet may begin.
  input logic start_i,

  /// Bytes of the packet, as of spfe_rdma_bytes.
  input logic [3:0][7:0] data_i,
  /// Number of bytes; with data_i.
  input logic [2:0] count_i,
  /// The packet ends here; with data_i.
  input logic last_i,
  /// It ends with EEP; with last_i.
  input logic cut_i,
  input logic valid_i,
  output logic ready_o,

  /// Header of the packet.
  output command_t command_o,
  /// Its reply address, with zeroes in front; with command_o.
  output reply_path_t path_o,
  /// Why the packet cannot be used; with command_o.
  output drop_e drop_o,
  /// The header is complete and intact, and waits for go_i.
  output logic head_o,
  /// Take what follows.
  input logic go_i,
  /// Keep it.
  input logic keep_i,
  /// Offer full stores.
  input logic stream_i,
  /// Write this store.
  output logic full_bank_o,
  output logic full_valid_o,
  input logic full_ready_i,
  /// The first 16 bytes that were kept, of a short packet.
  output logic [15:0][7:0] beat_o,
  /// What has come; with ended_o.
  output body_t body_o,
  /// The packet has ended, and waits for release_i.
  output logic ended_o,
  /// It is done.
  input logic release_i,
  /// No packet has begun.
  output logic idle_o,

  /// Writes 16 bytes.
  output logic we_o,
  /// Which store, and the address in it; with we_o.
  output logic [AddrWidth:0] waddr_o,
  /// The bytes; with we_o.
  output logic [15:0][7:0] wdata_o
);
  typedef enum logic [2:0] {
    Rest,
    Head,
    Wait,
    Body,
    Skip,
    Ended
  } state_e;

  localparam int unsigned PlaceWidth = AddrWidth + 2;

  state_e state_q;
  command_t command_q;
  reply_path_t path_q;
  drop_e drop_q, short;
  logic [2:0] index_q, final_index;
  logic [1:0] path_words_q;
  logic [7:0] crc_q, crc;
  logic take, fresh, in_path, complete, ended_q, cut_q, stored;
  // Behind the header.
  logic [24:0] bytes_q;
  logic [23:0] left_q, certain, handed_q;
  logic [PlaceWidth-1:0] place_q;
  logic bank_q, full_q;
  logic [3:0][3:0][7:0] beat_q, beat;

  assign ready_o = state_q == Rest ? start_i : state_q inside {Head, Skip} ||
      (state_q == Body && !full_valid_o && !(full_q && stream_i && count_i != '0));
  assign take = valid_i && ready_o;
  assign short = cut_i ? DropCut : DropShort;
  assign final_index = 3'(HeaderWords - 1) + 3'(path_words_q);
  assign in_path = index_q != '0 && index_q <= 3'(path_words_q);
  assign complete = index_q == final_index && count_i == 3'd4;

  assign fresh = state_q == Rest || (state_q == Body && bytes_q == '0);
  spfe_rmap_crc i_crc (
    .crc_i(fresh ? 8'd0 : crc_q),
    .data_i,
    .count_i,
    .crc_o(crc)
  );

  always_comb begin
    beat = beat_q;
    beat[place_q[1:0]] = data_i;
  end
  assign stored = keep_i && left_q != '0;
  assign we_o = take && state_q == Body && stored;
  assign waddr_o = {bank_q, place_q[PlaceWidth-1:2]};
  assign wdata_o = beat;
  assign beat_o = beat_q;
  assign full_bank_o = bank_q;
  assign full_valid_o = state_q == Body && full_q && stream_i && valid_i && count_i != '0;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (take) begin
        if (count_i < 3'd3) state_q <= Ended;
        else if (data_i[2][7:6] == '0) state_q <= last_i ? Ended : Skip;
        else state_q <= last_i ? Ended : Head;
      end
      Head:
      if (take) begin
        if (complete) state_q <= crc == '0 ? Wait : last_i ? Ended : Skip;
        else if (last_i) state_q <= Ended;
      end
      Wait: if (go_i) state_q <= ended_q ? Ended : Body;
      Body, Skip: if (take && last_i) state_q <= Ended;
      default: if (release_i) state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      crc_q <= crc;
      ended_q <= last_i;
      cut_q <= cut_i;
    end
    if (take && state_q inside {Rest, Head}) begin
      index_q <= state_q == Rest ? 3'd1 : index_q + 3'd1;
      if (in_path && state_q == Head) begin
        path_q <= {path_q[7:0], data_i[0], data_i[1], data_i[2], data_i[3]};
      end else begin
        command_q <= {command_q[95:0], data_i[0], data_i[1], data_i[2], data_i[3]};
      end
    end
    if (take && state_q == Rest) begin
      path_q <= '0;
      path_words_q <= data_i[2][1:0];
      drop_q <= DropNone;
      if (count_i >= 3'd3 && data_i[2][7:6] == '0) drop_q <= DropForInitiator;
      else if (last_i) drop_q <= short;
    end
    if (take && state_q == Head) begin
      if (complete) drop_q <= crc == '0 ? DropNone : DropCrc;
      else if (last_i) drop_q <= short;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Wait) begin
      bytes_q <= '0;
      left_q <= command_q.length;
      handed_q <= '0;
      {place_q, bank_q, full_q} <= '0;
    end
    if (take && state_q == Body) begin
      if (!bytes_q[24] || bytes_q[23:0] < 24'd4) bytes_q <= bytes_q + 25'(count_i);
      left_q <= left_q >= 24'd4 ? left_q - 24'd4 : '0;
      if (stored) begin
        beat_q <= beat;
        place_q <= place_q + 1'b1;
        full_q <= place_q == '1 && left_q >= 24'd4;
      end
    end
    if (full_valid_o && full_ready_i) begin
      full_q <= 1'b0;
      bank_q <= !bank_q;
      handed_q <= handed_q + 24'(Segment);
    end
  end

  assign command_o = command_q;
  assign path_o = path_q;
  assign drop_o = drop_q;
  assign head_o = state_q == Wait;
  assign ended_o = state_q == Ended;
  assign idle_o = state_q == Rest;

  // The last byte may be the check, unless more came than the header has announced.
  always_comb begin
    certain = command_q.length;
    if (bytes_q <= 25'(command_q.length)) certain = bytes_q == '0 ? '0 : bytes_q[23:0] - 24'd1;
    body_o.cut = cut_q;
    body_o.bytes = bytes_q;
    body_o.intact = crc_q == '0;
    body_o.bank = bank_q;
    body_o.rest = 17'(certain - handed_q);
  end
endmodule
