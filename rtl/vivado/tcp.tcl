# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#
# Synthesises and places the TCP core out of context with Vivado, for those who have a licence.
# NOT RUN HERE: no result of this script is in any report of the project.
#
#   vivado -mode batch -source rtl/vivado/tcp.tcl -tclargs [PART [NS [PARAMETER=VALUE...]]]
#
# PART: xcvu9p-flgb2104-2-e (default) or xcvu9p-flgb2104-3-e; NS: period of the clock, 3.103 for
# 322.265625 MHz (default), 2.857 for 350 MHz. PARAMETERs are those of spfe_tcp, as SessionCount=64.
# Run it at the root of the project; reports go to target/rtl/vivado.

set part [expr {$argc > 0 ? [lindex $argv 0] : "xcvu9p-flgb2104-2-e"}]
set period [expr {$argc > 1 ? [lindex $argv 1] : 3.103}]
set generics [lrange $argv 2 end]
set out target/rtl/vivado/[join [list $part $period {*}[string map {= -} $generics]] _]
file mkdir $out

# The files of the core, in the order in which a tool must read them.
foreach file [exec python3 -B -c {
import sys
sys.path.insert(0, "tools")
import rtl_files
print(*rtl_files.design("spfe_tcp"))
}] { read_verilog -sv $file }

set constraints $out/clock.xdc
set handle [open $constraints w]
puts $handle "create_clock -name clk -period $period \[get_ports clk_i\]"
# The other end of a port is a register nearby: a fifth of the period for it and the way. Without
# this, paths that begin or end at a port are not timed, and the longest one begins at the user.
set beyond [expr {$period / 5}]
set inputs "get_ports -filter {DIRECTION == IN && NAME != clk_i}"
puts $handle "set_input_delay -clock clk $beyond \[$inputs\]"
puts $handle "set_output_delay -clock clk $beyond \[all_outputs\]"
close $handle
read_xdc -mode out_of_context $constraints

set options {}
foreach generic $generics { lappend options -generic $generic }
synth_design -mode out_of_context -top spfe_tcp -part $part \
  -verilog_define SYNTHESIS=1 -flatten_hierarchy rebuilt {*}$options
report_utilization -file $out/synth_utilization.txt
report_utilization -hierarchical -file $out/synth_hierarchy.txt

opt_design -directive Explore
place_design -directive ExtraTimingOpt
phys_opt_design -directive AggressiveExplore
route_design -directive AggressiveExplore
report_utilization -file $out/utilization.txt
report_timing_summary -file $out/timing.txt
report_timing -max_paths 20 -file $out/paths.txt

set slack [get_property SLACK [get_timing_paths -max_paths 1 -setup]]
puts [format "spfe_tcp %s: period %.3f ns, slack %.3f ns, %.1f MHz" \
  $part $period $slack [expr {1000.0 / ($period - $slack)}]]
