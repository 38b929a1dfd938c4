// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Keeps the secret of the initial sequence numbers, which software writes in four words and cannot
/// read back. There is no default: the key is complete once each word has been written.
module spfe_tcp_regs_key
  import spfe_tcp_regs_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Write strobes of the register file.
  input regs_wr_t wr_i,
  /// Data of the write.
  input logic [31:0] wr_data_i,
  /// The key; word n in bits 32 * n and above.
  output logic [127:0] key_o,
  /// All words have been written since the reset.
  output logic set_o
);
  logic [3:0][31:0] key_q;
  logic [3:0] set_q, write;
  logic unused_bits;

  assign unused_bits = ^wr_i;
  assign write = {wr_i.iss_key_3, wr_i.iss_key_2, wr_i.iss_key_1, wr_i.iss_key_0};

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 4; i++) if (write[i]) key_q[i] <= wr_data_i;
    set_q <= set_q | write;
    if (rst_i) begin
      key_q <= '0;
      set_q <= '0;
    end
  end

  assign key_o = key_q;
  assign set_o = &set_q;
endmodule
