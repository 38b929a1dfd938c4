// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Turns the ends of work requests into completions: for one that asks for it, for each that has
/// failed, behind the earlier successes, and before a count overflows.
module spfe_rdma_results
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Forget what was not reported.
  input logic stop_i,
  /// Number of the queue.
  input logic [15:0] queue_i,
  /// End of a work request.
  input ended_t ended_i,
  input logic ended_valid_i,
  output logic ended_ready_o,
  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i
);
  // Requests and bytes that have succeeded and are not reported, and the last of them.
  logic [15:0] requests_q, position_q;
  logic [32:0] bytes_q;
  logic report_q, wrong, full;
  assign wrong = ended_i.status != STATUS_OK;
  assign full = requests_q >= 16'hf000 || bytes_q > 33'h0_8000_0000;

  // A report of successes is first.
  logic earlier;
  assign earlier = report_q || full || (ended_valid_i && wrong && requests_q != '0);
  assign ended_ready_o = !earlier && (!wrong || job_ready_i);
  assign job_valid_o = earlier || (ended_valid_i && wrong);
  always_comb begin
    job_o = '{
      index: queue_i,
      flags: '0,
      position: position_q,
      status: STATUS_OK,
      packets: requests_q,
      bytes: bytes_q[32] ? '1 : bytes_q[31:0],
      urgent: 1'b0,
      buffer: '0
    };
    if (!earlier) begin
      job_o.flags = ended_i.unknown ? COMPLETION_FLAGS_UNKNOWN : '0;
      job_o.position = ended_i.position;
      job_o.status = ended_i.status;
      job_o.packets = 16'd1;
      job_o.bytes = ended_i.bytes;
      job_o.urgent = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (earlier && job_ready_i) begin
      requests_q <= '0;
      bytes_q <= '0;
      report_q <= 1'b0;
    end
    if (ended_valid_i && ended_ready_o && !wrong) begin
      requests_q <= requests_q + 16'd1;
      bytes_q <= bytes_q + 33'(ended_i.bytes);
      position_q <= ended_i.position;
      report_q <= ended_i.signals;
    end
    if (rst_i || stop_i) begin
      requests_q <= '0;
      bytes_q <= '0;
      report_q <= 1'b0;
    end
  end
endmodule
