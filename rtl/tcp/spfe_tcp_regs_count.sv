// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Counters of 64 bits in distributed RAM. Each has a small counter for what happens between two
/// visits of a walk that goes round all of them and adds it.
module spfe_tcp_regs_count
  import spfe_tcp_regs_pkg::*;
(
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: clears the counters.
  input logic rst_i,
  /// Clears the counters; a pulse from the registers.
  input logic clear_i,
  /// One bit for each counter: counts in this cycle.
  input logic [CounterCount-1:0] event_i,
  /// A word of the register space is read in this cycle.
  input logic rd_valid_i,
  /// Its number.
  input logic [9:0] rd_addr_i,
  /// Its value, one cycle later; 0 if it is no counter. Reading bits 31:0 keeps bits 63:32 for the
  /// next read of an upper half.
  output logic [31:0] rd_data_o
);
  localparam int unsigned IndexBits = $clog2(CounterCount);
  // A visit every CounterCount cycles.
  localparam int unsigned StepBits = $clog2(CounterCount + 1);
  localparam logic [9:0] First = 10'(CounterWord);
  localparam logic [9:0] Words = 10'(2 * CounterCount);

  typedef logic [IndexBits-1:0] index_t;

  logic [CounterCount-1:0] event_q;
  logic [CounterCount-1:0][StepBits-1:0] step_q, step_d;
  index_t visit_q, visit_d;  // whose counter is read
  index_t add_q;  // whose counter is written
  logic [63:0] add_word_q;
  logic [StepBits-1:0] add_step_q;
  logic add_clear_q, add_valid_q;
  index_t left_q;  // visits that clear, less one
  logic clearing_q;

  logic [9:0] rd_word;
  logic rd_hit;
  index_t rd_index;
  logic [1:0][63:0] word;
  logic [31:0] high_q, data_q;

  assign rd_word = rd_addr_i - First;
  assign rd_hit = rd_addr_i >= First && rd_word < Words;
  assign rd_index = rd_hit ? rd_word[IndexBits:1] : '0;
  assign rd_data_o = data_q;

  spfe_lutram #(
    .Width(64),
    .Depth(CounterCount),
    .Ports(2)
  ) i_mem (
    .clk_i,
    .we_i(add_valid_q),
    .addr_i(add_q),
    .data_i(add_clear_q ? 64'd0 : add_word_q + 64'(add_step_q)),
    .raddr_i({rd_index, visit_q}),
    .rdata_o(word)
  );

  always_comb begin
    visit_d = visit_q == index_t'(CounterCount - 1) ? '0 : visit_q + 1'b1;
    for (int unsigned i = 0; i < CounterCount; i++) begin
      step_d[i] = (visit_q == index_t'(i) ? '0 : step_q[i]) + StepBits'(event_q[i]);
    end
  end

  always_ff @(posedge clk_i) begin
    event_q <= event_i;
    step_q <= step_d;
    visit_q <= visit_d;
    add_q <= visit_q;
    add_word_q <= word[0];
    add_step_q <= step_q[visit_q];
    add_clear_q <= clearing_q;
    add_valid_q <= 1'b1;
    left_q <= left_q - 1'b1;
    if (left_q == '0) clearing_q <= 1'b0;
    if (rst_i || clear_i) begin
      clearing_q <= 1'b1;
      left_q <= index_t'(CounterCount - 1);
    end
    if (rst_i) begin
      event_q <= '0;
      step_q <= '0;
      visit_q <= '0;
      add_q <= '0;
      add_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    data_q <= !rd_hit ? '0 : rd_word[0] ? high_q : word[1][31:0];
    if (rd_valid_i && rd_hit && !rd_word[0]) high_q <= word[1][63:32];
  end
endmodule
