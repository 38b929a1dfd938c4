// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Ring boundaries: the only writer of written and SND.UNA. Updates room_o four cycles after an
/// operation.
module spfe_tcp_tx_room
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// log2 of the ring size of a session in bytes.
  parameter int unsigned RingBits = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// Longest message in bytes; from the configuration, constant while there are sessions.
  input logic [15:0] mss_i,

  /// Generation bit of each session; must follow a StateSet within three cycles.
  input logic [SessionCount-1:0] gen_i,
  /// An operation is given; not in two consecutive cycles.
  input logic valid_i,
  /// Operation. StateWritten advances written if it is as expected, StateCommand with FIN sets
  /// written, StateSet sets SND.UNA, and written too with init_i.
  input state_req_t req_i,
  /// With StateSet: also set written.
  input logic init_i,
  /// With StateSet: new SND.UNA.
  input seq_t una_i,
  /// The operation given three cycles ago has completed; room_o follows in the next cycle.
  output logic done_o,
  /// With done_o: written was as expected.
  output logic match_o,
  /// Sessions whose ring has room for a message of any length.
  output logic [SessionCount-1:0] room_o,

  /// Sessions that the two readers look up.
  input sid_t [1:0] sid_i,
  /// End of the data in the ring of each session in sid_i, in the same cycle.
  output seq_t [1:0] written_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  logic [SessionCount-1:0] room_q;
  logic unused_sids;
  assign unused_sids = ^{sid_i, req_i};
  localparam logic [31:0] RingBytes = 32'd1 << RingBits;
  typedef logic [IdxBits-1:0] idx_t;

  logic v1_q, v2_q, v3_q, match2_q, match3_q, we_wr, we_una;
  state_op_e op1_q, op2_q;
  logic fin1_q, fin2_q, init1_q, init2_q, gen1_q;
  idx_t idx1_q, idx2_q, idx3_q;
  seq_t expected1_q, end1_q, end2_q, una1_q, una2_q, wr_r, una_r, wr2_q, oldest2_q, wr_d, una_d;
  seq_t used3_q;
  logic [31:0] limit_q;

  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount),
    .Ports(3)
  ) i_written (
    .clk_i,
    .we_i(we_wr),
    .addr_i(idx2_q),
    .data_i(wr_d),
    .raddr_i({idx_t'(sid_i[1]), idx_t'(sid_i[0]), idx1_q}),
    .rdata_o({written_o[1], written_o[0], wr_r})
  );
  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount)
  ) i_una (
    .clk_i,
    .we_i(we_una),
    .addr_i(idx2_q),
    .data_i(una_d),
    .raddr_i(idx1_q),
    .rdata_o(una_r)
  );

  always_comb begin
    wr_d = wr2_q;
    if (op2_q == StateWritten && match2_q) wr_d = end2_q;
    if (op2_q == StateCommand && fin2_q) wr_d = end2_q;
    if (op2_q == StateSet && init2_q) wr_d = end2_q;
    una_d = op2_q == StateSet ? una2_q : oldest2_q;
  end
  assign we_wr = v2_q;
  assign we_una = v2_q;

  assign room_o = room_q;

  always_ff @(posedge clk_i) begin
    v1_q <= valid_i;
    op1_q <= req_i.op;
    idx1_q <= idx_t'(req_i.sid);
    expected1_q <= req_i.expected;
    gen1_q <= req_i.gen;
    end1_q <= req_i.target;
    fin1_q <= req_i.fin;
    init1_q <= init_i;
    una1_q <= una_i;

    v2_q <= v1_q;
    op2_q <= op1_q;
    idx2_q <= idx1_q;
    end2_q <= end1_q;
    fin2_q <= fin1_q;
    init2_q <= init1_q;
    una2_q <= una1_q;
    match2_q <= wr_r == expected1_q && gen_i[idx1_q] == gen1_q;
    wr2_q <= wr_r;
    oldest2_q <= una_r;

    v3_q <= v2_q;
    idx3_q <= idx2_q;
    match3_q <= match2_q;
    used3_q <= wr_d - una_d;

    if (v3_q) room_q[idx3_q] <= used3_q <= limit_q;
    limit_q <= RingBytes - 32'(mss_i);

    if (rst_i) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
      v3_q <= 1'b0;
      room_q <= '0;
    end
  end
  assign done_o = v3_q;
  assign match_o = match3_q;
endmodule
