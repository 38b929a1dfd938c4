// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// FIFO that shows what was written only when it is committed, and can take back what was not.
///
/// Words are added to a packet in the making; commit_i makes all of them readable and rollback_i
/// takes all of them back, the word of the same cycle included. A packet of more than Depth words
/// never fits: a writer that waits for ready_o would wait for ever, so it has to roll back. Up to
/// LutramMax words are in distributed RAM and readable in the cycle after the commit; more are in
/// block RAM and readable one cycle later.
module spfe_packet_fifo #(
  /// Bits of a word; 1 or more.
  parameter int unsigned Width = 8,
  /// Words; a power of two, 2 or more.
  parameter int unsigned Depth = 16,
  /// almost_full_o means that fewer than this many words are free; 1 to Depth.
  parameter int unsigned AlmostFull = 1,
  /// Words up to which the memory is distributed RAM.
  parameter int unsigned LutramMax = 64,
  /// Bits of a number of words; follows from Depth.
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: empties the FIFO.
  input logic rst_i,
  /// A word is offered; from the writer.
  input logic valid_i,
  /// There is room for it; to the writer.
  output logic ready_o,
  /// The offered word; from the writer.
  input logic [Width-1:0] data_i,
  /// All words up to now become readable; from the writer, also without a word.
  input logic commit_i,
  /// All words since the last commit are forgotten; from the writer, not together with commit_i.
  input logic rollback_i,
  /// A word can be read; to the reader.
  output logic valid_o,
  /// The word is taken; from the reader.
  input logic ready_i,
  /// The oldest committed word; to the reader, stable until it is taken.
  output logic [Width-1:0] data_o,
  /// Committed words that were not yet read.
  output logic [CountWidth-1:0] count_o,
  /// Words that are occupied, committed or not.
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

  // Pointers count twice round the memory, so that their difference is the number of words.
  logic [AddrWidth:0] write_q, write_d;
  logic [AddrWidth:0] above_q;  // write_q + 1, as next_q below
  logic [AddrWidth:0] commit_q, commit_d;
  logic [AddrWidth:0] read_q, read_d;
  logic [AddrWidth:0] next_q;  // read_q + 1: whether a word is taken is known late
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
    // As the pointers of the same cycle say.
    logic valid_q;
    logic full_q, full_d;
    logic more;  // words become readable

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
    // The memory's own output register is the head of the queue: it is loaded with the next word
    // whenever it is empty or being emptied.
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
      else $error("a word out of nothing");
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
