// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The way to memory: joins the AXI4 masters of the engines and a reader of page lists.
module spfe_ep_bus
  import spfe_host_pkg::*;
#(
  /// Masters, 2 or more.
  parameter int unsigned Masters = 3,
  /// Bits of an ID on the bus.
  parameter int unsigned IdWidth = 6,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,

  /// Masters.
  input axi_master_t [Masters-1:0] in_i,
  /// Answers to each master.
  output axi_slave_t [Masters-1:0] in_o,

  /// Page list to read, as of spfe_axi_read.
  input logic [63:0] list_addr_i,
  /// As above.
  input logic [31:0] list_len_i,
  input logic list_valid_i,
  output logic list_ready_o,
  /// As above.
  output logic [127:0] list_data_o,
  /// As above.
  output logic list_last_o,
  /// As above.
  output logic list_error_o,
  output logic list_data_valid_o,
  input logic list_data_ready_i,

  /// AXI4 master, as of spfe_endpoint.
  output logic [63:0] ar_addr_o,
  /// As above.
  output logic [IdWidth-1:0] ar_id_o,
  /// As above.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// Read data.
  input logic [127:0] r_data_i,
  /// As above.
  input logic [IdWidth-1:0] r_id_i,
  /// As above.
  input logic [1:0] r_resp_i,
  /// As above.
  input logic r_last_i,
  input logic r_valid_i,
  /// Write address.
  output logic [63:0] aw_addr_o,
  /// As above.
  output logic [IdWidth-1:0] aw_id_o,
  /// As above.
  output logic [7:0] aw_len_o,
  output logic aw_valid_o,
  input logic aw_ready_i,
  /// Write data.
  output logic [127:0] w_data_o,
  /// As above.
  output logic [15:0] w_strb_o,
  /// As above.
  output logic w_last_o,
  output logic w_valid_o,
  input logic w_ready_i,
  /// Write response.
  input logic [IdWidth-1:0] b_id_i,
  /// As above.
  input logic [1:0] b_resp_i,
  input logic b_valid_i
);
  axi_master_t list;
  axi_slave_t list_answer;
  logic [3:0] unused_end;

  spfe_axi_read #(
    .Bursts(8),
    .Protect(Protect)
  ) i_list (
    .clk_i,
    .rst_i,
    .cmd_addr_i(list_addr_i),
    .cmd_len_i(list_len_i),
    .cmd_valid_i(list_valid_i),
    .cmd_ready_o(list_ready_o),
    .data_o(list_data_o),
    .end_o(unused_end),
    .last_o(list_last_o),
    .error_o(list_error_o),
    .valid_o(list_data_valid_o),
    .ready_i(list_data_ready_i),
    .ar_addr_o(list.ar_addr),
    .ar_id_o(list.ar_id),
    .ar_len_o(list.ar_len),
    .ar_valid_o(list.ar_valid),
    .ar_ready_i(list_answer.ar_ready),
    .r_data_i(list_answer.r_data),
    .r_id_i(list_answer.r_id),
    .r_resp_i(list_answer.r_resp),
    .r_last_i(list_answer.r_last),
    .r_valid_i(list_answer.r_valid),
    .r_ready_o(list.r_ready)
  );
  assign {list.aw_addr, list.aw_id, list.aw_len, list.aw_valid} = '0;
  assign {list.w_data, list.w_strb, list.w_last, list.w_valid, list.b_ready} = '0;

  spfe_ep_axi_mux #(
    .Masters(Masters + 1),
    .IdWidth(IdWidth)
  ) i_mux (
    .clk_i,
    .rst_i,
    .in_i({list, in_i}),
    .in_o({list_answer, in_o}),
    .ar_addr_o,
    .ar_id_o,
    .ar_len_o,
    .ar_valid_o,
    .ar_ready_i,
    .r_data_i,
    .r_id_i,
    .r_resp_i,
    .r_last_i,
    .r_valid_i,
    .aw_addr_o,
    .aw_id_o,
    .aw_len_o,
    .aw_valid_o,
    .aw_ready_i,
    .w_data_o,
    .w_strb_o,
    .w_last_o,
    .w_valid_o,
    .w_ready_i,
    .b_id_i,
    .b_resp_i,
    .b_valid_i
  );

  logic unused;
  assign unused = ^list_answer;
endmodule
