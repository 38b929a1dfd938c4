// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Carries out TARGET_SET, TARGET_CLEAR and TARGET_TAKE: checks an entry and writes it into the
/// table of the target, or takes it back when no access to its memory is under way.
module spfe_ep_target_cmd
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultTargetShape,
  /// Cycles within which accesses end.
  parameter int unsigned Patience = StopCycles,
  /// Entries, at least 1; follows from Shape.
  localparam int unsigned Entries = Shape.target.entries == '0 ? 1 : 32'(Shape.target.entries)
) (
  input logic clk_i,
  input logic rst_i,

  /// OpEnable: TARGET_SET. OpDisable: TARGET_CLEAR. OpForce: the same for any entry. OpSet:
  /// TARGET_TAKE.
  input op_e op_i,
  /// The entry; with op_i.
  input logic [31:0] index_i,
  /// Stays until done_o.
  input logic valid_i,
  /// For one cycle.
  output logic done_o,
  /// Result; with done_o.
  output status_e status_o,

  /// Access to the register memory, as of spfe_ep_regs.
  output word_access_t access_o,
  output logic access_valid_o,
  input logic access_ready_i,
  /// Word read.
  input logic [31:0] access_data_i,

  /// Entry of the target to set, fence, or notification to take.
  output target_ask_t target_o,
  /// The fence is done; a notification waits.
  input target_answer_t target_i
);
  localparam int unsigned Base = block_at(Shape, BLOCK_TYPE_TARGET) / 4 + TARGET_BLOCK_KEY / 4;
  localparam int unsigned Words = (TARGET_BLOCK_NOTE_VECTOR - TARGET_BLOCK_KEY) / 4 + 1;
  localparam int unsigned Width = Entries > 1 ? $clog2(Entries) : 1;

  localparam logic [31:0] Options = KEY_OPTIONS_READ | KEY_OPTIONS_WRITE | KEY_OPTIONS_ATOMIC
      | KEY_OPTIONS_NOTIFY | KEY_OPTIONS_HIDDEN;

  typedef enum logic [2:0] {
    Rest,
    Fetch,
    Take,
    Judge,
    Set,
    Fence,
    Finish
  } state_e;

  /// The words of the block that the host writes.
  typedef struct packed {
    logic [31:0] vector;
    logic [3:0][7:0] initiators;
    logic [63:0] memory;
    logic [63:0] bytes;
    logic [63:0] address;
    logic [31:0] options;
    logic [31:0] key;
  } words_t;

  state_e state_q, next;
  logic [Entries-1:0] set_q;
  logic [Width-1:0] index_q;
  logic [3:0] word_q;
  logic [Words-1:0][31:0] words_q;
  logic [15:0] vector_q;
  logic [31:0] wait_q;
  words_t words;
  status_e status_q, check;
  logic exists, fixed, is_set, atomic;
  logic [64:0] past, beyond;

  assign words = words_t'(words_q);
  assign exists = index_i < 32'(Entries);
  // An index is also one of the entries that are there from power-up on.
  assign fixed = index_i + 32'd1 <= 32'(Shape.target.fixed);
  assign is_set = set_q[index_q];
  assign atomic = (words.options & KEY_OPTIONS_ATOMIC) != '0;
  // The last byte may be the last one of 64 bits.
  assign past = {1'b0, words.address} + {1'b0, words.bytes} - 65'd1;
  assign beyond = {1'b0, words.memory} + {1'b0, words.bytes} - 65'd1;

  always_comb begin
    check = STATUS_OK;
    unique case (op_i)
      OpEnable: begin
        if (!exists) check = STATUS_NOT_FOUND;
        else if (fixed) check = STATUS_ACCESS_DENIED;
        else if (is_set) check = STATUS_BUSY;
        else if (words.key[31:12] != index_i[19:0] || words.key[11:0] == '0
            || words.bytes == '0 || past[64] || (words.options & ~Options) != '0
            || words.vector > 32'(Shape.events)
            || (atomic && {words.address[2:0], words.memory[2:0]} != '0))
          check = STATUS_BAD_FIELD;
        else if (beyond[64]) check = STATUS_OUT_OF_BOUNDS;
      end
      OpDisable: begin
        if (!exists) check = STATUS_NOT_FOUND;
        else if (fixed) check = STATUS_ACCESS_DENIED;
        else if (!is_set) check = STATUS_NOT_FOUND;
      end
      OpSet: if (!target_i.waiting) check = STATUS_NOT_FOUND;
      default: ;
    endcase
  end

  // An initiator that is there twice counts once, so none is the first one again.
  logic [7:0] someone;
  target_set_t set;
  always_comb begin
    someone = '0;
    for (int unsigned i = 0; i < 4; i++) if (someone == '0) someone = words.initiators[i];
    set = '0;
    set.index = 7'(index_q);
    set.valid = op_i == OpEnable;
    set.entry.key = words.key;
    set.entry.base = words.address;
    set.entry.bytes = words.bytes;
    set.entry.memory = words.memory;
    set.entry.read = (words.options & KEY_OPTIONS_READ) != '0;
    set.entry.write = (words.options & KEY_OPTIONS_WRITE) != '0;
    set.entry.atomic = atomic;
    set.entry.notify = (words.options & KEY_OPTIONS_NOTIFY) != '0;
    set.entry.hidden = (words.options & KEY_OPTIONS_HIDDEN) != '0;
    set.entry.listed = words.initiators != '0;
    for (int unsigned i = 0; i < 4; i++)
    set.entry.initiators[i] = words.initiators[i] == '0 ? someone : words.initiators[i];
  end

  assign access_o = '{write: 1'b0, addr: 16'(Base) + 16'(word_q), data: '0};
  assign access_valid_o = state_q == Fetch;
  assign target_o = '{
      set: set,
      set_valid: state_q == Set,
      fence: state_q == Fence,
      take: state_q == Judge && op_i == OpSet && target_i.waiting,
      vector: vector_q
    };
  assign done_o = state_q == Finish;
  assign status_o = status_q;

  always_comb begin
    next = state_q;
    unique case (state_q)
      Rest: if (valid_i) next = op_i == OpForce ? Judge : Fetch;
      Fetch: if (access_ready_i) next = Take;
      Take: next = 32'(word_q) == Words - 1 ? Judge : Fetch;
      Judge: begin
        next = check != STATUS_OK || op_i == OpSet ? Finish : Set;
        if (op_i == OpForce && (fixed || !is_set)) next = Finish;
      end
      Set: next = op_i == OpEnable ? Finish : Fence;
      Fence: if (target_i.fence_done || wait_q == Patience) next = Finish;
      default: next = Rest;
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= next;
    unique case (state_q)
      Rest: begin
        index_q <= index_i[Width-1:0];
        {word_q, wait_q} <= '0;
      end
      Take: begin
        words_q[word_q] <= access_data_i;
        word_q <= word_q + 4'd1;
      end
      Judge: begin
        status_q <= check;
        if (op_i != OpForce && words.vector <= 32'(Shape.events)) vector_q <= words.vector[15:0];
      end
      Set: if (op_i == OpEnable) set_q[index_q] <= 1'b1;
      Fence: begin
        wait_q <= wait_q + 32'd1;
        // An entry whose accesses did not stop in time can be taken back again.
        if (target_i.fence_done) set_q[index_q] <= 1'b0;
        else if (next == Finish) status_q <= STATUS_BUSY;
      end
      default: ;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      set_q <= '0;
      vector_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{index_i, words, past, beyond};
endmodule
