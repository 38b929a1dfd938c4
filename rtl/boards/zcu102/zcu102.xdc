# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# NOT TRIED: compare the sites with the constraints of the board (UG1182) before use. The sites of
# the serial pins follow from the channels that zcu102.tcl names.
set_property PACKAGE_PIN C8 [get_ports ref_clk_p]
set_property PACKAGE_PIN C7 [get_ports ref_clk_n]
create_clock -name ref_clk -period 6.400 [get_ports ref_clk_p]
# SFP+ cages: the transmitters are on when these are high.
set_property PACKAGE_PIN A12 [get_ports {sfp_tx_enable[0]}]
set_property PACKAGE_PIN A13 [get_ports {sfp_tx_enable[1]}]
set_property PACKAGE_PIN B13 [get_ports {sfp_tx_enable[2]}]
set_property PACKAGE_PIN C13 [get_ports {sfp_tx_enable[3]}]
set_property IOSTANDARD LVCMOS33 [get_ports {sfp_tx_enable[*]}]
# zcu102.tcl adds rtl/constraints/cdc.tcl, which knows the crossings between receivers and core.
