// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The piece of memory that the engine of message queues accesses in each of its states.
/// Combinational.
module spfe_ep_message_access
  import spfe_pkg::*;
  import spfe_ep_message_pkg::*;
  import spfe_host_pkg::*;
(
  /// State of the engine.
  input message_step_e state_i,
  /// What it does.
  input message_job_e job_i,
  /// The queue.
  input queue_context_t context_i,
  /// Its state.
  input message_state_t now_i,
  /// Why it stopped.
  input status_e status_i,
  /// Device time in ns.
  input logic [63:0] time_i,
  /// Entry for the completion ring.
  input logic [127:0] entry_i,
  /// The access ends.
  input logic done_i,
  /// The access, as of spfe_ep_memory.
  output address_t address_o,
  /// As above.
  output logic [5:0] bytes_o,
  /// As above.
  output logic write_o,
  /// As above.
  output logic [127:0] data_o,
  output logic valid_o
);
  always_comb begin
    address_o = context_i.lines;
    bytes_o = 6'd16;
    write_o = 1'b1;
    data_o = entry_i;
    valid_o = 1'b1;
    case (state_i)
      Fetch: begin
        address_o = context_i.sq;
        address_o.offset = context_i.sq.offset + ring_offset(now_i.sq, context_i.sq_log2);
        write_o = 1'b0;
      end
      Stamp: begin
        address_o = context_i.stamps;
        address_o.offset = context_i.stamps.offset +
          (ring_offset(now_i.cq, context_i.cq_log2) >> 1);
        bytes_o = 6'd8;
        data_o = 128'(time_i);
      end
      Complete: begin
        address_o = context_i.cq;
        address_o.offset = context_i.cq.offset + ring_offset(now_i.cq, context_i.cq_log2);
      end
      HostLine: begin
        bytes_o = 6'd48;
        write_o = 1'b0;
      end
      DeviceLine, TroubleLine: begin
        address_o.offset = context_i.lines.offset + 48'(HOST_LINE_BYTES);
        data_o = {
          32'd0,
          job_i == JobStop ? 32'(QUEUE_STATE_DISABLED) : 32'(QUEUE_STATE_ENABLED),
          32'd1,
          now_i.wakes
        };
        if (state_i == TroubleLine) data_o[127:64] = {32'(status_i), 32'(QUEUE_STATE_ERROR)};
      end
      default: valid_o = 1'b0;
    endcase
    if (done_i) valid_o = 1'b0;
  end

  logic unused;
  assign unused = ^{context_i, now_i};
endmodule
