// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The configuration latch: carries out one command at a time when CFG_SEQ has changed, and owns
/// CFG_ACK, CFG_STATUS and RESETS. Every command first latches ENABLE of all event vectors.
module spfe_ep_command
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Bits of a vector's number; follows from Shape.
  localparam int unsigned EventWidth = $clog2(32'(Shape.events))
) (
  input logic clk_i,
  input logic rst_i,

  /// For one cycle: look at CFG_SEQ.
  input logic latch_i,

  /// Access to the register memory, as of spfe_ep_regs.
  output word_access_t access_o,
  output logic access_valid_o,
  input logic access_ready_i,
  /// Word read.
  input logic [31:0] access_data_i,

  /// Vector to enable or disable.
  output logic [EventWidth-1:0] enable_o,
  /// Enable it; with enable_o.
  output logic enable_on_o,
  output logic enable_valid_o,
  input logic enable_ready_i,

  /// What to do, and with what.
  output op_e op_o,
  /// Queue, region, port or entry; with op_o.
  output logic [31:0] index_o,
  /// Who does it: queues, regions, ports, target; with op_o, until done_i.
  output logic [3:0] valid_o,
  /// For one cycle.
  input logic [3:0] done_i,
  /// Results; with done_i.
  input status_e [3:0] status_i
);
  localparam int unsigned EventBase = (block_at(Shape, BLOCK_TYPE_EVENT) + EVENT_BLOCK_SIZE) / 4;
  localparam int unsigned Queues = queues(Shape);

  localparam int unsigned Entries = 32'(Shape.target.entries);

  typedef enum logic [4:0] {
    Rest,
    Sequence,
    SequenceIs,
    Vector,
    VectorIs,
    Enable,
    Command,
    CommandIs,
    Index,
    IndexIs,
    Run,
    ResetQueues,
    ResetRegions,
    ResetTarget,
    ShowResets,
    ShowStatus,
    ShowAck
  } state_e;

  state_e state_q;
  logic pending_q;
  logic [31:0] sequence_q, acknowledged_q, command_q, index_q, resets_q;
  logic [15:0] step_q;
  logic [3:0] who;
  status_e status_q, result;
  logic on_q, is_reset, done;

  assign is_reset = state_q inside {ResetQueues, ResetRegions, ResetTarget};
  assign index_o = is_reset ? 32'(step_q) : index_q;
  always_comb begin
    op_o = OpForce;
    who = '0;
    case (command_q)
      32'(COMMAND_QUEUE_ENABLE): {op_o, who} = {OpEnable, 4'b0001};
      32'(COMMAND_QUEUE_DISABLE): {op_o, who} = {OpDisable, 4'b0001};
      32'(COMMAND_REGION_ENABLE): {op_o, who} = {OpEnable, 4'b0010};
      32'(COMMAND_REGION_DISABLE): {op_o, who} = {OpDisable, 4'b0010};
      32'(COMMAND_PORT_CONFIGURE): {op_o, who} = {OpEnable, 4'b0100};
      32'(COMMAND_MIB_SET): {op_o, who} = {OpSet, 4'b0100};
      32'(COMMAND_TARGET_SET): {op_o, who} = {OpEnable, Entries != 0, 3'b000};
      32'(COMMAND_TARGET_CLEAR): {op_o, who} = {OpDisable, Entries != 0, 3'b000};
      32'(COMMAND_TARGET_TAKE): {op_o, who} = {OpSet, Entries != 0, 3'b000};
      default: ;
    endcase
    valid_o = '0;
    if (state_q == Run) valid_o = who;
    if (state_q == ResetQueues) valid_o = 4'b0001;
    if (state_q == ResetRegions) valid_o = 4'b0010;
    if (state_q == ResetTarget) valid_o = 4'b1000;
    done = (done_i & valid_o) != '0;
    result = STATUS_OK;
    for (int unsigned i = 0; i < 4; i++) if (valid_o[i]) result = status_i[i];
  end

  always_comb begin
    access_o = '{
      write: state_q inside {ShowResets, ShowStatus, ShowAck},
      addr: 16'(GLOBAL_BLOCK_CFG_SEQ / 4),
      data: sequence_q
    };
    case (state_q)
      Vector:
      access_o.addr = 16'(EventBase) + step_q * 16'(EVENT_BLOCK_STRIDE / 4)
          + 16'(EVENT_BLOCK_ENABLE / 4);
      Command: access_o.addr = 16'(GLOBAL_BLOCK_CFG_COMMAND / 4);
      Index: access_o.addr = 16'(GLOBAL_BLOCK_CFG_INDEX / 4);
      ShowResets: begin
        access_o.addr = 16'(GLOBAL_BLOCK_RESETS / 4);
        access_o.data = resets_q;
      end
      ShowStatus: begin
        access_o.addr = 16'(GLOBAL_BLOCK_CFG_STATUS / 4);
        access_o.data = 32'(status_q);
      end
      ShowAck: access_o.addr = 16'(GLOBAL_BLOCK_CFG_ACK / 4);
      default: ;
    endcase
    access_valid_o = state_q inside {Sequence, Vector, Command, Index, ShowResets, ShowStatus,
        ShowAck};
  end
  assign enable_o = EventWidth'(step_q);
  assign enable_on_o = on_q;
  assign enable_valid_o = state_q == Enable;

  // States.
  state_e next;
  logic last;
  always_comb begin
    last = step_q + 16'd1 == Shape.regions;
    if (state_q == ResetQueues) last = 32'(step_q) == Queues - 1;
    if (state_q == ResetTarget) last = 32'(step_q) + 1 == Entries;
    if (result != STATUS_OK) last = 1'b1;
  end
  always_comb begin
    next = state_q;
    unique case (state_q)
      Rest: if (pending_q) next = Sequence;
      SequenceIs: next = access_data_i == '0 || access_data_i == acknowledged_q ? Rest : Vector;
      VectorIs: next = Enable;
      Enable: if (enable_ready_i) next = step_q + 16'd1 == Shape.events ? Command : Vector;
      CommandIs: next = Index;
      IndexIs: begin
        next = who != '0 ? Run : ShowStatus;
        if (command_q == 32'(COMMAND_RESET)) next = ResetQueues;
      end
      Run: if (done) next = ShowStatus;
      ResetQueues: if (done && last) next = result == STATUS_OK ? ResetRegions : ShowStatus;
      ResetRegions: begin
        if (done && last) next = Entries != 0 ? ResetTarget : ShowResets;
        if (done && result != STATUS_OK) next = ShowStatus;
      end
      ResetTarget: if (done && last) next = result == STATUS_OK ? ShowResets : ShowStatus;
      ShowAck: if (access_ready_i) next = Rest;
      // Reads go on with their answer, and ShowResets and ShowStatus with what follows.
      default: if (access_ready_i) next = state_e'(state_q + 5'd1);
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= next;
    pending_q <= latch_i || (pending_q && state_q != Rest);
    unique case (state_q)
      Rest: step_q <= '0;
      SequenceIs: sequence_q <= access_data_i;
      VectorIs: on_q <= access_data_i[0];
      Enable: if (enable_ready_i) step_q <= step_q + 16'd1;
      CommandIs: command_q <= access_data_i;
      IndexIs: begin
        index_q <= access_data_i;
        step_q <= '0;
        status_q <= STATUS_OK;
        if (who == '0 && command_q != 32'(COMMAND_NOP) && command_q != 32'(COMMAND_RESET))
          status_q <= STATUS_BAD_OPCODE;
      end
      Run: if (done) status_q <= result;
      ResetQueues, ResetRegions, ResetTarget:
      if (done) begin
        step_q <= last ? '0 : step_q + 16'd1;
        status_q <= result;
        if (next == ShowResets) resets_q <= resets_q + 32'd1;
      end
      ShowAck: if (access_ready_i) acknowledged_q <= sequence_q;
      default: ;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      pending_q <= 1'b0;
      {acknowledged_q, resets_q} <= '0;
    end
  end
endmodule
