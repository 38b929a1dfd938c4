// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Slots of the messages in transmission. Each slot holds the description, the counted length and
/// sum, and whether the message is in the ring. These are written in message order; sender and
/// finisher each read in order.
module spfe_tcp_tx_queue
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
(
  input logic clk_i,
  /// Synchronous reset, active high; empties the queue.
  input logic rst_i,

  input logic desc_valid_i,
  /// Description of the message.
  input desc_t desc_i,
  /// sum_i and len_i are valid for the next message in order.
  input logic sum_valid_i,
  /// Ones-complement sum of the payload.
  input sum_t sum_i,
  /// Counted payload bytes.
  input logic [15:0] len_i,
  /// status_ok_i is valid for the next message in order.
  input logic status_valid_i,
  /// 1: the message is in the ring; 0: it was refused.
  input logic status_ok_i,
  /// At least one slot is free.
  output logic room_o,

  /// Sender: a message is waiting.
  output logic head_valid_o,
  /// Description of that message. Stable until head_pop_i and valid from the cycle after
  /// desc_valid_i.
  output desc_t head_o,
  /// Sender removes the message.
  input logic head_pop_i,
  /// head_sum_o is valid, possibly only from this cycle on.
  output logic head_sum_valid_o,
  /// Ones-complement sum of the waiting message.
  output sum_t head_sum_o,

  /// The oldest message has ended and tail_o is valid.
  output logic tail_valid_o,
  /// Finisher: sum, length and status of the oldest message.
  output tail_t tail_o,
  /// Frees the slot of the oldest message.
  input logic tail_pop_i
);
  localparam int unsigned Slots = 2 ** SlotBits;
  typedef logic [SlotBits-1:0] index_t;
  logic room_q;
  desc_t head_q;
  logic head_valid_q;

  slot_t desc_q, sum_q, status_q, next_q, tail_q;  // next_q: the slot after the head
  logic [15:0] unused_len;
  desc_t next_desc;
  sum_t next_sum;
  logic more_q;  // next_q holds a message
  logic known_q;  // head_sum_q is the sum of the head
  sum_t head_sum_q;

  spfe_lutram #(
    .Width($bits(desc_t)),
    .Depth(Slots)
  ) i_desc (
    .clk_i,
    .we_i(desc_valid_i),
    .addr_i(index_t'(desc_q)),
    .data_i(desc_i),
    .raddr_i(index_t'(next_q)),
    .rdata_o(next_desc)
  );
  spfe_lutram #(
    .Width(32),
    .Depth(Slots),
    .Ports(2)
  ) i_sum (
    .clk_i,
    .we_i(sum_valid_i),
    .addr_i(index_t'(sum_q)),
    .data_i({len_i, sum_i}),
    .raddr_i({index_t'(next_q), index_t'(tail_q)}),
    .rdata_o({unused_len, next_sum, tail_o.len, tail_o.sum})
  );
  spfe_lutram #(
    .Width(1),
    .Depth(Slots)
  ) i_status (
    .clk_i,
    .we_i(status_valid_i),
    .addr_i(index_t'(status_q)),
    .data_i(status_ok_i),
    .raddr_i(index_t'(tail_q)),
    .rdata_o(tail_o.ok)
  );

  assign room_o = room_q;
  assign head_o = head_q;
  assign head_valid_o = head_valid_q;

  always_ff @(posedge clk_i) begin
    if (desc_valid_i) desc_q <= desc_q + slot_t'(1);
    if (sum_valid_i) sum_q <= sum_q + slot_t'(1);
    if (status_valid_i) status_q <= status_q + slot_t'(1);
    if (tail_pop_i) tail_q <= tail_q + slot_t'(1);
    room_q <= !rst_i && slot_t'(desc_q - tail_q) < slot_t'(Slots - 2);

    // New head: the next waiting message, or the one that arrives in this cycle.
    if (head_pop_i) begin
      next_q <= next_q + slot_t'(1);
      more_q <= more_q && (desc_valid_i || desc_q != next_q + slot_t'(1));
    end else if (desc_valid_i && head_valid_q) begin
      more_q <= 1'b1;
    end
    if (head_pop_i || !head_valid_q) begin
      head_q <= more_q ? next_desc : desc_i;
      head_valid_q <= more_q || desc_valid_i;
    end

    // Sum of the head. Sums arrive in order, so while the head has none the next message has none.
    known_q <= head_sum_valid_o;
    if (!known_q) head_sum_q <= sum_i;
    if (head_pop_i) begin
      known_q <= known_q && (sum_q != next_q || sum_valid_i);
      head_sum_q <= sum_q != next_q ? next_sum : sum_i;
    end

    if (rst_i) begin
      desc_q <= '0;
      sum_q <= '0;
      status_q <= '0;
      next_q <= slot_t'(1);
      tail_q <= '0;
      more_q <= 1'b0;
      head_valid_q <= 1'b0;
      known_q <= 1'b0;
    end
  end

  // A sum that arrives in this cycle belongs to the head and can be used at once: the sender
  // removes a message only after its last beat has passed the FIFO, which takes as long as the sum
  // does.
  assign head_sum_valid_o = known_q || sum_valid_i;
  assign head_sum_o = known_q ? head_sum_q : sum_i;
  assign tail_valid_o = tail_q != sum_q && tail_q != status_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_order :
      assert (!head_pop_i || head_valid_q)
      else $error("more messages were dealt with than came");
      a_head :
      assert (known_q || !sum_valid_i || slot_t'(sum_q + slot_t'(1)) == next_q)
      else $error("the sum of a message that is gone");
      a_room :
      assert (slot_t'(desc_q - tail_q) <= slot_t'(Slots))
      else $error("a slot too many");
      a_sum :
      assert (!sum_valid_i || sum_q != desc_q)
      else $error("a sum of no message");
      a_status :
      assert (!status_valid_i || status_q != desc_q)
      else $error("no message");
    end
  end
`endif
endmodule
