// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks the header of a command: statuses 2, 12, 3, 11, 9 and 10, in this order. Without state.
module spfe_rmap_decide
  import spfe_rdma_pkg::*;
  import spfe_rmap_pkg::*;
#(
  /// Most bytes of a verified write.
  parameter int unsigned Segment = 4096
) (
  /// Logical address of the target.
  input logic [7:0] logical_address_i,
  /// Key and addressing.
  input rmap_settings_t settings_i,
  /// Command with an intact header.
  input command_t command_i,
  /// There is an entry that may have its address.
  input logic region_valid_i,
  /// That entry.
  input region_t region_i,
  /// What to do.
  output rmap_op_e op_o,
  /// Status; with RunRefuse.
  output rmap_status_e status_o,
  /// The bytes that the command accesses lie in the entry.
  output logic fits_o,
  /// Number of these bytes.
  output logic [23:0] bytes_o,
  /// Bus address of the first one.
  output logic [63:0] memory_o
);
  instruction_t instruction;
  rmap_op_e op;
  logic [63:0] offset, taken;
  logic [40:0] past;
  logic listed, has_right, permitted;

  assign instruction = command_i.instruction;
  always_comb begin
    op = RunRefuse;
    if (instruction.write) op = instruction.verify ? RunVerify : RunStream;
    else if (instruction.reply && !instruction.verify) op = RunRead;
    else if (instruction.reply && instruction.verify && instruction.increment) op = RunModify;
    if (instruction.reserved || !instruction.command) op = RunRefuse;
  end

  assign bytes_o = op == RunModify ? command_i.length >> 1 : command_i.length;

  // Bounds, with arithmetic that cannot wrap. Behind one address there is one byte.
  assign taken = !instruction.increment && bytes_o != '0 ? 64'd1 : 64'(bytes_o);
  assign offset = settings_i.absolute ? 64'(command_i.address) - region_i.base
      : 64'(command_i.address[31:0]);
  assign fits_o = region_valid_i &&
      (!settings_i.absolute || 64'(command_i.address) >= region_i.base) &&
      taken <= region_i.bytes && offset <= region_i.bytes - taken;
  assign memory_o = region_i.memory + offset;
  assign past = {1'b0, command_i.address} + 41'(taken);

  assign listed = !region_i.listed || command_i.initiator == region_i.initiators[0] ||
      command_i.initiator == region_i.initiators[1] ||
      command_i.initiator == region_i.initiators[2] ||
      command_i.initiator == region_i.initiators[3];
  always_comb begin
    unique case (op)
      RunRead: has_right = region_i.read;
      RunModify: has_right = region_i.atomic;
      default: has_right = region_i.write;
    endcase
    // A command without data needs no entry, but the right to one that it names.
    permitted = fits_o ? listed && has_right : taken == '0;
    if (past > 41'h100_0000_0000) permitted = 1'b0;
  end

  always_comb begin
    status_o = RmapOk;
    if (op == RunRefuse) status_o = RmapUnused;
    else if (command_i.target != logical_address_i) status_o = RmapNotOurs;
    else if (!settings_i.any_key && command_i.key != settings_i.key) status_o = RmapKey;
    else if (op == RunModify && (command_i.length[0] || command_i.length > 24'd8)) begin
      status_o = RmapModifyLength;
    end else if (op inside {RunModify, RunVerify} && command_i.length > 24'(Segment)) begin
      status_o = RmapOverrun;
    end else if (!permitted) begin
      status_o = RmapDenied;
    end
    op_o = status_o == RmapOk ? op : RunRefuse;
  end

  logic unused;
  assign unused = ^{command_i, region_i, instruction};
endmodule
