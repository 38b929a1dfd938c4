// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Keeps the word `pair` of a device line: writes it when the queue starts and when it has changed.
/// A line that cannot be written is a fault that spfe_host_lines finds.
module spfe_rdma_line
  import spfe_pkg::*;
  import spfe_host_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Lines of the queue.
  input address_t lines_i,
  /// Its protection domain.
  input logic [15:0] domain_i,
  /// For one cycle: the queue starts.
  input logic start_i,
  /// The line can be written.
  input logic on_i,
  /// What the word is to be: pair_status.
  input logic [63:0] status_i,
  /// A write is due or under way.
  output logic busy_o,

  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// What is written.
  output logic [127:0] data_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// It is in memory.
  input logic done_i
);
  typedef enum logic [1:0] {
    Rest,
    Ask,
    Data,
    Written
  } state_e;

  state_e state_q;
  logic [63:0] shown_q;
  logic known_q, due;
  assign due = on_i && (!known_q || shown_q != status_i);
  assign busy_o = due || state_q != Rest;
  assign request_o = '{
      address: '{
        region: lines_i.region,
        offset: lines_i.offset + 48'(HOST_LINE_BYTES + DEVICE_LINE_PAIR_OFFSET)
      },
      length: 48'd8,
      domain: domain_i,
      write: 1'b1,
      check: 1'b0
    };
  assign request_valid_o = state_q == Ask;
  assign data_o = 128'(shown_q);
  assign data_valid_o = state_q == Data;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (due) begin
        shown_q <= status_i;
        known_q <= 1'b1;
        state_q <= Ask;
      end
      Ask: if (request_ready_i) state_q <= result_i.status == STATUS_OK ? Data : Rest;
      Data: if (data_ready_i) state_q <= Written;
      default: if (done_i) state_q <= Rest;
    endcase
    if (start_i) known_q <= 1'b0;
    if (rst_i) begin
      state_q <= Rest;
      known_q <= 1'b0;
    end
  end

  logic unused;
  assign unused = ^result_i;
endmodule
