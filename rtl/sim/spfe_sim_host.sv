// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A port of one lane with a transmit and a receive queue on virtual channel 0, which work on
/// memory through AXI4. Index 0 of the memory signals is the transmit queue.
module spfe_sim_host
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    queue_t [1:0] queues;
    logic [1:0] doorbell;
    logic [1:0] ar_ready;
    logic [1:0][127:0] r_data;
    logic [1:0][2:0] r_id;
    logic [1:0][1:0] r_resp;
    logic [1:0] r_last;
    logic [1:0] r_valid;
    logic [1:0] aw_ready;
    logic [1:0] w_ready;
    logic [1:0][2:0] b_id;
    logic [1:0][1:0] b_resp;
    logic [1:0] b_valid;
    word_t line;
    logic line_on;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    logic initialised;
    logic [1:0] irqs;
    logic [1:0][63:0] ar_addr;
    logic [1:0][2:0] ar_id;
    logic [1:0][7:0] ar_len;
    logic [1:0] ar_valid;
    logic [1:0] r_ready;
    logic [1:0][63:0] aw_addr;
    logic [1:0][2:0] aw_id;
    logic [1:0][7:0] aw_len;
    logic [1:0] aw_valid;
    logic [1:0][127:0] w_data;
    logic [1:0][15:0] w_strb;
    logic [1:0] w_last;
    logic [1:0] w_valid;
    logic [1:0] b_ready;
    word_t line;
    logic line_on;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  link_param_t param;
  vc_param_t vc_param;
  lane_param_t lane_param;
  link_status_t status;
  lane_status_t unused_lane;
  multilane_status_t unused_multilane;
  vc_status_t unused_vc;
  word_t tx, rx;
  logic tx_valid, tx_ready, rx_valid, rx_ready;
  broadcast_t unused_message;
  logic [3:0] unused;

  always_comb begin
    param = '0;
    param.data_scrambled = 1'b1;
    vc_param = '{priority_level: 4'd0, price: 25'd256, time_slots: '1, continuous : 1'b0};
    lane_param = '0;
    lane_param.tx_en = 1'b1;
    lane_param.rx_en = 1'b1;
    lane_param.lane_start = 1'b1;
    out_o.initialised = status.state == RstInitialised;
  end

  spfe_sf_port #(
    .Vcs(1)
  ) i_port (
    .clk_i,
    .rst_i(in_i.rst),
    .param_i(param),
    .vc_param_i(vc_param),
    .multilane_param_i('0),
    .lane_param_i(lane_param),
    .status_o(status),
    .multilane_status_o(unused_multilane),
    .lane_status_o(unused_lane),
    .vc_status_o(unused_vc),
    .tx_i(tx),
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .rx_o(rx),
    .rx_valid_o(rx_valid),
    .rx_ready_i(rx_ready),
    .broadcast_i('0),
    .broadcast_valid_i(1'b0),
    .broadcast_ready_o(unused[0]),
    .broadcast_o(unused_message),
    .broadcast_valid_o(unused[1]),
    .broadcast_ready_i(1'b1),
    .line_o(out_o.line),
    .line_on_o(out_o.line_on),
    .line_i(in_i.line),
    .line_on_i(in_i.line_on),
    .realigned_i(1'b0),
    .receive_o(unused[2]),
    .invert_o(unused[3])
  );

  logic [1:0][63:0] rd_addr, wr_addr;
  logic [1:0][31:0] rd_len, wr_len;
  logic [1:0] rd_valid, rd_ready, rd_last, rd_error, rd_data_valid, rd_data_ready;
  logic [1:0] wr_valid, wr_ready, wr_data_valid, wr_data_ready, wr_done, wr_error;
  logic [1:0][127:0] rd_data, wr_data;
  logic [1:0][3:0] unused_end;

  spfe_host_tx i_tx (
    .clk_i,
    .rst_i(in_i.rst),
    .queue_i(in_i.queues[0]),
    .doorbell_i(in_i.doorbell[0]),
    .word_o(tx),
    .word_valid_o(tx_valid),
    .word_ready_i(tx_ready),
    .event_o(out_o.irqs[0]),
    .rd_addr_o(rd_addr[0]),
    .rd_len_o(rd_len[0]),
    .rd_valid_o(rd_valid[0]),
    .rd_ready_i(rd_ready[0]),
    .rd_data_i(rd_data[0]),
    .rd_last_i(rd_last[0]),
    .rd_error_i(rd_error[0]),
    .rd_data_valid_i(rd_data_valid[0]),
    .rd_data_ready_o(rd_data_ready[0]),
    .wr_addr_o(wr_addr[0]),
    .wr_data_o(wr_data[0]),
    .wr_valid_o(wr_valid[0]),
    .wr_ready_i(wr_ready[0]),
    .wr_data_valid_o(wr_data_valid[0]),
    .wr_data_ready_i(wr_data_ready[0]),
    .wr_done_i(wr_done[0])
  );
  assign wr_len[0] = 32'd16;

  spfe_host_rx i_rx (
    .clk_i,
    .rst_i(in_i.rst),
    .queue_i(in_i.queues[1]),
    .doorbell_i(in_i.doorbell[1]),
    .word_i(rx),
    .word_valid_i(rx_valid),
    .word_ready_o(rx_ready),
    .event_o(out_o.irqs[1]),
    .rd_addr_o(rd_addr[1]),
    .rd_valid_o(rd_valid[1]),
    .rd_ready_i(rd_ready[1]),
    .rd_data_i(rd_data[1]),
    .rd_error_i(rd_error[1]),
    .rd_data_valid_i(rd_data_valid[1]),
    .wr_addr_o(wr_addr[1]),
    .wr_len_o(wr_len[1]),
    .wr_valid_o(wr_valid[1]),
    .wr_ready_i(wr_ready[1]),
    .wr_data_o(wr_data[1]),
    .wr_data_valid_o(wr_data_valid[1]),
    .wr_data_ready_i(wr_data_ready[1]),
    .wr_done_i(wr_done[1]),
    .wr_error_i(wr_error[1])
  );
  assign rd_len[1] = 32'd16;
  assign rd_data_ready[1] = 1'b1;

  for (genvar i = 0; i < 2; i++) begin : gen_memory
    spfe_axi_read i_read (
      .clk_i,
      .rst_i(in_i.rst),
      .cmd_addr_i(rd_addr[i]),
      .cmd_len_i(rd_len[i]),
      .cmd_valid_i(rd_valid[i]),
      .cmd_ready_o(rd_ready[i]),
      .data_o(rd_data[i]),
      .end_o(unused_end[i]),
      .last_o(rd_last[i]),
      .error_o(rd_error[i]),
      .valid_o(rd_data_valid[i]),
      .ready_i(rd_data_ready[i]),
      .ar_addr_o(out_o.ar_addr[i]),
      .ar_id_o(out_o.ar_id[i]),
      .ar_len_o(out_o.ar_len[i]),
      .ar_valid_o(out_o.ar_valid[i]),
      .ar_ready_i(in_i.ar_ready[i]),
      .r_data_i(in_i.r_data[i]),
      .r_id_i(in_i.r_id[i]),
      .r_resp_i(in_i.r_resp[i]),
      .r_last_i(in_i.r_last[i]),
      .r_valid_i(in_i.r_valid[i]),
      .r_ready_o(out_o.r_ready[i])
    );
    spfe_axi_write i_write (
      .clk_i,
      .rst_i(in_i.rst),
      .cmd_addr_i(wr_addr[i]),
      .cmd_len_i(wr_len[i]),
      .cmd_valid_i(wr_valid[i]),
      .cmd_ready_o(wr_ready[i]),
      .data_i(wr_data[i]),
      .valid_i(wr_data_valid[i]),
      .ready_o(wr_data_ready[i]),
      .done_o(wr_done[i]),
      .done_error_o(wr_error[i]),
      .aw_addr_o(out_o.aw_addr[i]),
      .aw_id_o(out_o.aw_id[i]),
      .aw_len_o(out_o.aw_len[i]),
      .aw_valid_o(out_o.aw_valid[i]),
      .aw_ready_i(in_i.aw_ready[i]),
      .w_data_o(out_o.w_data[i]),
      .w_strb_o(out_o.w_strb[i]),
      .w_last_o(out_o.w_last[i]),
      .w_valid_o(out_o.w_valid[i]),
      .w_ready_i(in_i.w_ready[i]),
      .b_id_i(in_i.b_id[i]),
      .b_resp_i(in_i.b_resp[i]),
      .b_valid_i(in_i.b_valid[i]),
      .b_ready_o(out_o.b_ready[i])
    );
  end

  logic unused_all;
  assign unused_all = ^{
    unused, unused_lane, unused_vc, unused_message, unused_end, status, wr_error, rd_last
  };
endmodule
