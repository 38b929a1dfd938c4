// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceWire echo for the board ULX3S: it sends back all packets and time-codes. The LEDs show the
/// link. Data and strobe are single-ended on header J1, for LVDS drivers on an adapter.
module spfe_ulx3s
  import spfe_sw_pkg::*;
(
  /// Oscillator of the board, 25 MHz.
  input logic clk_25mhz_i,
  /// Button "fire 1", pressed is 1: resets the link.
  input logic button_i,
  /// Data and strobe from the far end.
  input logic d_i,
  /// Strobe.
  input logic s_i,
  /// Data to the far end.
  output logic d_o,
  /// Strobe to the far end.
  output logic s_o,
  /// From LED 0: Run, a packet passed, a time-code came, the link fell back; 7 to 4: state.
  output logic [7:0] led_o
);
  // Clock in MHz: the port reaches a little more in this chip. A bit takes two cycles, 20 Mbit/s.
  localparam int unsigned Mhz = 40;
  localparam logic [7:0] BitCycles = 8'd2;
  // Cycles in which a LED shows an event: 105 ms.
  localparam int unsigned ShowLog2 = 22;

  logic clk, locked, rst;
  EHXPLLL #(
    .CLKI_DIV(5),
    .CLKFB_DIV(8),
    .CLKOP_DIV(15),
    .CLKOP_CPHASE(7),
    .CLKOP_ENABLE("ENABLED"),
    .FEEDBK_PATH("CLKOP"),
    .OUTDIVIDER_MUXA("DIVA"),
    .PLLRST_ENA("DISABLED"),
    .INTFB_WAKE("DISABLED"),
    .STDBY_ENABLE("DISABLED"),
    .DPHASE_SOURCE("DISABLED")
  ) i_pll (
    .CLKI(clk_25mhz_i),
    .CLKFB(clk),
    .CLKOP(clk),
    .LOCK(locked),
    .RST(1'b0),
    .STDBY(1'b0),
    .PHASESEL0(1'b0),
    .PHASESEL1(1'b0),
    .PHASEDIR(1'b0),
    .PHASESTEP(1'b0),
    .PHASELOADREG(1'b0),
    .PLLWAKESYNC(1'b0),
    .ENCLKOP(1'b1)
  );
  spfe_rst_sync i_rst (
    .clk_i(clk),
    .arst_i(!locked || button_i),
    .rst_o(rst)
  );

  logic d, s;
  spfe_sync #(
    .Width(2)
  ) i_sync (
    .clk_i(clk),
    .data_i({d_i, s_i}),
    .data_o({d, s})
  );

  sw_status_t status;
  logic [8:0] char;
  logic char_valid, char_ready;
  logic [7:0] code;
  logic code_valid, unused_tick;
  spfe_sw_port #(
    .ResetCycles(Mhz * 64 / 10),
    .WaitCycles(Mhz * 128 / 10),
    .DisconnectCycles(Mhz * 85 / 100),
    .StartBitCycles(Mhz / 10)
  ) i_port (
    .clk_i(clk),
    .rst_i(rst),
    .control_i('{enabled: 1'b1, link_start: 1'b1, default: '0}),
    .bit_cycles_i(BitCycles),
    .status_o(status),
    .tx_i(char),
    .tx_valid_i(char_valid),
    .tx_ready_o(char_ready),
    .rx_o(char),
    .rx_valid_o(char_valid),
    .rx_ready_i(char_ready),
    .code_i(code),
    .code_valid_i(code_valid),
    .code_o(code),
    .code_valid_o(code_valid),
    .d_o,
    .s_o,
    .tick_o(unused_tick),
    .d_i(d),
    .s_i(s)
  );

  logic [2:0] events;
  logic [2:0][ShowLog2-1:0] show_q;
  assign events = {status.ev_fall, code_valid, char_valid && char_ready && char[8]};
  always_ff @(posedge clk) begin
    for (int unsigned i = 0; i < 3; i++) begin
      if (events[i]) show_q[i] <= '1;
      else if (show_q[i] != '0) show_q[i] <= show_q[i] - 1'b1;
    end
    if (rst) show_q <= '0;
  end
  assign led_o = {
    1'b0, status.state, show_q[2] != '0, show_q[1] != '0, show_q[0] != '0, status.state == SwRun
  };
endmodule
