// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Medium access controller (ECSS-E-ST-50-11C, 5.7.4): bandwidth credit, priority and time-slots of
/// the virtual channels, and the choice of the next one to send. The credit is counted in rows of
/// the link with eight binary places.
module spfe_sf_qos
  import spfe_sf_link_pkg::*;
#(
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Bandwidth credit limit in rows.
  parameter int unsigned CreditLimit = 16384,
  /// Bits of a virtual channel; follows from Vcs.
  localparam int unsigned VcWidth = Vcs > 1 ? $clog2(Vcs) : 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Interface Reset: all credits become 0.
  input logic reset_i,
  /// Link reset: rows since the last update are forgotten.
  input logic clear_i,
  /// Parameters of the channels.
  input vc_param_t [Vcs-1:0] param_i,
  /// Current time-slot.
  input logic [5:0] time_slot_i,
  /// Rows at full credit that count as under-use.
  input logic [23:0] idle_limit_i,

  /// Channels with a segment to send.
  input logic [Vcs-1:0] ready_i,
  /// A channel may send.
  output logic valid_o,
  /// The one with the highest precedence.
  output logic [VcWidth-1:0] vc_o,

  /// What is sent with the row of this cycle.
  input sent_t sent_i,

  /// For one cycle: a segment took the credit below the threshold.
  output logic [Vcs-1:0] over_use_o,
  /// The credit has been full for longer than the limit.
  output logic [Vcs-1:0] under_use_o
);
  localparam int unsigned Limit = 256 * CreditLimit;
  localparam int unsigned Width = $clog2(Limit) + 2;
  // 90 % of the limit below zero.
  localparam int signed Threshold = -int'(64'(Limit) * 9 / 10);
  localparam int unsigned RowsWidth = 12;
  // A greater cost makes no difference.
  localparam int unsigned CostWidth = 28;
  localparam int unsigned SumWidth = CostWidth + 3;
  localparam int unsigned KeyWidth = 5 + Width;

  if (CreditLimit < 64 || CreditLimit > 65536) begin : gen_bad_limit
    $error("spfe_sf_qos: CreditLimit is %0d; 64 to 65536", CreditLimit);
  end

  typedef logic signed [Width-1:0] credit_t;
  typedef logic signed [SumWidth-1:0] sum_t;

  credit_t [Vcs-1:0] credit_q;
  logic [Vcs-1:0] allowed_q;
  logic [Vcs-1:0][23:0] idle_q;
  logic [Vcs-1:0] over_use_q;
  // Rows since the last update, with the next one. An update that is due with the next row is done
  // already; then it is 0.
  logic [RowsWidth-1:0] rows_q, rows, gain;
  logic [CostWidth-1:0] cost_q, price, charge;
  logic update;
  // The row ends a new segment, with EDF or RETRY.
  logic ends;
  assign ends = sent_i.charge && (sent_i.frame || sent_i.retry);

  // Choice.
  logic [Vcs-1:0][KeyWidth-1:0] key;
  logic [KeyWidth-1:0] unused_key;
  for (genvar v = 0; v < Vcs; v++) begin : gen_key
    logic good;
    assign good = credit_q[v] >= credit_t'(Threshold);
    assign key[v] = {
      good, good ? ~param_i[v].priority_level : 4'd0, !credit_q[v][Width-1], credit_q[v][Width-2:0]
    };
  end
  spfe_arb_max #(
    .Ports(Vcs),
    .Width(KeyWidth)
  ) i_choice (
    .request_i(ready_i & allowed_q),
    .value_i(key),
    .valid_o,
    .index_o(vc_o),
    .value_o(unused_key)
  );

  // Price of the segment so far.
  always_comb begin
    price = CostWidth'(param_i[VcWidth'(sent_i.charge_vc)].price);
    charge = cost_q + (sent_i.frame ? price << 1 : price);
  end

  always_comb begin
    rows = rows_q + RowsWidth'(rows_q != '1);
    gain = rows_q;
    update = 1'b0;
    if (ends) begin
      update = sent_i.row;
      rows = RowsWidth'(1);
    end else if (rows >= RowsWidth'(UpdateRows) && !sent_i.charge && !sent_i.frame_new) begin
      update = sent_i.row;
      gain = rows;
      rows = '0;
    end
  end

  for (genvar v = 0; v < Vcs; v++) begin : gen_vc
    sum_t sum;
    logic pays;
    assign pays = ends && 32'(sent_i.charge_vc) == v;
    always_comb begin
      sum = sum_t'(credit_q[v]) + sum_t'({gain, 8'd0});
      if (pays) sum = sum - sum_t'({3'd0, charge});
      if (sum > sum_t'(Limit)) sum = sum_t'(Limit);
      if (sum < -sum_t'(Limit)) sum = -sum_t'(Limit);
    end
    always_ff @(posedge clk_i) begin
      over_use_q[v] <= 1'b0;
      allowed_q[v] <= param_i[v].time_slots[time_slot_i] && param_i[v].price != '0;
      if (update) begin
        credit_q[v] <= sum[Width-1:0];
        over_use_q[v] <= pays && sum < sum_t'(Threshold);
        if (sum != sum_t'(Limit)) idle_q[v] <= '0;
        else if (credit_q[v] == credit_t'(Limit) && idle_q[v] < 24'hFFF000) begin
          idle_q[v] <= idle_q[v] + 24'(gain);
        end
      end
      if (rst_i || reset_i) begin
        credit_q[v] <= '0;
        idle_q[v] <= '0;
        over_use_q[v] <= 1'b0;
      end
    end
    assign under_use_o[v] = idle_q[v] > idle_limit_i;
  end
  assign over_use_o = over_use_q;
  logic unused_sent;
  assign unused_sent = ^sent_i;

  always_ff @(posedge clk_i) begin
    if (sent_i.row) rows_q <= rows;
    if (sent_i.frame_new) cost_q <= '0;
    else if (sent_i.data && !cost_q[CostWidth-1]) cost_q <= cost_q + price;
    if (rst_i || clear_i) rows_q <= RowsWidth'(1);
  end
endmodule
