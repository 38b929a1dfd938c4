// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Rules of a stream: valid and the word stay unchanged until ready. They are assumed for the
/// source and proven for the primitive that feeds the sink.
module formal_stream #(
  /// Bits in a word.
  parameter int unsigned Width = 4
) (
  input logic clk_i,
  input logic rst_i,
  /// valid of the source.
  input logic valid_i,
  /// ready to the source.
  input logic ready_o,
  /// Word of the source.
  input logic [Width-1:0] data_i,
  /// valid to the sink.
  input logic valid_o,
  /// ready of the sink.
  input logic ready_i,
  /// Word to the sink.
  input logic [Width-1:0] data_o
);
  logic source_waits_q;
  logic sink_waits_q;
  logic [Width-1:0] source_q;
  logic [Width-1:0] sink_q;

  always_ff @(posedge clk_i) begin
    source_waits_q <= !rst_i && valid_i && !ready_o;
    sink_waits_q <= !rst_i && valid_o && !ready_i;
    source_q <= data_i;
    sink_q <= data_o;
    if (!rst_i) begin
      m_source : assume (!source_waits_q || (valid_i && data_i == source_q));
      a_sink : assert (!sink_waits_q || (valid_o && data_o == sink_q));
      c_wait : cover (sink_waits_q && source_waits_q);
    end
  end
endmodule
