// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Puts the responses of a target between the packets of the transmit queues of a port.
module spfe_ep_target_tx
  import spfe_sf_pkg::*;
#(
  /// Virtual channels, 1 to 32.
  parameter int unsigned Vcs = 4,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Bits of a number of words in a beat; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Word of a response.
  input word_t word_i,
  /// Its virtual channel, below Vcs; with word_i.
  input logic [4:0] vc_i,
  input logic word_valid_i,
  output logic word_ready_o,

  /// Words of the queues. What follows the end of a packet in its beat is filled up.
  input word_t [Vcs-1:0][Words-1:0] queue_i,
  /// Their number, 1 or more; with queue_i.
  input logic [Vcs-1:0][CountWidth-1:0] queue_count_i,
  input logic [Vcs-1:0] queue_valid_i,
  output logic [Vcs-1:0] queue_ready_o,

  /// Words for the port.
  output word_t [Vcs-1:0][Words-1:0] tx_o,
  /// Their number; with tx_o.
  output logic [Vcs-1:0][CountWidth-1:0] tx_count_o,
  output logic [Vcs-1:0] tx_valid_o,
  input logic [Vcs-1:0] tx_ready_i
);
  // Of each channel: the response has it; a packet of the queue is open; a beat of the queue is on
  // offer, which must not change; it is the turn of the response.
  logic [Vcs-1:0] has_q, open_q, offered_q, turn_q, takes, mine;
  logic word_ends;

  always_comb begin
    word_ends = 1'b0;
    for (int unsigned i = 0; i < 4; i++)
    word_ends |= word_i.k[i] && word_i.bits[8*i+:8] inside {Eop, Eep};
  end

  always_comb begin
    word_ready_o = 1'b0;
    for (int unsigned vc = 0; vc < Vcs; vc++) begin
      mine[vc] = word_valid_i && 32'(vc_i) == vc;
      takes[vc] = has_q[vc]
          || (mine[vc] && !open_q[vc] && !offered_q[vc] && (turn_q[vc] || !queue_valid_i[vc]));
      tx_o[vc] = queue_i[vc];
      tx_count_o[vc] = queue_count_i[vc];
      tx_valid_o[vc] = queue_valid_i[vc];
      if (takes[vc]) begin
        tx_o[vc][0] = word_i;
        tx_count_o[vc] = CountWidth'(1);
        tx_valid_o[vc] = mine[vc];
      end
      queue_ready_o[vc] = tx_ready_i[vc] && !takes[vc];
      if (mine[vc] && takes[vc]) word_ready_o = tx_ready_i[vc];
    end
  end

  for (genvar vc = 0; vc < Vcs; vc++) begin : gen_vc
    word_t last;
    assign last = queue_i[vc][queue_count_i[vc]-1'b1];
    always_ff @(posedge clk_i) begin
      offered_q[vc] <= queue_valid_i[vc] && !queue_ready_o[vc] && !takes[vc];
      if (queue_valid_i[vc] && queue_ready_o[vc]) begin
        // Every beat with an end has it in its last word.
        open_q[vc] <= last.k == '0;
        turn_q[vc] <= 1'b1;
      end
      if (takes[vc]) has_q[vc] <= !(mine[vc] && tx_ready_i[vc] && word_ends);
      if (takes[vc] && mine[vc]) turn_q[vc] <= 1'b0;
      if (rst_i) begin
        has_q[vc] <= 1'b0;
        open_q[vc] <= 1'b0;
        offered_q[vc] <= 1'b0;
        turn_q[vc] <= 1'b0;
      end
    end
    logic unused;
    assign unused = ^last.bits;
  end
endmodule
