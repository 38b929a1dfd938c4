// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Counters of the queues: 64 bits each, in one memory. Takes a report in as many steps as it has
/// counters that change.
module spfe_ep_statistics
  import spfe_host_pkg::*;
#(
  /// Queue contexts.
  parameter int unsigned Queues = 12,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Report of an engine.
  input statistics_t count_i,
  input logic count_valid_i,
  output logic count_ready_o,

  /// Queue whose counter is read; keep it until read_done_o.
  input logic [9:0] read_queue_i,
  /// Word of its element of the statistics block; with read_queue_i.
  input logic [3:0] read_word_i,
  input logic read_valid_i,
  /// The word.
  output logic [31:0] read_o,
  /// For one cycle; with read_o.
  output logic read_done_o,
  /// The memory reported an error.
  output logic failed_o
);
  localparam int unsigned Words = 8 * Queues;
  localparam int unsigned Width = $clog2(Words);

  typedef enum logic [2:0] {
    Clear,
    Rest,
    Show,
    Fetch,
    Add
  } state_e;

  state_e state_q;
  statistics_t count_q;
  logic [Width-1:0] index_q;
  logic [5:0] left_q;
  logic [2:0] which;
  logic [5:0][31:0] amounts;
  logic [63:0] read, write;
  logic found, known;
  logic unused_corrected;
  logic [5:0] onehot;

  assign amounts = {
    32'(count_q.dropped),
    32'(count_q.wake),
    32'(count_q.stall),
    32'(count_q.error),
    count_q.bytes,
    32'(count_q.packets)
  };
  spfe_first_one #(
    .Width(6)
  ) i_first (
    .data_i(left_q),
    .found_o(found),
    .onehot_o(onehot),
    .index_o(which)
  );

  assign known = 32'(count_i.index) < Queues;
  assign count_ready_o = state_q == Rest && !read_valid_i;
  assign write = state_q == Clear ? '0 : read + 64'(amounts[which]);
  assign read_o = read_word_i[0] ? read[63:32] : read[31:0];
  assign read_done_o = state_q == Show;

  spfe_ram_safe #(
    .Width(64),
    .Depth(Words),
    .Protect(Protect)
  ) i_memory (
    .clk_i,
    .we_i((state_q == Clear || state_q == Add) && !rst_i),
    .addr_i(state_q == Clear ? index_q : Width'({count_q.index, which})),
    .data_i(write),
    .rclk_i(clk_i),
    .re_i((state_q == Rest && read_valid_i) || (state_q == Fetch && found)),
    .raddr_i(state_q == Rest ? Width'({read_queue_i, read_word_i[3:1]}) : Width'({
      count_q.index, which
    })),
    .data_o(read),
    .corrected_o(unused_corrected),
    .failed_o
  );

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Clear: begin
        index_q <= index_q + 1'b1;
        if (32'(index_q) == Words - 1) state_q <= Rest;
      end
      Rest: begin
        count_q <= count_i;
        left_q <= {
          count_i.dropped,
          count_i.wake,
          count_i.stall,
          count_i.error,
          count_i.bytes != '0,
          count_i.packets != '0
        };
        if (read_valid_i) state_q <= Show;
        else if (count_valid_i && known) state_q <= Fetch;
      end
      Show: state_q <= Rest;
      Fetch: state_q <= found ? Add : Rest;
      default: begin
        left_q <= left_q & ~onehot;
        state_q <= Fetch;
      end
    endcase
    if (rst_i) begin
      state_q <= Clear;
      index_q <= '0;
    end
  end

  logic unused;
  assign unused = ^count_q;
endmodule
