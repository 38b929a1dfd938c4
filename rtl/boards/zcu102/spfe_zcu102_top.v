// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

// Joins the processor (block design spfe_ps), the transceivers (spfe_gth) and the endpoint.
// NOT TRIED: zcu102.tcl says more.
module spfe_zcu102_top (
  input wire ref_clk_p,
  input wire ref_clk_n,
  input wire [3:0] sfp_rx_p,
  input wire [3:0] sfp_rx_n,
  output wire [3:0] sfp_tx_p,
  output wire [3:0] sfp_tx_n,
  output wire [3:0] sfp_tx_enable
);
  wire ref_clk, free_clk, free_rst_n, clk, tx_ready, tx_done, rx_done;
  wire [3:0] rx_out_clk, rx_clk, tx_on, rx_idle;
  wire [159:0] tx_bits, rx_bits;
  wire [7:0] irq;
  reg [3:0] rst_q = 4'hf;

  // The word clock runs once the transmitters are ready.
  always @(posedge clk or negedge tx_done)
    if (!tx_done) rst_q <= 4'hf;
    else rst_q <= {rst_q[2:0], 1'b0};
  wire rst = rst_q[3];

  IBUFDS_GTE4 i_ref (.I(ref_clk_p), .IB(ref_clk_n), .CEB(1'b0), .O(ref_clk), .ODIV2());
  genvar lane;
  generate
    for (lane = 0; lane < 4; lane = lane + 1) begin : gen_rx
      BUFG_GT i_clk (
        .I(rx_out_clk[lane]), .O(rx_clk[lane]),
        .CE(1'b1), .CEMASK(1'b0), .CLR(1'b0), .CLRMASK(1'b0), .DIV(3'd0)
      );
    end
  endgenerate

  spfe_gth i_gth (
    .gtwiz_userclk_tx_reset_in(!free_rst_n),
    .gtwiz_userclk_tx_srcclk_out(),
    .gtwiz_userclk_tx_usrclk_out(),
    .gtwiz_userclk_tx_usrclk2_out(clk),
    .gtwiz_userclk_tx_active_out(tx_ready),
    .gtwiz_userclk_rx_active_in(1'b1),
    .gtwiz_reset_clk_freerun_in(free_clk),
    .gtwiz_reset_all_in(!free_rst_n),
    .gtwiz_reset_tx_pll_and_datapath_in(1'b0),
    .gtwiz_reset_tx_datapath_in(1'b0),
    .gtwiz_reset_rx_pll_and_datapath_in(1'b0),
    .gtwiz_reset_rx_datapath_in(1'b0),
    .gtwiz_reset_rx_cdr_stable_out(),
    .gtwiz_reset_tx_done_out(tx_done),
    .gtwiz_reset_rx_done_out(rx_done),
    .gtwiz_userdata_tx_in(tx_bits),
    .gtwiz_userdata_rx_out(rx_bits),
    .gtrefclk0_in({4{ref_clk}}),
    .drpclk_in({4{free_clk}}),
    .gthrxn_in(sfp_rx_n),
    .gthrxp_in(sfp_rx_p),
    .gthtxn_out(sfp_tx_n),
    .gthtxp_out(sfp_tx_p),
    .rxoutclk_out(rx_out_clk),
    .rxusrclk_in(rx_clk),
    .rxusrclk2_in(rx_clk),
    .txelecidle_in(~tx_on),
    .rxelecidle_out(rx_idle),
    .gtpowergood_out(),
    .rxpmaresetdone_out(),
    .txpmaresetdone_out()
  );
  assign sfp_tx_enable = 4'hf;

  wire [48:0] lite_awaddr, lite_araddr, bus_awaddr, bus_araddr;
  wire lite_awvalid, lite_awready, lite_wvalid, lite_wready, lite_bvalid, lite_bready;
  wire lite_arvalid, lite_arready, lite_rvalid, lite_rready;
  wire [63:0] lite_wdata, lite_rdata;
  wire [7:0] lite_wstrb, bus_awlen, bus_arlen;
  wire [1:0] lite_bresp, lite_rresp, bus_bresp, bus_rresp;
  wire [5:0] bus_awid, bus_arid, bus_bid, bus_rid;
  wire bus_awvalid, bus_awready, bus_wvalid, bus_wready, bus_wlast, bus_bvalid, bus_bready;
  wire bus_arvalid, bus_arready, bus_rvalid, bus_rready, bus_rlast;
  wire [127:0] bus_wdata, bus_rdata;
  wire [15:0] bus_wstrb;

  spfe_ps_wrapper i_ps (
    .word_clk(clk), .word_rst_n(!rst), .free_clk(free_clk), .free_rst_n(free_rst_n), .irq(irq),
    .lite_awaddr(lite_awaddr), .lite_awprot(), .lite_awvalid(lite_awvalid),
    .lite_awready(lite_awready), .lite_wdata(lite_wdata), .lite_wstrb(lite_wstrb),
    .lite_wvalid(lite_wvalid), .lite_wready(lite_wready), .lite_bresp(lite_bresp),
    .lite_bvalid(lite_bvalid), .lite_bready(lite_bready), .lite_araddr(lite_araddr),
    .lite_arprot(), .lite_arvalid(lite_arvalid), .lite_arready(lite_arready),
    .lite_rdata(lite_rdata), .lite_rresp(lite_rresp), .lite_rvalid(lite_rvalid),
    .lite_rready(lite_rready),
    // Bursts of 16 bytes a beat, coherent, unprivileged data.
    .bus_awid(bus_awid), .bus_awaddr(bus_awaddr), .bus_awlen(bus_awlen), .bus_awsize(3'd4),
    .bus_awburst(2'd1), .bus_awlock(1'b0), .bus_awcache(4'hf), .bus_awprot(3'd2),
    .bus_awqos(4'd0), .bus_awregion(4'd0), .bus_awvalid(bus_awvalid), .bus_awready(bus_awready),
    .bus_wdata(bus_wdata), .bus_wstrb(bus_wstrb), .bus_wlast(bus_wlast), .bus_wvalid(bus_wvalid),
    .bus_wready(bus_wready), .bus_bid(bus_bid), .bus_bresp(bus_bresp), .bus_bvalid(bus_bvalid),
    .bus_bready(bus_bready), .bus_arid(bus_arid), .bus_araddr(bus_araddr), .bus_arlen(bus_arlen),
    .bus_arsize(3'd4), .bus_arburst(2'd1), .bus_arlock(1'b0), .bus_arcache(4'hf),
    .bus_arprot(3'd2), .bus_arqos(4'd0), .bus_arregion(4'd0), .bus_arvalid(bus_arvalid),
    .bus_arready(bus_arready), .bus_rid(bus_rid), .bus_rdata(bus_rdata), .bus_rresp(bus_rresp),
    .bus_rlast(bus_rlast), .bus_rvalid(bus_rvalid), .bus_rready(bus_rready)
  );

  spfe_zcu102 #(.Events(8)) i_endpoint (
    .clk_i(clk), .rst_i(rst),
    .lite_awaddr(lite_awaddr), .lite_awvalid(lite_awvalid), .lite_awready(lite_awready),
    .lite_wdata(lite_wdata), .lite_wstrb(lite_wstrb), .lite_wvalid(lite_wvalid),
    .lite_wready(lite_wready), .lite_bresp(lite_bresp), .lite_bvalid(lite_bvalid),
    .lite_bready(lite_bready), .lite_araddr(lite_araddr), .lite_arvalid(lite_arvalid),
    .lite_arready(lite_arready), .lite_rdata(lite_rdata), .lite_rresp(lite_rresp),
    .lite_rvalid(lite_rvalid), .lite_rready(lite_rready),
    .bus_arid(bus_arid), .bus_araddr(bus_araddr), .bus_arlen(bus_arlen),
    .bus_arvalid(bus_arvalid), .bus_arready(bus_arready), .bus_rid(bus_rid),
    .bus_rdata(bus_rdata), .bus_rresp(bus_rresp), .bus_rlast(bus_rlast), .bus_rvalid(bus_rvalid),
    .bus_rready(bus_rready), .bus_awid(bus_awid), .bus_awaddr(bus_awaddr), .bus_awlen(bus_awlen),
    .bus_awvalid(bus_awvalid), .bus_awready(bus_awready), .bus_wdata(bus_wdata),
    .bus_wstrb(bus_wstrb), .bus_wlast(bus_wlast), .bus_wvalid(bus_wvalid),
    .bus_wready(bus_wready), .bus_bid(bus_bid), .bus_bresp(bus_bresp), .bus_bvalid(bus_bvalid),
    .bus_bready(bus_bready),
    .irq_o(irq),
    .tx_bits_o(tx_bits), .tx_on_o(tx_on), .rx_clk_i(rx_clk), .rx_bits_i(rx_bits),
    .rx_on_i(~rx_idle)
  );
endmodule
