// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes work requests from a ring, slot by slot: checks them as contract/README.md says, stores
/// their slots, and asks for a check of each local address. A wrong one is passed over to its end.
module spfe_rdma_post
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Protection domain of the queue.
  input logic [15:0] domain_i,
  /// There is room for another work request.
  input logic room_i,
  /// Forget what was taken of a request; position 0 is next.
  input logic stop_i,

  /// Oldest slot of the ring.
  input logic [127:0] entry_i,
  input logic entry_valid_i,
  output logic entry_ready_o,
  /// Nothing follows what was taken.
  input logic dry_i,
  /// Nothing was taken of a request.
  output logic idle_o,

  /// Number of the slot in its request, 1 to 6; with slot_valid_o.
  output logic [2:0] slot_o,
  /// Stores entry_i as this slot.
  output logic slot_valid_o,

  /// Access that is to be checked; see spfe_host_access.
  output access_t check_o,
  output logic check_valid_o,
  input logic check_ready_i,
  /// With check_ready_i.
  input translation_t result_i,

  /// Work request; its number is 0.
  output posted_t posted_o,
  output logic posted_valid_o,
  input logic posted_ready_i
);
  typedef enum logic [2:0] {
    First,
    Next,
    Check,
    Whole,
    Skip,
    Give
  } state_e;

  state_e state_q;
  posted_t posted_q;
  work_entry_t first;
  submission_t slot;
  inline_submission_t short_slot;
  operand_t operand;
  logic [15:0] position_q;
  // Slots taken, data elements that are not empty, whether there are inline bytes.
  logic [2:0] count_q, pieces_q;
  logic inline_q, long_q, take, chained, is_operand, is_data, is_inline, reads, more_q;
  logic [47:0] checked_q;
  logic [15:0] region_q;
  logic [31:0] length_q;
  logic [32:0] total;
  logic [3:0] asked;
  status_e fault, checked, shape;

  assign first = work_entry_t'(entry_i);
  assign slot = submission_t'(entry_i);
  assign short_slot = inline_submission_t'(entry_i);
  assign operand = operand_t'(entry_i);
  assign asked = first.flags[13:10];
  assign chained = slot.flags[6];
  assign take = entry_valid_i && (state_q == First ? room_i :
                                  state_q == Next ? fault == STATUS_OK : state_q == Skip);
  assign entry_ready_o = take;
  assign idle_o = state_q == First && !entry_valid_i;
  assign reads = posted_q.work.code == OpWrite[3:0] || posted_q.work.code == OpSend[3:0];

  // Slot 2 is an element, then come operands, then further elements.
  assign is_operand = count_q >= 3'd2 && count_q < 3'd2 + 3'(posted_q.work.operands);
  assign is_data = slot.flags[3:0] == 4'(ENTRY_TYPE_DATA);
  assign is_inline = slot.flags[3:0] == 4'(ENTRY_TYPE_INLINE);
  assign total = 33'(posted_q.work.bytes) + 33'(is_inline ? 32'(short_slot.count) : slot.length);

  // What is wrong with the slot.
  always_comb begin
    fault = STATUS_OK;
    if (state_q == First) begin
      if (first.flags[3:0] != 4'(ENTRY_TYPE_RDMA)) fault = STATUS_BAD_OPCODE;
      else if ((first.flags & (WORK_FLAGS_MBZ0 | WORK_FLAGS_MBZ1_MASK)) != '0 || !chained)
        fault = STATUS_BAD_FIELD;
      else if (!(8'(asked) inside {WORK_OPCODE_WRITE, WORK_OPCODE_WRITE_IMM, WORK_OPCODE_READ,
                                   WORK_OPCODE_SEND, WORK_OPCODE_SEND_IMM, WORK_OPCODE_FETCH_ADD,
                                   WORK_OPCODE_CMP_SWAP, WORK_OPCODE_FLUSH, WORK_OPCODE_INFO,
                                   WORK_OPCODE_REGIONS}))
        fault = STATUS_BAD_OPCODE;
    end else if (!entry_valid_i) begin
      if (dry_i) fault = STATUS_BAD_FIELD;
    end else if (!is_operand && posted_q.work.elements == 3'(WORK_ELEMENTS_MAX)) begin
      fault = STATUS_CHAIN_TOO_LONG;
    end else if ((slot.flags & ~(SUBMIT_FLAGS_TYPE_MASK | SUBMIT_FLAGS_CHAIN)) != '0) begin
      fault = STATUS_BAD_FIELD;
    end else if (is_operand) begin
      if (slot.flags[3:0] != 4'(ENTRY_TYPE_OPERAND)) fault = STATUS_BAD_OPCODE;
    end else if (is_data) begin
      if (slot.length != '0 && inline_q) fault = STATUS_BAD_FIELD;
    end else if (is_inline) begin
      if (!reads || short_slot.count == '0 || short_slot.count > 8'(INLINE_MAX_BYTES) ||
          pieces_q != '0) begin
        fault = STATUS_BAD_FIELD;
      end
    end else begin
      fault = STATUS_BAD_OPCODE;
    end
  end

  assign checked = result_i.status == STATUS_OK && long_q ? STATUS_TOO_LONG : result_i.status;

  // What is wrong with the request as a whole.
  always_comb begin
    shape = STATUS_OK;
    if (count_q < 3'd2 + 3'(posted_q.work.operands)) shape = STATUS_BAD_FIELD;
    else begin
      unique case ({
        4'd0, posted_q.work.code
      })
        OpFetchAdd, OpCompareSwap:
        if (!(posted_q.work.bytes inside {32'd0, 32'd8}) || posted_q.work.address[2:0] != '0)
          shape = STATUS_BAD_FIELD;
        OpFlush: if (posted_q.work.bytes != '0) shape = STATUS_BAD_FIELD;
        default: ;
      endcase
    end
  end

  assign slot_o = count_q;
  assign slot_valid_o = state_q == Next && take;
  assign check_o = '{
      address: '{region: region_q, offset: checked_q},
      length: 48'(length_q),
      domain: domain_i,
      write: !reads,
      check: 1'b1
    };
  assign check_valid_o = state_q == Check;
  always_comb begin
    posted_o = posted_q;
    posted_o.work.position = position_q - 16'd1;
  end
  assign posted_valid_o = state_q == Give;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      First: if (take) state_q <= fault == STATUS_OK ? Next : chained ? Skip : Give;
      Next:
      if (fault != STATUS_OK) state_q <= Skip;
      else if (take) begin
        if (is_data && slot.length != '0 && !is_operand) state_q <= Check;
        else if (!chained) state_q <= Whole;
      end
      Check:
      if (check_ready_i) begin
        if (checked != STATUS_OK) state_q <= more_q ? Skip : Give;
        else state_q <= more_q ? Next : Whole;
      end
      Whole: state_q <= Give;
      Skip: if ((take && !chained) || (!entry_valid_i && dry_i)) state_q <= Give;
      default: if (posted_ready_i) state_q <= First;
    endcase
    // A check that has begun is answered.
    if (rst_i || (stop_i && (state_q != Check || check_ready_i))) state_q <= First;
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      position_q <= position_q + 16'd1;
      count_q <= state_q == First ? 3'd1 : count_q + 3'd1;
      more_q <= chained;
    end
    if (state_q == First) begin
      posted_q <= '0;
      posted_q.work.code <= asked[3] && !is_question(asked) ? {1'b0, asked[2:0]} : asked;
      posted_q.work.signals <= first.flags[4];
      posted_q.work.fence <= first.flags[9];
      posted_q.work.solicited <= first.flags[7];
      posted_q.work.key <= first.key;
      posted_q.work.address <= first.address;
      posted_q.work.has_immediate <= 8'(asked) inside {WORK_OPCODE_WRITE_IMM, WORK_OPCODE_SEND_IMM};
      posted_q.work.operands <= 8'(asked) == WORK_OPCODE_CMP_SWAP ? 2'd2 :
          8'(asked) inside {WORK_OPCODE_WRITE_IMM, WORK_OPCODE_SEND_IMM, WORK_OPCODE_FETCH_ADD} ?
          2'd1 : 2'd0;
      posted_q.last <= first.flags[5] || is_question(asked);
      posted_q.wrong <= fault != STATUS_OK;
      posted_q.status <= fault;
      pieces_q <= '0;
      inline_q <= 1'b0;
    end
    if (state_q == Next && fault != STATUS_OK) begin
      posted_q.wrong <= 1'b1;
      posted_q.status <= fault;
    end else if (state_q == Next && take) begin
      if (is_operand) begin
        if (count_q == 3'd2 && posted_q.work.has_immediate)
          posted_q.work.immediate <= operand.immediate;
      end else begin
        posted_q.work.elements <= posted_q.work.elements + 3'd1;
        posted_q.work.bytes <= total[31:0];
        if (is_inline) inline_q <= 1'b1;
        else if (slot.length != '0) pieces_q <= pieces_q + 3'd1;
      end
      checked_q <= slot.offset;
      region_q <= slot.region;
      length_q <= slot.length;
      long_q <= total > 33'h0_8000_0000;
    end
    if (state_q == Check && check_ready_i && checked != STATUS_OK) begin
      posted_q.wrong <= 1'b1;
      posted_q.status <= checked;
    end
    if (state_q == Whole && shape != STATUS_OK) begin
      posted_q.wrong <= 1'b1;
      posted_q.status <= shape;
    end
    if (rst_i || stop_i) position_q <= '0;
  end

  logic unused;
  assign unused = ^{entry_i, first, slot, short_slot, operand, result_i};
endmodule
