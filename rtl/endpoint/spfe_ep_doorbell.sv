// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Doorbells for the engines. A doorbell is a hint, and a host may store 0 whatever it means; that
/// rings all queues, one after the other, for entries as well as for armed rings.
module spfe_ep_doorbell
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Queue contexts.
  parameter int unsigned Queues = 12
) (
  input logic clk_i,
  input logic rst_i,
  /// What the host stored.
  input logic [63:0] value_i,
  /// For one cycle.
  input logic valid_i,
  /// Doorbell of a queue.
  output doorbell_t doorbell_o,
  /// For one cycle.
  output logic valid_o
);
  logic [15:0] index_q;
  logic arm_q, all_q;

  always_comb begin
    doorbell_o = '{index: value_i[15:0], kind: doorbell_kind_e'(value_i[23:16])};
    valid_o = valid_i && value_i != '0;
    if (all_q) begin
      doorbell_o = '{index: index_q, kind: arm_q ? DOORBELL_KIND_ARM : DOORBELL_KIND_SUBMIT};
      valid_o = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    arm_q <= !arm_q;
    if (arm_q) index_q <= index_q + 16'd1;
    if (arm_q && 32'(index_q) == Queues - 1) all_q <= 1'b0;
    // One that comes meanwhile may be for a queue that was rung already.
    if (valid_i && (all_q || value_i == '0)) begin
      all_q <= 1'b1;
      arm_q <= 1'b0;
      index_q <= '0;
    end
    if (rst_i) all_q <= 1'b0;
  end
endmodule
