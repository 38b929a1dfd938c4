// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types between the event sources, the pipeline and the outputs of the engine.
package spfe_tcp_eng_flow_pkg;
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;

  /// A waiting event; held until it is taken.
  typedef struct packed {
    logic valid;
    sid_t sid;
  } eng_req_t;

  /// Waiting events of all sources, in order of priority.
  typedef struct packed {
    eng_req_t seg;  // segment of a session
    eng_req_t done;  // report of the transmitter; a session out of range is no event
    eng_req_t serve;  // session that needs service
    eng_req_t arp;  // answer to a next-hop query
    eng_req_t mac;  // session whose next hop has a new MAC address
    eng_req_t op;  // operation of software
    eng_req_t view;  // view request of software
    eng_req_t syn;  // listening session that accepts a SYN
    logic reset;  // segment without a session that needs a reset
  } eng_reqs_t;

  /// Which event is taken: seg, done and serve in the cycle of the selection, the others in the
  /// cycle after it.
  typedef struct packed {
    logic seg;
    logic done;
    logic serve;
    logic arp;
    logic mac;
    logic op;
    logic view;
    logic syn;
    logic reset;
  } eng_take_t;

  /// Data of the waiting events.
  typedef struct packed {
    eng_seg_t seg;
    seg_t find_seg;  // segment of syn and reset
    seq_t find_iss;  // initial sequence number for syn
    tx_done_t done;
    op_cmd_t op;
    seq_t op_iss;  // initial sequence number for op
    arp_answer_t arp;
    mac_t mac;
  } eng_data_t;

  /// An event in the write stage.
  typedef struct packed {
    kind_e kind;
    sid_t sid;
    eng_dec_t dec;
    eng_tcb_t tcb;  // state that is written
    eng_tcb_t old_tcb;  // state before the event
    eng_tup_t old_tup;  // four-tuple before the event
    seq_t snd_nxt;
    seq_t rcv_nxt;
    logic [15:0] rto;  // with backoff, before the event, in ticks
    logic [31:0] credit;  // free bytes in the ring
  } eng_commit_t;

endpackage
