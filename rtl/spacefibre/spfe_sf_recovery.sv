// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Numbering and acknowledgement of sent items (ECSS-E-ST-50-11C, 5.7.6.3, 5.7.7). Data frames,
/// FCTs and broadcast messages wait in a queue for each kind until they are acknowledged. For each
/// number in use a table has the positions of the three queues behind its item, so that one read of
/// the table carries out an ACK or NACK.
module spfe_sf_recovery
  import spfe_sf_link_pkg::*;
#(
  /// Bits of a virtual channel.
  parameter int unsigned VcWidth = 1,
  /// Bits of a position in an output buffer.
  parameter int unsigned PosWidth = 8,
  /// Bits of the length of a segment.
  parameter int unsigned LenWidth = 7,
  /// Data frames in the queue, a power of two, 4 to 128.
  parameter int unsigned Frames = 32,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: forgets everything sent. Broadcast messages that were not sent yet stay.
  input logic clear_i,

  /// What there is to send.
  output pending_t pending_o,
  /// What is sent with the row of this cycle.
  input sent_t sent_i,
  /// A data frame is in progress: the one behind it is looked for.
  input logic in_frame_i,

  /// Broadcast message of the user; its field late is ignored.
  input broadcast_t user_i,
  input logic user_valid_i,
  output logic user_ready_o,
  /// Rows for each broadcast frame; 0: none may be sent.
  input logic [18:0] broadcast_rows_i,
  /// Messages cannot go at once: those that wait, and those that come now, are LATE.
  input logic late_i,
  /// Messages that come now are LATE.
  input logic late_new_i,
  /// Broadcast frames that may be sent.
  output logic [8:0] credit_o,

  /// ACK or NACK.
  input ack_t ack_i,
  /// The number to look at has the polarity of the items being sent.
  output logic ack_valid_o,
  /// It belongs to no item.
  output logic ack_wrong_o,

  /// An acknowledged frame leaves its output buffer.
  output logic free_o,
  /// Its virtual channel and its words; its start is 0.
  output segment_t freed_o,
  /// A wrong bit of a memory was corrected.
  output logic ram_corrected_o,
  /// A word of a memory is wrong.
  output logic ram_failed_o
);
  localparam int unsigned FrameWidth = $clog2(Frames);
  localparam int unsigned Fcts = 128;

  if (Frames < 4 || Frames > 128 || (Frames & (Frames - 1)) != 0) begin : gen_bad_frames
    $error("spfe_sf_recovery: Frames is %0d; 4 to 128, a power of two", Frames);
  end

  typedef struct packed {
    logic [FrameWidth:0] frame;
    logic [7:0] fct;
    logic [4:0] broadcast;
  } place_t;

  typedef struct packed {
    logic [VcWidth-1:0] vc;
    logic [PosWidth-1:0] start;
    logic [LenWidth-1:0] words;
  } frame_t;

  // Number of the last item, that of a cycle before, and that of the last acknowledged item.
  logic [6:0] count_q, known_q, acked_q;
  logic negative_q;
  // The number that is carried out is that of the last acknowledged item.
  logic same_q;
  // Positions: of the first item that is not acknowledged, of the next to send, behind the last.
  place_t head_q, sent_q, sent, acked, tail_q;
  // Acknowledged frames from here to head_q are still to leave their buffers.
  logic [FrameWidth:0] freed_q;
  logic freeing_q;
  logic [7:0] items_q;
  logic number, number_q;
  logic [4:0] fct_vc;
  logic broadcast_new;
  broadcast_t message;
  frame_t frame_next, frame_freed;
  logic [4:0] corrected, failed;

  assign number = sent_i.frame || sent_i.fct || sent_i.broadcast;

  // The frame to send next. What waits in memory is read by the positions of the cycle before;
  // spfe_sf_transmit knows it.
  logic [FrameWidth:0] look_frame;
  assign look_frame = sent_q.frame + (FrameWidth + 1)'(in_frame_i);

  logic [FrameWidth:0] frames;
  logic [4:0] broadcasts;
  assign frames = tail_q.frame - head_q.frame;
  assign broadcasts = tail_q.broadcast - head_q.broadcast;

  // items_q is a cycle late; the limits leave room for that.
  assign pending_o = '{
      seq: {negative_q, count_q},
      next_seq: {negative_q, count_q + 7'd1},
      empty: head_q == tail_q,
      frame_pending: look_frame != tail_q.frame,
      frame: '{
        vc: 5'(frame_next.vc),
        start: 16'(frame_next.start),
        words: 11'(frame_next.words)
      },
      frame_room: {
      ~freed_q[FrameWidth]
      ,
      freed_q[FrameWidth-1:0]
      } !=
      tail_q.frame
      &&
      items_q
      < 8'(
      FrameItems
      ),
      fct_pending: sent_q.fct != tail_q.fct,
      fct_vc: fct_vc,
      fct_room: items_q < 8'(FctItems),
      broadcast_pending: sent_q.broadcast != tail_q.broadcast,
      broadcast_new: broadcast_new,
      broadcast_room:
      tail_q.broadcast
      -
      head_q.broadcast
      < 5'(
      Broadcasts
      ) &&
      items_q
      < 8'(
      Items - 1
      ),
      message: message
    };

  // Positions after the item that is sent in this cycle.
  always_comb begin
    sent = sent_q;
    if (sent_i.frame) sent.frame = sent_q.frame + 1'b1;
    if (sent_i.fct) sent.fct = sent_q.fct + 1'b1;
    if (sent_i.broadcast) sent.broadcast = sent_q.broadcast + 1'b1;
    if (ack_i.nack) sent = same_q ? head_q : acked;
    if (clear_i) sent = '0;
    if (clear_i) sent.broadcast = tail_q.broadcast;
  end

  // An ACK or NACK is checked a cycle before it is carried out; meanwhile the one before it may be
  // carried out.
  logic [6:0] base;
  assign base = ack_i.ack ? ack_i.seq[6:0] : acked_q;
  assign ack_valid_o = ack_i.look[7] == negative_q && !ack_i.nack;
  assign ack_wrong_o = ack_i.look[6:0] - base > known_q - base;

  // Table of the numbers.
  spfe_ram_safe #(
    .Width($bits(place_t)),
    .Depth(128),
    .Block(1'b0),
    .Protect(Protect)
  ) i_numbers (
    .clk_i,
    .we_i(number_q),
    .addr_i(count_q),
    .data_i(sent_q),
    .rclk_i(clk_i),
    .re_i(!(number_q && ack_i.look[6:0] == count_q)),
    .raddr_i(ack_i.look[6:0]),
    .data_o(acked),
    .corrected_o(corrected[0]),
    .failed_o(failed[0])
  );

  frame_t frame_in;
  assign frame_in = '{
      vc: VcWidth'(sent_i.segment.vc),
      start: PosWidth'(sent_i.segment.start),
      words: LenWidth'(sent_i.segment.words)
    };
  logic unused_frame;
  assign unused_frame = ^sent_i;

  // Frames: one copy for resends, one to free the buffers.
  spfe_ram_safe #(
    .Width($bits(frame_t)),
    .Depth(Frames),
    .Block(1'b0),
    .Protect(Protect)
  ) i_frames (
    .clk_i,
    .we_i(sent_i.frame_new),
    .addr_i(tail_q.frame[FrameWidth-1:0]),
    .data_i(frame_in),
    .rclk_i(clk_i),
    .re_i(look_frame != tail_q.frame),
    .raddr_i(look_frame[FrameWidth-1:0]),
    .data_o(frame_next),
    .corrected_o(corrected[1]),
    .failed_o(failed[1])
  );

  logic free_next;
  assign free_next = freed_q != head_q.frame;
  spfe_ram_safe #(
    .Width($bits(frame_t)),
    .Depth(Frames),
    .Block(1'b0),
    .Protect(Protect)
  ) i_freed (
    .clk_i,
    .we_i(sent_i.frame_new),
    .addr_i(tail_q.frame[FrameWidth-1:0]),
    .data_i(frame_in),
    .rclk_i(clk_i),
    .re_i(free_next),
    .raddr_i(freed_q[FrameWidth-1:0]),
    .data_o(frame_freed),
    .corrected_o(corrected[2]),
    .failed_o(failed[2])
  );
  assign free_o = freeing_q;
  assign freed_o = '{vc: 5'(frame_freed.vc), start: '0, words: 11'(frame_freed.words)};
  logic unused_start;
  assign unused_start = ^frame_freed.start;

  spfe_ram_safe #(
    .Width(5),
    .Depth(Fcts),
    .Block(1'b0),
    .Protect(Protect)
  ) i_fcts (
    .clk_i,
    .we_i(sent_i.fct_new),
    .addr_i(tail_q.fct[6:0]),
    .data_i(sent_i.fct_vc),
    .rclk_i(clk_i),
    .re_i(sent_q.fct != tail_q.fct),
    .raddr_i(sent_q.fct[6:0]),
    .data_o(fct_vc),
    .corrected_o(corrected[3]),
    .failed_o(failed[3])
  );

  spfe_sf_broadcast_tx #(
    .Protect(Protect)
  ) i_broadcast (
    .clk_i,
    .rst_i,
    .clear_i,
    .rows_i(broadcast_rows_i),
    .user_i,
    .user_valid_i,
    .user_ready_o,
    .row_i(sent_i.row),
    .late_i(late_i || ack_i.nack),
    .late_new_i,
    .late_sent_i(ack_i.nack),
    .taken_i(tail_q.broadcast),
    .next_i(sent_q.broadcast),
    .ready_o(broadcast_new),
    .take_i(sent_i.broadcast_new),
    .message_o(message),
    .credit_o,
    .ram_corrected_o(corrected[4]),
    .ram_failed_o(failed[4])
  );
  assign ram_corrected_o = corrected != '0;
  assign ram_failed_o = failed != '0;

  always_ff @(posedge clk_i) begin
    sent_q <= sent;
    number_q <= number && !rst_i && !clear_i;
    same_q <= ack_i.look[6:0] == base;
    if (sent_i.frame_new) tail_q.frame <= tail_q.frame + 1'b1;
    if (sent_i.fct_new) tail_q.fct <= tail_q.fct + 1'b1;
    if (sent_i.broadcast_new) tail_q.broadcast <= tail_q.broadcast + 1'b1;
    if (number) count_q <= count_q + 7'd1;
    known_q <= ack_i.nack ? ack_i.seq[6:0] : count_q;
    if (ack_i.ack) begin
      if (!same_q) head_q <= acked;
      acked_q <= ack_i.seq[6:0];
    end
    if (ack_i.nack) begin
      count_q <= ack_i.seq[6:0];
      negative_q <= !negative_q;
    end
    freeing_q <= free_next;
    if (free_next) freed_q <= freed_q + 1'b1;
    items_q <= 8'(frames) + (tail_q.fct - head_q.fct) + 8'(broadcasts);
    if (clear_i) begin
      count_q <= '0;
      known_q <= '0;
      acked_q <= '0;
      negative_q <= 1'b0;
      head_q <= '{frame: '0, fct: '0, broadcast: tail_q.broadcast};
      tail_q <= '{frame: '0, fct: '0, broadcast: tail_q.broadcast};
      freed_q <= '0;
      freeing_q <= 1'b0;
      items_q <= '0;
    end
    if (rst_i) begin
      head_q <= '0;
      sent_q <= '0;
      tail_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !clear_i) begin
      a_items :
      assert (32'(items_q) <= Items)
      else $error("%0d items are not acknowledged", items_q);
      a_number :
      assert (7'(count_q - acked_q) != 7'd127 || !number)
      else $error("no number is free");
      a_one :
      assert (32'(sent_i.frame) + 32'(sent_i.fct) + 32'(sent_i.broadcast) <= 1)
      else $error("two items are sent in a cycle");
      a_ack :
      assert (!ack_i.ack || (ack_i.seq[7] == negative_q
          && 7'(ack_i.seq[6:0] - acked_q) <= 7'(count_q - acked_q)))
      else $error("a wrong number %h is acknowledged", ack_i.seq);
    end
  end
`endif
endmodule
