// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the clock of top.sv until one of its streams ends. Prints the number of cycles.
#define SPFE_FOREIGN_IMPLEMENTATION
#include "spfe/foreign.h"

#include "Vtop.h"
#include "verilated.h"
#include <cstdio>

int main(int argc, char **argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vtop top{&context};
  unsigned long cycles = 0;
  top.clk_i = 0;
  top.eval();
  while (!context.gotFinish()) {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
    cycles++;
  }
  top.final();
  std::printf("%lu clock cycles\n", cycles);
}
