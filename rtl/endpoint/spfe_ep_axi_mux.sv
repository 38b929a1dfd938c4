// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins AXI4 masters whose answers need no back-pressure. The upper bits of an ID name the master.
module spfe_ep_axi_mux
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Masters, 2 or more.
  parameter int unsigned Masters = 4
) (
  input logic clk_i,
  input logic rst_i,

  /// Masters.
  input axi_master_t [Masters-1:0] in_i,
  /// Ready, read data and write responses for each.
  output axi_slave_t [Masters-1:0] in_o,

  /// AXI4 of the bus.
  output bus_master_t bus_o,
  /// Ready, read data and write responses of the bus.
  input bus_slave_t bus_i
);
  localparam int unsigned InWidth = 3;
  localparam int unsigned IdWidth = 6;
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
  assign ar_take = ar_any && (!ar_valid_q || bus_i.ar_ready);
  assign bus_o.ar_addr = ar_addr_q;
  assign bus_o.ar_id = ar_id_q;
  assign bus_o.ar_len = ar_len_q;
  assign bus_o.ar_valid = ar_valid_q;
  always_ff @(posedge clk_i) begin
    if (bus_i.ar_ready) ar_valid_q <= 1'b0;
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
  assign aw_take = aw_any && owner_ready && (!aw_valid_q || bus_i.aw_ready);
  assign bus_o.aw_addr = aw_addr_q;
  assign bus_o.aw_id = aw_id_q;
  assign bus_o.aw_len = aw_len_q;
  assign bus_o.aw_valid = aw_valid_q;
  always_ff @(posedge clk_i) begin
    if (bus_i.aw_ready) aw_valid_q <= 1'b0;
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
  assign bus_o.w_data = in_i[owner].w_data;
  assign bus_o.w_strb = in_i[owner].w_strb;
  assign bus_o.w_last = in_i[owner].w_last;
  assign bus_o.w_valid = owner_valid && in_i[owner].w_valid;
  assign owner_done = bus_o.w_valid && bus_i.w_ready && bus_o.w_last;

  // Answers go to the master that the ID names.
  always_comb begin
    for (int unsigned i = 0; i < Masters; i++) begin
      ar_asks[i] = in_i[i].ar_valid;
      aw_asks[i] = in_i[i].aw_valid;
      in_o[i].ar_ready = ar_take && ar_grant[i];
      in_o[i].r_data = bus_i.r_data;
      in_o[i].r_id = bus_i.r_id[InWidth-1:0];
      in_o[i].r_resp = bus_i.r_resp;
      in_o[i].r_last = bus_i.r_last;
      in_o[i].r_valid = bus_i.r_valid && 32'(bus_i.r_id >> InWidth) == i;
      in_o[i].aw_ready = aw_take && aw_grant[i];
      in_o[i].w_ready = owner_valid && 32'(owner) == i && bus_i.w_ready;
      in_o[i].b_id = bus_i.b_id[InWidth-1:0];
      in_o[i].b_resp = bus_i.b_resp;
      in_o[i].b_valid = bus_i.b_valid && 32'(bus_i.b_id >> InWidth) == i;
    end
  end

  if (InWidth + Width > IdWidth) begin : gen_bad_width
    $error("spfe_ep_axi_mux: %0d masters; an ID names up to 8", Masters);
  end

  logic unused;
  assign unused = ^in_i;
endmodule
