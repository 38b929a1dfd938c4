// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Receives packets of SFRP as wholes: checks header and payload, and stores the payload, while the
/// packet before is being executed. Steps 1 to 4 of the checks of docs/rdma.md.
module spfe_rdma_receive
  import spfe_rdma_pkg::*;
#(
  /// Largest payload that is stored, bytes: a power of two, 256 or more.
  parameter int unsigned Segment = 4096,
  /// Bits of an address of the store; follows from Segment.
  localparam int unsigned AddrWidth = $clog2(Segment / 16)
) (
  input logic clk_i,
  input logic rst_i,
  /// Protocol identifier.
  input logic [7:0] protocol_i,
  /// Logical address of the target.
  input logic [7:0] logical_address_i,

  /// Number of the channel, a constant.
  input logic [4:0] vc_i,

  /// Bytes of packets, as of spfe_rdma_bytes.
  input logic [3:0][7:0] data_i,
  /// Number of bytes; with data_i.
  input logic [2:0] count_i,
  /// The packet ends here; with data_i.
  input logic last_i,
  /// It ends with EEP; with last_i.
  input logic cut_i,
  input logic valid_i,
  output logic ready_o,

  /// Writes 16 bytes of payload, byte 0 first.
  output logic we_o,
  /// Which of two stores, and the address in it; with we_o.
  output logic [AddrWidth:0] waddr_o,
  /// The bytes; with we_o.
  output logic [15:0][7:0] wdata_o,

  /// Packet that has ended.
  output packet_t packet_o,
  /// Which store has its payload; with packet_o.
  output logic bank_o,
  output logic packet_valid_o,
  input logic packet_ready_i
);
  localparam int unsigned Words = Segment / 4;
  // Bits of a number of words of a packet; it stops at the largest.
  localparam int unsigned IndexWidth = 15;

  logic take;

  // The header, a word of four bytes each with its first byte in the high bits.
  logic [15:0][31:0] words_q;
  logic [IndexWidth-1:0] index_q, payload_index;
  logic [16:0] bytes_q;
  logic [3:0] units_q;
  logic [15:0] crc16_q, crc16;
  logic [31:0] crc32_q, crc32, left_q, wanted;
  logic [2:0] step;
  logic [1:0][3:0][7:0] tail_q;
  logic [1:0] tail_at_q, tails_q;
  logic [3:0][3:0][7:0] beat_q, beat;
  logic in_header, stored, cut_q, done_q, bank_q;
  header_t header;

  assign ready_o = !done_q;
  assign take = valid_i && ready_o;
  assign in_header = index_q == '0 || index_q < IndexWidth'({units_q, 1'b0});
  assign payload_index = index_q - IndexWidth'({units_q, 1'b0});
  assign step = in_header || left_q >= 32'd4 ? 3'd4 : left_q[2:0];
  assign stored = !in_header && payload_index < IndexWidth'(Words);

  for (genvar i = 0; i < 9; i++) begin : gen_header
    assign header[303-32*i-:32] = words_q[i];
  end
  assign header[15:0] = words_q[9][31:16];

  assign wanted = (header.code[7] ? header.status == '0 && response_has_payload(
    {1'b0, header.code[6:0]}
  ) : request_has_payload(
    header.code
  )) ? header.length : '0;

  spfe_rdma_crc i_crc (
    .crc16_i(index_q == '0 ? '1 : crc16_q),
    .crc32_i(crc32_q),
    .data_i,
    .count_i(step),
    .crc16_o(crc16),
    .crc32_o(crc32)
  );

  always_comb begin
    beat = beat_q;
    beat[payload_index[1:0]] = data_i;
  end
  assign we_o = take && stored && (payload_index[1:0] == 2'd3 || last_i);
  assign waddr_o = {bank_q, payload_index[2+:AddrWidth]};
  assign wdata_o = beat;

  always_ff @(posedge clk_i) begin
    if (take) begin
      if (index_q != '1) index_q <= index_q + 1'b1;
      if (!bytes_q[16]) bytes_q <= bytes_q + 17'(count_i);
      if (index_q < IndexWidth'(16)) begin
        words_q[index_q[3:0]] <= {data_i[0], data_i[1], data_i[2], data_i[3]};
      end
      if (index_q == '0) units_q <= data_i[2][3:0];
      if (in_header) begin
        crc16_q <= crc16;
        crc32_q <= '1;
        // Opcode and length are known since word 5.
        left_q <= wanted;
        tails_q <= '0;
      end else begin
        if (left_q != '0) crc32_q <= crc32;
        left_q <= left_q >= 32'd4 ? left_q - 32'd4 : '0;
        // The check sequence begins in the word in which the payload ends.
        if (left_q < 32'd4 && tails_q != 2'd2) begin
          tail_q[tails_q[0]] <= data_i;
          tails_q <= tails_q + 2'd1;
          if (tails_q == '0) tail_at_q <= left_q[1:0];
        end
      end
      if (stored) beat_q <= beat;
      done_q <= last_i;
      cut_q <= cut_i;
    end else if (done_q && packet_ready_i) begin
      done_q <= 1'b0;
      bank_q <= !bank_q;
      index_q <= '0;
      bytes_q <= '0;
    end
    if (rst_i) begin
      done_q <= 1'b0;
      bank_q <= 1'b0;
      index_q <= '0;
      bytes_q <= '0;
    end
  end

  // The packet, once it has ended.
  logic [7:0][7:0] tail;
  logic [3:0][7:0] found;
  logic [16:0] header_bytes;
  logic [32:0] behind, needed;
  logic [23:0][7:0] path;
  logic layout, padded;

  assign tail = tail_q;
  for (genvar i = 0; i < 4; i++) begin : gen_found
    assign found[3-i] = tail[3'(tail_at_q)+3'(i)];
  end
  for (genvar i = 0; i < 24; i++) begin : gen_path
    assign path[i] = words_q[(38+i)/4][31-8*((38+i)%4)-:8];
  end
  assign header_bytes = 17'({units_q, 3'd0});
  assign behind = 33'(bytes_q) - 33'(header_bytes);
  assign needed = {1'b0, wanted} + (header.flags.payload_crc ? 33'd4 : 33'd0);

  always_comb begin
    padded = 1'b1;
    for (int unsigned i = 0; i < 24; i++) begin
      if (8'(i) >= header.path_bytes && 17'(i + 40) < header_bytes && path[i] != '0) padded = 1'b0;
    end
    layout = 17'(header.path_bytes) <= header_bytes - 17'd40;
    // Later versions may use these bits.
    if (header.version == Version) begin
      if (8'(units_q) != 8'd5 + ((header.path_bytes + 8'd7) >> 3) || !padded ||
          header.flags.reserved || (header.path_bytes != '0 && header.code[7]) ||
          (wanted == '0 && header.flags.payload_crc)) begin
        layout = 1'b0;
      end
    end
  end

  always_comb begin
    packet_o = '{header: header, path: path, drop: DropNone, body: SfrpOk, vc: vc_i};
    if (bytes_q >= 17'd2 && header.protocol != protocol_i) packet_o.drop = DropProtocol;
    else if (bytes_q < 17'd40) packet_o.drop = DropShort;
    else if (units_q < 4'd5 || units_q > 4'd8) packet_o.drop = DropUnits;
    else if (bytes_q < header_bytes) packet_o.drop = DropShort;
    else if (crc16_q != '0) packet_o.drop = DropCrc;
    else if (!layout) packet_o.drop = DropLayout;
    else if (header.receiver != logical_address_i) packet_o.drop = DropNotOurs;
    else if (header.code[7] || header.code == OpCredit) packet_o.drop = DropForInitiator;

    if (cut_q) packet_o.body = SfrpEep;
    else if (behind < needed) packet_o.body = SfrpShort;
    else if (behind > needed) packet_o.body = SfrpLong;
    else if (wanted != '0 && (!header.flags.payload_crc || found != ~crc32_q)) begin
      packet_o.body = SfrpPayloadCrc;
    end
  end
  assign bank_o = bank_q;
  assign packet_valid_o = done_q;

  if (Segment < 256 || Segment > 65536 || (Segment & (Segment - 1)) != 0) begin : gen_bad_segment
    $error(
      "spfe_rdma_receive: Segment is %0d; powers of two from 256 to 65536 are possible", Segment
    );
  end
endmodule
