# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#
# Clock crossings of rtl/prim for Vivado: read this file with "source" after synthesis, once the
# clocks are defined. It finds each primitive by the name of its module, so synthesis must keep the
# hierarchy of names (-flatten_hierarchy rebuilt or none). NOT RUN HERE: nobody has tried it in
# Vivado yet. rtl/constraints/cdc.sdc is for tools that read SDC only.

# The cells of a module, below any top.
proc spfe_cells {module} {
  return [get_cells -quiet -hierarchical -filter "ORIG_REF_NAME == $module || REF_NAME == $module"]
}

# The period of the clock of a register, in ns.
proc spfe_period {cells} {
  set clocks [get_clocks -quiet -of_objects $cells]
  if {[llength $clocks] == 0} { error "no clock reaches [lindex $cells 0]; define the clocks first" }
  return [get_property -min PERIOD $clocks]
}

# Limits the delay of the data into registers from those of another clock to one period of that
# clock, so that the bits of a word in Gray code arrive within one period of each other.
proc spfe_limit {to} {
  if {[llength $to] == 0} { return }
  set from [all_fanin -quiet -flat -startpoints_only -only_cells [get_pins -of_objects $to -filter {REF_PIN_NAME == D}]]
  if {[llength $from] == 0} { return }
  set_max_delay -datapath_only -from $from -to $to [spfe_period $from]
}

# First register of each synchroniser.
foreach cell [spfe_cells spfe_sync] {
  spfe_limit [get_cells -quiet "$cell/stage_q_reg\[0\]*"]
}

# A word that waits in its register until the other side has seen it.
foreach cell [spfe_cells spfe_cdc_word] {
  set word [get_cells -quiet "$cell/word_q_reg*"]
  if {[llength $word] != 0} {
    set_max_delay -datapath_only -from $word [spfe_period $word]
  }
}

# Words of a distributed RAM with two clocks. A block RAM has a register of its own.
foreach cell [spfe_cells spfe_ram_2c] {
  set memory [get_cells -quiet "$cell/gen_distributed.mem_q_reg*"]
  if {[llength $memory] != 0} {
    set_max_delay -datapath_only -from $memory -to [get_cells "$cell/read_q_reg*"] \
        [spfe_period $memory]
  }
}

# The elastic buffer of a lane reads its words with the other clock.
foreach cell [spfe_cells spfe_sf_elastic] {
  set memory [get_cells -quiet "$cell/i_mem/mem_q_reg*"]
  if {[llength $memory] != 0} {
    set_max_delay -datapath_only -from $memory -to [get_cells "$cell/word_q_reg* $cell/on_q_reg*"] \
        [spfe_period $memory]
  }
}

# A reset begins without a clock.
foreach cell [spfe_cells spfe_rst_sync] {
  set_false_path -to [get_pins -quiet "$cell/stage_q_reg*/PRE"]
}
