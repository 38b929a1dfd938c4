# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#
# Makes a Vivado project of the endpoint on a ZCU102: the processor, four lanes at the SFP+ cages, and
# the endpoint between them. NOT TRIED: it was written from the vendor's documents, no vendor tool
# has run it, and no board. Compare every pin with the constraints of the board before use.
#
#   vivado -mode batch -source rtl/boards/zcu102/zcu102.tcl [-tclargs DIRECTORY]
#
# Run it at the root of the project; the project is in target/rtl/zcu102 by default. Then open it and
# generate the bitstream.

set out [expr {$argc > 0 ? [lindex $argv 0] : "target/rtl/zcu102"}]
create_project -force spfe_zcu102 $out -part xczu9eg-ffvb1156-2-e
set_property board_part xilinx.com:zcu102:part0:3.4 [current_project]

# The endpoint and what it needs, in the order in which a tool must read them.
foreach file [exec python3 -B -c {
import sys
sys.path.insert(0, "tools")
import rtl_files
wanted = ["spfe_endpoint", "spfe_sf_encode", "spfe_sf_decode", "spfe_sf_bit_sync",
          "spfe_sf_elastic", "spfe_sync", "spfe_rst_sync"]
names = set().union(*(rtl_files.needed(name) for name in wanted))
print(*(rtl_files.relative(path)
        for path in [*rtl_files.packages(), *rtl_files.modules().values()] if path.stem in names))
}] { add_files $file }
add_files {rtl/boards/zcu102/spfe_zcu102.sv rtl/boards/zcu102/spfe_zcu102_top.v}
add_files -fileset constrs_1 {rtl/boards/zcu102/zcu102.xdc rtl/constraints/cdc.tcl}
set_property used_in_synthesis false [get_files cdc.tcl]
set_property verilog_define {SYNTHESIS=1} [current_fileset]

# Four GTH of the quad at the SFP+ cages: 40 bits without 8b/10b, which the core has itself. The
# reference clock is that of the board's programmable oscillator, 156.25 MHz.
create_ip -name gtwizard_ultrascale -vendor xilinx.com -library ip -module_name spfe_gth
set_property -dict {
  CONFIG.CHANNEL_ENABLE {X1Y12 X1Y13 X1Y14 X1Y15}
  CONFIG.TX_LINE_RATE {6.25} CONFIG.RX_LINE_RATE {6.25}
  CONFIG.TX_REFCLK_FREQUENCY {156.25} CONFIG.RX_REFCLK_FREQUENCY {156.25}
  CONFIG.TX_DATA_ENCODING {RAW} CONFIG.RX_DATA_DECODING {RAW}
  CONFIG.TX_USER_DATA_WIDTH {40} CONFIG.RX_USER_DATA_WIDTH {40}
  CONFIG.TX_INT_DATA_WIDTH {40} CONFIG.RX_INT_DATA_WIDTH {40}
  CONFIG.TX_PLL_TYPE {CPLL} CONFIG.RX_PLL_TYPE {CPLL}
  CONFIG.TX_MASTER_CHANNEL {X1Y12} CONFIG.RX_MASTER_CHANNEL {X1Y12}
  CONFIG.LOCATE_TX_USER_CLOCKING {CORE} CONFIG.LOCATE_RX_USER_CLOCKING {EXAMPLE_DESIGN}
  CONFIG.FREERUN_FREQUENCY {100}
  CONFIG.ENABLE_OPTIONAL_PORTS {txelecidle_in rxelecidle_out}
} [get_ips spfe_gth]

# The processor: one port for the registers, one coherent port for DMA, eight interrupts.
create_bd_design spfe_ps
set ps [create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps]
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset 1} $ps
set_property -dict {
  CONFIG.PSU__USE__M_AXI_GP0 1 CONFIG.PSU__USE__M_AXI_GP1 0 CONFIG.PSU__USE__M_AXI_GP2 0
  CONFIG.PSU__USE__S_AXI_GP0 1 CONFIG.PSU__SAXIGP0__DATA_WIDTH 128
  CONFIG.PSU__USE__IRQ0 1 CONFIG.PSU__FPGA_PL0_ENABLE 1
  CONFIG.PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 100
} $ps
create_bd_port -dir I -type clk -freq_hz 156250000 word_clk
create_bd_port -dir I -type rst word_rst_n
create_bd_port -dir O -type clk free_clk
create_bd_port -dir O -type rst free_rst_n
create_bd_port -dir I -from 7 -to 0 -type intr irq
connect_bd_net [get_bd_pins ps/pl_clk0] [get_bd_ports free_clk]
connect_bd_net [get_bd_pins ps/pl_resetn0] [get_bd_ports free_rst_n]
connect_bd_net [get_bd_ports irq] [get_bd_pins ps/pl_ps_irq0]
foreach {cell slaves masters} {down 1 1 up 1 1} {
  create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect $cell
  set_property -dict [list CONFIG.NUM_SI $slaves CONFIG.NUM_MI $masters] [get_bd_cells $cell]
  connect_bd_net [get_bd_ports word_clk] [get_bd_pins $cell/aclk]
  connect_bd_net [get_bd_ports word_rst_n] [get_bd_pins $cell/aresetn]
}
connect_bd_net [get_bd_ports word_clk] [get_bd_pins ps/maxihpm0_fpd_aclk] \
  [get_bd_pins ps/saxihpc0_fpd_aclk]
create_bd_intf_port -mode Master -vlnv xilinx.com:interface:aximm_rtl:1.0 lite
set_property -dict {CONFIG.PROTOCOL AXI4LITE CONFIG.DATA_WIDTH 64} [get_bd_intf_ports lite]
create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:aximm_rtl:1.0 bus
set_property -dict {CONFIG.PROTOCOL AXI4 CONFIG.DATA_WIDTH 128 CONFIG.ADDR_WIDTH 49 \
  CONFIG.ID_WIDTH 6} [get_bd_intf_ports bus]
set_property CONFIG.ASSOCIATED_BUSIF {lite:bus} [get_bd_ports word_clk]
connect_bd_intf_net [get_bd_intf_pins ps/M_AXI_HPM0_FPD] [get_bd_intf_pins down/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins down/M00_AXI] [get_bd_intf_ports lite]
connect_bd_intf_net [get_bd_intf_ports bus] [get_bd_intf_pins up/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins up/M00_AXI] [get_bd_intf_pins ps/S_AXI_HPC0_FPD]
# The place that endpoint.dts names.
assign_bd_address -offset 0xa0000000 -range 512K [get_bd_addr_segs lite/Reg]
assign_bd_address
validate_bd_design
save_bd_design
make_wrapper -files [get_files spfe_ps.bd] -top -import

set_property top spfe_zcu102_top [current_fileset]
update_compile_order -fileset sources_1
