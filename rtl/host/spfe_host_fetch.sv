// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reads the submission ring of a queue, one entry at a time, and checks it. It looks after a
/// doorbell and after each valid entry. An entry is valid when its phase is that of its position.
module spfe_host_fetch
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Type of entry that this queue takes.
  parameter logic [3:0] Type = 4'd1
) (
  input logic clk_i,
  input logic rst_i,
  /// The queue; a queue that is disabled starts again with position 0.
  input queue_t queue_i,
  /// The host posted entries.
  input logic doorbell_i,

  /// Read of an entry: its address; 16 bytes.
  output logic [63:0] cmd_addr_o,
  output logic cmd_valid_o,
  input logic cmd_ready_i,
  /// The entry.
  input logic [127:0] data_i,
  /// The bus reported an error; with data_i.
  input logic error_i,
  input logic valid_i,

  /// A valid entry, until it is done.
  output submission_t entry_o,
  /// Its position.
  output logic [31:0] position_o,
  /// What is wrong with it; STATUS_OK: nothing.
  output status_e status_o,
  output logic valid_o,
  /// It is done.
  input logic done_i
);
  typedef enum logic [1:0] {
    Sleep,
    Ask,
    Wait,
    Hold
  } state_e;

  state_e state_q;
  logic rung_q;
  logic [31:0] position_q;
  submission_t entry_q, entry;
  status_e status_q, status;
  logic is_next;

  assign entry = submission_t'(data_i);
  assign is_next = entry.phase == phase_of(position_q, queue_i.sq_log2) && !error_i;
  assign cmd_addr_o = entry_at(queue_i.sq, position_q, queue_i.sq_log2);
  assign cmd_valid_o = state_q == Ask;
  assign entry_o = entry_q;
  assign position_o = position_q;
  assign status_o = status_q;
  assign valid_o = state_q == Hold;

  // The sum has a bit more than its parts, so a large offset cannot wrap.
  always_comb begin
    status = STATUS_OK;
    if (entry.flags[3:0] != Type) status = STATUS_BAD_OPCODE;
    else if ((entry.flags & (SUBMIT_FLAGS_MBZ_MASK | SUBMIT_FLAGS_CHAIN)) != '0)
      status = STATUS_BAD_FIELD;
    else if (entry.region != queue_i.region) status = STATUS_BAD_REGION;
    else if (entry.length == '0) status = STATUS_EMPTY;
    else if (49'(entry.offset) + 49'(entry.length) > 49'(queue_i.bytes))
      status = STATUS_OUT_OF_BOUNDS;
  end

  logic unused_queue;
  assign unused_queue = ^queue_i;

  always_ff @(posedge clk_i) begin
    if (doorbell_i) rung_q <= 1'b1;
    unique case (state_q)
      Sleep:
      if (rung_q && queue_i.enable) begin
        state_q <= Ask;
        rung_q <= doorbell_i;
      end
      Ask: if (cmd_ready_i) state_q <= Wait;
      Wait:
      if (valid_i) begin
        entry_q <= entry;
        status_q <= status;
        state_q <= is_next && queue_i.enable ? Hold : Sleep;
      end
      default:
      if (done_i) begin
        position_q <= position_q + 32'd1;
        state_q <= Ask;
      end
    endcase
    if (rst_i || (!queue_i.enable && state_q == Sleep)) begin
      state_q <= Sleep;
      rung_q <= 1'b0;
      position_q <= '0;
    end
  end
endmodule
