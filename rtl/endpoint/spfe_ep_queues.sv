// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Enables and disables queues: reads the context, checks it, and commands the engines. Owns the
/// registers STATE and ERROR of all queue contexts.
module spfe_ep_queues
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Kinds of queues, as of spfe_ep_queue_check.
  parameter logic [7:0] Kinds = 8'h06,
  /// Cycles within which a queue stops.
  parameter int unsigned Patience = StopCycles,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Queue contexts; follows from Shape.
  localparam int unsigned Queues = queues(Shape)
) (
  input logic clk_i,
  input logic rst_i,

  /// Command: OpEnable, OpDisable, or OpForce, which also takes a queue that is disabled.
  input op_e op_i,
  /// The queue; with op_i.
  input logic [31:0] index_i,
  /// Stays until done_o.
  input logic valid_i,
  /// For one cycle.
  output logic done_o,
  /// Result; with done_o.
  output status_e status_o,

  /// A region: is it in use by rings, lines or areas of a queue?
  input logic [11:0] scan_i,
  /// Stays until scan_done_o.
  input logic scan_valid_i,
  /// For one cycle.
  output logic scan_done_o,
  /// It is; with scan_done_o.
  output logic scan_used_o,

  /// Access to the register memory, as of spfe_ep_regs.
  output word_access_t access_o,
  output logic access_valid_o,
  input logic access_ready_i,
  /// Word read.
  input logic [31:0] access_data_i,

  /// Access to translate; the answer is translation_i.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The answer.
  input translation_t translation_i,
  /// With it: its region is all of the bus.
  input logic translation_whole_i,
  input logic translation_valid_i,

  /// Queue to start.
  output logic [15:0] queue_o,
  /// Its context; with queue_o.
  output queue_context_t context_o,
  /// The queue pair of a queue of kind RDMA or RDMA_RX; with queue_o.
  output pair_t pair_o,
  /// Starts the queue at position 0; ready when its lines are written.
  output logic start_valid_o,
  input logic start_ready_i,
  /// Queues to stop, until they have stopped.
  output logic [Queues-1:0] stop_o,
  /// Nothing of the queue is under way.
  input logic [Queues-1:0] stopped_i,

  /// Queue whose ring cannot be read.
  input queue_error_t error_i,
  input logic error_valid_i,
  output logic error_ready_o,
  /// Queues that are enabled, or in state ERROR.
  output logic [Queues-1:0] enabled_o,
  /// The memory reported an error.
  output logic failed_o
);
  localparam int unsigned Base = (block_at(Shape, BLOCK_TYPE_QUEUE) + QUEUE_BLOCK_SIZE) / 4;
  localparam int unsigned Width = $clog2(Queues);
  localparam int unsigned Pair = pair_queue(Shape);

  typedef enum logic [3:0] {
    Rest,
    Fetch,
    Take,
    Judge,
    Ask,
    Hear,
    Start,
    Stop,
    Stopping,
    ShowState,
    ShowError,
    Finish,
    Scan,
    ScanLook,
    Trouble,
    TroubleError
  } state_e;

  /// Regions that an enabled queue holds.
  typedef logic [4:0][11:0] holds_t;

  state_e state_q, next;
  logic [Queues-1:0] enabled_q, stop_q;
  context_t words;
  logic [Width-1:0] index_q;
  logic [4:0] word_q;
  logic [ContextWords-1:0][31:0] words_q;
  logic [2:0] which_q;
  logic [31:0] wait_q;
  status_e status_q, trouble_q, check, place;
  holds_t holds_q, held;
  logic used_q, used, is_packed;
  logic enabling, exists, on, at_pair, is_pair, taken;
  // The two queues of the pair: which one this is, whether the other one is enabled, whether they
  // are of kind RDMA and RDMA_RX, and the ends and the domain of the pair.
  logic side, other;
  logic [1:0] pairs_q;
  logic [79:0] ends, ends_q;
  logic unused_corrected;

  assign enabling = op_i == OpEnable;
  assign exists = index_i < 32'(Queues);
  assign on = enabled_q[index_i[Width-1:0]];
  assign words = context_t'(words_q);
  assign context_o = '{
      kind: queue_kind_e'(words.kind[7:0]),
      stamp: (words.options & QUEUE_OPTIONS_STAMP) != '0,
      domain: words.domain[15:0],
      vector: words.vector[15:0],
      sq_log2: words.sq_log2[3:0],
      cq_log2: words.cq_log2[3:0],
      sq: address_t'(words.sq),
      cq: address_t'(words.cq),
      stamps: address_t'(words.stamp),
      lines: address_t'(words.lines),
      area: address_t'(words.area),
      area_bytes: words.area_bytes,
      filter: words.filter
    };
  assign queue_o = 16'(index_q);
  assign enabled_o = enabled_q;
  assign start_valid_o = state_q == Start;
  assign stop_o = stop_q;
  assign translate_valid_o = state_q == Ask;
  assign done_o = state_q == Finish;
  assign status_o = status_q;
  assign scan_done_o = state_q == ScanLook && 32'(index_q) == Queues - 1;
  assign scan_used_o = used_q || used;
  assign error_ready_o = state_q == Rest && next == Trouble;

  spfe_ep_queue_check #(
    .Shape(Shape),
    .Kinds(Kinds)
  ) i_check (
    .index_i(16'(index_q)),
    .context_i(words),
    .status_o(check),
    .which_i(which_q),
    .need_o(translate_o),
    .packed_o(is_packed),
    .pair_o
  );

  spfe_ram_safe #(
    .Width($bits(holds_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_holds (
    .clk_i,
    .we_i(state_q == Start && !rst_i),
    .addr_i(index_q),
    .data_i(holds_q),
    .rclk_i(clk_i),
    .re_i(state_q == Scan),
    .raddr_i(index_q),
    .data_o(held),
    .corrected_o(unused_corrected),
    .failed_o
  );
  assign place = translation_whole_i ? STATUS_BAD_REGION : translation_i.status;
  // A queue pair takes both directions of its channel.
  assign side = 32'(index_q) == Pair + 1;
  assign at_pair = Shape.pairs.count != '0 && (32'(index_q) == Pair || side);
  assign is_pair = context_o.kind inside {QUEUE_KIND_RDMA, QUEUE_KIND_RDMA_RX};
  assign ends = {words.pair, words.domain[15:0]};
  assign other = enabled_q[side?Width'(Pair) : Width'(Pair+1)];
  assign taken = at_pair && other && (is_pair != pairs_q[!side] || (is_pair && ends != ends_q));
  always_comb begin
    used = 1'b0;
    for (int unsigned i = 0; i < 5; i++) used |= enabled_q[index_q] && held[i] == scan_i;
  end

  always_comb begin
    access_o = '{write: state_q != Fetch, addr: '0, data: '0};
    access_o.addr = 16'(Base) + 16'(index_q) * 16'(QUEUE_BLOCK_STRIDE / 4);
    case (state_q)
      Fetch: access_o.addr = access_o.addr + 16'(QUEUE_BLOCK_KIND / 4) + 16'(word_q);
      ShowState: access_o.data = enabling ? 32'(QUEUE_STATE_ENABLED) : 32'(QUEUE_STATE_DISABLED);
      Trouble: access_o.data = 32'(QUEUE_STATE_ERROR);
      TroubleError: begin
        access_o.addr = access_o.addr + 16'(QUEUE_BLOCK_ERROR / 4);
        access_o.data = 32'(trouble_q);
      end
      default: access_o.addr = access_o.addr + 16'(QUEUE_BLOCK_ERROR / 4);
    endcase
    access_valid_o = state_q inside {Fetch, ShowState, ShowError}
        || (state_q inside {Trouble, TroubleError} && enabled_q[index_q]);
  end

  // States.
  always_comb begin
    next = state_q;
    unique case (state_q)
      Rest:
      if (error_valid_i) next = Trouble;
      else if (scan_valid_i) next = Scan;
      else if (valid_i) begin
        next = Finish;
        if (exists && enabling && !on) next = Fetch;
        if (exists && !enabling && on) next = Stop;
      end
      Fetch: if (access_ready_i) next = Take;
      Take: next = 32'(word_q) == ContextWords - 1 ? Judge : Fetch;
      Judge: next = check == STATUS_OK && !taken ? Ask : Finish;
      Ask: if (translate_ready_i) next = Hear;
      Hear:
      if (translation_valid_i) begin
        next = which_q == (is_packed ? 3'd4 : 3'd3) ? Start : Ask;
        if (place != STATUS_OK) next = Finish;
      end
      Start: if (start_ready_i) next = ShowState;
      Stop: next = Stopping;
      Stopping: begin
        if (wait_q == Patience) next = Finish;
        if (stopped_i[index_q]) next = ShowState;
      end
      ShowState: if (access_ready_i) next = ShowError;
      ShowError: if (access_ready_i) next = Finish;
      Finish: next = Rest;
      Scan: next = ScanLook;
      ScanLook: next = scan_done_o ? Rest : Scan;
      Trouble: if (access_ready_i || !enabled_q[index_q]) next = TroubleError;
      default: if (access_ready_i || !enabled_q[index_q]) next = Rest;
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= next;
    unique case (state_q)
      Rest: begin
        word_q <= '0;
        which_q <= '0;
        used_q <= 1'b0;
        wait_q <= '0;
        index_q <= next == Trouble ? error_i.index[Width-1:0] : next == Scan ? '0 :
            index_i[Width-1:0];
        trouble_q <= error_i.status;
        status_q <= STATUS_OK;
        if (!exists || (op_i == OpDisable && !on)) status_q <= STATUS_NOT_FOUND;
        else if (enabling && on) status_q <= STATUS_BUSY;
      end
      Take: begin
        words_q[word_q] <= access_data_i;
        word_q <= word_q + 5'd1;
      end
      Judge: status_q <= check == STATUS_OK && taken ? STATUS_BUSY : check;
      Hear:
      if (translation_valid_i) begin
        // A queue without an area holds the region of its times twice.
        holds_q[which_q] <= translate_o.address.region[11:0];
        if (which_q == 3'd3) holds_q[4] <= translate_o.address.region[11:0];
        which_q <= which_q + 3'd1;
        status_q <= place;
      end
      Start:
      if (start_ready_i) begin
        enabled_q[index_q] <= 1'b1;
        if (at_pair) pairs_q[side] <= is_pair;
        if (at_pair && is_pair) ends_q <= ends;
      end
      Stop: stop_q[index_q] <= 1'b1;
      Stopping: begin
        wait_q <= wait_q + 32'd1;
        if (stopped_i[index_q]) {stop_q[index_q], enabled_q[index_q]} <= '0;
        else if (next == Finish) status_q <= STATUS_BUSY;
      end
      ScanLook: begin
        used_q <= used_q || used;
        index_q <= index_q + 1'b1;
      end
      default: ;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      enabled_q <= '0;
      stop_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{translation_i, index_i};
endmodule
