// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes receive buffers from a ring, checks them as contract/README.md says, and keeps them in
/// their order. A wrong one is kept with its status.
module spfe_rdma_buffers
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// Buffers that are kept: a power of two from 2 to 64.
  parameter int unsigned Buffers = 32
) (
  input logic clk_i,
  input logic rst_i,
  /// The queue works. Otherwise everything is forgotten, and position 0 is next.
  input logic on_i,
  /// Protection domain of the queue.
  input logic [15:0] domain_i,
  /// Keep no buffer in this cycle.
  input logic hold_i,
  /// No check is under way.
  output logic idle_o,

  /// Oldest entry of the ring.
  input logic [127:0] entry_i,
  input logic entry_valid_i,
  output logic entry_ready_o,

  /// Access that is to be checked; see spfe_host_access.
  output access_t check_o,
  output logic check_valid_o,
  input logic check_ready_i,
  /// With check_ready_i.
  input translation_t result_i,

  /// For one cycle: another buffer is kept.
  output logic kept_o,
  /// It can be used; with kept_o.
  output logic kept_good_o,
  /// Buffers that can be used, in all.
  output logic [31:0] total_o,
  /// Oldest buffer.
  output buffer_t buffer_o,
  output logic buffer_valid_o,
  /// It is used up.
  input logic buffer_ready_i
);
  typedef enum logic [1:0] {
    Take,
    Check,
    Keep
  } state_e;

  state_e state_q;
  submission_t entry;
  buffer_t buffer_q;
  logic [15:0] position_q;
  logic [31:0] total_q;
  logic room, taken, unused_full;
  logic [$clog2(Buffers+1)-1:0] unused_count;
  status_e fault;

  assign entry = submission_t'(entry_i);
  always_comb begin
    fault = STATUS_OK;
    if (entry.flags[3:0] != 4'(ENTRY_TYPE_BUFFER)) fault = STATUS_BAD_OPCODE;
    else if ((entry.flags & SUBMIT_FLAGS_MBZ_MASK) != '0) fault = STATUS_BAD_FIELD;
    else if (entry.length == '0) fault = STATUS_EMPTY;
    else if (entry.length > PACKET_MAX_BYTES) fault = STATUS_TOO_LONG;
  end

  assign entry_ready_o = state_q == Take && on_i;
  assign taken = entry_valid_i && entry_ready_o;
  assign check_o = '{
      address: '{region: buffer_q.region, offset: buffer_q.offset},
      length: 48'(buffer_q.bytes),
      domain: domain_i,
      write: 1'b1,
      check: 1'b1
    };
  assign check_valid_o = state_q == Check;
  assign idle_o = state_q != Check;
  assign kept_o = state_q == Keep && room && !hold_i && on_i;
  assign kept_good_o = buffer_q.status == STATUS_OK;
  assign total_o = total_q;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Take: if (taken) state_q <= fault == STATUS_OK ? Check : Keep;
      Check: if (check_ready_i) state_q <= Keep;
      default: if (kept_o) state_q <= Take;
    endcase
    // A check that has begun is answered.
    if (rst_i || (!on_i && (state_q != Check || check_ready_i))) state_q <= Take;
  end

  always_ff @(posedge clk_i) begin
    if (taken) begin
      buffer_q <= '{
        region: entry.region,
        offset: entry.offset,
        bytes: entry.length,
        position: position_q,
        status: fault
      };
      position_q <= position_q + 16'd1;
    end
    if (state_q == Check && check_ready_i) buffer_q.status <= result_i.status;
    if (kept_o && kept_good_o) total_q <= total_q + 32'd1;
    if (rst_i || !on_i) begin
      position_q <= '0;
      total_q <= '0;
    end
  end

  spfe_fifo #(
    .Width($bits(buffer_t)),
    .Depth(Buffers)
  ) i_kept (
    .clk_i,
    .rst_i(rst_i || !on_i),
    .data_i(buffer_q),
    .valid_i(kept_o),
    .ready_o(room),
    .data_o(buffer_o),
    .valid_o(buffer_valid_o),
    .ready_i(buffer_ready_i),
    .count_o(unused_count),
    .almost_full_o(unused_full)
  );

  if (Buffers < 2 || Buffers > 64 || (Buffers & (Buffers - 1)) != 0) begin : gen_bad_buffers
    $error("spfe_rdma_buffers: Buffers is %0d; powers of two from 2 to 64 are possible", Buffers);
  end

  logic unused;
  assign unused = ^{entry, result_i, unused_full, unused_count};
endmodule
