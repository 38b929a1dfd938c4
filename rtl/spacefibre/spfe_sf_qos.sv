// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Medium access controller (ECSS-E-ST-50-11C, 5.7.4): bandwidth credit, priority and time-slots of
/// the virtual channels, and the choice of the next one to send. The credit is counted in rows of
/// the link with eight binary places. A row counts four cycles after it was decided on; the choice
/// has a register for each level of its tree. While a segment is sent, its channel is compared with
/// the credit that it will have about then, so that the choice is there when the segment ends.
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
  typedef logic [KeyWidth-1:0] key_t;

  credit_t [Vcs-1:0] credit_q;
  logic [Vcs-1:0] allowed_q;
  logic [Vcs-1:0][23:0] idle_q;
  logic [Vcs-1:0] over_use_q, under_use_q;

  // First stage: the row that was sent a cycle before.
  sent_t sent_q;
  // Rows since the last update, with the next one. An update that is due with the next row is done
  // already; then it is 0.
  logic [RowsWidth-1:0] rows_q, rows, gain;
  logic [CostWidth-1:0] cost_q, price_q;
  sum_t pay;
  logic [VcWidth-1:0] charge_vc;
  logic update;
  // The row ends a new segment, with EDF or RETRY.
  logic ends;
  // Second stage: an update, its rows, and what the channel that pays gets instead.
  logic update_q, ends_q;
  logic [RowsWidth-1:0] gain_q;
  sum_t pay_q;
  logic [VcWidth-1:0] pays_q;
  // Third stage: credits before they are limited.
  logic summed_q, ended_q;
  logic [RowsWidth-1:0] summed_gain_q;
  logic [VcWidth-1:0] paid_q;

  // The channel of the segment has not paid yet.
  logic owes;
  credit_t owed, owed_q;
  logic [VcWidth-1:0] owes_vc_q;
  logic owes_q;

  function automatic key_t key_of(input credit_t credit, input logic [3:0] level);
    logic good;
    good = credit >= credit_t'(Threshold);
    return {good, good ? ~level : 4'd0, !credit[Width-1], credit[Width-2:0]};
  endfunction

  assign charge_vc = VcWidth'(sent_q.charge_vc);
  // What the channel of a segment that ends gets: rows less the price of the segment.
  assign pay = sum_t'({rows_q, 8'd0}) - sum_t'({3'd0, cost_q})
      - sum_t'({3'd0, sent_q.frame ? price_q << 1 : price_q});
  assign ends = sent_q.charge && (sent_q.frame || sent_q.retry);

  always_comb begin
    rows = rows_q + RowsWidth'(rows_q != '1);
    gain = rows_q;
    update = 1'b0;
    if (ends) begin
      update = sent_q.row;
      rows = RowsWidth'(1);
    end else if (rows >= RowsWidth'(UpdateRows) && !sent_q.charge && !sent_q.frame_new) begin
      update = sent_q.row;
      gain = rows;
      rows = '0;
    end
  end

  // Credit of the channel that sends a segment, as if the segment ended in a few rows.
  assign owes = sent_q.charge || (update_q && ends_q) || (summed_q && ended_q);
  always_comb begin
    sum_t left;
    left = sum_t'(credit_q[charge_vc]) - sum_t'({3'd0, cost_q}) - sum_t'({3'd0, price_q} << 2);
    if (left < -sum_t'(Limit)) left = -sum_t'(Limit);
    owed = left[Width-1:0];
  end

  for (genvar v = 0; v < Vcs; v++) begin : gen_vc
    sum_t sum_q;
    always_ff @(posedge clk_i) begin
      over_use_q[v] <= 1'b0;
      allowed_q[v] <= param_i[v].time_slots[time_slot_i] && param_i[v].price != '0;
      sum_q <= sum_t'(credit_q[v]) + (ends_q && 32'(pays_q) == v ? pay_q : sum_t'({gain_q, 8'd0}));
      if (summed_q) begin
        credit_q[v] <= sum_q[Width-1:0];
        over_use_q[v] <= ended_q && 32'(paid_q) == v && sum_q < sum_t'(Threshold);
        if (credit_q[v] == credit_t'(Limit) && idle_q[v] < 24'hFFF000) begin
          idle_q[v] <= idle_q[v] + 24'(summed_gain_q);
        end
      end
      // Apart, so that they are resets of registers.
      if (summed_q && sum_q > sum_t'(Limit)) credit_q[v] <= credit_t'(Limit);
      if (summed_q && sum_q < -sum_t'(Limit)) credit_q[v] <= -credit_t'(Limit);
      if (summed_q && sum_q < sum_t'(Limit)) idle_q[v] <= '0;
      if (rst_i || reset_i) begin
        credit_q[v] <= '0;
        idle_q[v] <= '0;
        over_use_q[v] <= 1'b0;
      end
      under_use_q[v] <= idle_q[v] > idle_limit_i;
    end
  end
  assign over_use_o = over_use_q;
  assign under_use_o = under_use_q;
  logic unused_sent;
  assign unused_sent = ^sent_q;

  // Choice.
  key_t [Vcs-1:0] key_q;
  key_t unused_key;
  for (genvar v = 0; v < Vcs; v++) begin : gen_key
    always_ff @(posedge clk_i) begin
      key_q[v] <=
        key_of(owes_q && 32'(owes_vc_q) == v ? owed_q : credit_q[v], param_i[v].priority_level);
    end
  end
  spfe_arb_max #(
    .Ports(Vcs),
    .Width(KeyWidth),
    .Registered(1'b1)
  ) i_choice (
    .clk_i,
    .rst_i,
    .request_i(ready_i & allowed_q),
    .value_i(key_q),
    .valid_o,
    .index_o(vc_o),
    .value_o(unused_key)
  );

  always_ff @(posedge clk_i) begin
    sent_q <= sent_i;
    price_q <= CostWidth'(param_i[VcWidth'(sent_i.charge_vc)].price);
    if (sent_q.row) rows_q <= rows;
    if (sent_q.frame_new) cost_q <= '0;
    else if (sent_q.data && !cost_q[CostWidth-1]) cost_q <= cost_q + price_q;
    update_q <= update;
    ends_q <= ends;
    gain_q <= gain;
    pay_q <= pay;
    pays_q <= charge_vc;
    summed_q <= update_q;
    ended_q <= ends_q;
    summed_gain_q <= gain_q;
    paid_q <= pays_q;
    owes_q <= owes;
    owed_q <= owed;
    owes_vc_q <= charge_vc;
    if (rst_i || clear_i) begin
      rows_q <= RowsWidth'(1);
      sent_q <= '0;
    end
    if (rst_i || reset_i) {update_q, summed_q} <= '0;
  end
endmodule
