// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Both ends of a stream keep its rules: the word on offer stays until it is taken. The source is
/// assumed to; the primitive between is shown to.
module formal_stream #(
  /// Bits of a word.
  parameter int unsigned Width = 4
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// The source offers a word.
  input logic valid_i,
  /// The source's word is taken.
  input logic ready_o,
  /// The word of the source.
  input logic [Width-1:0] data_i,
  /// The sink is offered a word.
  input logic valid_o,
  /// The sink takes it.
  input logic ready_i,
  /// The word for the sink.
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
