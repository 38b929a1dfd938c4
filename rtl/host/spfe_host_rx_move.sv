// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Moves packets from virtual channels towards memory. Queues take turns: a turn gathers one piece
/// of a packet, which lies inside a page, or does one step of bookkeeping. Posted queues fill the
/// buffers of spfe_host_rx_take, and gather up to four pieces in a turn while others wait. Packed
/// queues put records into their area: a record ends with its packet, or where the straight room at
/// its begin ends, and the packet goes on in another one.
module spfe_host_rx_move
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_rx_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Most bytes of a piece, 64 to 4096.
  parameter int unsigned PartBytes = 1024,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,
  /// Settings of a queue that starts.
  input queue_context_t start_i,
  /// This queue.
  input logic [QueueWidth-1:0] start_queue_i,
  /// For one cycle, while it is off.
  input logic start_valid_i,
  /// Queues that work.
  input logic [Queues-1:0] on_i,
  /// Queues that are to stop.
  input logic [Queues-1:0] halt_i,
  /// Queues that have a turn.
  output logic [Queues-1:0] busy_o,
  /// Queues with pieces or completions on their way.
  input logic [Queues-1:0] behind_i,
  /// Queues that are packed.
  output logic [Queues-1:0] packed_o,
  /// Queues that wait for room.
  output logic [Queues-1:0] waits_o,
  /// For one cycle: the memory with the state of a queue has failed.
  output logic fault_o,
  /// Queue that has the turn.
  output logic [QueueWidth-1:0] queue_o,

  /// Queues with entries; see spfe_host_ring.
  input logic [Queues-1:0] level_i,
  /// See spfe_host_ring.
  input logic [Queues-1:0] dry_i,
  /// Starts the read of the oldest entry of the queue.
  output logic peek_o,
  /// The entry, a cycle later.
  input submission_t entry_i,
  /// For one cycle: it is used.
  output logic pop_o,
  /// Queues with a buffer at hand, and those with a wrong entry; see spfe_host_rx_take.
  input logic [Queues-1:0] ready_i,
  /// See spfe_host_rx_take.
  input logic [Queues-1:0] wrong_i,
  /// Starts the read of the buffer.
  output logic read_o,
  /// The buffer, a cycle later.
  input buffer_t buffer_i,
  /// For one cycle: it is taken.
  output logic take_o,

  /// Channels with words.
  input logic [Queues-1:0] word_valid_i,
  /// What is gathered; see spfe_host_rx_gather.
  output gather_t gather_o,
  /// What it found.
  input found_t found_i,
  /// What is gathered counts; otherwise it is dropped.
  output logic keep_o,

  /// There is room for the bytes of a piece and a header.
  input logic space_i,
  /// Header of a record, as a beat.
  output logic [127:0] header_o,
  output logic header_valid_o,
  /// A piece, behind its bytes.
  output piece_t piece_o,
  output logic piece_valid_o,
  input logic piece_ready_i,
  /// A queue has no room for a packet; see spfe_host_lines.
  output logic full_valid_o,
  input logic full_ready_i,
  /// Submissions that the queue has used.
  output logic [31:0] full_used_o,
  /// Counts.
  output statistics_t statistics_o,
  output logic statistics_valid_o
);

  move_e state_q;
  logic [QueueWidth-1:0] queue_q, turn;
  logic [Queues-1:0] candidates, unused_grant, packed_q, open_q, inside_q, drop_q, blocked_q;
  logic [Queues-1:0] pending_q, marked_q, fulls, waits;
  logic any, broken, put, unused_corrected, others_q, chains;
  logic [5:0] tick_q;
  move_t start, move, move_q, next;

  for (genvar q = 0; q < Queues; q++) begin : gen_turn
    logic words;
    assign words = word_valid_i[q] && space_i;
    assign waits[q] = word_valid_i[q] && !drop_q[q] && !level_i[q] && dry_i[q] && !pending_q[q]
        && (packed_q[q] ? blocked_q[q] : !open_q[q] && !ready_i[q]);
    assign fulls[q] = waits[q] && !marked_q[q] && !behind_i[q];
    assign candidates[q] = drop_q[q] ? word_valid_i[q] : on_i[q] && !halt_i[q]
        && (fulls[q] || (packed_q[q] ?
            level_i[q] || (words && !blocked_q[q])
            || (pending_q[q] && !word_valid_i[q] && tick_q == '0) :
            (ready_i[q] && wrong_i[q] && !open_q[q]) || (words && (open_q[q] || ready_i[q]))));
    assign busy_o[q] = (state_q != MoveRest && 32'(queue_q) == q)
        || (inside_q[q] && (!on_i[q] || halt_i[q]));
  end
  assign packed_o = packed_q;
  assign {waits_o, queue_o} = {waits, queue_q};
  spfe_arb_rr #(
    .Ports(Queues)
  ) i_turn (
    .clk_i,
    .rst_i,
    .request_i(candidates),
    .used_i(state_q == MoveRest),
    .grant_o(unused_grant),
    .index_o(turn),
    .valid_o(any)
  );

  always_comb begin
    start = '0;
    start.domain = start_i.domain;
    start.area = start_i.area;
    start.size = start_i.area_bytes;
    start.most_credits = 17'd1 << start_i.cq_log2;
    start.credits = 17'd1 << start_i.cq_log2;
  end
  spfe_ram_safe #(
    .Width($bits(move_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_moves (
    .clk_i,
    .we_i((start_valid_i || state_q == MoveStore) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : queue_q),
    .data_i(start_valid_i ? start : move_q),
    .rclk_i(clk_i),
    .re_i(state_q == MoveRest && any),
    .raddr_i(turn),
    .data_o(move),
    .corrected_o(unused_corrected),
    .failed_o(broken)
  );
  assign fault_o = state_q == MoveLoad && broken && on_i[queue_q];

  logic is_packed, is_open, ends, eep, completes, closes, pauses, follows, last, look;
  logic [12:0] count, room;
  status_e refuse_q;
  assign {is_packed, is_open} = {packed_q[queue_q], open_q[queue_q]};

  // The room of a record, and what a RELEASE says.
  logic [31:0] to_end, most;
  logic wraps, fits, release_good, opens;
  spfe_host_rx_room i_room (
    .move_i(move_q),
    .entry_i,
    .to_end_o(to_end),
    .wraps_o(wraps),
    .fits_o(fits),
    .most_o(most),
    .release_o(release_good)
  );
  // A record begins.
  assign opens = state_q == MoveBegin && is_packed && !is_open && !drop_q[queue_q]
      && !fulls[queue_q] && !level_i[queue_q] && fits
      && !(pending_q[queue_q] && (found_i.empty || wraps));

  logic [31:0] record_bytes;
  assign record_bytes = (move_q.fill + 32'(PACKED_HEADER_BYTES) + 32'd7) & ~32'd7;
  spfe_host_rx_part #(
    .PartBytes(PartBytes)
  ) i_part (
    .clk_i,
    .state_i(state_q),
    .chains_i(chains),
    .move_i(move_q),
    .ahead_i(!is_packed && ready_i[queue_q] && !wrong_i[queue_q]),
    .read_o(look),
    .buffer_i,
    .found_i,
    .count_o(count),
    .room_o(room),
    .pauses_o(pauses),
    .ends_o(ends),
    .eep_o(eep),
    .closes_o(closes),
    .follows_o(follows),
    .last_o(last)
  );
  assign completes = closes && !is_packed;
  // The next piece of a posted queue follows at once, unless its bytes are missing.
  assign chains = state_q == MovePut && put && follows && !is_packed && on_i[queue_q]
      && !halt_i[queue_q] && word_valid_i[queue_q] && space_i && (!others_q || !last);

  assign peek_o = state_q == MoveRelease;
  assign pop_o = state_q == MoveReleaseLook;
  assign read_o = state_q == MoveLoad || look;
  assign take_o = (state_q == MoveBegin && !is_packed && !is_open && !drop_q[queue_q]
      && ready_i[queue_q]) || (chains && closes);
  assign gather_o.take = state_q == MoveGather || state_q == MoveDrop;
  assign gather_o.room = state_q == MoveDrop ? 13'd4096 : room;
  assign gather_o.inside_packet = inside_q[queue_q] || count != '0 || state_q == MoveDrop;
  assign gather_o.flush = state_q == MovePut || state_q == MoveStore || state_q == MoveRest;
  assign keep_o = state_q != MoveDrop && state_q != MoveStore && state_q != MoveRest;

  assign header_valid_o = state_q == MoveHeader;
  assign full_valid_o = state_q == MoveFull;
  assign full_used_o = move_q.used_entries;

  spfe_host_rx_piece i_piece (
    .index_i(8'(queue_q)),
    .state_i(state_q),
    .move_i(move_q),
    .count_i(count),
    .refused_i(refuse_q),
    .ends_i(ends),
    .eep_i(eep),
    .completes_i(completes),
    .header_o,
    .piece_o
  );
  assign piece_valid_o = (state_q == MovePut && (count != '0 || completes))
      || state_q == MovePutHeader || state_q == MovePublish || state_q == MoveRefuse;
  assign put = piece_ready_i || !piece_valid_o;

  always_comb begin
    next = move_q;
    unique case (state_q)
      MoveLoad: next = move;
      MoveBegin:
      if (opens) begin
        next.wrapped = wraps;
        next.fill = '0;
        if (wraps) begin
          next.used = move_q.used + to_end;
          next.head = '0;
        end
        next.length = most;
        next.address = '{
          region: move_q.area.region,
          offset: move_q.area.offset + 48'(next.head) + 48'(PACKED_HEADER_BYTES)
        };
      end
      MovePut:
      if (put) begin
        next.fill = move_q.fill + 32'(count);
        if (completes) next.used_entries = move_q.used_entries + 32'd1;
      end
      MovePutHeader:
      if (put) begin
        next.used = move_q.used + record_bytes;
        next.head = move_q.head + record_bytes;
        next.run_bytes = move_q.run_bytes + record_bytes;
        next.run_records = move_q.run_records + 16'd1;
        if (!pending_q[queue_q]) next.run_wrapped = move_q.wrapped;
      end
      MovePublish:
      if (put) begin
        next.credits = move_q.credits - 17'd1;
        next.run_bytes = '0;
        next.run_records = '0;
        next.number = move_q.number + 4'd1;
      end
      MoveRefuse: if (put) next.used_entries = move_q.used_entries + 32'd1;
      MoveReleaseLook: begin
        next.used_entries = move_q.used_entries + 32'd1;
        if (release_good) begin
          next.credits = move_q.credits + 17'({entry_i.region, entry_i.offset[47:32]});
          next.used = move_q.used - entry_i.offset[31:0];
        end
      end
      default: ;
    endcase
    if (take_o) begin
      next.address = buffer_i.address;
      next.length = buffer_i.length;
      next.position = buffer_i.position;
      next.fill = '0;
      next.number = move_q.number + 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    move_q <= next;
    others_q <= (candidates & ~(Queues'(1) << queue_q)) != '0;
    tick_q <= tick_q + 6'd1;
    unique case (state_q)
      MoveRest: begin
        queue_q <= turn;
        if (any) state_q <= MoveLoad;
      end
      MoveLoad: state_q <= broken ? MoveRest : MoveBegin;
      MoveBegin: begin
        refuse_q <= buffer_i.status;
        state_q <= MoveLimit;
        if (drop_q[queue_q]) state_q <= MoveDrop;
        else if (fulls[queue_q]) state_q <= MoveFull;
        else if (is_packed && level_i[queue_q]) state_q <= MoveRelease;
        else if (is_packed && pending_q[queue_q] && found_i.empty) state_q <= MovePublish;
        else if (is_packed && !is_open && (!fits || (wraps && pending_q[queue_q])))
          state_q <= pending_q[queue_q] ? MovePublish : MoveStore;
        else if (!is_packed && !is_open) begin
          if (!ready_i[queue_q]) state_q <= MoveStore;
          else if (buffer_i.status != STATUS_OK) state_q <= MoveRefuse;
        end
      end
      MoveLimit: state_q <= MoveGather;
      MoveGather: if (found_i.ends || found_i.more || (found_i.empty && pauses)) state_q <= MovePut;
      MovePut:
      if (chains) state_q <= MoveGather;
      else if (put) state_q <= is_packed && closes ? MoveHeader : MoveStore;
      MoveHeader: state_q <= MovePutHeader;
      MovePutHeader:
      if (put)
        state_q <= next.run_bytes >= (move_q.size >> 3) || next.run_records >= 16'hF000 ?
            MovePublish : MoveStore;
      MoveRelease: state_q <= MoveReleaseLook;
      MoveFull: if (full_ready_i) state_q <= MoveStore;
      // The queue may start meanwhile, so nothing is stored.
      MoveDrop: if (found_i.ends || found_i.empty) state_q <= MoveRest;
      MovePublish, MoveRefuse: if (put) state_q <= MoveStore;
      MoveReleaseLook: state_q <= MoveStore;
      default: if (!start_valid_i) state_q <= MoveRest;
    endcase
    if (rst_i) begin
      state_q <= MoveRest;
      tick_q <= '0;
    end
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic mine;
    assign mine = 32'(queue_q) == q;
    always_ff @(posedge clk_i) begin
      if (mine && state_q == MoveBegin && !drop_q[q]) begin
        if (opens || (take_o && buffer_i.status == STATUS_OK)) open_q[q] <= 1'b1;
        if (is_packed && !is_open) begin
          if (!fits && !pending_q[q] && !level_i[q]) blocked_q[q] <= 1'b1;
        end
      end
      if (mine && state_q == MovePut && put) begin
        inside_q[q] <= (inside_q[q] || count != '0) && !ends;
        if (closes && !chains) open_q[q] <= 1'b0;
      end
      if (mine && state_q == MovePutHeader && put) pending_q[q] <= 1'b1;
      if (mine && state_q == MovePublish && put) pending_q[q] <= 1'b0;
      if (mine && state_q == MoveReleaseLook) blocked_q[q] <= 1'b0;
      if (mine && state_q == MoveFull && full_ready_i) marked_q[q] <= 1'b1;
      if (!waits[q]) marked_q[q] <= 1'b0;
      if (mine && state_q == MoveDrop && found_i.ends) drop_q[q] <= 1'b0;
      // The rest of a packet whose queue has stopped is dropped.
      if ((!on_i[q] || halt_i[q]) && inside_q[q] && !(mine && state_q != MoveRest)) begin
        inside_q[q] <= 1'b0;
        drop_q[q] <= 1'b1;
      end
      if (start_valid_i && 32'(start_queue_i) == q) begin
        packed_q[q] <= start_i.kind == QUEUE_KIND_RX_PACKED;
        open_q[q] <= 1'b0;
        pending_q[q] <= 1'b0;
        blocked_q[q] <= 1'b0;
        marked_q[q] <= 1'b0;
      end
      if (rst_i) begin
        inside_q[q] <= 1'b0;
        drop_q[q] <= 1'b0;
        pending_q[q] <= 1'b0;
        packed_q[q] <= 1'b0;
      end
    end
  end

  always_comb begin
    statistics_o = '0;
    statistics_o.index = 16'(queue_q);
    statistics_o.packets = 16'(state_q == MovePut && ends);
    statistics_o.bytes = state_q == MovePut ? 32'(count) : '0;
    statistics_o.error = state_q == MoveRefuse || (state_q == MoveReleaseLook && !release_good);
    statistics_o.stall = state_q == MoveFull;
    statistics_valid_o = (put && (state_q == MovePut || state_q == MoveRefuse))
        || state_q == MoveReleaseLook || (state_q == MoveFull && full_ready_i);
  end

  logic unused;
  assign unused = ^{unused_grant, unused_corrected, start_i, entry_i};
endmodule
