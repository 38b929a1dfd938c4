// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Shares the space of the receive FIFO between the sessions: owns the right edge of the window
/// that each session offers its peer. An edge only moves to the right, when a header is built that
/// announces it.
///
/// The budget is: bytes in the FIFO + 2 * bytes offered and not received <= Capacity. The factor
/// makes room for segments that do not fill their beats. LeastBytes of it are set aside for each
/// session, so that idle peers cannot keep the others' windows shut. An offer is the configured
/// window if the rest of the budget allows it, else what is left, or else up to LeastBytes; but not
/// in pieces below a segment (RFC 9293, 3.8.6.2.2). A session that is left with less than two such
/// pieces is reported to the engine when space is free again, so that it sends a window update.
module spfe_tcp_rx_credit
  import spfe_tcp_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Bytes in the FIFO.
  parameter int unsigned Capacity = 8192,
  /// Bytes in a beat of the FIFO.
  parameter int unsigned BeatBytes = 8,
  /// Upper limit of a window in bytes; 0: none.
  parameter int unsigned Limit = 0,
  /// Bits in a number of beats in the FIFO; derived.
  localparam int unsigned UsedBits = $clog2(Capacity / BeatBytes) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Configured window in bytes (tcp_cfg_t).
  input logic [31:0] wnd_i,
  /// Our window shift (tcp_cfg_t).
  input logic [3:0] wscale_i,
  /// Our MSS in bytes (tcp_cfg_t).
  input logic [15:0] mss_i,
  /// Beats in the FIFO.
  input logic [UsedBits-1:0] used_i,

  /// Four-tuple of a session, for one cycle: the session opens or closes. From the engine.
  input key_cmd_t key_i,
  input logic key_valid_i,
  /// Receive state of a session; from the engine.
  input rcv_cmd_t rcv_i,
  /// rcv_i takes effect with this cycle; only if busy_o is low.
  input logic rcv_fire_i,
  /// No rcv_cmd may take effect.
  output logic busy_o,
  /// Session whose RCV.NXT this module reads.
  output sid_t sid_o,
  /// RCV.NXT of sid_o, in the same cycle.
  input seq_t nxt_i,

  /// A header with a window is built for the session head_sid_i; from the transmitter.
  input wnd_req_t head_i,
  /// With head_i: the session.
  input sid_t head_sid_i,
  /// RCV.NXT of head_sid_i, as in the header.
  input seq_t head_nxt_i,
  /// Window of that header in bytes, before scaling; from two cycles after head_i on.
  output logic [31:0] head_wnd_o,

  /// Session whose window the receiver reads.
  input sid_t read_sid_i,
  /// RCV.NXT of read_sid_i.
  input seq_t read_nxt_i,
  /// Bytes from RCV.NXT to the edge of read_sid_i, in the same cycle.
  output seq_t room_o,
  /// RCV.NXT of the session move_sid_i advances by move_by_i.
  input logic move_i,
  /// With move_i: the session.
  input sid_t move_sid_i,
  /// With move_i: the distance.
  input seq_t move_by_i,

  /// Session that should announce its window; to the engine.
  output wnd_open_t open_o,
  /// open_o is taken.
  input logic open_ready_i
);
  localparam int unsigned Bits = $clog2(SessionCount);
  localparam int unsigned Share = Capacity / (4 * SessionCount);
  localparam int unsigned LeastBytes = Share > 32768 ? 32768 : 2 ** $clog2(Share / 2 + 1);
  typedef logic [Bits-1:0] slot_t;
  typedef logic signed [31:0] budget_t;

  if (Share < 16) begin : gen_bad_capacity
    $error(
      "spfe_tcp_rx_credit: a FIFO of %0d bytes is too small for %0d sessions; raise RxFifoPackets",
      Capacity,
      SessionCount
    );
  end

  // ---- limits, from the configuration
  function automatic logic [31:0] least(logic [31:0] a, logic [31:0] b);
    return a < b ? a : b;
  endfunction

  logic [31:0] kept_q, most_q, plain_q, least_q, half_q, piece_q, piece2_q, bit_q, thin_q;
  always_ff @(posedge clk_i) begin
    kept_q <= Limit == 0 ? wnd_i : least(wnd_i, 32'(Limit));
    most_q <= least(kept_q, 32'h0000_ffff << wscale_i);
    plain_q <= least(kept_q, 32'h0000_ffff);
    least_q <= least(plain_q, 32'(LeastBytes));
    // A piece of an offer: a segment or half of the window, but never more than can be free.
    half_q <= least({1'b0, plain_q[31:1]}, 32'(Capacity / 8));
    piece_q <= least(half_q, 32'(mss_i));
    piece2_q <= {piece_q[30:0], 1'b0};
    // A piece of LeastBytes, and the most that is left when one fits.
    bit_q <= least(least_q, piece_q);
    thin_q <= least_q - bit_q;
  end

  logic [SessionCount-1:0] open_q;

  // ---- budget
  localparam budget_t Common = budget_t'(Capacity - 2 * SessionCount * LeastBytes);
  logic [31:0] used_q, offered_q;
  logic [31:0] avail_q, rest_q;  // for all, and for a session with less than LeastBytes
  budget_t spare_q, whole_q, change_q;
  logic enough_q, some_q;
  logic [31:0] grant_q, moved_q;
  budget_t event_q;

  always_ff @(posedge clk_i) begin
    used_q <= 32'(used_i) * BeatBytes;
    moved_q <= move_i && open_q[slot_t'(move_sid_i)] ? move_by_i : 32'd0;
    change_q <= budget_t'(grant_q) + event_q - budget_t'(moved_q);
    offered_q <= offered_q + 32'(change_q);
    spare_q <= Common - budget_t'(used_q) - budget_t'({offered_q[30:0], 1'b0});
    whole_q <= budget_t'(Capacity) - budget_t'(used_q) - budget_t'({offered_q[30:0], 1'b0});
    avail_q <= spare_q[31] ? '0 : {1'b0, spare_q[31:1]};
    rest_q <= whole_q[31] ? '0 : {1'b0, whole_q[31:1]};
    enough_q <= !spare_q[31] && {1'b0, spare_q[31:1]} >= piece_q;
    some_q <= !whole_q[31] && {1'b0, whole_q[31:1]} >= bit_q;
    if (rst_i) begin
      moved_q <= '0;
      change_q <= '0;
      offered_q <= '0;
    end
  end

  // ---- edges
  logic [33:0] lack, lack_least;
  logic edge_we;
  slot_t edge_slot;
  seq_t edge_d, edge_head, edge_read, edge_event, head_edge;
  sid_t event_sid;
  logic unused_bits;
  assign unused_bits = ^{head_sid_i, read_sid_i, move_sid_i, event_sid, key_i, rcv_i, spare_q[0],
      whole_q[0], lack[32:0], lack_least[32:0]};

  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount),
    .Ports(3)
  ) i_edge (
    .clk_i,
    .we_i(edge_we),
    .addr_i(edge_slot),
    .data_i(edge_d),
    .raddr_i({slot_t'(event_sid), slot_t'(read_sid_i), slot_t'(head_sid_i)}),
    .rdata_o({edge_event, edge_read, edge_head})
  );
  assign room_o = edge_read - read_nxt_i;

  // ---- events of the engine: a session opens, closes, or gets a new RCV.NXT
  logic key_wait_q, key_open_q, head2_q, head3_q, changes, key_go, event_go;
  sid_t key_sid_q;
  logic opens_q, closes_q, moves_q;  // second cycle of an event
  slot_t event_slot_q;
  seq_t event_nxt_q, event_left_q;

  // An event takes two cycles. It does not begin while another event or a header changes an edge,
  // or while RCV.NXT moves.
  assign changes = head_i.valid || head2_q || head3_q || opens_q || moves_q;
  assign key_go = key_wait_q && !changes && !move_i;
  assign busy_o = key_valid_i || key_wait_q || changes;
  assign event_go = key_go || (rcv_fire_i && rcv_i.set);
  assign event_sid = key_wait_q ? key_sid_q : rcv_i.sid;
  assign sid_o = event_sid;

  always_ff @(posedge clk_i) begin
    if (key_go) key_wait_q <= 1'b0;
    if (key_valid_i) begin
      key_wait_q <= 1'b1;
      key_open_q <= key_i.valid;
      key_sid_q <= key_i.sid;
    end
    opens_q <= key_go && key_open_q && !open_q[slot_t'(key_sid_q)];
    closes_q <= key_go && !key_open_q && open_q[slot_t'(key_sid_q)];
    moves_q <= event_go && !key_go;
    event_slot_q <= slot_t'(event_sid);
    event_nxt_q <= key_go ? nxt_i : rcv_i.nxt;
    event_left_q <= edge_event - nxt_i;
    if (key_go) open_q[slot_t'(key_sid_q)] <= key_open_q;
    if (rst_i) begin
      key_wait_q <= 1'b0;
      opens_q <= 1'b0;
      closes_q <= 1'b0;
      moves_q <= 1'b0;
      open_q <= '0;
    end
  end

  // A session opens without an offer: its first header makes one.
  assign event_q = closes_q ? -budget_t'(event_left_q) : '0;

  // ---- headers
  slot_t head_slot_q, head_slot2_q;
  seq_t left_q, edge_q, edge2_q;
  logic [31:0] limit_q, want, want_least, grant, total, head_wnd_q, grant2_q;
  logic fresh, none, full, thin, cut_short_q;

  // An event in its second cycle has the newer edge.
  assign fresh = (opens_q || moves_q) && event_slot_q == slot_t'(head_sid_i);
  assign head_edge = fresh ? edge_d : edge_head;
  // These sums do not wait for each other. lack is negative if all that is wanted is available.
  assign want = limit_q - left_q;
  assign want_least = least_q - left_q;
  assign lack = {2'd0, limit_q} - {2'd0, left_q} - {2'd0, avail_q} - 34'd1;
  assign none = want[31] || left_q[31] || !open_q[head_slot_q];
  assign lack_least = {2'd0, least_q} - {2'd0, left_q} - {2'd0, rest_q} - 34'd1;
  assign full = lack[33];
  assign thin = some_q && left_q <= thin_q;
  always_comb begin
    grant = '0;
    total = left_q;
    if (!none && full) begin
      grant = want;
      total = limit_q;
    end else if (!none && enough_q) begin
      grant = avail_q;
      total = left_q + avail_q;
    end else if (!none && thin) begin
      grant = lack_least[33] ? want_least : rest_q;
      total = lack_least[33] ? least_q : left_q + rest_q;
    end
    if (left_q[31]) total = '0;
  end

  always_ff @(posedge clk_i) begin
    head2_q <= head_i.valid && !rst_i;
    head3_q <= head2_q && !rst_i;
    left_q <= head_edge - head_nxt_i;
    edge_q <= head_edge;
    head_slot_q <= slot_t'(head_sid_i);
    limit_q <= head_i.scaled ? most_q : plain_q;
    grant2_q <= '0;
    if (head2_q) begin
      head_wnd_q <= total;
      cut_short_q <= !none && !full;
      grant2_q <= grant;
      edge2_q <= edge_q;
      head_slot2_q <= head_slot_q;
    end
    if (rst_i) grant2_q <= '0;
  end
  assign head_wnd_o = head_wnd_q;
  assign grant_q = grant2_q;

  always_comb begin
    edge_we = head3_q || opens_q || moves_q;
    edge_slot = head3_q ? head_slot2_q : event_slot_q;
    edge_d = edge2_q + grant2_q;
    if (opens_q) edge_d = event_nxt_q;
    if (moves_q) edge_d = event_nxt_q + event_left_q;
  end

  // ---- window updates: a walk over the sessions whose last offer was cut short to less than two
  // pieces. With more, the peer goes on, and its segments bring the next header. The next session
  // has to wait until the header of the last one has changed the budget, or does not come.
  logic [SessionCount-1:0] cut_q, poor_q;  // the latter can have a piece of LeastBytes
  slot_t walk_q, tell_q;
  logic tell_valid_q;
  logic [7:0] hold_q;

  always_ff @(posedge clk_i) begin
    walk_q <= 32'(walk_q) == SessionCount - 1 ? '0 : walk_q + 1'b1;
    if (open_ready_i) tell_valid_q <= 1'b0;
    if (hold_q != '0) hold_q <= hold_q - 8'd1;
    if (head3_q && head_slot2_q == tell_q && hold_q > 8'd8) hold_q <= 8'd8;
    if (!tell_valid_q && hold_q == '0 && cut_q[walk_q] &&
        (enough_q || (some_q && poor_q[walk_q]))) begin
      tell_valid_q <= 1'b1;
      hold_q <= '1;
      tell_q <= walk_q;
      cut_q[walk_q] <= 1'b0;
    end
    if (head3_q) begin
      cut_q[head_slot2_q] <= cut_short_q && head_wnd_q < piece2_q;
      poor_q[head_slot2_q] <= head_wnd_q <= thin_q;
    end
    if (closes_q) cut_q[event_slot_q] <= 1'b0;
    if (rst_i) begin
      walk_q <= '0;
      tell_valid_q <= 1'b0;
      hold_q <= '0;
      cut_q <= '0;
    end
  end
  assign open_o = '{valid: tell_valid_q, sid: sid_t'(tell_q)};

`ifndef SYNTHESIS
  logic [2:0] calm_q;
  always_ff @(posedge clk_i) begin
    calm_q <= {calm_q[1:0], open_q == '0 && !move_i};
    if (!rst_i) begin
      a_head :
      assert (!head_i.valid || !(head2_q || head3_q))
      else $error("a header before the last one has its window");
      a_key :
      assert (!key_valid_i || !key_wait_q)
      else $error("a session opens or closes before the last one has");
      a_fire :
      assert (!rcv_fire_i || !busy_o)
      else $error("RCV.NXT is set while the module is busy");
      a_writer :
      assert (!(head3_q && (opens_q || moves_q)))
      else $error("two writers of an edge");
      a_leak :
      assert (!(&calm_q) || opens_q || closes_q || change_q != '0 || event_q != '0 ||
          offered_q == '0)
      else $error("%0d bytes are offered with all sessions closed", offered_q);
    end
    if (rst_i) calm_q <= '0;
  end
`endif
endmodule
