// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Shift register that makes pseudo-random bits, Bits of them in a step: its output is the highest
/// bit, which is fed back as it leaves. With the default parameters it is the generator of
/// SpaceFibre's scrambler and idle frames, x^16 + x^5 + x^4 + x^3 + 1 with the start FFFF
/// (ECSS-E-ST-50-11C, 5.7.6.2).
module spfe_lfsr #(
  /// Bits of the register.
  parameter int unsigned Width = 16,
  /// Polynomial without its highest term.
  parameter logic [Width-1:0] Poly = 16'h0039,
  /// Bits of a step, 1 or more.
  parameter int unsigned Bits = 32
) (
  /// Register before the step.
  input logic [Width-1:0] state_i,
  /// Register after the step.
  output logic [Width-1:0] state_o,
  /// Bits of the step; bit 0 is the first.
  output logic [Bits-1:0] bits_o
);
  if (Width < 2 || Bits < 1) begin : gen_bad_size
    $error("spfe_lfsr: Width is %0d and Bits %0d; from 2 and from 1 are possible", Width, Bits);
  end

  // For each bit of the result, the bits of the register on which it depends.
  typedef logic [Bits+Width-1:0][Width-1:0] rows_t;

  function automatic rows_t rows();
    rows_t all;
    logic [Width-1:0][Width-1:0] state;
    logic [Width-1:0] out;
    for (int unsigned i = 0; i < Width; i++) state[i] = Width'(1) << i;
    for (int unsigned b = 0; b < Bits; b++) begin
      out = state[Width-1];
      all[b] = out;
      for (int i = int'(Width) - 1; i >= 0; i--) begin
        state[i] = (i > 0 ? state[(i+int'(Width)-1)%int'(Width)] : '0) ^ (Poly[i] ? out : '0);
      end
    end
    for (int unsigned i = 0; i < Width; i++) all[Bits+i] = state[i];
    return all;
  endfunction

  localparam rows_t Rows = rows();

  for (genvar b = 0; b < Bits; b++) begin : gen_out
    assign bits_o[b] = ^(state_i & Rows[b]);
  end
  for (genvar i = 0; i < Width; i++) begin : gen_state
    assign state_o[i] = ^(state_i & Rows[Bits+i]);
  end
endmodule
