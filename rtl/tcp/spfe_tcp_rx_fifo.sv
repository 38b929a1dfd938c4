// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// FIFO of store-and-forward. A segment is readable in the cycle after its commit, or discarded.
///
/// While the FIFO is empty, a register holds a copy of the first beat of the segment that comes in,
/// and the second beat is read from the memory before the verdict is known. So the segment leaves
/// without a gap.
module spfe_tcp_rx_fifo #(
  /// Bits in the side band of a beat.
  parameter int unsigned SideBits = 4,
  /// Width of the user stream in bits: 32, 64 or 128.
  parameter int unsigned Width = 64,
  /// Number of beats, a power of two.
  parameter int unsigned Depth = 1024,
  /// Bits in a number of bytes of a beat; follows from Width.
  localparam int unsigned CountBits = $clog2(Width / 8) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Data of a beat, the first byte in bits 7:0. The beat cannot be stalled: see no_room_o.
  input logic [Width-1:0] data_i,
  /// Bytes in the beat, 1 or more.
  input logic [CountBits-1:0] count_i,
  /// Last beat of the segment.
  input logic last_i,
  /// The beat is the last one and follows the one before it without a gap; from a register.
  input logic tail_i,
  /// Side band of the beat.
  input logic [SideBits-1:0] side_i,
  input logic valid_i,
  /// Beats in the memory, those of the open segment included.
  output logic [$clog2(Depth):0] used_o,
  /// A beat of this segment found no room; complete when the segment has ended.
  output logic no_room_o,
  /// The segment has ended. No beat comes with it but one with tail_i.
  input logic finish_i,
  /// With finish_i: the segment becomes readable; else it is discarded.
  input logic commit_i,
  /// Data of the beat to the user, the first byte in bits 7:0.
  output logic [Width-1:0] data_o,
  /// Valid bytes of the beat.
  output logic [Width/8-1:0] keep_o,
  /// Last beat of the segment.
  output logic last_o,
  /// Side band of the beat.
  output logic [SideBits-1:0] side_o,
  output logic valid_o,
  input logic ready_i
);
  localparam int unsigned Bytes = Width / 8;
  localparam int unsigned AddrBits = $clog2(Depth);

  typedef logic [AddrBits:0] ptr_t;
  typedef struct packed {
    logic [SideBits-1:0] side;
    logic last;
    logic [CountBits-2:0] above;  // bytes - 1
    logic [Width-1:0] data;
  } beat_t;

  // Pointers have one bit more than an address. Each has a second register with its successor,
  // because the decision to move it comes late in the cycle.
  ptr_t write_q, write_d;  // next beat to write
  ptr_t above_q, above_d;  // write_q + 1
  ptr_t end_d;  // with finish_i: after the last beat of the segment
  ptr_t commit_q;  // first beat that is not committed
  ptr_t begin_q, begin_d;  // commit_q + 1
  ptr_t read_q, read_d;  // next beat to read
  ptr_t next_q, next_d;  // read_q + 1
  logic no_room_q;
  beat_t head_q;  // copy of the first beat that is not committed
  logic stage_q, stage_d;  // the output of the memory holds a beat
  beat_t stage;
  logic show_q, show_d;  // the output register holds a beat
  beat_t show;
  logic [Width-1:0] data_q;
  logic [Bytes-1:0] keep_q;
  logic last_q;
  logic [SideBits-1:0] side_q;

  logic free_one, free_none, full, write, idle, take, bypass, second, fetch;
  beat_t beat;
  ptr_t fetch_ptr;
  logic unused_bits;

  always_comb begin
    beat.side = side_i;
    beat.last = last_i;
    beat.above = (CountBits - 1)'(count_i - 1'b1);
    beat.data = data_i;
  end
  assign unused_bits = fetch_ptr[AddrBits];

  // The beat before a beat with tail_i has reserved its place, so end_d does not depend on valid_i.
  assign free_one = above_q == {!read_q[AddrBits], read_q[AddrBits-1:0]};
  assign free_none = write_q == {!read_q[AddrBits], read_q[AddrBits-1:0]};
  assign full = free_one || free_none;
  assign write = valid_i && !no_room_q && (tail_i || !full);
  assign no_room_o = no_room_q;
  assign used_o = write_q - read_q;
  assign end_d = tail_i && !no_room_q ? above_q : write_q;
  assign begin_d = tail_i && !no_room_q ? above_q + ptr_t'(1) : above_q;
  assign write_d = write ? above_q : write_q;
  assign above_d = write ? above_q + ptr_t'(1) : above_q;

  assign idle = read_q == commit_q && !stage_q;
  assign take = !show_q || ready_i;
  assign bypass = finish_i && commit_i && idle && take;
  // The memory holds the second beat of the segment.
  assign second = write_q != read_q && write_q != next_q;
  assign fetch = read_q != commit_q && (!stage_q || take);

  always_comb begin
    read_d = fetch ? next_q : read_q;
    next_d = fetch ? next_q + ptr_t'(1) : next_q;
    stage_d = fetch || (stage_q && !take);
    show_d = !take || stage_q || bypass;
    // While nothing is committed, read the second beat of the open segment as soon as it is
    // written.
    fetch_ptr = idle ? next_q : read_q;
    if (bypass) begin
      read_d = second ? next_q + ptr_t'(1) : next_q;
      next_d = second ? next_q + ptr_t'(2) : next_q + ptr_t'(1);
      stage_d = second;
    end
  end

  always_ff @(posedge clk_i) begin
    write_q <= write_d;
    above_q <= above_d;
    if (valid_i && !tail_i && full) no_room_q <= 1'b1;
    if (finish_i) begin
      no_room_q <= 1'b0;
      if (commit_i) begin
        commit_q <= end_d;
        begin_q <= begin_d;
      end else begin
        write_q <= commit_q;
        above_q <= begin_q;
      end
    end
    read_q <= read_d;
    next_q <= next_d;
    stage_q <= stage_d;
    show_q <= show_d;
    // Follows the bus until the first beat is written.
    if (write_q == commit_q) head_q <= beat;
    if (rst_i) begin
      write_q <= '0;
      above_q <= ptr_t'(1);
      commit_q <= '0;
      begin_q <= ptr_t'(1);
      read_q <= '0;
      next_q <= ptr_t'(1);
      no_room_q <= 1'b0;
      stage_q <= 1'b0;
      show_q <= 1'b0;
    end
  end

  assign show = stage_q ? stage : head_q;

  always_ff @(posedge clk_i) begin
    if (take) begin
      data_q <= show.data;
      last_q <= show.last;
      side_q <= show.side;
      for (int unsigned i = 0; i < Bytes; i++) keep_q[i] <= (CountBits - 1)'(i) <= show.above;
    end
  end
  assign data_o = data_q;
  assign keep_o = keep_q;
  assign last_o = last_q;
  assign side_o = side_q;
  assign valid_o = show_q;

  spfe_bram #(
    .Width($bits(beat_t)),
    .Depth(Depth)
  ) i_memory (
    .clk_i,
    .we_i(write),
    .addr_i(write_q[AddrBits-1:0]),
    .data_i(beat),
    .re_i(fetch || (idle && second)),
    .raddr_i(fetch_ptr[AddrBits-1:0]),
    .data_o(stage)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_head :
      assert (!bypass || write_q != commit_q)
      else $error("commit without a first beat");
      a_tail :
      assert (!valid_i || !tail_i || no_room_q || !free_none)
      else $error("no place for the rest of a segment");
      a_finish :
      assert (!finish_i || !valid_i || tail_i)
      else $error("a beat with the end of its segment");
      a_used :
      assert (32'(ptr_t'(write_q - read_q)) <= Depth)
      else $error("more beats than %0d", Depth);
    end
  end
`endif
endmodule
