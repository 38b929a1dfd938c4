// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// AXI4-Lite slave: one word written or read at a time. Writes and reads are independent.
module spfe_tcp_regs_axil (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,

  /// AXI4-Lite write address in bytes; from the master.
  input logic [11:0] s_axil_awaddr_i,
  /// It is valid.
  input logic s_axil_awvalid_i,
  /// It is taken.
  output logic s_axil_awready_o,
  /// AXI4-Lite write data.
  input logic [31:0] s_axil_wdata_i,
  /// Bytes to write; all four, or the write is refused.
  input logic [3:0] s_axil_wstrb_i,
  /// It is valid.
  input logic s_axil_wvalid_i,
  /// It is taken.
  output logic s_axil_wready_o,
  /// Answer to a write: OKAY or SLVERR.
  output logic [1:0] s_axil_bresp_o,
  /// It is valid.
  output logic s_axil_bvalid_o,
  /// It is taken.
  input logic s_axil_bready_i,
  /// AXI4-Lite read address in bytes.
  input logic [11:0] s_axil_araddr_i,
  /// It is valid.
  input logic s_axil_arvalid_i,
  /// It is taken.
  output logic s_axil_arready_o,
  /// AXI4-Lite read data; 0 with SLVERR.
  output logic [31:0] s_axil_rdata_o,
  /// Answer to a read: OKAY or SLVERR.
  output logic [1:0] s_axil_rresp_o,
  /// It is valid.
  output logic s_axil_rvalid_o,
  /// It is taken.
  input logic s_axil_rready_i,

  /// A word is written in this cycle; to the registers.
  output logic wr_valid_o,
  /// Its number; there since the cycle before.
  output logic [9:0] wr_addr_o,
  /// The word; there since the cycle before.
  output logic [31:0] wr_data_o,
  /// It is refused; in the same cycle.
  input logic wr_error_i,
  /// A word is read in this cycle; to the registers.
  output logic rd_valid_o,
  /// Its number.
  output logic [9:0] rd_addr_o,
  /// The word, one cycle later.
  input logic [31:0] rd_data_i,
  /// There is none; one cycle later.
  input logic rd_error_i
);
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  // Write: address and data wait for each other, and for a cycle in which the registers judge them.
  logic aw_full_q, w_full_q, b_valid_q;
  logic [11:0] aw_q;
  logic [31:0] w_q;
  logic whole_q;
  logic [1:0] b_q;
  logic go_q, write_q;

  assign s_axil_awready_o = !aw_full_q;
  assign s_axil_wready_o = !w_full_q;
  assign s_axil_bvalid_o = b_valid_q;
  assign s_axil_bresp_o = b_q;
  assign wr_valid_o = write_q;
  assign wr_addr_o = aw_q[11:2];
  assign wr_data_o = w_q;

  always_ff @(posedge clk_i) begin
    if (s_axil_awready_o) aw_q <= s_axil_awaddr_i;
    if (s_axil_wready_o) begin
      w_q <= s_axil_wdata_i;
      whole_q <= &s_axil_wstrb_i;
    end
    go_q <= aw_full_q && w_full_q && !b_valid_q && !go_q;
    write_q <= aw_full_q && w_full_q && !b_valid_q && !go_q && whole_q && aw_q[1:0] == 2'b00;
    aw_full_q <= !go_q && (aw_full_q || s_axil_awvalid_i);
    w_full_q <= !go_q && (w_full_q || s_axil_wvalid_i);
    if (go_q) b_q <= wr_valid_o && !wr_error_i ? Okay : SlvErr;
    b_valid_q <= go_q || (b_valid_q && !s_axil_bready_i);
    if (rst_i) begin
      go_q <= 1'b0;
      write_q <= 1'b0;
      aw_full_q <= 1'b0;
      w_full_q <= 1'b0;
      b_valid_q <= 1'b0;
    end
  end

  // Read: address, word, answer.
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
  assign s_axil_arready_o = rd_q == RdIdle;
  assign s_axil_rvalid_o = rd_q == RdAnswer;
  assign s_axil_rdata_o = r_q;
  assign s_axil_rresp_o = resp_q;
  assign rd_valid_o = rd_q == RdAddress && ar_q[1:0] == 2'b00;
  assign rd_addr_o = ar_q[11:2];

  always_ff @(posedge clk_i) begin
    if (s_axil_arready_o) ar_q <= s_axil_araddr_i;
    if (rd_q == RdWord) begin
      r_q <= bad ? '0 : rd_data_i;
      resp_q <= bad ? SlvErr : Okay;
    end
    unique case (rd_q)
      RdIdle: if (s_axil_arvalid_i) rd_q <= RdAddress;
      RdAddress: rd_q <= RdWord;
      RdWord: rd_q <= RdAnswer;
      RdAnswer: if (s_axil_rready_i) rd_q <= RdIdle;
    endcase
    if (rst_i) rd_q <= RdIdle;
  end
endmodule
