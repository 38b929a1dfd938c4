// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Session state of the engine, with a single write port. After reset it writes every session once,
/// to CLOSED.
module spfe_tcp_eng_state
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of a session number; derived.
  localparam int unsigned Bits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// Initialisation after reset is running; no event may start.
  output logic init_o,
  /// Write tcb_i and tup_i.
  input logic we_i,
  /// Session to write.
  input logic [Bits-1:0] slot_i,
  /// New state.
  input eng_tcb_t tcb_i,
  /// New four-tuple.
  input eng_tup_t tup_i,
  /// A session is written in this cycle, also during initialisation; to the timers.
  output logic we_o,
  /// Session that is written.
  output logic [Bits-1:0] slot_o,
  /// State that is written.
  output eng_tcb_t tcb_o,
  /// Session to read.
  input logic [Bits-1:0] read_slot_i,
  /// State of read_slot_i, in the same cycle.
  output eng_tcb_t read_tcb_o,
  /// Four-tuple of read_slot_i, in the same cycle.
  output eng_tup_t read_tup_o,
  /// Session to read; from the search for a listening session.
  input logic [Bits-1:0] find_slot_i,
  /// Four-tuple of find_slot_i, in the same cycle.
  output eng_tup_t find_tup_o,
  /// Session to read; from the next-hop walk.
  input logic [Bits-1:0] arp_slot_i,
  /// Four-tuple of arp_slot_i, in the same cycle.
  output eng_tup_t arp_tup_o,
  /// Session to read; from the receiver.
  input logic [Bits-1:0] ack_slot_i,
  /// Lowest acceptable ACK of ack_slot_i, in the same cycle: SND.UNA - MAX.SND.WND, or ISS + 1 in
  /// SYN-RECEIVED.
  output seq_t ack_lo_o
);
  logic init_q;
  logic [Bits-1:0] init_slot_q;
  eng_tup_t tup;
  seq_t ack_lo;

  assign init_o = init_q;
  assign we_o = init_q || we_i;
  assign slot_o = init_q ? init_slot_q : slot_i;
  assign tcb_o = init_q ? '0 : tcb_i;
  assign tup = init_q ? '0 : tup_i;
  // RFC 5961, 5.2. In SYN-RECEIVED only our SYN can be acknowledged.
  assign ack_lo = tcb_i.una - (tcb_i.state == StSynRcvd ? 32'hffff_ffff : 32'(tcb_i.max_wnd));

  spfe_lutram #(
    .Width($bits(eng_tcb_t)),
    .Depth(SessionCount)
  ) i_tcb (
    .clk_i,
    .we_i(we_o),
    .addr_i(slot_o),
    .data_i(tcb_o),
    .raddr_i(read_slot_i),
    .rdata_o(read_tcb_o)
  );
  spfe_lutram #(
    .Width($bits(eng_tup_t)),
    .Depth(SessionCount),
    .Ports(3)
  ) i_tup (
    .clk_i,
    .we_i(we_o),
    .addr_i(slot_o),
    .data_i(tup),
    .raddr_i({arp_slot_i, find_slot_i, read_slot_i}),
    .rdata_o({arp_tup_o, find_tup_o, read_tup_o})
  );
  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount)
  ) i_ack_lo (
    .clk_i,
    .we_i(we_o),
    .addr_i(slot_o),
    .data_i(ack_lo),
    .raddr_i(ack_slot_i),
    .rdata_o(ack_lo_o)
  );

  always_ff @(posedge clk_i) begin
    if (init_q) begin
      init_slot_q <= init_slot_q + Bits'(1);
      if (32'(init_slot_q) == SessionCount - 1) init_q <= 1'b0;
    end
    if (rst_i) begin
      init_q <= 1'b1;
      init_slot_q <= '0;
    end
  end

endmodule
