// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Moves bytes between the local elements of a work request and a store: gathers what is sent, or
/// scatters what has arrived. An element is translated in pieces that are contiguous on the bus; a
/// piece that is written is in memory before the next one begins.
module spfe_rdma_move
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// Bits of an address of the store, which is in units of 16 bytes.
  parameter int unsigned AddrWidth = 8
) (
  input logic clk_i,
  input logic rst_i,
  /// Protection domain of the queue.
  input logic [15:0] domain_i,

  /// What to move.
  input move_t move_i,
  /// Starts; for one cycle, while nothing is moved.
  input logic start_i,
  /// For one cycle: it is done.
  output logic done_o,
  /// The memory could not be used; with done_o.
  output logic failed_o,

  /// Slot of the work request to read, 1 to 6.
  output logic [2:0] slot_o,
  /// Starts the read.
  output logic slot_read_o,
  /// The slot, from the next cycle on.
  input logic [127:0] slot_i,

  /// Writes the store for what is sent.
  output logic we_o,
  /// Address in it; with we_o.
  output logic [AddrWidth-1:0] waddr_o,
  /// Byte 0 is the first; with we_o.
  output logic [15:0][7:0] wdata_o,
  /// Reads the store of what has arrived.
  output logic re_o,
  /// Address in it; with re_o.
  output logic [AddrWidth-1:0] raddr_o,
  /// Its bytes, a cycle after re_o, until the next read.
  input logic [15:0][7:0] rdata_i,
  /// They are wrong; for one cycle.
  input logic rfailed_i,

  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// Bytes that were read.
  input read_t read_i,
  input logic read_valid_i,
  output logic read_ready_o,
  /// Bytes to write.
  output logic [127:0] data_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// They are in memory.
  input logic written_i,
  /// The bus reported an error; with written_i.
  input logic write_error_i
);
  typedef enum logic [3:0] {
    Rest,
    Slot,
    Seek,
    Ask,
    Read,
    Turn0,
    Turn1,
    Write,
    Written,
    Operand,
    OperandSeen,
    Flush,
    Finish
  } state_e;

  state_e state_q;
  move_t move_q;
  // Element, bytes to skip in it, bytes that are left, of the piece, and the place of the next one.
  logic [2:0] element_q;
  logic [31:0] skip_q, skip, length, piece;
  logic [12:0] left_q, piece_q, at_q;
  logic failed_q, is_inline;
  submission_t slot;
  inline_submission_t short_slot;
  operand_t operand;
  assign slot = submission_t'(slot_i);
  assign short_slot = inline_submission_t'(slot_i);
  assign operand = operand_t'(slot_i);
  assign is_inline = slot.flags[3:0] == 4'(ENTRY_TYPE_INLINE);
  assign length = is_inline ? 32'(short_slot.count) : slot.length;
  assign skip = skip_q - length;
  assign piece = length - skip_q < 32'(left_q) ? length - skip_q : 32'(left_q);

  assign slot_read_o = (state_q == Slot && element_q != move_q.elements) || state_q == Operand;
  always_comb begin
    slot_o = element_q == '0 ? 3'd1 : element_q + 3'd1 + 3'(move_q.operand_slots);
    if (state_q == Operand) slot_o = 3'd2 + element_q;
  end
  assign request_o = '{
      address: '{region: slot.region, offset: slot.offset + 48'(skip_q)},
      length: 48'(piece),
      domain: domain_i,
      write: move_q.scatter,
      check: 1'b0
    };
  assign request_valid_o = state_q == Ask;
  assign read_ready_o = state_q == Read;

  // Bytes for the store: those of the bus, or of a slot, turned to their place.
  logic [15:0][7:0] comes, turned, joined, held_q;
  logic [3:0] turn;
  logic [4:0] count, filled;
  logic gets;
  assign gets = (state_q == Read && read_valid_i) || (state_q == Seek && is_inline &&
                                                      skip_q < length && left_q != '0);
  always_comb begin
    comes = read_i.data;
    turn = at_q[3:0];
    count = piece_q > 13'd16 ? 5'd16 : piece_q[4:0];
    if (state_q == Seek) begin
      comes = 128'({short_slot.data_hi, short_slot.data_lo});
      turn = at_q[3:0] - skip_q[3:0];
      count = piece[4:0];
    end
    for (int unsigned i = 0; i < 16; i++) begin
      turned[i] = comes[4'(i)-turn];
      joined[i] = 4'(i) < at_q[3:0] ? held_q[i] : turned[i];
    end
    filled = 5'(at_q[3:0]) + count;
  end

  always_comb begin
    we_o = gets && filled >= 5'd16;
    waddr_o = AddrWidth'(at_q >> 4);
    wdata_o = joined;
    if (state_q == OperandSeen) begin
      we_o = element_q + 3'd1 == 3'(move_q.operand_slots);
      wdata_o = {reversed(operand.value), held_q[7:0]};
      if (element_q == '0) wdata_o[7:0] = reversed(operand.value);
    end
    if (state_q == Flush) begin
      we_o = at_q[3:0] != '0 && !move_q.scatter;
      wdata_o = held_q;
    end
  end

  // Bytes from the store: two neighbours, turned.
  logic [15:0][7:0] before_q;
  logic [31:0][7:0] both;
  logic step;
  assign step = state_q == Write && data_ready_i;
  assign both = {rdata_i, before_q};
  for (genvar i = 0; i < 16; i++) begin : gen_out
    assign data_o[8*i+:8] = both[5'(at_q[3:0])+5'(i)];
  end
  assign data_valid_o = state_q == Write;
  // What is behind the last byte may never have been written.
  assign re_o = (state_q == Turn0 || state_q == Turn1 || step) &&
      13'({raddr_o, 4'd0}) < move_q.bytes;
  assign raddr_o = AddrWidth'(at_q >> 4) + (state_q == Turn0 ? '0 : state_q == Turn1 ?
                                            AddrWidth'(1) : AddrWidth'(2));

  assign done_o = state_q == Finish;
  assign failed_o = failed_q;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (start_i) begin
        state_q <= move_i.bytes == '0 ? Finish : move_i.operands ? Operand : Slot;
      end
      Slot: state_q <= element_q == move_q.elements ? Flush : Seek;
      Seek: begin
        if (left_q == '0) state_q <= Flush;
        else if (skip_q >= length) state_q <= Slot;
        else state_q <= is_inline ? Slot : Ask;
      end
      Ask:
      if (request_ready_i) begin
        state_q <= result_i.status != STATUS_OK ? Finish : move_q.scatter ? Turn0 : Read;
      end
      Read: if (read_valid_i && read_i.last) state_q <= read_i.error ? Finish : Seek;
      Turn0: state_q <= Turn1;
      Turn1: state_q <= Write;
      Write: if (data_ready_i && piece_q <= 13'd16) state_q <= Written;
      Written: if (written_i) state_q <= write_error_i || failed_q ? Finish : Seek;
      Operand: state_q <= OperandSeen;
      OperandSeen: state_q <= element_q + 3'd1 == 3'(move_q.operand_slots) ? Finish : Operand;
      Flush: state_q <= Finish;
      default: state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      move_q <= move_i;
      skip_q <= move_i.offset;
      left_q <= move_i.bytes;
      at_q <= '0;
      element_q <= '0;
      failed_q <= 1'b0;
    end
    if (state_q == Seek && left_q != '0 && (skip_q >= length || is_inline)) begin
      skip_q <= skip_q >= length ? skip : '0;
      element_q <= element_q + 3'd1;
    end
    if (state_q == Ask && request_ready_i) begin
      piece_q <= 13'(result_i.bytes);
      if (result_i.status != STATUS_OK) failed_q <= 1'b1;
      else begin
        skip_q <= skip_q + result_i.bytes;
        left_q <= left_q - 13'(result_i.bytes);
      end
    end
    if (gets) begin
      held_q <= filled >= 5'd16 ? turned : joined;
      at_q <= at_q + 13'(count);
      if (state_q == Seek) left_q <= left_q - 13'(count);
    end
    if (step) at_q <= at_q + (piece_q > 13'd16 ? 13'd16 : piece_q);
    if (gets || step) piece_q <= piece_q > 13'd16 ? piece_q - 13'd16 : '0;
    if (state_q == Turn1) before_q <= move_q.value ? 128'(reversed(rdata_i[7:0])) : rdata_i;
    if (step) before_q <= rdata_i;
    if (state_q == OperandSeen) begin
      held_q[7:0] <= reversed(operand.value);
      element_q <= element_q + 3'd1;
    end
    if (rfailed_i ||
        (state_q == Read && read_valid_i && read_i.last && read_i.error) ||
        (state_q == Written && written_i && write_error_i)) begin
      failed_q <= 1'b1;
    end
  end

  logic unused;
  assign unused = ^{slot, short_slot, operand, result_i, skip, move_q};
endmodule
