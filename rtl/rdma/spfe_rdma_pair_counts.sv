// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Counters of a queue pair by name: an element of the `pair` block of the contract. Both sides
/// raise events; each is added to a word of one memory, one in a cycle. Queues of events and the
/// order of their sources keep up with whatever the two sides do.
module spfe_rdma_pair_counts
  import spfe_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Queues that have started and not stopped: the one that sends, and the one that receives.
  input logic [1:0] on_i,

  /// What the sending side has done.
  input step_e step_i,
  /// It has repeated the packet; with a step that sends one.
  input logic again_i,
  /// Bytes of the packet; with a step that sends one.
  input logic [12:0] bytes_i,
  /// End of a work request.
  input ended_t ended_i,
  /// For one cycle.
  input logic ended_valid_i,
  /// What became of a packet of the receiving side.
  input handled_t handled_i,
  /// For one cycle.
  input logic handled_valid_i,

  /// Word of the element to read.
  input logic [6:0] read_i,
  /// Two cycles in a row; not again in the next two.
  input logic read_valid_i,
  /// The word, a cycle later.
  output logic [31:0] read_o,
  /// For one cycle: the memory has given a wrong word.
  output logic failed_o
);
  /// Counters that are there: all but NEAR and TARGET_NOTIFICATIONS_DROPPED.
  localparam logic [63:0] Present = ((64'd1 << PAIR_COUNTER_TARGET_NOTIFICATIONS_DROPPED) - 64'd1) &
      ~(64'd1 << PAIR_COUNTER_NEAR);
  // Events that wait: more than come while 32 work requests end, one every other cycle.
  localparam int unsigned Depth = 16;

  logic [1:0] on_q;
  logic off;
  assign off = on_q == '0;

  // A packet of a work request counts up to four times, before the next one is made.
  logic sends;
  logic [3:0] send_q, send, send_onehot;
  logic [12:0] bytes_q;
  logic [1:0] which;
  logic send_valid;
  assign sends = step_i inside {StepSend, StepProbe, StepConnect};
  assign send = {
    step_i == StepProbe,
    step_i != StepConnect && again_i,
    step_i != StepConnect && bytes_i != '0,
    1'b1
  };
  spfe_first_one #(
    .Width(4)
  ) i_send (
    .data_i(send_q),
    .found_o(send_valid),
    .onehot_o(send_onehot),
    .index_o(which)
  );
  logic [5:0] send_kind;
  always_comb begin
    unique case (which)
      2'd0: send_kind = PAIR_COUNTER_PACKETS[5:0];
      2'd1: send_kind = PAIR_COUNTER_BYTES[5:0];
      2'd2: send_kind = PAIR_COUNTER_RESENT[5:0];
      default: send_kind = PAIR_COUNTER_PROBES[5:0];
    endcase
  end

  // Other events of the sending side.
  logic [3:0] own, own_kind;
  logic own_event, own_valid, own_ready, own_room;
  always_comb begin
    own_event = 1'b1;
    own = PAIR_COUNTER_COMPLETED[3:0];
    if (ended_valid_i) begin
      if (ended_i.status == STATUS_FLUSHED) own = PAIR_COUNTER_FLUSHED[3:0];
      else if (ended_i.status != STATUS_OK) own = PAIR_COUNTER_FAILED[3:0];
    end else begin
      unique case (step_i)
        StepTimer: own = PAIR_COUNTER_TIMEOUTS[3:0];
        StepRefused: own = PAIR_COUNTER_REFUSALS[3:0];
        StepStale: own = PAIR_COUNTER_STALE[3:0];
        StepInvalid: own = PAIR_COUNTER_INVALID[3:0];
        default: own_event = 1'b0;
      endcase
    end
  end

  // Packets of the receiving side. The numbers of counters follow those of opcodes, statuses and
  // reasons.
  logic [5:0] other, other_kind;
  logic other_event, other_valid, other_ready, other_room;
  always_comb begin
    other_event = handled_valid_i;
    if (handled_i.drop inside {DropForInitiator, DropFull}) other_event = 1'b0;
    if (handled_i.drop inside {DropDrained, DropForgotten})
      other = PAIR_COUNTER_TARGET_DRAINED[5:0] + 6'(handled_i.drop - DropDrained);
    else if (handled_i.drop != DropNone)
      other = PAIR_COUNTER_TARGET_OTHER_PROTOCOL[5:0] + 6'(handled_i.drop - DropProtocol);
    else if (handled_i.status > SfrpRevoked) other = PAIR_COUNTER_TARGET_GENERAL[5:0];
    else if (handled_i.status != SfrpOk)
      other = PAIR_COUNTER_TARGET_BAD_VERSION[5:0] + 6'(handled_i.status - SfrpBadVersion);
    else if (handled_i.repeated) other = PAIR_COUNTER_TARGET_REPEATED[5:0];
    else other = PAIR_COUNTER_TARGET_WRITES[5:0] + 6'(handled_i.code - OpWrite);
  end

  logic [4:0] unused_own, unused_other;
  logic [1:0] unused_full;
  spfe_fifo #(
    .Width(4),
    .Depth(Depth)
  ) i_own (
    .clk_i,
    .rst_i(rst_i || off),
    .data_i(own),
    .valid_i(own_event && !off),
    .ready_o(own_room),
    .data_o(own_kind),
    .valid_o(own_valid),
    .ready_i(own_ready),
    .count_o(unused_own),
    .almost_full_o(unused_full[0])
  );
  spfe_fifo #(
    .Width(6),
    .Depth(Depth)
  ) i_other (
    .clk_i,
    .rst_i(rst_i || off),
    .data_i(other),
    .valid_i(other_event && !off),
    .ready_o(other_room),
    .data_o(other_kind),
    .valid_o(other_valid),
    .ready_i(other_ready),
    .count_o(unused_other),
    .almost_full_o(unused_full[1])
  );

  // One event is read in a cycle, and written in the next one; not the same word twice in a row.
  logic read_q, reads, adds, add_q, clear_q, all_q, half_q, mask_q, zero_q, unused_corrected;
  logic [5:0] kind, kind_q, index_q;
  logic [12:0] amount_q;
  logic [63:0] word;
  assign reads = read_valid_i && !read_q;
  always_comb begin
    {adds, own_ready, other_ready} = '0;
    kind = send_kind;
    if (!reads && !clear_q) begin
      if (send_valid) adds = 1'b1;
      else if (own_valid && !(add_q && kind_q == {2'd0, own_kind})) begin
        {adds, own_ready} = '1;
        kind = {2'd0, own_kind};
      end else if (other_valid && !(add_q && kind_q == other_kind)) begin
        {adds, other_ready} = '1;
        kind = other_kind;
      end
    end
  end

  // The memory does not read a word that is being written. Then its output is that word already, or
  // the word becomes 0.
  spfe_ram_safe #(
    .Width(64),
    .Depth(64),
    .Protect(Protect)
  ) i_memory (
    .clk_i,
    .we_i((add_q || clear_q) && !rst_i),
    .addr_i(add_q ? kind_q : index_q),
    .data_i(add_q ? word + 64'(amount_q) : '0),
    .rclk_i(clk_i),
    .re_i(adds || (reads && !(add_q && kind_q == read_i[6:1]) &&
                   !(clear_q && !add_q && index_q == read_i[6:1]))),
    .raddr_i(reads ? read_i[6:1] : kind),
    .data_o(word),
    .corrected_o(unused_corrected),
    .failed_o
  );
  always_comb begin
    read_o = half_q ? word[63:32] : word[31:0];
    if (mask_q) read_o = half_q ? Present[63:32] : Present[31:0];
    if (zero_q) read_o = '0;
  end

  always_ff @(posedge clk_i) begin
    on_q <= on_i;
    read_q <= reads;
    half_q <= read_i[0];
    mask_q <= read_i[6:1] == '1;
    zero_q <= off || (clear_q && !add_q && index_q == read_i[6:1]);
    add_q <= adds;
    kind_q <= kind;
    amount_q <= send_valid && kind == PAIR_COUNTER_BYTES[5:0] ? bytes_q : 13'd1;
    if (adds && send_valid) send_q <= send_q & ~send_onehot;
    if (sends) begin
      send_q <= send;
      bytes_q <= bytes_i;
    end
    // All counters go when both queues have stopped; those of the sending side when it starts.
    if (clear_q && !add_q) begin
      index_q <= index_q + 6'd1;
      if (index_q == (all_q ? 6'd63 : PAIR_COUNTER_NEAR[5:0])) clear_q <= 1'b0;
    end
    if (off ? 1'b0 : on_i == '0) begin
      {clear_q, all_q} <= '1;
      index_q <= '0;
    end else if (on_i[0] && !on_q[0] && !clear_q) begin
      clear_q <= 1'b1;
      all_q <= 1'b0;
      index_q <= '0;
    end
    if (off) send_q <= '0;
    if (rst_i) begin
      on_q <= '0;
      {clear_q, all_q} <= '1;
      index_q <= '0;
      add_q <= 1'b0;
      read_q <= 1'b0;
      send_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !off) begin
      assert (own_room || !own_event)
      else $error("spfe_rdma_pair_counts: an event of the sending side is lost");
      assert (other_room || !other_event)
      else $error("spfe_rdma_pair_counts: an event of the receiving side is lost");
      assert (!ended_valid_i || !(step_i inside {StepTimer, StepRefused, StepStale, StepInvalid}))
      else $error("spfe_rdma_pair_counts: two events of the sending side in a cycle");
      assert (send_q == '0 || !sends)
      else $error("spfe_rdma_pair_counts: a packet is lost");
    end
  end
`endif

  logic unused;
  assign unused = ^{unused_own, unused_other, unused_full, unused_corrected, ended_i, handled_i};
endmodule
