// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins AXI4 masters whose answers need no back-pressure. The upper bits of an ID name the master.
module spfe_ep_axi_mux
  import spfe_host_pkg::*;
#(
  /// Masters, 2 or more.
  parameter int unsigned Masters = 4,
  /// Bits of the bus's ID: 3, and enough to name a master.
  parameter int unsigned IdWidth = 6
) (
  input logic clk_i,
  input logic rst_i,

  /// Masters.
  input axi_master_t [Masters-1:0] in_i,
  /// Answers to each master.
  output axi_slave_t [Masters-1:0] in_o,

  /// AXI4 read address of the bus.
  output logic [63:0] ar_addr_o,
  /// As above.
  output logic [IdWidth-1:0] ar_id_o,
  /// As above.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// AXI4 read data.
  input logic [127:0] r_data_i,
  /// As above.
  input logic [IdWidth-1:0] r_id_i,
  /// As above.
  input logic [1:0] r_resp_i,
  /// As above.
  input logic r_last_i,
  input logic r_valid_i,
  /// AXI4 write address.
  output logic [63:0] aw_addr_o,
  /// As above.
  output logic [IdWidth-1:0] aw_id_o,
  /// As above.
  output logic [7:0] aw_len_o,
  output logic aw_valid_o,
  input logic aw_ready_i,
  /// AXI4 write data.
  output logic [127:0] w_data_o,
  /// As above.
  output logic [15:0] w_strb_o,
  /// As above.
  output logic w_last_o,
  output logic w_valid_o,
  input logic w_ready_i,
  /// AXI4 write response.
  input logic [IdWidth-1:0] b_id_i,
  /// As above.
  input logic [1:0] b_resp_i,
  input logic b_valid_i
);
  localparam int unsigned InWidth = 3;
  localparam int unsigned Width = $clog2(Masters);
  // Bursts whose data has not been sent.
  localparam int unsigned Ahead = 8;

  // An address stands in a register, so that what is offered does not change.
  logic [Masters-1:0] ar_grant, ar_asks, aw_asks;
  logic [Width-1:0] ar_choice;
  logic ar_any, ar_take;
  logic [63:0] ar_addr_q;
  logic [IdWidth-1:0] ar_id_q;
  logic [7:0] ar_len_q;
  logic ar_valid_q;
  spfe_arb_rr #(
    .Ports(Masters)
  ) i_readers (
    .clk_i,
    .rst_i,
    .request_i(ar_asks),
    .used_i(ar_take),
    .grant_o(ar_grant),
    .index_o(ar_choice),
    .valid_o(ar_any)
  );
  assign ar_take = ar_any && (!ar_valid_q || ar_ready_i);
  assign ar_addr_o = ar_addr_q;
  assign ar_id_o = ar_id_q;
  assign ar_len_o = ar_len_q;
  assign ar_valid_o = ar_valid_q;
  always_ff @(posedge clk_i) begin
    if (ar_ready_i) ar_valid_q <= 1'b0;
    if (ar_take) begin
      ar_addr_q <= in_i[ar_choice].ar_addr;
      ar_id_q <= IdWidth'({ar_choice, in_i[ar_choice].ar_id});
      ar_len_q <= in_i[ar_choice].ar_len;
      ar_valid_q <= 1'b1;
    end
    if (rst_i) ar_valid_q <= 1'b0;
  end
  logic [Masters-1:0] aw_grant;
  logic [Width-1:0] aw_choice, owner;
  logic aw_any, aw_take, owner_ready, owner_valid, owner_done;
  logic [63:0] aw_addr_q;
  logic [IdWidth-1:0] aw_id_q;
  logic [7:0] aw_len_q;
  logic aw_valid_q;
  logic [$clog2(Ahead+1)-1:0] unused_count;
  logic unused_full;
  spfe_arb_rr #(
    .Ports(Masters)
  ) i_writers (
    .clk_i,
    .rst_i,
    .request_i(aw_asks),
    .used_i(aw_take),
    .grant_o(aw_grant),
    .index_o(aw_choice),
    .valid_o(aw_any)
  );
  assign aw_take = aw_any && owner_ready && (!aw_valid_q || aw_ready_i);
  assign aw_addr_o = aw_addr_q;
  assign aw_id_o = aw_id_q;
  assign aw_len_o = aw_len_q;
  assign aw_valid_o = aw_valid_q;
  always_ff @(posedge clk_i) begin
    if (aw_ready_i) aw_valid_q <= 1'b0;
    if (aw_take) begin
      aw_addr_q <= in_i[aw_choice].aw_addr;
      aw_id_q <= IdWidth'({aw_choice, in_i[aw_choice].aw_id});
      aw_len_q <= in_i[aw_choice].aw_len;
      aw_valid_q <= 1'b1;
    end
    if (rst_i) aw_valid_q <= 1'b0;
  end

  // Data in the order of the addresses.
  spfe_fifo #(
    .Width(Width),
    .Depth(Ahead)
  ) i_owners (
    .clk_i,
    .rst_i,
    .data_i(aw_choice),
    .valid_i(aw_take),
    .ready_o(owner_ready),
    .data_o(owner),
    .valid_o(owner_valid),
    .ready_i(owner_done),
    .count_o(unused_count),
    .almost_full_o(unused_full)
  );
  assign w_data_o = in_i[owner].w_data;
  assign w_strb_o = in_i[owner].w_strb;
  assign w_last_o = in_i[owner].w_last;
  assign w_valid_o = owner_valid && in_i[owner].w_valid;
  assign owner_done = w_valid_o && w_ready_i && w_last_o;

  // Answers go to the master that the ID names.
  always_comb begin
    for (int unsigned i = 0; i < Masters; i++) begin
      ar_asks[i] = in_i[i].ar_valid;
      aw_asks[i] = in_i[i].aw_valid;
      in_o[i].ar_ready = ar_take && ar_grant[i];
      in_o[i].r_data = r_data_i;
      in_o[i].r_id = r_id_i[InWidth-1:0];
      in_o[i].r_resp = r_resp_i;
      in_o[i].r_last = r_last_i;
      in_o[i].r_valid = r_valid_i && 32'(r_id_i >> InWidth) == i;
      in_o[i].aw_ready = aw_take && aw_grant[i];
      in_o[i].w_ready = owner_valid && 32'(owner) == i && w_ready_i;
      in_o[i].b_id = b_id_i[InWidth-1:0];
      in_o[i].b_resp = b_resp_i;
      in_o[i].b_valid = b_valid_i && 32'(b_id_i >> InWidth) == i;
    end
  end

  if (InWidth + Width > IdWidth) begin : gen_bad_width
    $error("spfe_ep_axi_mux: IdWidth is %0d, too small for %0d masters", IdWidth, Masters);
  end

  logic unused;
  assign unused = ^in_i;
endmodule
