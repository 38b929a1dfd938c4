// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The endpoint in the logic of a ZCU102, behind the AXI ports of the processor, with the four lanes
/// of the SFP+ cages. NOT TRIED: no vendor tool has read this file, and no board has run it.
///
/// One clock, 156.25 MHz, is the word clock of all lanes (6.25 Gbit/s) and that of both buses. It
/// comes from the transmitters; each receiver has its own.
module spfe_zcu102
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Virtual channels.
  parameter int unsigned Vcs = 8,
  /// Event vectors, one interrupt each.
  parameter int unsigned Events = 8,
  localparam int unsigned Lanes = 4,
  localparam int unsigned Regions = 64,
  /// Bits of a register's address; follows from the parameters.
  localparam int unsigned AddrWidth = space_log2(
    '{
      target: NoTarget,
      ports: 8'd1,
      lanes: 8'(Lanes),
      vcs: 8'(Vcs),
      regions: 16'(Regions),
      events: 16'(Events),
      default: '0
    }
  )
) (
  /// Word clock, from the transmitters.
  input logic clk_i,
  /// Reset of all; ends while the clocks run.
  input logic rst_i,

  /// AXI4-Lite of 64 bits from the processor (M_AXI_HPM0_FPD through a protocol converter).
  input logic [AddrWidth-1:0] lite_awaddr,
  input logic lite_awvalid,
  output logic lite_awready,
  input logic [63:0] lite_wdata,
  input logic [7:0] lite_wstrb,
  input logic lite_wvalid,
  output logic lite_wready,
  output logic [1:0] lite_bresp,
  output logic lite_bvalid,
  input logic lite_bready,
  input logic [AddrWidth-1:0] lite_araddr,
  input logic lite_arvalid,
  output logic lite_arready,
  output logic [63:0] lite_rdata,
  output logic [1:0] lite_rresp,
  output logic lite_rvalid,
  input logic lite_rready,

  /// AXI4 of 128 bits to memory (S_AXI_HPC0_FPD: coherent).
  output logic [5:0] bus_arid,
  output logic [48:0] bus_araddr,
  output logic [7:0] bus_arlen,
  output logic bus_arvalid,
  input logic bus_arready,
  input logic [5:0] bus_rid,
  input logic [127:0] bus_rdata,
  input logic [1:0] bus_rresp,
  input logic bus_rlast,
  input logic bus_rvalid,
  output logic bus_rready,
  output logic [5:0] bus_awid,
  output logic [48:0] bus_awaddr,
  output logic [7:0] bus_awlen,
  output logic bus_awvalid,
  input logic bus_awready,
  output logic [127:0] bus_wdata,
  output logic [15:0] bus_wstrb,
  output logic bus_wlast,
  output logic bus_wvalid,
  input logic bus_wready,
  input logic [5:0] bus_bid,
  input logic [1:0] bus_bresp,
  input logic bus_bvalid,
  output logic bus_bready,

  /// Level-sensitive interrupts, to pl_ps_irq0.
  output logic [Events-1:0] irq_o,

  /// 40 bits for each transmitter, bit 0 first, and whether its driver is on.
  output logic [Lanes-1:0][39:0] tx_bits_o,
  output logic [Lanes-1:0] tx_on_o,
  /// Recovered clocks, 40 bits each in them, and whether there is a signal.
  input logic [Lanes-1:0] rx_clk_i,
  input logic [Lanes-1:0][39:0] rx_bits_i,
  input logic [Lanes-1:0] rx_on_i
);
  word_t [0:0][Lanes-1:0] to_line, from_line;
  logic [0:0][Lanes-1:0] to_on, from_on, invert, unused_receive;
  logic [0:0] unused_up;
  logic [0:0][1:0] unused_wire;
  logic unused_failed, unused_message_valid;
  logic [$clog2(Events)-1:0] unused_message;
  bus_master_t bus;
  bus_slave_t answer;

  spfe_endpoint #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .Regions(Regions),
    .Events(Events),
    .Protect(2)
  ) i_endpoint (
    .clk_i,
    .rst_i,
    .lite_aw_addr_i(lite_awaddr),
    .lite_aw_valid_i(lite_awvalid),
    .lite_aw_ready_o(lite_awready),
    .lite_w_data_i(lite_wdata),
    .lite_w_strb_i(lite_wstrb),
    .lite_w_valid_i(lite_wvalid),
    .lite_w_ready_o(lite_wready),
    .lite_b_resp_o(lite_bresp),
    .lite_b_valid_o(lite_bvalid),
    .lite_b_ready_i(lite_bready),
    .lite_ar_addr_i(lite_araddr),
    .lite_ar_valid_i(lite_arvalid),
    .lite_ar_ready_o(lite_arready),
    .lite_r_data_o(lite_rdata),
    .lite_r_resp_o(lite_rresp),
    .lite_r_valid_o(lite_rvalid),
    .lite_r_ready_i(lite_rready),
    .bus_o(bus),
    .bus_i(answer),
    .message_o(unused_message),
    .message_valid_o(unused_message_valid),
    .message_ready_i(1'b1),
    .lines_o(irq_o),
    .up_o(unused_up),
    .failed_o(unused_failed),
    .line_o(to_line),
    .line_on_o(to_on),
    .line_i(from_line),
    .line_on_i(from_on),
    .realigned_i('0),
    .receive_o(unused_receive),
    .invert_o(invert),
    .wire_o(unused_wire),
    .wire_i('0)
  );

  assign {bus_rready, bus_bready} = '1;
  assign bus_arid = bus.ar_id;
  assign bus_araddr = bus.ar_addr[48:0];
  assign bus_arlen = bus.ar_len;
  assign bus_arvalid = bus.ar_valid;
  assign bus_awid = bus.aw_id;
  assign bus_awaddr = bus.aw_addr[48:0];
  assign bus_awlen = bus.aw_len;
  assign bus_awvalid = bus.aw_valid;
  assign bus_wdata = bus.w_data;
  assign bus_wstrb = bus.w_strb;
  assign bus_wlast = bus.w_last;
  assign bus_wvalid = bus.w_valid;
  assign answer = '{
      ar_ready: bus_arready,
      r_data: bus_rdata,
      r_id: bus_rid,
      r_resp: bus_rresp,
      r_last: bus_rlast,
      r_valid: bus_rvalid,
      aw_ready: bus_awready,
      w_ready: bus_wready,
      b_id: bus_bid,
      b_resp: bus_bresp,
      b_valid: bus_bvalid
    };

  for (genvar lane = 0; lane < Lanes; lane++) begin : gen_lane
    logic rx_rst, rx_invert, moved;
    logic [1:0] moved_q;
    logic [39:0] bits;
    word_t word;
    logic [3:0] unused_error;

    spfe_sf_encode i_encode (
      .clk_i,
      .rst_i,
      .word_i(to_line[0][lane]),
      .bits_o(tx_bits_o[lane])
    );
    assign tx_on_o[lane] = to_on[0][lane];

    spfe_rst_sync i_rst (
      .clk_i(rx_clk_i[lane]),
      .arst_i(rst_i),
      .rst_o(rx_rst)
    );
    spfe_sync i_invert (
      .clk_i(rx_clk_i[lane]),
      .data_i(invert[0][lane]),
      .data_o(rx_invert)
    );
    spfe_sf_bit_sync i_bit_sync (
      .clk_i(rx_clk_i[lane]),
      .rst_i(rx_rst),
      .bits_i(rx_bits_i[lane]),
      .invert_i(rx_invert),
      .bits_o(bits),
      .moved_o(moved)
    );
    spfe_sf_decode i_decode (
      .clk_i(rx_clk_i[lane]),
      .rst_i(rx_rst),
      .bits_i(bits),
      .word_o(word),
      .error_o(unused_error)
    );
    // The decoder takes two cycles. A word in which the boundary moved is lost.
    always_ff @(posedge rx_clk_i[lane]) moved_q <= {moved_q[0], moved};
    spfe_sf_elastic i_elastic (
      .clk_i(rx_clk_i[lane]),
      .rst_i(rx_rst),
      .word_i(moved_q[1] ? RxErr : word),
      .on_i(rx_on_i[lane]),
      .rclk_i(clk_i),
      .rrst_i(rst_i),
      .word_o(from_line[0][lane]),
      .on_o(from_on[0][lane])
    );
  end
endmodule
