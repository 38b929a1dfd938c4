// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What is wrong with an entry of a transmit queue, its address aside.
module spfe_host_tx_check
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_tx_pkg::*;
(
  input logic clk_i,
  /// What the plan does.
  input plan_e state_i,
  /// The submission.
  input plan_t plan_i,
  /// The entry.
  input submission_t entry_i,
  /// First entry of a burst, when entry_i is the second one.
  input submission_t first_i,
  /// Entries of the chain before it.
  input logic [4:0] ahead_i,
  /// Bytes of the chain with it.
  input logic [31:0] total_i,
  /// A packet is open: the chain may be empty.
  input logic open_i,
  /// An entry of the submission is missing for good.
  input logic missing_i,
  /// The answer to a check of addresses.
  input logic result_valid_i,
  /// With result_valid_i.
  input translation_t result_i,
  /// What is wrong with the submission.
  output status_e fault_o,
  /// It has so many entries; 0: up to one without CHAIN.
  output logic [1:0] fixed_o,
  /// The bytes of a burst are counted.
  output logic done_o,
  /// Bytes from its first packet to the end of its last one.
  output logic [47:0] span_o
);
  logic is_data, is_inline;
  status_e verdict, whole, burst;
  logic [1:0] mark;
  inline_submission_t short_entry;
  burst_ext_t ext;
  assign short_entry = inline_submission_t'(entry_i);
  assign ext = burst_ext_t'(entry_i);
  assign is_data = entry_i.flags[3:0] == 4'(ENTRY_TYPE_DATA);
  assign is_inline = entry_i.flags[3:0] == 4'(ENTRY_TYPE_INLINE);
  assign mark = entry_i.flags[8:7];

  always_comb begin
    verdict = STATUS_OK;
    if ((entry_i.flags & SUBMIT_FLAGS_MBZ_MASK) != '0) verdict = STATUS_BAD_FIELD;
    else if (!is_data && !is_inline) verdict = STATUS_BAD_OPCODE;
    else if (is_inline && (short_entry.count == '0 || short_entry.count > 8'(INLINE_MAX_BYTES)))
      verdict = STATUS_BAD_FIELD;
    else if ((is_data && entry_i.length > PACKET_MAX_BYTES) || total_i > PACKET_MAX_BYTES)
      verdict = STATUS_TOO_LONG;
    whole = STATUS_OK;
    if ((entry_i.flags & SUBMIT_FLAGS_CHAIN) != '0) begin
      if (ahead_i == 5'(ChainMax - 1)) whole = STATUS_CHAIN_TOO_LONG;
    end else if (mark == 2'd3) begin
      whole = STATUS_BAD_FIELD;
    end else if (total_i == '0 && (mark == 2'(END_MARKER_NONE) || !open_i)) begin
      whole = STATUS_EMPTY;
    end
    burst = STATUS_OK;
    if (ext.flags[3:0] != 4'(ENTRY_TYPE_BURST_EXT) || (ext.flags & SUBMIT_FLAGS_MBZ_MASK) != '0)
      burst = STATUS_BAD_OPCODE;
    else if (ext.reserved0 != '0 || ext.reserved1 != '0 || ext.count == '0 || first_i.flags[8]
        || (first_i.flags & (SUBMIT_FLAGS_MBZ_MASK | SUBMIT_FLAGS_CHAIN)) != '0)
      burst = STATUS_BAD_FIELD;
    else if (first_i.length == '0) burst = STATUS_EMPTY;
    else if (first_i.length > PACKET_MAX_BYTES) burst = STATUS_TOO_LONG;
  end

  // Products by adding up, a bit of the number of packets in a cycle.
  logic [47:0] sum_q, length_q, span_q, stride_q;
  logic [15:0] count_q, steps_q;
  assign done_o = count_q == '0;
  assign span_o = span_q;
  always_ff @(posedge clk_i) begin
    if (state_i == PlanLook) begin
      count_q <= ext.count;
      steps_q <= ext.count - 16'd1;
      sum_q <= '0;
      length_q <= 48'(first_i.length);
      span_q <= 48'(first_i.length);
      stride_q <= 48'(ext.stride);
    end else if (state_i == PlanTimes) begin
      count_q <= count_q >> 1;
      steps_q <= steps_q >> 1;
      length_q <= length_q << 1;
      stride_q <= stride_q << 1;
      if (count_q[0]) sum_q <= sum_q + length_q;
      if (steps_q[0]) span_q <= span_q + stride_q;
    end
  end

  // In each state, what was found out.
  always_comb begin
    fault_o = STATUS_OK;
    fixed_o = 2'd0;
    unique case (state_i)
      PlanPeek: begin
        if (missing_i) fault_o = STATUS_BAD_FIELD;
        if (plan_i.burst) fixed_o = 2'd1;
      end
      PlanLook:
      if (!plan_i.active) begin
        fault_o = plan_i.burst ? burst : verdict;
        if (!plan_i.burst && ahead_i == '0 && entry_i.flags[3:0] == 4'(ENTRY_TYPE_BURST))
          fault_o = STATUS_OK;
        if (plan_i.burst) fixed_o = burst == STATUS_BAD_OPCODE ? 2'd1 : 2'd2;
      end
      PlanCheck: if (result_valid_i) fault_o = result_i.status;
      PlanWhole: fault_o = whole;
      PlanTimes: begin
        if (count_q == '0 && sum_q[47:32] != '0) fault_o = STATUS_TOO_LONG;
        fixed_o = 2'd2;
      end
      PlanCheckBurst: begin
        if (result_valid_i) fault_o = result_i.status;
        fixed_o = 2'd2;
      end
      default: ;
    endcase
  end

  logic unused;
  assign unused = ^{entry_i, first_i, short_entry, ext.phase, plan_i, result_i};
endmodule
