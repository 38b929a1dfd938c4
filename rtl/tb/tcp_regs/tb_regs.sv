// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks the registers: written values are read back and reach the core, bad writes are refused,
/// counters count, operations and copies wait for the engine.
module tb_regs
  import spfe_tb_pkg::*;
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
  import spfe_tcp_regs_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Number of virtual interfaces.
  parameter int unsigned Vifs = 3,
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu = 1500
);
  localparam int unsigned Sessions = 64;
  localparam logic [14:0] Features = 15'h2A51;

  bit run = 1'b0;
  logic clk;
  // Tasks set `pins`; the registers see them from the next falling edge on.
  typedef struct packed {
    logic rst;
    logic [11:0] awaddr, araddr;
    logic [31:0] wdata;
    logic [3:0] wstrb;
    logic awvalid, wvalid, bready, arvalid, rready;
    logic op_ready, view_valid;
    view_t view;
    logic [CounterCount-1:0] happens;
  } pins_t;
  pins_t pins = '{rst: 1'b1, default: '0};
  pins_t pins_q = '{rst: 1'b1, default: '0};
  logic awready, wready, bvalid, arready, rvalid;
  logic [31:0] rdata;
  logic [1:0] bresp, rresp;
  tcp_cfg_t cfg;
  op_cmd_t op;
  logic op_valid, view_req, core_rst;
  sid_t view_sid;
  int unsigned checks = 0;
  bit started = 1'b0;  // an operation was started since the last reset
  logic [31:0] shown_mss;
  longint unsigned counted[CounterCount];

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));
  always @(negedge clk) pins_q <= pins;

  // Counter 0 is the first member of a struct, which is its top bit: hence the reversal.
  count_t counts;
  assign counts.rx = {<<{pins_q.happens[15:0]}};
  assign counts.tx = {<<{pins_q.happens[23:16]}};
  assign counts.eng = {<<{pins_q.happens[34:24]}};
  assign counts.net = {<<{pins_q.happens[41:35]}};
  assign counts.event_lost = pins_q.happens[42];

  axil_req_t axil_req;
  axil_rsp_t axil_rsp;
  assign axil_req = '{
    awaddr: pins_q.awaddr, awvalid: pins_q.awvalid, wdata: pins_q.wdata, wstrb: pins_q.wstrb,
    wvalid: pins_q.wvalid, bready: pins_q.bready, araddr: pins_q.araddr,
    arvalid: pins_q.arvalid, rready: pins_q.rready
  };
  assign {awready, wready, bresp, bvalid, arready, rdata, rresp, rvalid} = axil_rsp;

  spfe_tcp_regs #(
    .SessionCount(Sessions), .MacRxWidth(32), .MacTxWidth(64), .UserTxWidth(128), .UserRxWidth(64),
    .Mtu(Mtu), .VifCount(Vifs), .Features(Features),
    .RxFifoPackets(3), .RxMemAddrBits(15), .TxMemAddrBits(16), .ArpEntries(32), .RxOutputPipe(1),
    .TxOutputPipe(2)
  ) i_dut (
    .clk_i(clk), .rst_i(pins_q.rst), .core_rst_o(core_rst), .cfg_o(cfg),
    .op_o(op), .op_valid_o(op_valid), .op_ready_i(pins_q.op_ready),
    .view_sid_o(view_sid), .view_req_o(view_req), .view_i(pins_q.view),
    .view_valid_i(pins_q.view_valid),
    .count_i(counts), .mac_rx_i('0), .mac_tx_i('0), .user_tx_i('0), .user_rx_i('0),
    .axil_req_i(axil_req), .axil_rsp_o(axil_rsp)
  );

  task automatic cycles(int unsigned n);
    repeat (n) @(posedge clk);
  endtask

  /// Writes a word. Address and data come in random order, and the response may have to wait.
  task automatic put(logic [11:0] address, logic [31:0] data, bit good, logic [3:0] strobe = 4'hF);
    bit a, d;
    int unsigned n = 0;
    a = 1'b0;
    d = 1'b0;
    pins.awaddr = address;
    pins.wdata = data;
    pins.wstrb = strobe;
    while (!a || !d) begin
      if (!a) pins.awvalid = pins.awvalid || chance(50);
      if (!d) pins.wvalid = pins.wvalid || chance(50);
      cycles(1);
      if (pins_q.awvalid && awready) begin
        a = 1'b1;
        pins.awvalid = 1'b0;
      end
      if (pins_q.wvalid && wready) begin
        d = 1'b1;
        pins.wvalid = 1'b0;
      end
      n++;
      if (n > 200) $fatal(1, "write to %h is not accepted", address);
    end
    do begin
      pins.bready = chance(50);
      cycles(1);
      n++;
      if (n > 400) $fatal(1, "no answer to a write to %h", address);
    end while (!(bvalid && pins_q.bready));
    pins.bready = 1'b0;
    checks++;
    if (bresp != (good ? 2'b00 : 2'b10)) $fatal(1, "write of %h to %h: answer %b", data, address, bresp);
  endtask

  task automatic get(logic [11:0] address, output logic [31:0] data, output bit good);
    int unsigned n = 0;
    pins.araddr = address;
    pins.arvalid = 1'b1;
    do begin
      cycles(1);
      n++;
      if (n > 200) $fatal(1, "read of %h is not accepted", address);
    end while (!(pins_q.arvalid && arready));
    pins.arvalid = 1'b0;
    do begin
      pins.rready = chance(50);
      cycles(1);
      n++;
      if (n > 400) $fatal(1, "no answer to a read of %h", address);
    end while (!(rvalid && pins_q.rready));
    pins.rready = 1'b0;
    data = rdata;
    good = rresp == 2'b00;
    checks++;
    if (!good && (data != '0 || rresp != 2'b10)) $fatal(1, "read of %h: %h with %b", address, data, rresp);
  endtask

  task automatic must(logic [11:0] address, logic [31:0] want);
    logic [31:0] data;
    bit good;
    get(address, data, good);
    if (!good || data != want) $fatal(1, "register %h is %h (%b), not %h", address, data, good, want);
  endtask

`include "tb_regs_cases.svh"

  initial begin
    run = chosen(Name);
    if (run) begin
      cycles(5);
      pins.rst = 1'b0;
      cycles(3);
      reset_values();
      map_of_all();
      key_missing();
      repeat (5) mss();
      repeat (20) begin
        stored();
        interfaces();
        operation();
        copy();
      end
      refusals();
      counters();
      software_reset();
      passed(Name, checks);
    end
  end
endmodule
