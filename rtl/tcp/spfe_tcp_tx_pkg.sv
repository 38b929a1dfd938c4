// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types shared by the blocks of the transmitter.
package spfe_tcp_tx_pkg;
  import spfe_tcp_pkg::*;

  /// log2 of the number of messages that can be between the user side and the end of transmission.
  localparam int unsigned SlotBits = 5;
  /// Message number. It has one bit more than a slot index, so that a full queue differs from an
  /// empty one.
  typedef logic [SlotBits:0] slot_t;

  /// Reason field of EvTxRefused.
  typedef enum logic [7:0] {
    RefusedClosed = 8'd1,  // the session is not open or does not exist
    RefusedRing = 8'd2,  // the ring has no room for the message
    RefusedLength = 8'd3,  // length is 0 or above the MSS
    RefusedStale = 8'd4  // the session was closed or reopened before the message was complete
  } refused_e;

  /// Description of a message, from its acceptance by the user side to the end of its transmission.
  typedef struct packed {
    sid_t sid;
    logic gen;  // generation of the session at the first beat
    seq_t seq;  // sequence number of the first byte
    logic [15:0] len;  // bytes, as announced in modes 1 and 2
    sum_t sum;  // payload sum, as announced in mode 2
    logic known;  // `sum` is valid
    logic push;
  } desc_t;

  /// Operations on the send state of a session.
  typedef enum logic [2:0] {
    StateStart = 3'd0,  // a live frame starts: reserve its sequence numbers
    StateSent = 3'd1,  // a live frame has left: SND.NXT and consumed advance
    StateDefer = 3'd2,  // the engine will send the message: consumed advances
    StateWritten = 3'd3,  // the ring holds a whole message: written advances
    StateCommand = 3'd4,  // a segment of the engine has left: SND.NXT advances
    StateSet = 3'd5  // carry out a snd_cmd_t
  } state_op_e;

  /// Request for an operation on the send state. It has no effect if the pointer to advance is not
  /// at `expected` (a FIN has closed the session) or if the generation differs (the session was
  /// reopened and may use the same sequence numbers by chance).
  typedef struct packed {
    state_op_e op;
    sid_t sid;
    logic gen;  // not checked by StateCommand and StateSet
    seq_t expected;
    seq_t target;  // new value of the pointer
    logic fin;  // StateCommand: the segment carried FIN
  } state_req_t;

  /// Entry of the header table: the fields that all segments of a session share.
  typedef struct packed {
    mac_t dmac;
    vif_t vif;
    logic scaled;
    logic fragment;  // the header has no DF
    ip_t dip;
    port_t dport;
    port_t sport;
    sum_t ip_sum;  // sum of the constant IP header fields and a total length of 40
    sum_t tcp_sum;  // sum of pseudo-header and ports, for a TCP length of 20
  } hdr_t;

  /// How the transmission of a message ended.
  typedef enum logic [1:0] {
    EndSent = 2'd0,
    EndAborted = 2'd1,
    EndDeferred = 2'd2
  } end_e;

  typedef struct packed {
    end_e how;
    logic reserved;  // StateStart has reserved its sequence numbers
    seq_t ack;  // EndSent: ACK field of the segment
    desc_t desc;
  } outcome_t;

  /// Oldest message in the queue, when it has ended.
  typedef struct packed {
    sum_t sum;  // ones-complement sum of the payload
    logic [15:0] len;  // counted bytes
    logic ok;  // it is in the ring; 0: it was refused
  } tail_t;

  /// A message that was refused.
  typedef struct packed {
    sid_t sid;
    refused_e why;
  } refusal_t;

  /// Payload of a segment in the ring memory.
  typedef struct packed {
    sid_t sid;
    seq_t seq;  // sequence number of the first byte
    logic [15:0] len;  // bytes
  } payload_t;

  /// A segment of the engine, ready for the sender.
  typedef struct packed {
    tx_cmd_t cmd;
    logic [15:0] bytes;  // bytes after the 20-byte TCP header: payload or options
    logic [3:0] options;  // 32-bit words of TCP options
    sum_t sum;  // ones-complement sum of payload or options
  } segment_t;

  /// Properties of the frame being sent. seq, ack and bytes are valid from the second cycle after
  /// the frame was loaded.
  typedef struct packed {
    logic vlan;  // it has an IEEE 802.1Q tag
    seq_t seq;
    seq_t ack;
    logic [15:0] bytes;  // bytes after the 20-byte TCP header
  } frame_t;

  /// Adds two ones-complement sums. Selecting between a + b and a + b + 1 avoids a second carry
  /// chain.
  function automatic sum_t sum2(sum_t a, sum_t b);
    logic [16:0] s0;
    sum_t s1;
    s0 = {1'b0, a} + {1'b0, b};
    s1 = a + b + 16'd1;
    return s0[16] ? s1 : s0[15:0];
  endfunction

  /// Compares two ones-complement sums: 0 and 0xFFFF represent the same value.
  function automatic logic sum_eq(sum_t a, sum_t b);
    return a == b || ((&a || ~|a) && (&b || ~|b));
  endfunction
endpackage
