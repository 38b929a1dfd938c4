// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// 64-bit counters in distributed RAM. A scan visits one counter a cycle and adds the events since
/// its last visit, which a small counter in registers has collected.
module spfe_tcp_regs_count
  import spfe_tcp_regs_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Clears all counters; from the registers.
  input logic clear_i,
  /// Bit n: counter n counts in this cycle.
  input logic [CounterCount-1:0] event_i,
  /// A word of the register space is read in this cycle.
  input logic rd_valid_i,
  /// Number of the word.
  input logic [9:0] rd_addr_i,
  /// Value of the word, one cycle later; 0 if it is not a counter. A read of bits 31:0 stores bits
  /// 63:32 for the next read of an upper half.
  output logic [31:0] rd_data_o
);
  localparam int unsigned IndexBits = $clog2(CounterCount);
  // The scan comes round every CounterCount cycles.
  localparam int unsigned StepBits = $clog2(CounterCount + 1);
  localparam logic [9:0] First = 10'(CounterWord);
  localparam logic [9:0] Words = 10'(2 * CounterCount);

  typedef logic [IndexBits-1:0] index_t;

  logic [CounterCount-1:0] event_q;
  logic [CounterCount-1:0][StepBits-1:0] step_q, step_d;
  index_t visit_q, visit_d;  // counter that is read
  index_t add_q;  // counter that is written
  logic [63:0] add_word_q;
  logic [StepBits-1:0] add_step_q;
  logic add_clear_q, add_valid_q;
  index_t left_q;  // visits left that clear, minus one
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
