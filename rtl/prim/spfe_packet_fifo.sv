// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// FIFO whose words become readable packet by packet.
///
/// The writer appends words to an open packet. commit_i makes them readable; rollback_i discards
/// them. Both include the word of the same cycle. A packet longer than Depth never fits, and
/// ready_o stays low: the writer must roll it back. Up to LutramMax words are in distributed RAM
/// and can be read in the cycle after the commit; a deeper FIFO uses block RAM and takes one cycle
/// more.
module spfe_packet_fifo #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8,
  /// Number of words, a power of two, 2 or more.
  parameter int unsigned Depth = 16,
  /// almost_full_o rises when fewer than this many words are free, 1 to Depth.
  parameter int unsigned AlmostFull = 1,
  /// Largest Depth for which the memory is distributed RAM.
  parameter int unsigned LutramMax = 64,
  /// Bits in a number of words; follows from Depth.
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Word from the writer.
  input logic [Width-1:0] data_i,
  input logic valid_i,
  output logic ready_o,
  /// Makes the open packet readable; needs no word in the same cycle.
  input logic commit_i,
  /// Discards the open packet; not together with commit_i.
  input logic rollback_i,
  /// Oldest committed word, to the reader.
  output logic [Width-1:0] data_o,
  output logic valid_o,
  input logic ready_i,
  /// Number of committed words that were not read yet.
  output logic [CountWidth-1:0] count_o,
  /// Number of words in the FIFO, committed or not.
  output logic [CountWidth-1:0] used_o,
  /// Fewer than AlmostFull words are free.
  output logic almost_full_o
);
  localparam int unsigned AddrWidth = $clog2(Depth);

  if (Width < 1) begin : gen_bad_width
    $error("spfe_packet_fifo: Width is %0d; 1 or more is possible", Width);
  end
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_bad_depth
    $error("spfe_packet_fifo: Depth is %0d; powers of two from 2 are possible", Depth);
  end
  if (AlmostFull < 1 || AlmostFull > Depth) begin : gen_bad_almost_full
    $error("spfe_packet_fifo: AlmostFull is %0d; 1 to %0d are possible", AlmostFull, Depth);
  end

  // Pointers have one bit more than an address, so that a full FIFO differs from an empty one.
  logic [AddrWidth:0] write_q, write_d;
  logic [AddrWidth:0] above_q;  // write_q + 1, to keep the adder off the path from valid_i
  logic [AddrWidth:0] commit_q, commit_d;
  logic [AddrWidth:0] read_q, read_d;
  logic [AddrWidth:0] next_q;  // read_q + 1, to keep the adder off the path from ready_i
  logic push, pop;
  logic full;

  assign used_o = write_q - read_q;
  assign count_o = commit_q - read_q;
  assign ready_o = !full;
  assign almost_full_o = used_o > CountWidth'(Depth - AlmostFull);
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;

  always_comb begin
    write_d = push ? above_q : write_q;
    if (rollback_i) write_d = commit_q;
    commit_d = commit_i ? write_d : commit_q;
    read_d = pop ? next_q : read_q;
  end

  always_ff @(posedge clk_i) begin
    write_q <= write_d;
    commit_q <= commit_d;
    read_q <= read_d;
    if (rollback_i) above_q <= commit_q + (AddrWidth + 1)'(1);
    else if (push) above_q <= above_q + (AddrWidth + 1)'(1);
    if (pop) next_q <= next_q + (AddrWidth + 1)'(1);
    if (rst_i) begin
      write_q <= '0;
      above_q <= (AddrWidth + 1)'(1);
      commit_q <= '0;
      read_q <= '0;
      next_q <= (AddrWidth + 1)'(1);
    end
  end

  if (Depth <= LutramMax) begin : gen_lutram
    // Registered copies of what the pointers of the same cycle say.
    logic valid_q;
    logic full_q, full_d;
    logic more;  // this commit makes words readable

    assign more = commit_i && (push || write_q != commit_q);
    assign valid_o = valid_q;
    assign full = full_q;

    always_comb begin
      full_d = push ? above_q == {!read_q[AddrWidth], read_q[AddrWidth-1:0]} : full_q;
      if (rollback_i) full_d = commit_q == {!read_q[AddrWidth], read_q[AddrWidth-1:0]};
      if (pop) full_d = 1'b0;
    end

    always_ff @(posedge clk_i) begin
      full_q <= full_d;
      valid_q <= more || (pop ? next_q != commit_q : valid_q);
      if (rst_i) begin
        valid_q <= 1'b0;
        full_q <= 1'b0;
      end
    end

    spfe_lutram #(
      .Width(Width),
      .Depth(Depth)
    ) i_mem (
      .clk_i,
      .we_i(push),
      .addr_i(write_q[AddrWidth-1:0]),
      .data_i,
      .raddr_i(read_q[AddrWidth-1:0]),
      .rdata_o(data_o)
    );
  end else begin : gen_bram
    // The output register of the block RAM holds the oldest word. It loads the next word when it is
    // empty or its word is read.
    logic head_q;
    logic more;
    logic load;

    assign more = pop ? next_q != commit_q : read_q != commit_q;
    assign load = more && (!head_q || ready_i);
    assign valid_o = head_q;
    assign full = write_q == {!read_q[AddrWidth], read_q[AddrWidth-1:0]};

    always_ff @(posedge clk_i) begin
      head_q <= load || (head_q && !ready_i);
      if (rst_i) head_q <= 1'b0;
    end

    spfe_bram #(
      .Width(Width),
      .Depth(Depth)
    ) i_mem (
      .clk_i,
      .we_i(push),
      .addr_i(write_q[AddrWidth-1:0]),
      .data_i,
      .re_i(load),
      .raddr_i(read_d[AddrWidth-1:0]),
      .data_o
    );
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_command :
      assert (!(commit_i && rollback_i))
      else $error("commit and rollback together");
      a_used :
      assert (32'(used_o) <= Depth)
      else $error("%0d words of %0d", used_o, Depth);
      a_count :
      assert (count_o <= used_o)
      else $error("%0d of %0d committed", count_o, used_o);
      a_full :
      assert (full == (32'(used_o) == Depth))
      else $error("full with %0d words", used_o);
      a_underflow :
      assert (!valid_o || count_o != '0)
      else $error("valid without a committed word");
    end
  end

  spfe_check_stream #(
    .Width(Width)
  ) i_check_reader (
    .clk_i,
    .rst_i,
    .valid_i(valid_o),
    .ready_i,
    .data_i(data_o)
  );
`endif
endmodule
