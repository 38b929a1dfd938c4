// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What changes by itself in the registers: event vectors, statistics and the time, and the choice
/// of the value of a live register.
module spfe_ep_status
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Event vectors.
  parameter int unsigned Events = 16,
  /// Queue contexts.
  parameter int unsigned Queues = 12,
  /// Engines that report statistics, 2 or more.
  parameter int unsigned Reporters = 2,
  /// Picoseconds in a cycle.
  parameter int unsigned CyclePs = 6400,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a vector's number; follows from Events.
  localparam int unsigned EventWidth = $clog2(Events)
) (
  input logic clk_i,
  input logic rst_i,

  /// Vector to signal; vectors that do not exist are ignored.
  input logic [15:0] event_i,
  input logic event_valid_i,
  output logic event_ready_o,
  /// Vector to enable or disable, as of spfe_ep_events.
  input logic [EventWidth-1:0] enable_i,
  /// Enable it; with enable_i.
  input logic enable_on_i,
  input logic enable_valid_i,
  output logic enable_ready_o,
  /// The host has seen this count.
  input logic [31:0] seen_i,
  /// Of this vector; with seen_i.
  input logic [EventWidth-1:0] seen_vector_i,
  input logic seen_valid_i,
  output logic seen_ready_o,
  /// Statistics of each engine.
  input statistics_t [Reporters-1:0] statistics_i,
  /// Always taken.
  input logic [Reporters-1:0] statistics_valid_i,

  /// Interrupt message, as of spfe_ep_events.
  output logic [EventWidth-1:0] message_o,
  output logic message_valid_o,
  input logic message_ready_i,
  /// Level-sensitive lines.
  output logic [Events-1:0] lines_o,
  /// Device time in ns.
  output logic [63:0] time_o,

  /// Register to read, until live_done_o.
  input live_t live_i,
  input logic live_valid_i,
  /// Its value if it is one of the ports or the target, a cycle after live_i.
  input logic [31:0] ports_i,
  /// The value.
  output logic [31:0] live_o,
  /// For one cycle; with live_o.
  output logic live_done_o,
  /// A memory reported an error.
  output logic failed_o
);
  logic [31:0] count, statistic;
  logic count_done, statistic_done, event_ready, event_known, live_q;
  logic [1:0] failed;

  assign failed_o = failed != '0;
  assign event_known = 32'(event_i) < Events;
  assign event_ready_o = event_ready || !event_known;
  spfe_ep_events #(
    .Events(Events),
    .Protect(Protect)
  ) i_events (
    .clk_i,
    .rst_i,
    .event_i(event_i[EventWidth-1:0]),
    .event_valid_i(event_valid_i && event_known),
    .event_ready_o(event_ready),
    .enable_i,
    .enable_on_i,
    .enable_valid_i,
    .enable_ready_o,
    .seen_i,
    .seen_vector_i,
    .seen_valid_i,
    .seen_ready_o,
    .count_i(live_i.element[EventWidth-1:0]),
    .count_valid_i(live_valid_i && live_i.source == LiveEvent),
    .count_o(count),
    .count_done_o(count_done),
    .message_o,
    .message_valid_o,
    .message_ready_i,
    .lines_o,
    .failed_o(failed[0])
  );

  spfe_ep_reports #(
    .Queues(Queues),
    .Reporters(Reporters),
    .Protect(Protect)
  ) i_reports (
    .clk_i,
    .rst_i,
    .statistics_i,
    .statistics_valid_i,
    .read_queue_i(live_i.element),
    .read_word_i(live_i.word[3:0]),
    .read_valid_i(live_valid_i && live_i.source == LiveStatistics),
    .read_o(statistic),
    .read_done_o(statistic_done),
    .failed_o(failed[1])
  );

  spfe_ep_clock #(
    .CyclePs(CyclePs)
  ) i_clock (
    .clk_i,
    .rst_i,
    .time_o
  );

  always_ff @(posedge clk_i) live_q <= live_valid_i && !live_q && !live_done_o && !rst_i;
  always_comb begin
    live_done_o = live_q;
    case (live_i.source)
      LiveEvent: {live_done_o, live_o} = {count_done, count};
      LiveStatistics: {live_done_o, live_o} = {statistic_done, statistic};
      LiveTime: begin
        case ({
          23'd0, live_i.word, 2'd0
        })
          GLOBAL_BLOCK_TIME_LO: live_o = time_o[31:0];
          GLOBAL_BLOCK_TIME_HI: live_o = time_o[63:32];
          // The heartbeat, about every 134 ms.
          default: live_o = time_o[58:27];
        endcase
      end
      default: live_o = ports_i;
    endcase
  end

  logic unused;
  assign unused = ^live_i;
endmodule
