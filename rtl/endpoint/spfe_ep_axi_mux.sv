// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins AXI4 masters whose answers need no back-pressure. The upper bits of an ID name the master.
module spfe_ep_axi_mux #(
  /// Masters that read, 2 or more.
  parameter int unsigned Readers = 3,
  /// Masters that write, 2 or more.
  parameter int unsigned Writers = 2,
  /// Bits of a master's ID.
  parameter int unsigned InWidth = 3,
  /// Bits of the bus's ID: InWidth, and enough to name a master.
  parameter int unsigned IdWidth = 6
) (
  input logic clk_i,
  input logic rst_i,

  /// AXI4 read address of each master.
  input logic [Readers-1:0][63:0] in_ar_addr_i,
  /// As above.
  input logic [Readers-1:0][InWidth-1:0] in_ar_id_i,
  /// As above.
  input logic [Readers-1:0][7:0] in_ar_len_i,
  input logic [Readers-1:0] in_ar_valid_i,
  output logic [Readers-1:0] in_ar_ready_o,
  /// Read data is for this master; the rest is as on the bus.
  output logic [Readers-1:0] in_r_valid_o,
  /// AXI4 write address of each master.
  input logic [Writers-1:0][63:0] in_aw_addr_i,
  /// As above.
  input logic [Writers-1:0][InWidth-1:0] in_aw_id_i,
  /// As above.
  input logic [Writers-1:0][7:0] in_aw_len_i,
  input logic [Writers-1:0] in_aw_valid_i,
  output logic [Writers-1:0] in_aw_ready_o,
  /// AXI4 write data of each master.
  input logic [Writers-1:0][127:0] in_w_data_i,
  /// As above.
  input logic [Writers-1:0][15:0] in_w_strb_i,
  /// As above.
  input logic [Writers-1:0] in_w_last_i,
  input logic [Writers-1:0] in_w_valid_i,
  output logic [Writers-1:0] in_w_ready_o,
  /// The write response is for this master; the rest is as on the bus.
  output logic [Writers-1:0] in_b_valid_o,

  /// AXI4 read address of the bus.
  output logic [63:0] ar_addr_o,
  /// As above.
  output logic [IdWidth-1:0] ar_id_o,
  /// As above.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// AXI4 read data: ID of the burst.
  input logic [IdWidth-1:0] r_id_i,
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
  /// AXI4 write response: ID of the burst.
  input logic [IdWidth-1:0] b_id_i,
  input logic b_valid_i
);
  localparam int unsigned ReadWidth = $clog2(Readers);
  localparam int unsigned WriteWidth = $clog2(Writers);
  // Bursts whose data has not been sent.
  localparam int unsigned Ahead = 8;

  // An address stands in a register, so that what is offered does not change.
  logic [Readers-1:0] ar_grant;
  logic [ReadWidth-1:0] ar_choice;
  logic ar_any, ar_take;
  logic [63:0] ar_addr_q;
  logic [IdWidth-1:0] ar_id_q;
  logic [7:0] ar_len_q;
  logic ar_valid_q;
  spfe_arb_rr #(
    .Ports(Readers)
  ) i_readers (
    .clk_i,
    .rst_i,
    .request_i(in_ar_valid_i),
    .used_i(ar_take),
    .grant_o(ar_grant),
    .index_o(ar_choice),
    .valid_o(ar_any)
  );
  assign ar_take = ar_any && (!ar_valid_q || ar_ready_i);
  assign in_ar_ready_o = ar_take ? ar_grant : '0;
  assign ar_addr_o = ar_addr_q;
  assign ar_id_o = ar_id_q;
  assign ar_len_o = ar_len_q;
  assign ar_valid_o = ar_valid_q;
  always_ff @(posedge clk_i) begin
    if (ar_ready_i) ar_valid_q <= 1'b0;
    if (ar_take) begin
      ar_addr_q <= in_ar_addr_i[ar_choice];
      ar_id_q <= IdWidth'({ar_choice, in_ar_id_i[ar_choice]});
      ar_len_q <= in_ar_len_i[ar_choice];
      ar_valid_q <= 1'b1;
    end
    if (rst_i) ar_valid_q <= 1'b0;
  end
  always_comb begin
    for (int unsigned i = 0; i < Readers; i++)
    in_r_valid_o[i] = r_valid_i && 32'(r_id_i >> InWidth) == i;
    for (int unsigned i = 0; i < Writers; i++)
    in_b_valid_o[i] = b_valid_i && 32'(b_id_i >> InWidth) == i;
  end

  logic [Writers-1:0] aw_grant;
  logic [WriteWidth-1:0] aw_choice, owner;
  logic aw_any, aw_take, owner_ready, owner_valid, owner_done;
  logic [63:0] aw_addr_q;
  logic [IdWidth-1:0] aw_id_q;
  logic [7:0] aw_len_q;
  logic aw_valid_q;
  logic [$clog2(Ahead+1)-1:0] unused_count;
  logic unused_full;
  spfe_arb_rr #(
    .Ports(Writers)
  ) i_writers (
    .clk_i,
    .rst_i,
    .request_i(in_aw_valid_i),
    .used_i(aw_take),
    .grant_o(aw_grant),
    .index_o(aw_choice),
    .valid_o(aw_any)
  );
  assign aw_take = aw_any && owner_ready && (!aw_valid_q || aw_ready_i);
  assign in_aw_ready_o = aw_take ? aw_grant : '0;
  assign aw_addr_o = aw_addr_q;
  assign aw_id_o = aw_id_q;
  assign aw_len_o = aw_len_q;
  assign aw_valid_o = aw_valid_q;
  always_ff @(posedge clk_i) begin
    if (aw_ready_i) aw_valid_q <= 1'b0;
    if (aw_take) begin
      aw_addr_q <= in_aw_addr_i[aw_choice];
      aw_id_q <= IdWidth'({aw_choice, in_aw_id_i[aw_choice]});
      aw_len_q <= in_aw_len_i[aw_choice];
      aw_valid_q <= 1'b1;
    end
    if (rst_i) aw_valid_q <= 1'b0;
  end

  // Data in the order of the addresses.
  spfe_fifo #(
    .Width(WriteWidth),
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
  assign w_data_o = in_w_data_i[owner];
  assign w_strb_o = in_w_strb_i[owner];
  assign w_last_o = in_w_last_i[owner];
  assign w_valid_o = owner_valid && in_w_valid_i[owner];
  assign owner_done = w_valid_o && w_ready_i && w_last_o;
  always_comb begin
    for (int unsigned i = 0; i < Writers; i++)
    in_w_ready_o[i] = owner_valid && 32'(owner) == i && w_ready_i;
  end

  if (InWidth + ReadWidth > IdWidth || InWidth + WriteWidth > IdWidth) begin : gen_bad_width
    $error(
      "spfe_ep_axi_mux: IdWidth is %0d, too small for %0d readers and %0d writers",
      IdWidth,
      Readers,
      Writers
    );
  end
endmodule
