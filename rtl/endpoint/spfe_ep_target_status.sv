// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What the target block shows: counters of packets, and the oldest notification.
module spfe_ep_target_status
  import spfe_pkg::*;
  import spfe_rdma_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// What became of a packet.
  input handled_t handled_i,
  /// For one cycle.
  input logic handled_valid_i,
  /// The oldest notification.
  input note_t note_i,
  /// There is one.
  input logic note_valid_i,
  /// Notifications that wait.
  input logic [7:0] note_count_i,
  /// For one cycle: a notification was lost.
  input logic note_dropped_i,

  /// Word of the block.
  input logic [6:0] word_i,
  /// Its value, a cycle later.
  output logic [31:0] value_o
);
  // Counts, in the order of the block: executed, repeated, refused, discarded, lost.
  logic [4:0] counts;
  logic [4:0][31:0] count_q;
  always_comb begin
    counts = '0;
    if (handled_valid_i) begin
      if (handled_i.drop != DropNone) counts[3] = 1'b1;
      else if (handled_i.status != SfrpOk) counts[2] = 1'b1;
      else counts[3'(handled_i.repeated)] = 1'b1;
    end
    counts[4] = note_dropped_i;
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 5; i++) count_q[i] <= rst_i ? '0 : count_q[i] + 32'(counts[i]);
  end

  logic [31:0] offset, value, value_q;
  logic [2:0] at;
  note_t note;
  assign note = note_valid_i ? note_i : '0;
  assign offset = {23'd0, word_i, 2'd0};
  assign at = 3'((offset - TARGET_BLOCK_EXECUTED) >> 2);
  always_comb begin
    value = '0;
    if (offset < TARGET_BLOCK_NOTES) begin
      value = at < 3'd5 ? count_q[at] : '0;
    end else if (offset >= TARGET_BLOCK_NOTE_DATA_0) begin
      value = note.data[{word_i[2:0], 2'd0}+:4];
    end else begin
      case (offset)
        TARGET_BLOCK_NOTES: value = 32'(note_count_i);
        TARGET_BLOCK_NOTE_SENDER: value = {note.pair, note.opcode, note.initiator};
        TARGET_BLOCK_NOTE_REQUEST: value = {note.number, note.has_region ? note.region : 16'd0};
        TARGET_BLOCK_NOTE_LENGTH: value = note.length;
        TARGET_BLOCK_NOTE_ADDRESS_LO: value = note.address[31:0];
        TARGET_BLOCK_NOTE_ADDRESS_HI: value = note.address[63:32];
        TARGET_BLOCK_NOTE_TIME_LO: value = note.time_ns[31:0];
        TARGET_BLOCK_NOTE_TIME_HI: value = note.time_ns[63:32];
        TARGET_BLOCK_NOTE_IMMEDIATE: value = note.has_immediate ? note.immediate : '0;
        TARGET_BLOCK_NOTE_FLAGS: value = {30'd0, note.has_immediate, note.has_region};
        default: ;
      endcase
    end
  end
  always_ff @(posedge clk_i) value_q <= value;
  assign value_o = value_q;

  logic unused;
  assign unused = ^handled_i;
endmodule
