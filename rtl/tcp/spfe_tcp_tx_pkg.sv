// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of the parts of the transmitter.
package spfe_tcp_tx_pkg;
  import spfe_tcp_pkg::*;

  /// Messages that can be between the user side and the end of their transmission: 2^SlotBits.
  localparam int unsigned SlotBits = 5;
  /// Number of a message; one bit more than a slot, so that full and empty differ.
  typedef logic [SlotBits:0] slot_t;

  /// Reasons in EvTxRefused.
  typedef enum logic [7:0] {
    RefusedClosed = 8'd1,  // the session is not open, or is none
    RefusedRing = 8'd2,  // no room in the ring
    RefusedLength = 8'd3,  // 0 or more than the MSS
    RefusedStale = 8'd4  // the session was closed or opened anew while the message came or waited
  } refused_e;

  /// A message.
  typedef struct packed {
    sid_t sid;
    logic gen;  // of the session when it began
    seq_t seq;  // of its first byte
    logic [15:0] len;  // bytes, as the user said in modes 1 and 2
    sum_t sum;  // as the user said in mode 2
    logic known;  // `sum` is given
    logic push;
  } desc_t;

  /// What is done to the state of a session.
  typedef enum logic [2:0] {
    StateStart = 3'd0,  // a live frame begins: reserve up to the end
    StateSent = 3'd1,  // it has left: SND.NXT and consumed advance
    StateDefer = 3'd2,  // the message is left to the engine: consumed advances
    StateWritten = 3'd3,  // a message is in the ring: written advances
    StateCommand = 3'd4,  // a segment of the engine has left
    StateSet = 3'd5  // snd_cmd
  } state_op_e;

  /// A request for it. Nothing happens if the pointer that is to advance is not `expected` (the session
  /// was closed by FIN), or the session is of another generation (it was opened anew): its
  /// sequence numbers may be the same by chance.
  typedef struct packed {
    state_op_e op;
    sid_t sid;
    logic gen;  // not of StateCommand and StateSet
    seq_t expected;
    seq_t target;  // the new value
    logic fin;  // StateCommand: the segment had FIN
  } state_req_t;

  /// Entry of the table of headers.
  typedef struct packed {
    mac_t dmac;
    vif_t vif;
    logic scaled;
    ip_t dip;
    port_t dport;
    port_t sport;
    sum_t ip_sum;  // of what is the same in all IP headers, and a length of 40
    sum_t tcp_sum;  // of pseudo-header and ports, and a length of 20
  } hdr_t;

  /// What became of a message.
  typedef enum logic [1:0] {
    EndSent = 2'd0,
    EndAborted = 2'd1,
    EndDeferred = 2'd2
  } end_e;

  typedef struct packed {
    end_e how;
    logic reserved;  // StateStart was done for it
    seq_t ack;  // EndSent: what its segment acknowledged
    desc_t desc;
  } outcome_t;

  /// Ones-complement sum of two sums; the carry is chosen, not added again.
  function automatic sum_t sum2(sum_t a, sum_t b);
    logic [16:0] s0;
    sum_t s1;
    s0 = {1'b0, a} + {1'b0, b};
    s1 = a + b + 16'd1;
    return s0[16] ? s1 : s0[15:0];
  endfunction

  /// Same sum: 0 and 0xFFFF are one number.
  function automatic logic sum_eq(sum_t a, sum_t b);
    return a == b || ((&a || ~|a) && (&b || ~|b));
  endfunction
endpackage
