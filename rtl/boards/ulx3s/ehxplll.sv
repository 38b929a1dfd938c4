// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The PLL of an ECP5, as far as spfe_ulx3s uses it. Place and route knows what is inside.
(* blackbox *)
module EHXPLLL #(
  parameter int unsigned CLKI_DIV = 1,
  parameter int unsigned CLKFB_DIV = 1,
  parameter int unsigned CLKOP_DIV = 8,
  parameter int unsigned CLKOP_CPHASE = 0,
  parameter CLKOP_ENABLE = "ENABLED",
  parameter FEEDBK_PATH = "CLKOP",
  parameter OUTDIVIDER_MUXA = "DIVA",
  parameter PLLRST_ENA = "DISABLED",
  parameter INTFB_WAKE = "DISABLED",
  parameter STDBY_ENABLE = "DISABLED",
  parameter DPHASE_SOURCE = "DISABLED"
) (
  input logic CLKI,
  input logic CLKFB,
  output logic CLKOP,
  output logic LOCK,
  input logic RST,
  input logic STDBY,
  input logic PHASESEL0,
  input logic PHASESEL1,
  input logic PHASEDIR,
  input logic PHASESTEP,
  input logic PHASELOADREG,
  input logic PLLWAKESYNC,
  input logic ENCLKOP
);
endmodule
