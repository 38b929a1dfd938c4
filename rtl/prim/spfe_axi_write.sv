// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// AXI4 write master: writes packed words to any address, in bursts. A transfer is done when the
/// last of its bursts has been answered, so what is written after `done` comes after it in memory.
module spfe_axi_write #(
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
  /// The transfer was taken. Transfers are carried out in order; several can be under way.
  output logic cmd_ready_o,

  /// Packed bytes of the transfers, in order; all count except behind the end of the transfer.
  input logic [Bytes-1:0][7:0] data_i,
  input logic valid_i,
  output logic ready_o,

  /// For one cycle, for each transfer in order: all its bytes are written.
  output logic done_o,
  /// The bus reported an error in this transfer; with done_o.
  output logic done_error_o,

  /// AXI4 write address: size is log2(Bytes), burst INCR.
  output logic [AddrWidth-1:0] aw_addr_o,
  /// ID of the burst; with aw_addr_o.
  output logic [IdWidth-1:0] aw_id_o,
  /// Beats less one; with aw_addr_o.
  output logic [7:0] aw_len_o,
  output logic aw_valid_o,
  input logic aw_ready_i,
  /// AXI4 write data.
  output logic [Bytes-1:0][7:0] w_data_o,
  /// Byte enables; with w_data_o.
  output logic [Bytes-1:0] w_strb_o,
  /// Last beat of the burst; with w_data_o.
  output logic w_last_o,
  output logic w_valid_o,
  input logic w_ready_i,
  /// AXI4 write response: ID of the burst.
  input logic [IdWidth-1:0] b_id_i,
  /// OKAY, EXOKAY, SLVERR or DECERR; with b_id_i.
  input logic [1:0] b_resp_i,
  input logic b_valid_i,
  /// Always 1.
  output logic b_ready_o
);
  typedef struct packed {
    logic [PlaceWidth-1:0] first;
    logic [LenWidth-1:0] words;
    logic [PlaceWidth-1:0] last_place;
  } transfer_t;

  // The two sides of the module, addresses and data, take each transfer by themselves.
  transfer_t transfer_in;
  transfer_t transfer;
  logic transfer_valid;
  logic transfer_done;
  logic note_ready;
  logic split_ready;
  logic [LenWidth-1:0] len_1;
  logic [2:0] unused_transfers;
  logic unused_full;

  assign len_1 = cmd_len_i - 1'b1;
  assign transfer_in.first = cmd_addr_i[PlaceWidth-1:0];
  assign transfer_in.words = len_1 >> PlaceWidth;
  assign transfer_in.last_place = PlaceWidth'(len_1);
  assign cmd_ready_o = note_ready && split_ready;

  spfe_fifo #(
    .Width($bits(transfer_t)),
    .Depth(4)
  ) i_transfers (
    .clk_i,
    .rst_i,
    .data_i(transfer_in),
    .valid_i(cmd_valid_i && split_ready),
    .ready_o(note_ready),
    .data_o(transfer),
    .valid_o(transfer_valid),
    .ready_i(transfer_done),
    .count_o(unused_transfers),
    .almost_full_o(unused_full)
  );

  // Addresses. A burst has a slot, whose number is its ID, until all earlier bursts are answered.
  logic burst_valid;
  logic burst_last;
  logic [7:0] burst_len;
  logic slot_free;
  logic lens_ready;
  logic aw_take;
  logic [PlaceWidth-1:0] unused_first;
  logic [PlaceWidth-1:0] unused_end;

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
    .cmd_valid_i(cmd_valid_i && note_ready),
    .cmd_ready_o(split_ready),
    .burst_addr_o(aw_addr_o),
    .burst_len_o(burst_len),
    .burst_first_o(unused_first),
    .burst_end_o(unused_end),
    .burst_last_o(burst_last),
    .burst_valid_o(burst_valid),
    .burst_ready_i(aw_take)
  );

  logic [IdWidth:0] head_q;
  logic [IdWidth:0] tail_q;
  logic [Bursts-1:0] answered_q;
  logic [Bursts-1:0] bad_q;
  logic [Bursts-1:0] ends_q;
  logic error_q;
  logic retire;
  logic [IdWidth-1:0] oldest;

  assign slot_free = head_q - tail_q != (IdWidth + 1)'(Bursts);
  assign aw_valid_o = burst_valid && slot_free && lens_ready;
  assign aw_take = aw_valid_o && aw_ready_i;
  assign aw_id_o = head_q[IdWidth-1:0];
  assign aw_len_o = burst_len;
  assign b_ready_o = 1'b1;
  assign oldest = tail_q[IdWidth-1:0];
  assign retire = head_q != tail_q && answered_q[oldest];
  assign done_o = retire && ends_q[oldest];
  assign done_error_o = error_q || bad_q[oldest];

  always_ff @(posedge clk_i) begin
    if (aw_take) begin
      head_q <= head_q + 1'b1;
      ends_q[aw_id_o] <= burst_last;
      answered_q[aw_id_o] <= 1'b0;
    end
    if (b_valid_i) begin
      answered_q[b_id_i] <= 1'b1;
      bad_q[b_id_i] <= b_resp_i[1];
    end
    if (retire) begin
      tail_q <= tail_q + 1'b1;
      error_q <= done_error_o && !done_o;
    end
    if (rst_i) begin
      head_q <= '0;
      tail_q <= '0;
      error_q <= 1'b0;
    end
  end

  // Data: words of a transfer, and beats of the bursts whose address was sent.
  logic [LenWidth-1:0] word_q;
  logic word_last;
  logic word_take;
  logic unpack_ready;
  logic beat_valid;
  logic len_valid;
  logic [7:0] len;
  logic [7:0] beat_q;
  logic unused_last;
  logic [$clog2(Bursts+1)-1:0] unused_lens;
  logic unused_lens_full;

  assign word_last = word_q == transfer.words;
  assign ready_o = transfer_valid && unpack_ready;
  assign word_take = valid_i && ready_o;
  assign transfer_done = word_take && word_last;

  spfe_axi_unpack #(
    .Bytes(Bytes)
  ) i_unpack (
    .clk_i,
    .rst_i,
    .data_i,
    .first_i(transfer.first),
    .end_i(transfer.last_place),
    .start_i(word_q == '0),
    .last_i(word_last),
    .valid_i(valid_i && transfer_valid),
    .ready_o(unpack_ready),
    .data_o(w_data_o),
    .strobe_o(w_strb_o),
    .last_o(unused_last),
    .valid_o(beat_valid),
    .ready_i(w_valid_o && w_ready_i)
  );

  // A burst's data follows its address, which AXI4 leaves free; the memory of a slow interconnect
  // is then never blocked by an address whose data is missing.
  spfe_fifo #(
    .Width(8),
    .Depth(Bursts)
  ) i_lens (
    .clk_i,
    .rst_i,
    .data_i(burst_len),
    .valid_i(aw_take),
    .ready_o(lens_ready),
    .data_o(len),
    .valid_o(len_valid),
    .ready_i(w_valid_o && w_ready_i && w_last_o),
    .count_o(unused_lens),
    .almost_full_o(unused_lens_full)
  );

  assign w_valid_o = beat_valid && len_valid;
  assign w_last_o = beat_q == len;

  always_ff @(posedge clk_i) begin
    if (word_take) word_q <= word_last ? '0 : word_q + 1'b1;
    if (w_valid_o && w_ready_i) beat_q <= w_last_o ? '0 : beat_q + 1'b1;
    if (rst_i) begin
      word_q <= '0;
      beat_q <= '0;
    end
  end

`ifndef SYNTHESIS
  // Number of bursts under way that are older than the answered one.
  logic [IdWidth-1:0] older;
  assign older = b_id_i - oldest;

  always_ff @(posedge clk_i) begin
    a_answer :
    assert (rst_i || !b_valid_i || (IdWidth + 1)'(older) < head_q - tail_q)
    else $error("an answer for burst %0d, which is not under way", b_id_i);
  end
`endif

  logic unused;
  assign unused = b_resp_i[0];
endmodule
