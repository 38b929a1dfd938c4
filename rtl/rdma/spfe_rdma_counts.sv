// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reports what the two queues of a queue pair count, one thing in a cycle: requests that end
/// (queue 0), buffers that end and packets that were refused or discarded (queue 1).
module spfe_rdma_counts
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// End of a request.
  input ended_t ended_i,
  /// For one cycle.
  input logic ended_valid_i,
  /// Completion of a buffer.
  input job_t job_i,
  /// For one cycle, and not in the next one.
  input logic job_valid_i,
  /// Packets that were refused or discarded in this cycle, by each side.
  input logic [1:0] stall_i,

  /// What to count.
  output statistics_t counts_o,
  output logic counts_valid_o
);
  statistics_t job_q;
  logic job_valid_q;
  logic [3:0] stalls_q;
  logic takes_job, takes_stall;

  assign takes_job = !ended_valid_i && job_valid_q;
  assign takes_stall = !ended_valid_i && !job_valid_q && stalls_q != '0;
  assign counts_valid_o = ended_valid_i || job_valid_q || stalls_q != '0;
  always_comb begin
    counts_o = '0;
    if (ended_valid_i) begin
      counts_o.packets = 16'(ended_i.status == STATUS_OK);
      counts_o.bytes = ended_i.status == STATUS_OK ? ended_i.bytes : '0;
      counts_o.error = ended_i.status != STATUS_OK;
    end else if (job_valid_q) begin
      counts_o = job_q;
    end else begin
      counts_o.index = 16'd1;
      counts_o.stall = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (takes_job) job_valid_q <= 1'b0;
    if (job_valid_i) begin
      job_q <= '0;
      job_q.index <= 16'd1;
      // A buffer that was refused has no message.
      job_q.packets <= 16'(job_i.status == STATUS_OK || job_i.bytes != '0);
      job_q.bytes <= job_i.bytes;
      job_q.error <= job_i.status != STATUS_OK;
      job_valid_q <= 1'b1;
    end
    stalls_q <= stalls_q + 4'(stall_i[0]) + 4'(stall_i[1]) - 4'(takes_stall);
    if (rst_i) begin
      job_valid_q <= 1'b0;
      stalls_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{ended_i, job_i};
endmodule
