// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Keeps payload that is ahead of RCV.NXT, and delivers it when the hole before it has closed.
///
/// Segments leave the FIFO in the order of arrival. A segment in order passes in the same cycle.
/// The others are written to the ring of their session, at the sequence number modulo the size of
/// the ring. An order to drain belongs after the segment that closed the hole: it waits until that
/// segment has passed, then holds the stream and delivers the kept payload as one more segment. The
/// memory has a bank for each byte of a beat, so that a beat can begin at any byte.
module spfe_tcp_rx_ring
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the stream in bits: 32, 64 or 128.
  parameter int unsigned Width = 64,
  /// log2 of the bytes in the ring of a session.
  parameter int unsigned RingBits = 15,
  /// Number of beats in the FIFO before this module: it may hold as many segments.
  parameter int unsigned FifoDepth = 1024,
  /// Bits in a session number; follows from SessionCount.
  localparam int unsigned IndexBits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// A segment enters the FIFO before this module.
  input logic commit_i,
  /// Order to deliver kept payload after the last such segment, for one cycle.
  input drain_t drain_i,
  input logic drain_valid_i,
  /// Data of a beat from the FIFO, the first byte in bits 7:0.
  input logic [Width-1:0] data_i,
  /// Valid bytes of the beat, from the first on.
  input logic [Width/8-1:0] keep_i,
  /// Last beat of its segment.
  input logic last_i,
  /// Session of the segment.
  input logic [IndexBits-1:0] sid_i,
  /// The segment is ahead of RCV.NXT and must be kept.
  input logic keep_back_i,
  /// With keep_back_i: SEQ of the segment modulo the size of the ring.
  input logic [RingBits-1:0] where_i,
  input logic valid_i,
  output logic ready_o,
  /// Data of a beat to the user, the first byte in bits 7:0.
  output logic [Width-1:0] data_o,
  /// Valid bytes of the beat, from the first on.
  output logic [Width/8-1:0] keep_o,
  /// Last beat of its segment.
  output logic last_o,
  /// Session of the segment.
  output logic [IndexBits-1:0] sid_o,
  output logic valid_o,
  input logic ready_i
);
  localparam int unsigned Bytes = Width / 8;
  localparam int unsigned Log = $clog2(Bytes);
  localparam int unsigned RowBits = RingBits - Log;
  // Orders name their segment by its number. Each pending order has its segment in the FIFO.
  localparam int unsigned NumberBits = $clog2(FifoDepth) + 2;

  typedef logic [NumberBits-1:0] number_t;
  typedef struct packed {
    number_t after;
    logic [IndexBits-1:0] sid;
    logic [RingBits-1:0] where;
    logic [RingBits:0] len;
  } order_t;

  number_t came_q, passed_q;
  order_t order_in, order;
  logic order_room, order_valid, order_take;
  logic unused_bits, unused_full;
  logic [$clog2(FifoDepth + 1)-1:0] unused_count;

  assign order_in.after = came_q;
  assign order_in.sid = drain_i.sid[IndexBits-1:0];
  assign order_in.where = drain_i.seq[RingBits-1:0];
  assign order_in.len = drain_i.len[RingBits:0];
  assign unused_bits = ^{drain_i, order_room};

  spfe_fifo #(
    .Width($bits(order_t)),
    .Depth(FifoDepth)
  ) i_orders (
    .clk_i,
    .rst_i,
    .valid_i(drain_valid_i),
    .ready_o(order_room),
    .data_i(order_in),
    .valid_o(order_valid),
    .ready_i(order_take),
    .data_o(order),
    .count_o(unused_count),
    .almost_full_o(unused_full)
  );

  // Draining: the read in progress, and the beat at the output of the banks.
  logic drain_q, drain_d, fetch, stage_q, stage_d, stage_take;
  logic [RingBits-1:0] where_q, where_d;
  logic [RingBits:0] left_q, left_d;
  logic [IndexBits-1:0] drain_sid_q;
  logic [Log-1:0] turn_q;  // bank of the first byte of the beat at the output
  logic [Log:0] stage_count_q;
  logic stage_last_q;
  // Beats that pass or are kept.
  logic hold, pass, write;
  logic [RingBits-1:0] offset_q;  // bytes of the segment before this beat
  logic [RingBits-1:0] write_where;
  logic [Log:0] count;

  logic [Bytes-1:0][7:0] bank_out;
  logic [Bytes-1:0][7:0] turned, bytes_in;

  assign bytes_in = data_i;
  assign hold = drain_q || stage_q || (order_valid && order.after == passed_q);
  assign order_take = order_valid && order.after == passed_q && !drain_q && !stage_q;
  assign pass = valid_i && !keep_back_i && !hold;
  assign write = valid_i && keep_back_i && !hold;
  assign ready_o = !hold && (keep_back_i || ready_i);
  assign write_where = where_i + offset_q;

  always_comb begin
    count = '0;
    for (int unsigned i = 0; i < Bytes; i++) count += (Log + 1)'(keep_i[i]);
  end

  assign stage_take = ready_i;
  assign fetch = drain_q && (!stage_q || stage_take);

  always_comb begin
    drain_d = drain_q;
    where_d = where_q;
    left_d = left_q;
    stage_d = fetch || (stage_q && !stage_take);
    if (fetch) begin
      where_d = where_q + RingBits'(Bytes);
      left_d = left_q - (RingBits + 1)'(Bytes);
      drain_d = left_q > (RingBits + 1)'(Bytes);
    end
    if (order_take) begin
      drain_d = 1'b1;
      where_d = order.where;
      left_d = order.len;
    end
  end

  for (genvar b = 0; b < Bytes; b++) begin : gen_bank
    logic [RowBits-1:0] write_row, read_row;
    logic [Log-1:0] source;
    // Banks below that of the first byte hold bytes of the next row.
    assign source = Log'(b) - write_where[Log-1:0];
    assign write_row = write_where[RingBits-1:Log] +
        RowBits'((Log + 1)'(b) < {1'b0, write_where[Log-1:0]});
    assign read_row = where_q[RingBits-1:Log] + RowBits'((Log + 1)'(b) < {1'b0, where_q[Log-1:0]});

    spfe_bram #(
      .Width(8),
      .Depth(2 ** (IndexBits + RowBits))
    ) i_bank (
      .clk_i,
      .we_i(write && keep_i[source]),
      .addr_i({sid_i, write_row}),
      .data_i(bytes_in[source]),
      .re_i(fetch),
      .raddr_i({drain_sid_q, read_row}),
      .data_o(bank_out[b])
    );
  end

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) turned[i] = bank_out[Log'(i)+turn_q];
  end

  always_comb begin
    if (stage_q) begin
      data_o = turned;
      for (int unsigned i = 0; i < Bytes; i++) keep_o[i] = (Log + 1)'(i) < stage_count_q;
      last_o = stage_last_q;
      sid_o = drain_sid_q;
    end else begin
      data_o = data_i;
      keep_o = keep_i;
      last_o = last_i;
      sid_o = sid_i;
    end
  end
  assign valid_o = stage_q || pass;

  always_ff @(posedge clk_i) begin
    if (commit_i) came_q <= came_q + 1'b1;
    if (valid_i && ready_o) begin
      offset_q <= offset_q + RingBits'(count);
      if (last_i) begin
        offset_q <= '0;
        passed_q <= passed_q + 1'b1;
      end
    end
    drain_q <= drain_d;
    where_q <= where_d;
    left_q <= left_d;
    stage_q <= stage_d;
    if (order_take) drain_sid_q <= order.sid;
    if (fetch) begin
      turn_q <= where_q[Log-1:0];
      stage_last_q <= !drain_d;
      stage_count_q <= drain_d ? (Log + 1)'(Bytes) : left_q[Log:0];
    end
    if (rst_i) begin
      came_q <= '0;
      passed_q <= '0;
      offset_q <= '0;
      drain_q <= 1'b0;
      stage_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_room :
      assert (!drain_valid_i || order_room)
      else $error("more orders than segments");
      a_size :
      assert (!order_take || order.len != '0)
      else $error("nothing to drain");
    end
  end
`endif
endmodule
