// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What the sender gives the MAC are whole frames: valid does not fall within a frame, a beat stays
/// until it is taken, and all beats but the last are full. A frame of a session has the length of
/// its headers and its payload, at least 60 bytes, unless it is aborted; only live messages are
/// aborted. Each of them has one outcome, and none starts before the one before has its own. Users,
/// MAC, engine and state may pause or lie at any time.
module formal_tx_send
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Bytes per beat: 4 or 8.
  parameter int unsigned MacBytes = 8,
  /// Bits in a number of bytes of a beat; follows from MacBytes.
  localparam int unsigned ChunkBits = $clog2(MacBytes) + 1
) (
  input logic clk_i,
  /// Free: frames of sessions have a tag; its value in the first cycle counts.
  input logic vlan_i,
  /// Free: sessions that may send a message of any length live.
  input logic [1:0] go_i,
  /// Free: longest message that may be sent live.
  input logic [15:0] fit_i,
  /// Free: a message enters the empty queue.
  input logic new_i,
  /// Free: with new_i: it may start at once.
  input logic new_go_i,
  /// Free: the message, when it enters the queue.
  input desc_t new_head_i,
  /// Free: the sum of the oldest message is known.
  input logic sum_valid_i,
  /// Free: chunk of the oldest message: bytes, its end, whether there is one.
  input logic [ChunkBits-1:0] data_bytes_i,
  input logic data_last_i,
  input logic data_valid_i,
  /// Free: a segment of the engine waits.
  input logic new_cmd_i,
  /// Free: that segment.
  input segment_t cmd_i,
  /// Free: a frame of ARP or ICMP begins.
  input logic net_i,
  /// Free: it ends with this beat.
  input logic net_last_i,
  /// Free: bytes of its last beat, less one.
  input logic [$clog2(MacBytes)-1:0] net_rest_i,
  /// Free: the state takes the request, answers it, and its answer.
  input logic req_ready_i,
  input logic res_valid_i,
  input logic res_match_i,
  /// Free: what the finisher says.
  input logic outcome_room_i,
  input logic finish_idle_i,
  input logic finish_clear_i,
  /// Free: the MAC takes a beat.
  input logic mac_ready_i
);
  logic rst_q = 1'b1;
  logic vlan_q;
  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (rst_q) vlan_q <= vlan_i;
  end

  logic head_pop, load, load_live, req_valid, outcome_valid, mac_valid, aborted;
  logic cmd_begins, cmd_left, net_ready;
  state_req_t req;
  outcome_t outcome;
  mac_beat_t mac, net;

  // ---- the queue of messages: one at a time, known one cycle after it has entered
  logic head_valid_q, new_head;
  desc_t head_q;
  assign new_head = new_i && !head_valid_q && !rst_q;
  always_ff @(posedge clk_i) begin
    if (head_pop) head_valid_q <= 1'b0;
    if (new_head) begin
      head_valid_q <= 1'b1;
      head_q <= new_head_i;
      head_q.sid <= sid_t'(new_head_i.sid[0]);
    end
    if (rst_q) head_valid_q <= 1'b0;
  end

  // ---- a segment of the engine stays until its last beat
  logic cmd_valid_q, cmd_busy_q;
  segment_t cmd_q;
  always_ff @(posedge clk_i) begin
    if (new_cmd_i && !cmd_valid_q && !cmd_busy_q && !rst_q) begin
      cmd_valid_q <= 1'b1;
      cmd_q <= cmd_i;
    end
    if (cmd_begins) begin
      cmd_valid_q <= 1'b0;
      cmd_busy_q <= 1'b1;
    end
    if (cmd_left) cmd_busy_q <= 1'b0;
    if (rst_q) begin
      cmd_valid_q <= 1'b0;
      cmd_busy_q <= 1'b0;
    end
  end

  // ---- frames of ARP and ICMP: the beat stays until it is taken
  logic net_wait_q, net_in_q, net_valid;
  mac_beat_t net_q, net_new;
  assign net_new = '{
      data: '0,
      keep: (MacBits / 8)'(net_last_i ? MacBytes'((2 << net_rest_i) - 1) : MacBytes'('1)),
      last: net_last_i,
      err: 1'b0
    };
  assign net = net_wait_q ? net_q : net_new;
  assign net_valid = !rst_q && (net_wait_q || net_in_q || net_i);
  always_ff @(posedge clk_i) begin
    net_wait_q <= net_valid && !net_ready;
    net_q <= net;
    if (net_valid && net_ready) net_in_q <= !net.last;
    if (rst_q) begin
      net_wait_q <= 1'b0;
      net_in_q <= 1'b0;
    end
  end

  // ---- the state answers each request once
  logic asked_q, answer;
  assign answer = asked_q && res_valid_i;
  always_ff @(posedge clk_i) begin
    if (req_valid && req_ready_i) asked_q <= 1'b1;
    else if (answer) asked_q <= 1'b0;
    if (rst_q) asked_q <= 1'b0;
  end

  // ---- bytes of the frame, from the second cycle after its start
  logic loaded_q, live_q;
  logic [15:0] bytes_q;
  frame_t frame;
  always_ff @(posedge clk_i) begin
    loaded_q <= load && !rst_q;
    if (load) live_q <= load_live;
    if (loaded_q) bytes_q <= live_q ? head_q.len : cmd_q.bytes;
  end
  assign frame = '{vlan: vlan_q, seq: '0, ack: '0, bytes: bytes_q};

  spfe_tcp_tx_send #(
    .SessionCount(2),
    .MacBytes(MacBytes)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .go_i,
    .fit_i,
    .head_valid_i(head_valid_q),
    .head_i(head_q),
    .head_pop_o(head_pop),
    .head_sum_valid_i(sum_valid_i),
    .head_sum_i('0),
    .new_go_i(new_head && new_go_i),
    .new_sid_i(sid_t'(new_head_i.sid[0])),
    .data_i('0),
    .data_bytes_i,
    .data_last_i,
    .data_valid_i(data_valid_i && head_valid_q),
    .data_ready_o(),
    .cmd_i(cmd_q),
    .cmd_valid_i(cmd_valid_q),
    .cmd_begins_o(cmd_begins),
    .cmd_left_o(cmd_left),
    .cmd_data_i('0),
    .cmd_data_valid_i(1'b1),
    .cmd_data_ready_o(),
    .net_i(net),
    .net_valid_i(net_valid),
    .net_ready_o(net_ready),
    .idle_o(),
    .load_o(load),
    .load_live_o(load_live),
    .live_sid_o(),
    .sid_o(),
    .start_words_i('0),
    .index_o(),
    .words_i('0),
    .checks_i('0),
    .frame_i(frame),
    .payload_sum_o(),
    .req_o(req),
    .req_valid_o(req_valid),
    .req_ready_i(req_ready_i && req_valid),
    .res_valid_i(answer),
    .res_match_i,
    .outcome_o(outcome),
    .outcome_valid_o(outcome_valid),
    .outcome_room_i,
    .finish_idle_i,
    .finish_clear_i,
    .mac_o(mac),
    .mac_valid_o(mac_valid),
    .mac_ready_i,
    .aborted_o(aborted),
    .aborted_sid_o()
  );

  // ---- frames on the bus. The output register has a beat one cycle after the sender composed it,
  // so what was loaded last is what the bus has until the end of the frame.
  logic inside_q, waits_q, session_q, session, live, seen_live_q, pending_q;
  mac_beat_t mac_q;
  logic [15:0] sent_q, here, sent, size, whole;
  logic new_session_q, new_live_q;
  logic [MacBytes-1:0] keep;

  assign keep = mac.keep[MacBytes-1:0];
  always_comb begin
    here = '0;
    for (int unsigned i = 0; i < MacBytes; i++) here = here + {15'd0, keep[i]};
  end
  // The first beat of a frame follows its start by one cycle.
  assign session = inside_q ? session_q : new_session_q;
  assign live = inside_q ? seen_live_q : new_live_q;
  assign sent = (inside_q ? sent_q : 16'd0) + here;
  assign size = bytes_q + (vlan_q ? 16'd58 : 16'd54);
  assign whole = size < 16'd60 ? 16'd60 : size;

  always_ff @(posedge clk_i) begin
    waits_q <= mac_valid && !mac_ready_i;
    mac_q <= mac;
    if (!mac_valid || mac_ready_i) begin
      new_session_q <= load;
      new_live_q <= load_live;
    end
    if (mac_valid && mac_ready_i) begin
      inside_q <= !mac.last;
      session_q <= session;
      seen_live_q <= live;
      sent_q <= sent;
    end
    if (outcome_valid) pending_q <= 1'b0;
    if (load && load_live) pending_q <= 1'b1;
    if (rst_q) begin
      waits_q <= 1'b0;
      inside_q <= 1'b0;
      new_session_q <= 1'b0;
      pending_q <= 1'b0;
    end
    if (!rst_q) begin
      m_length : assume (!new_head || new_head_i.len inside {[16'd1 : 16'd9000]});
      m_command : assume (cmd_i.bytes <= 16'd9000);
      m_chunk :
      assume (data_bytes_i <= ChunkBits'(MacBytes) && data_bytes_i != '0 &&
          (data_last_i || data_bytes_i == ChunkBits'(MacBytes)));
      if (inside_q) a_gap : assert (mac_valid);
      if (waits_q) a_stays : assert (mac_valid && mac == mac_q);
      if (mac_valid) begin
        a_keep : assert (keep[0] && (keep & (keep + 1'b1)) == '0 && (mac.last || keep == '1));
        a_err : assert (!mac.err || (mac.last && session && live));
        if (mac.last && !mac.err) begin
          a_size : assert (session ? sent == whole : sent >= 16'd60);
        end
      end
      a_one : assert (!(load && load_live && pending_q && !outcome_valid));
      a_pop : assert (head_pop == outcome_valid && (!head_pop || head_valid_q));
      a_how : assert (!outcome_valid || pending_q || outcome.how == EndDeferred);
      c_sent : cover (mac_valid && mac.last && !mac.err && session && live && size > 16'd60);
      c_command : cover (mac_valid && mac.last && session && !live);
      c_abort : cover (mac_valid && mac.err);
      c_net : cover (mac_valid && mac.last && !session);
      c_next : cover (load && load_live && inside_q);
    end
  end
endmodule
