// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// FIFO for message payload: takes beats of the user's width and returns chunks of the MAC's width.
module spfe_tcp_tx_fifo #(
  /// Bytes per beat: 4, 8 or 16.
  parameter int unsigned UserBytes = 8,
  /// Bytes per chunk: 4 or 8.
  parameter int unsigned MacBytes = 4,
  /// Minimum capacity in bytes.
  parameter int unsigned Size = 2920,
  /// Width of a byte count of one beat; derived.
  localparam int unsigned BeatBits = $clog2(UserBytes) + 1,
  /// Width of a byte count of one chunk; derived.
  localparam int unsigned ChunkBits = $clog2(MacBytes) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// A beat is written.
  input logic valid_i,
  /// First beat of the message.
  input logic first_i,
  /// Last beat of the message.
  input logic last_i,
  /// Beat data; first byte in bits 7:0, bytes that are not valid are 0.
  input logic [UserBytes*8-1:0] data_i,
  /// Valid bytes of the beat.
  input logic [BeatBits-1:0] bytes_i,
  /// All beats so far become readable.
  input logic commit_i,
  /// Drops all beats since the last commit.
  input logic rollback_i,
  /// Room for several more beats.
  output logic room_o,

  /// A chunk is valid.
  output logic valid_o,
  /// Sender accepts the chunk.
  input logic ready_i,
  /// Chunk data; bytes that are not valid are 0.
  output logic [MacBytes*8-1:0] data_o,
  /// Valid bytes of the chunk; 0 only if the message ended with an empty beat.
  output logic [ChunkBits-1:0] bytes_o,
  /// Last chunk of the message.
  output logic last_o
);
  localparam int unsigned EntryBytes = UserBytes > MacBytes ? UserBytes : MacBytes;
  localparam int unsigned EntryBits = $clog2(EntryBytes) + 1;
  localparam int unsigned Ratio = EntryBytes / MacBytes;
  localparam int unsigned Depth = 2 ** $clog2((Size + EntryBytes - 1) / EntryBytes + 8);
  localparam int unsigned Width = 1 + EntryBits + EntryBytes * 8;
  logic room_q;

  typedef struct packed {
    logic last;
    logic [EntryBits-1:0] bytes;
    logic [EntryBytes*8-1:0] data;
  } entry_t;

  entry_t wr, rd;
  logic wr_valid, rd_valid, rd_ready, almost_full;

  // ---- beats to entries
  if (UserBytes >= MacBytes) begin : gen_wide
    assign wr.last = last_i;
    assign wr.bytes = EntryBits'(bytes_i);
    assign wr.data = data_i;
    assign wr_valid = valid_i;
    logic unused_first;
    assign unused_first = first_i;
  end else begin : gen_pack
    logic half_q;
    logic [UserBytes*8-1:0] held_q;
    logic second;
    assign second = half_q && !first_i;
    assign wr.last = last_i;
    assign wr.bytes = EntryBits'(bytes_i) + (second ? EntryBits'(UserBytes) : '0);
    assign wr.data = second ? {data_i, held_q} : {{UserBytes * 8{1'b0}}, data_i};
    assign wr_valid = valid_i && (second || last_i);
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        half_q <= !second && !last_i;
        held_q <= data_i;
      end
      if (rst_i || rollback_i) half_q <= 1'b0;
    end
  end

  logic unused_ready;
  logic [$clog2(Depth + 1)-1:0] unused_count, unused_used;
  spfe_packet_fifo #(
    .Width(Width),
    .Depth(Depth),
    .AlmostFull(6)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(wr_valid),
    .ready_o(unused_ready),
    .data_i(wr),
    .commit_i,
    .rollback_i,
    .valid_o(rd_valid),
    .ready_i(rd_ready),
    .data_o(rd),
    .count_o(unused_count),
    .used_o(unused_used),
    .almost_full_o(almost_full)
  );

  assign room_o = room_q;

  always_ff @(posedge clk_i) begin
    room_q <= !almost_full && !rst_i;
  end

  // ---- entries to chunks, followed by a register slice: the memory output and the sender's ready
  // are both slow
  typedef struct packed {
    logic last;
    logic [ChunkBits-1:0] bytes;
    logic [MacBytes*8-1:0] data;
  } chunk_t;
  chunk_t chunk, out;
  logic chunk_ready;

  if (Ratio == 1) begin : gen_direct
    assign chunk = rd;
    assign rd_ready = chunk_ready;
  end else begin : gen_split
    localparam int unsigned SubBits = $clog2(Ratio);
    logic [SubBits-1:0] sub_q;
    logic [EntryBits-1:0] left;
    logic final_sub;
    assign left = rd.bytes - EntryBits'(32'(sub_q) * MacBytes);
    assign final_sub = left <= EntryBits'(MacBytes);
    assign chunk.data = rd.data[32'(sub_q)*MacBytes*8+:MacBytes*8];
    assign chunk.bytes = final_sub ? ChunkBits'(left) : ChunkBits'(MacBytes);
    assign chunk.last = rd.last && final_sub;
    assign rd_ready = chunk_ready && final_sub;
    always_ff @(posedge clk_i) begin
      if (rd_valid && chunk_ready) sub_q <= final_sub ? '0 : sub_q + SubBits'(1);
      if (rst_i) sub_q <= '0;
    end
  end

  spfe_slice #(
    .Width($bits(chunk_t))
  ) i_slice (
    .clk_i,
    .rst_i,
    .valid_i(rd_valid),
    .ready_o(chunk_ready),
    .data_i(chunk),
    .valid_o,
    .ready_i,
    .data_o(out)
  );
  assign data_o = out.data;
  assign bytes_o = out.bytes;
  assign last_o = out.last;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_room :
    assert (rst_i || !wr_valid || unused_ready)
    else $error("no room for a beat");
  end
`endif
endmodule
