// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Results of the calc and judge stages of the engine. They classify an event, so that the decide
/// stage only selects between precomputed values.
package spfe_tcp_eng_act_pkg;
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;

  /// Class of a segment for a session in SYN-RECEIVED or later, before its ACK is checked.
  typedef enum logic [2:0] {
    SegOutside = 3'd0,  // not acceptable (RFC 9293, 3.10.7.4, first step)
    SegRst = 3'd1,
    SegSyn = 3'd2,
    SegBare = 3'd3,  // neither RST nor SYN nor ACK
    SegPlain = 3'd4,
    SegReopen = 3'd5  // new SYN in TIME-WAIT
  } seg_class_e;

  typedef struct packed {
    seg_class_e kind;
    logic crossed;  // SYN-ACK of a simultaneous open, valid if its ACK is new
    logic challenge;  // answer with a rate-limited ACK
    logic duplicate;  // answer with an ACK; for SegPlain only if its ACK is in range
    logic syn_again;  // retransmitted SYN of this connection: our answer was lost
    logic again;  // restart the TIME-WAIT timer
  } eng_class_t;

  /// Action on a segment.
  typedef enum logic [2:0] {
    ActKeep = 3'd0,  // no change, except for pending acknowledgements
    ActAck = 3'd1,  // acceptable segment with an ACK in range
    ActClose = 3'd2,  // the connection ends
    ActReopen = 3'd3,
    ActRefuse = 3'd4  // answer with a reset
  } act_kind_e;

  /// Action and new field values. The fields are the new values for ActAck, and unchanged
  /// otherwise.
  typedef struct packed {
    act_kind_e kind;
    logic tell;  // ActClose: report it to the user
    close_e reason;  // ActClose: reason to report
    logic challenge;  // send a rate-limited ACK (RFC 5961, 7)
    logic dup_ack;
    logic ack_new;  // SND.UNA advances
    logic wnd_ok;  // take over the window of the segment
    logic opened;
    logic peer_fin;
    logic measured;  // the measured round trip is complete
    logic entered;  // fast recovery starts
    logic reopened;  // a closed send window has opened
    logic snd;  // issue a snd_cmd
    logic arm_dack;
    arm_e arm;
    cc_e cc;
    state_e state;
    rec_e rec;
    logic [1:0] dups;
    logic rexmit;
    logic recover_now;  // recover := SND.NXT; otherwise, with recover_una, SND.UNA
    logic recover_una;
    logic again_ack;  // again := ACK
    logic timing;
    logic rtt_due;
    logic syn_now;
    logic tries_zero;
    logic send_check;
    logic ack_pend;
    logic ack_now;
    logic ack_go;  // send the ACK with this event
  } eng_act_t;

  /// Action of a service event.
  typedef enum logic [3:0] {
    SendNone = 4'd0,  // not possible now
    SendRtt = 4'd1,  // process a round-trip sample, or restart the timer with the new RTO
    SendRst = 4'd2,
    SendSyn = 4'd3,
    SendProbe = 4'd4,
    SendGone = 4'd5,  // a retransmission is no longer needed
    SendShut = 4'd6,  // a retransmission is needed, but the window is closed
    SendLast = 4'd7,  // all data has been resent; resend FIN if it was sent
    SendAgain = 4'd8,
    SendWait = 4'd9,  // a retransmission is needed, but the window has no room
    SendNew = 4'd10,
    SendFin = 4'd11,
    SendAck = 4'd12  // no data to send; send an ACK if one is due
  } send_kind_e;

  typedef struct packed {
    send_kind_e kind;
    logic [15:0] len;  // bytes for SendAgain and SendNew
    logic push;  // SendNew: the segment ends the available data
    logic blocked;  // SendAck: the window holds data back
    logic [19:0] error;  // absolute difference of the sample and SRTT
  } eng_send_t;

  /// Selects one of the decisions that spfe_tcp_eng_decide computes.
  typedef enum logic [3:0] {
    RouteKeep = 4'd0,  // no change
    RouteClose = 4'd1,
    RouteAck = 4'd2,  // segment with ActAck
    RouteAnswer = 4'd3,  // segment with ActKeep
    RouteReopen = 4'd4,
    RouteRefuse = 4'd5,
    RouteSent = 4'd6,  // SYN received in SYN-SENT
    RouteDone = 4'd7,
    RouteRtt = 4'd8,
    RouteSend = 4'd9,
    RouteTimer = 4'd10,
    RouteReset = 4'd11,
    RouteOp = 4'd12,
    RouteArp = 4'd13,
    RouteMac = 4'd14,
    RoutePassive = 4'd15
  } route_e;

  /// Parameters of RouteClose.
  typedef struct packed {
    logic tell;  // report it to the user
    close_e reason;
    logic reset;  // send a reset to the peer
    logic free;  // do not return to LISTEN
    logic rst_seen;
    logic rto;
    logic arp_failed;
  } eng_close_t;

  /// Action of RouteOp.
  typedef enum logic [2:0] {
    OpaNone = 3'd0,  // no effect in this state
    OpaWait = 3'd1,  // retry later
    OpaListen = 3'd2,
    OpaConnect = 3'd3,
    OpaFree = 3'd4,  // stop listening
    OpaFin = 3'd5
  } op_act_e;

  /// Output of the judge stage.
  typedef struct packed {
    route_e route;
    eng_close_t close;
    eng_act_t act;
    eng_send_t send;
    op_act_e op;
    logic opening;  // SYN-SENT or SYN-RECEIVED
    logic keyed;
    logic resolving;
    logic half_open;  // SYN-RECEIVED
    logic counts;  // KindDone: the segment consumes sequence numbers and is not acknowledged yet
    logic mac_new;  // KindMac: the session uses another MAC address
    logic listens;  // KindSyn: the session can accept the connection
  } eng_case_t;

endpackage
