// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// AXI4 read master: turns a transfer of any address and length into bursts and gives its bytes as
/// packed words. Each burst has an ID of its own and room in the reorder buffer before it is asked
/// for, so the bus never waits for this module, and answers may come in any order.
module spfe_axi_read #(
  /// Bits of an address, more than 12.
  parameter int unsigned AddrWidth = 64,
  /// Bits of a length.
  parameter int unsigned LenWidth = 32,
  /// Bytes in a beat, a power of two from 4 to 128.
  parameter int unsigned Bytes = 16,
  /// Largest burst in bytes, as of spfe_axi_split.
  parameter int unsigned BurstBytes = 256,
  /// Bursts under way, and IDs in use: a power of two, 2 or more.
  parameter int unsigned Bursts = 8,
  /// Check bits of the reorder buffer, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an ID; follows from Bursts.
  localparam int unsigned IdWidth = $clog2(Bursts),
  /// Bits of a place in a beat; follows from Bytes.
  localparam int unsigned PlaceWidth = $clog2(Bytes)
) (
  input logic clk_i,
  input logic rst_i,

  /// Address of the first byte.
  input logic [AddrWidth-1:0] cmd_addr_i,
  /// Bytes, 1 or more; the transfer must not pass the end of the address space.
  input logic [LenWidth-1:0] cmd_len_i,
  /// The two belong together.
  input logic cmd_valid_i,
  /// The transfer was taken. Transfers are answered in order; several can be under way.
  output logic cmd_ready_o,

  /// Packed bytes; all count except behind end_o of a transfer's last word.
  output logic [Bytes-1:0][7:0] data_o,
  /// Place of the last byte; with the last word.
  output logic [PlaceWidth-1:0] end_o,
  /// The word ends a transfer.
  output logic last_o,
  /// The bus or the reorder buffer reported an error in this transfer; with its last word.
  output logic error_o,
  output logic valid_o,
  input logic ready_i,

  /// AXI4 read address: size is log2(Bytes), burst INCR.
  output logic [AddrWidth-1:0] ar_addr_o,
  /// ID of the burst; with ar_addr_o.
  output logic [IdWidth-1:0] ar_id_o,
  /// Beats less one; with ar_addr_o.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// AXI4 read data.
  input logic [Bytes-1:0][7:0] r_data_i,
  /// ID of the burst; with r_data_i.
  input logic [IdWidth-1:0] r_id_i,
  /// OKAY, EXOKAY, SLVERR or DECERR; with r_data_i.
  input logic [1:0] r_resp_i,
  /// Last beat of the burst; with r_data_i.
  input logic r_last_i,
  input logic r_valid_i,
  /// Always 1.
  output logic r_ready_o
);
  typedef struct packed {
    logic [PlaceWidth-1:0] first;
    logic [PlaceWidth-1:0] last_place;
    logic last;
  } burst_t;

  // What the reader of the buffer must know of each burst, in order.
  burst_t burst_in;
  burst_t burst;
  logic burst_valid;
  logic info_ready;
  logic info_valid;
  logic slot_valid;
  logic beat_last;
  logic beat_valid;
  logic beat_ready;
  logic beat_take;
  logic [$clog2(2*Bursts+1)-1:0] unused_count;
  logic unused_almost_full;

  spfe_axi_split #(
    .AddrWidth(AddrWidth),
    .LenWidth(LenWidth),
    .Bytes(Bytes),
    .BurstBytes(BurstBytes)
  ) i_split (
    .clk_i,
    .rst_i,
    .cmd_addr_i,
    .cmd_len_i,
    .cmd_valid_i,
    .cmd_ready_o,
    .burst_addr_o(ar_addr_o),
    .burst_len_o(ar_len_o),
    .burst_first_o(burst_in.first),
    .burst_end_o(burst_in.last_place),
    .burst_last_o(burst_in.last),
    .burst_valid_o(burst_valid),
    .burst_ready_i(ar_valid_o && ar_ready_i)
  );

  // There is an entry of this FIFO for each slot, so it is never full when a slot is free; a slot
  // that is given out stays given out, so an offered address stays offered.
  assign ar_valid_o = burst_valid && slot_valid;

  spfe_fifo #(
    .Width($bits(burst_t)),
    .Depth(2 * Bursts)
  ) i_info (
    .clk_i,
    .rst_i,
    .data_i(burst_in),
    .valid_i(ar_valid_o && ar_ready_i),
    .ready_o(info_ready),
    .data_o(burst),
    .valid_o(info_valid),
    .ready_i(beat_take && beat_last),
    .count_o(unused_count),
    .almost_full_o(unused_almost_full)
  );

  logic [Bytes-1:0][7:0] beat;
  logic beat_bad;
  logic ram_failed;
  logic unused_corrected;

  assign r_ready_o = 1'b1;

  spfe_reorder #(
    .Width(8 * Bytes + 1),
    .Slots(Bursts),
    .Words(BurstBytes / Bytes),
    .Protect(Protect)
  ) i_reorder (
    .clk_i,
    .rst_i,
    .slot_o(ar_id_o),
    .slot_valid_o(slot_valid),
    .slot_ready_i(burst_valid && ar_ready_i),
    .data_i({r_resp_i[1], r_data_i}),
    .slot_i(r_id_i),
    .last_i(r_last_i),
    .valid_i(r_valid_i),
    .data_o({beat_bad, beat}),
    .last_o(beat_last),
    .valid_o(beat_valid),
    .ready_i(beat_ready),
    .corrected_o(unused_corrected),
    .failed_o(ram_failed)
  );

  // An error anywhere in the transfer is told with its last word.
  logic error_q;
  logic start_q;
  logic [PlaceWidth-1:0] first_q;
  logic error;
  logic starts;

  assign beat_take = beat_valid && beat_ready;
  assign error = error_q || beat_bad || ram_failed;
  assign starts = start_q;

  always_ff @(posedge clk_i) begin
    if (ram_failed) error_q <= 1'b1;
    if (beat_take) begin
      error_q <= error && !(beat_last && burst.last);
      start_q <= beat_last && burst.last;
      if (starts) first_q <= burst.first;
    end
    if (rst_i) begin
      error_q <= 1'b0;
      start_q <= 1'b1;
    end
  end

  spfe_axi_pack #(
    .Bytes(Bytes)
  ) i_pack (
    .clk_i,
    .rst_i,
    .data_i(beat),
    .first_i(starts ? burst.first : first_q),
    .end_i(burst.last_place),
    .start_i(starts),
    .last_i(beat_last && burst.last),
    .error_i(error),
    .valid_i(beat_valid),
    .ready_o(beat_ready),
    .data_o,
    .end_o,
    .last_o,
    .error_o,
    .valid_o,
    .ready_i
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_info :
      assert (info_valid || !beat_valid)
      else $error("a beat of an unknown burst");
      a_room :
      assert (info_ready || !ar_valid_o)
      else $error("no room to note a burst");
    end
  end
`endif

  logic unused;
  assign unused = r_resp_i[0] ^ info_ready ^ info_valid;
endmodule
