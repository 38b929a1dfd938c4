// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// AXI4-Lite slave: one word written or read at a time. Writes and reads are independent.
module spfe_tcp_regs_axil
  import spfe_tcp_io_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// AXI4-Lite from the master. A write without all four strobes or to an odd address is refused.
  input axil_req_t axil_req_i,
  /// Answers to the master: OKAY or SLVERR; the data of a refused read is 0.
  output axil_rsp_t axil_rsp_o,

  /// Write of a word, for one cycle; to the registers.
  output logic wr_valid_o,
  /// Number of the word; stable from the cycle before wr_valid_o on.
  output logic [9:0] wr_addr_o,
  /// Value of the word; stable from the cycle before wr_valid_o on.
  output logic [31:0] wr_data_o,
  /// The write is refused; in the cycle of wr_valid_o.
  input logic wr_error_i,
  /// Read of a word, for one cycle; to the registers.
  output logic rd_valid_o,
  /// Number of the word, with rd_valid_o.
  output logic [9:0] rd_addr_o,
  /// Value of the word, one cycle after rd_valid_o.
  input logic [31:0] rd_data_i,
  /// The read is refused; one cycle after rd_valid_o.
  input logic rd_error_i
);
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  // Write: once address and data are both there, the registers take one cycle to accept or refuse.
  logic aw_full_q, w_full_q, b_valid_q;
  logic [11:0] aw_q;
  logic [31:0] w_q;
  logic whole_q;
  logic [1:0] b_q;
  logic go_q, write_q;

  assign axil_rsp_o.awready = !aw_full_q;
  assign axil_rsp_o.wready = !w_full_q;
  assign axil_rsp_o.bvalid = b_valid_q;
  assign axil_rsp_o.bresp = b_q;
  assign wr_valid_o = write_q;
  assign wr_addr_o = aw_q[11:2];
  assign wr_data_o = w_q;

  always_ff @(posedge clk_i) begin
    if (axil_rsp_o.awready) aw_q <= axil_req_i.awaddr;
    if (axil_rsp_o.wready) begin
      w_q <= axil_req_i.wdata;
      whole_q <= &axil_req_i.wstrb;
    end
    go_q <= aw_full_q && w_full_q && !b_valid_q && !go_q;
    write_q <= aw_full_q && w_full_q && !b_valid_q && !go_q && whole_q && aw_q[1:0] == 2'b00;
    aw_full_q <= !go_q && (aw_full_q || axil_req_i.awvalid);
    w_full_q <= !go_q && (w_full_q || axil_req_i.wvalid);
    if (go_q) b_q <= wr_valid_o && !wr_error_i ? Okay : SlvErr;
    b_valid_q <= go_q || (b_valid_q && !axil_req_i.bready);
    if (rst_i) begin
      go_q <= 1'b0;
      write_q <= 1'b0;
      aw_full_q <= 1'b0;
      w_full_q <= 1'b0;
      b_valid_q <= 1'b0;
    end
  end

  // Read: one state a cycle.
  typedef enum logic [1:0] {
    RdIdle,
    RdAddress,
    RdWord,
    RdAnswer
  } rd_e;
  rd_e rd_q;
  logic [11:0] ar_q;
  logic [31:0] r_q;
  logic [1:0] resp_q;
  logic bad;

  assign bad = rd_error_i || ar_q[1:0] != 2'b00;
  assign axil_rsp_o.arready = rd_q == RdIdle;
  assign axil_rsp_o.rvalid = rd_q == RdAnswer;
  assign axil_rsp_o.rdata = r_q;
  assign axil_rsp_o.rresp = resp_q;
  assign rd_valid_o = rd_q == RdAddress && ar_q[1:0] == 2'b00;
  assign rd_addr_o = ar_q[11:2];

  always_ff @(posedge clk_i) begin
    if (axil_rsp_o.arready) ar_q <= axil_req_i.araddr;
    if (rd_q == RdWord) begin
      r_q <= bad ? '0 : rd_data_i;
      resp_q <= bad ? SlvErr : Okay;
    end
    unique case (rd_q)
      RdIdle: if (axil_req_i.arvalid) rd_q <= RdAddress;
      RdAddress: rd_q <= RdWord;
      RdWord: rd_q <= RdAnswer;
      RdAnswer: if (axil_req_i.rready) rd_q <= RdIdle;
    endcase
    if (rst_i) rd_q <= RdIdle;
  end
endmodule
