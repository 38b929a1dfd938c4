// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The way to memory: joins the AXI4 masters of the engines and a reader of page lists.
module spfe_ep_bus
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Masters, 2 or more.
  parameter int unsigned Masters = 3,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,

  /// Masters.
  input axi_master_t [Masters-1:0] in_i,
  /// Ready, read data and write responses for each.
  output axi_slave_t [Masters-1:0] in_o,

  /// Page list to read.
  input list_ask_t list_i,
  /// Words of the page list.
  output list_answer_t list_o,

  /// AXI4 master.
  output bus_master_t bus_o,
  /// Ready, read data and write responses of the bus.
  input bus_slave_t bus_i
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
    .cmd_addr_i(list_i.addr),
    .cmd_len_i(list_i.len),
    .cmd_valid_i(list_i.valid),
    .cmd_ready_o(list_o.ready),
    .data_o(list_o.data),
    .end_o(unused_end),
    .last_o(list_o.last),
    .error_o(list_o.error),
    .valid_o(list_o.data_valid),
    .ready_i(list_i.data_ready),
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
    .Masters(Masters + 1)
  ) i_mux (
    .clk_i,
    .rst_i,
    .in_i({list, in_i}),
    .in_o({list_answer, in_o}),
    .bus_o,
    .bus_i
  );

  logic unused;
  assign unused = ^list_answer;
endmodule
