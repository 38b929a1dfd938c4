// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What the calc and judge stages of the protocol engine find out for the decide stage: which case an
/// event is, so that the decision has only to choose between values.
package spfe_tcp_eng_act_pkg;
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;

  /// What a segment is to a session from SYN-RECEIVED on, before its ACK is looked at.
  typedef enum logic [2:0] {
    SegOutside = 3'd0,  // not acceptable (RFC 9293, 3.10.7.4, first)
    SegRst = 3'd1,
    SegSyn = 3'd2,
    SegBare = 3'd3,  // without ACK
    SegPlain = 3'd4,
    SegReopen = 3'd5  // a new SYN in TIME-WAIT
  } seg_class_e;

  typedef struct packed {
    seg_class_e kind;
    logic crossed;  // the SYN-ACK of a simultaneous open, if its ACK is new
    logic challenge;  // to be acknowledged within the limit
    logic duplicate;  // to be acknowledged always; SegPlain: if the ACK is in range
    logic syn_again;  // the SYN that made the session: our answer was lost
    logic again;  // TIME-WAIT begins anew
  } eng_class_t;

  /// What a segment does.
  typedef enum logic [2:0] {
    ActKeep = 3'd0,  // no change but in what is acknowledged
    ActAck = 3'd1,  // acceptable, with an ACK in range
    ActClose = 3'd2,  // the connection is gone
    ActReopen = 3'd3,
    ActRefuse = 3'd4  // answered with a reset
  } act_kind_e;

  /// The small fields are new values if it is ActAck, and else as they were.
  typedef struct packed {
    act_kind_e kind;
    logic tell;  // ActClose: the user had a connection
    close_e reason;  // ActClose
    logic challenge;  // within the limit (RFC 5961, 7)
    logic dup_ack;
    logic ack_new;  // SND.UNA advances
    logic wnd_ok;  // the window is taken over
    logic opened;
    logic peer_fin;
    logic measured;  // a round trip has ended
    logic entered;  // recovery begins after three duplicates
    logic reopened;  // a window that was closed has opened
    logic snd;  // snd_cmd
    logic arm_dack;
    arm_e arm;
    cc_e cc;
    state_e state;
    rec_e rec;
    logic [1:0] dups;
    logic rexmit;
    logic recover_now;  // recover becomes SND.NXT, else SND.UNA if recover_una
    logic recover_una;
    logic again_ack;  // `again` becomes ACK
    logic timing;
    logic rtt_due;
    logic syn_now;
    logic tries_zero;
    logic send_check;
    logic ack_pend;
    logic ack_now;
    logic ack_go;  // the acknowledgement leaves with this event
  } eng_act_t;

  /// What the service does.
  typedef enum logic [3:0] {
    SendNone = 4'd0,  // not now
    SendRtt = 4'd1,  // a sample of a round trip, or the RTO has changed
    SendRst = 4'd2,
    SendSyn = 4'd3,
    SendProbe = 4'd4,
    SendGone = 4'd5,  // nothing is left that was to be sent again
    SendShut = 4'd6,  // again, but the window is closed
    SendLast = 4'd7,  // all data has left again
    SendAgain = 4'd8,
    SendWait = 4'd9,  // again, but there is no room in the window
    SendNew = 4'd10,
    SendFin = 4'd11,
    SendAck = 4'd12  // no data: an acknowledgement if one is due
  } send_kind_e;

  typedef struct packed {
    send_kind_e kind;
    logic [15:0] len;  // of SendAgain and SendNew
    logic push;  // SendNew: the end of what there is
    logic blocked;  // SendAck: the window keeps something back
    logic [19:0] error;  // distance of the sample from SRTT
  } eng_send_t;

  /// The one of the possible decisions that holds.
  typedef enum logic [3:0] {
    RouteKeep = 4'd0,  // nothing
    RouteClose = 4'd1,
    RouteAck = 4'd2,  // segment: ActAck
    RouteAnswer = 4'd3,  // segment: ActKeep
    RouteReopen = 4'd4,
    RouteRefuse = 4'd5,
    RouteSent = 4'd6,  // SYN in SYN-SENT
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

  /// RouteClose.
  typedef struct packed {
    logic tell;  // the user had a connection
    close_e reason;
    logic reset;  // the peer is to know
    logic free;  // the slot does not go back to LISTEN
    logic rst_seen;
    logic rto;
    logic arp_failed;
  } eng_close_t;

  /// RouteOp.
  typedef enum logic [2:0] {
    OpaNone = 3'd0,  // of no use
    OpaWait = 3'd1,  // to be tried again
    OpaListen = 3'd2,
    OpaConnect = 3'd3,
    OpaFree = 3'd4,  // listens no more
    OpaFin = 3'd5
  } op_act_e;

  /// What the judge stage says.
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
    logic counts;  // KindDone: takes sequence numbers that are not acknowledged yet
    logic mac_new;  // KindMac: the session has another address
    logic listens;  // KindSyn: the session can be opened
  } eng_case_t;

endpackage
