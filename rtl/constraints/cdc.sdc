# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#
# Clock crossings of rtl/prim for tools that read SDC without Tcl procedures (Libero, Quartus,
# Radiant). NOT RUN HERE. Set PERIOD to the period in ns of the fastest clock of the design; the
# delay of every crossing is limited to it. rtl/constraints/cdc.tcl says what each path is. The word
# of spfe_cdc_word waits for two cycles of the other clock; give its paths the delay of one.

set PERIOD 3.2

set_max_delay $PERIOD -to [get_cells -hierarchical {*i_sync*/stage_q*[0]*}]
set_max_delay $PERIOD -from [get_cells -hierarchical {*gen_distributed.mem_q*}] -to [get_cells -hierarchical {*read_q*}]
set_false_path -to [get_pins -hierarchical {*i_rst_sync*/stage_q*/PRE}]
