// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Judge stage of the engine: determines the case of an event. Combinational.
module spfe_tcp_eng_judge
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
  /// 1: acknowledge each data segment at once.
  parameter bit InstantAck = 1'b0,
  /// 1: the congestion window limits sending.
  parameter bit CongestionControl = 1'b0
) (
  /// Kind of the event.
  input kind_e kind_i,
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// Class of the segment before its ACK is checked; from the calc stage.
  input eng_class_t class_i,
  /// Case of the event.
  output eng_case_t case_o
);
  eng_tcb_t tcb;
  eng_act_t act;
  eng_send_t send;
  logic opening, half_open, keyed, free;
  logic unused_bits;

  // The context is used in part.
  assign unused_bits = ^ctx_i;

  assign tcb = ctx_i.tcb;

  spfe_tcp_eng_judge_seg #(
    .InstantAck(InstantAck),
    .CongestionControl(CongestionControl)
  ) i_seg (
    .seg_i(ctx_i.seg),
    .tcb_i(tcb),
    .pre_i(ctx_i.pre),
    .p_i(ctx_i.p),
    .class_i,
    .room_i(ctx_i.room),
    .act_o(act)
  );
  spfe_tcp_eng_judge_send i_send (
    .tcb_i(tcb),
    .p_i(ctx_i.p),
    .room_i(ctx_i.room),
    .send_o(send)
  );

  assign half_open = tcb.state == StSynRcvd;
  assign opening = half_open || tcb.state == StSynSent;
  assign keyed = is_keyed(tcb.state);
  // The slot can be reused once its last command has been sent.
  assign free = tcb.busy == 2'd0 && !tcb.rst_now;

  always_comb begin
    case_o.act = act;
    case_o.send = send;
    case_o.opening = opening;
    case_o.half_open = half_open;
    case_o.keyed = keyed;
    case_o.resolving = tcb.state == StResolve;
    case_o.counts = keyed && ctx_i.p.done_open &&
        (ctx_i.done.len != 16'd0 || ctx_i.done.flags.syn || ctx_i.done.flags.fin);
    case_o.mac_new = keyed && tcb.dmac != ctx_i.mac;
    case_o.listens = tcb.state == StListen && free;
  end

  // Operations of software.
  always_comb begin
    case_o.op = OpaNone;
    unique case (ctx_i.op.op)
      OpListen: if (tcb.state inside {StClosed, StListen}) case_o.op = free ? OpaListen : OpaWait;
      OpConnect: if (tcb.state inside {StClosed, StListen}) case_o.op = free ? OpaConnect : OpaWait;
      OpClose: begin
        if (tcb.state == StListen) case_o.op = OpaFree;
        else if (tcb.state inside {StSynRcvd, StEstablished, StCloseWait}) case_o.op = OpaFin;
      end
      OpAbort: if (tcb.state == StListen) case_o.op = OpaFree;
      default: ;
    endcase
  end

  // Routes.
  always_comb begin
    case_o.route = RouteKeep;
    case_o.close = '{tell: 1'b1, reason: CloseDone, default: '0};
    unique case (kind_i)
      KindSegment: begin
        case_o.close.tell = act.tell;
        case_o.close.reason = act.reason;
        case_o.close.rst_seen = ctx_i.seg.flags.rst;
        if (tcb.state == StSynSent) begin
          // Segments in SYN-SENT (RFC 9293, 3.10.7.3).
          case_o.close.tell = 1'b1;
          case_o.close.reason = CloseRefused;
          if (ctx_i.seg.flags.ack && !ctx_i.p.ack_new) begin
            if (!ctx_i.seg.flags.rst) case_o.route = RouteRefuse;
          end else if (ctx_i.seg.flags.rst) begin
            if (ctx_i.seg.flags.ack) case_o.route = RouteClose;
          end else if (ctx_i.seg.flags.syn) begin
            case_o.route = RouteSent;
          end
        end else if (keyed) begin
          unique case (act.kind)
            ActAck: case_o.route = RouteAck;
            ActClose: case_o.route = RouteClose;
            ActReopen: case_o.route = RouteReopen;
            ActRefuse: case_o.route = RouteRefuse;
            default: case_o.route = RouteAnswer;
          endcase
        end
      end
      KindDone: case_o.route = RouteDone;
      KindServe: begin
        if (ctx_i.p.dack_due) begin
          case_o.route = RouteTimer;
        end else if (ctx_i.p.tmr_due) begin
          case_o.route = RouteTimer;
          if (tcb.tmr == TmTimeWait) begin
            case_o.route = RouteClose;
          end else if (ctx_i.p.give_up && ((tcb.tmr == TmRto && (opening || ctx_i.p.flying)) ||
              tcb.tmr == TmPersist)) begin
            case_o.route = RouteClose;
            case_o.close.tell = !(half_open && tcb.passive);
            case_o.close.reason = CloseTimeout;
            case_o.close.reset = !opening;
            case_o.close.rto = tcb.tmr == TmRto;
          end
        end else begin
          unique case (send.kind)
            SendNone: case_o.route = RouteKeep;
            SendRtt: case_o.route = RouteRtt;
            default: case_o.route = RouteSend;
          endcase
        end
      end
      KindOp: begin
        case_o.route = RouteOp;
        if (ctx_i.op.op == OpClose && tcb.state inside {StSynSent, StResolve}) begin
          case_o.route = RouteClose;
        end else if (ctx_i.op.op == OpAbort && !(tcb.state inside {StClosed, StListen})) begin
          case_o.route = RouteClose;
          case_o.close.reason = CloseAbort;
          case_o.close.reset = wants_reset(tcb.state);
          case_o.close.free = 1'b1;
        end
      end
      KindArp: begin
        case_o.close.reason = CloseNoRoute;
        case_o.close.arp_failed = 1'b1;
        if (tcb.state == StResolve && ctx_i.arp.found) case_o.route = RouteArp;
        else if (tcb.state == StResolve && ctx_i.arp.failed) case_o.route = RouteClose;
      end
      KindMac: case_o.route = RouteMac;
      KindSyn: case_o.route = RoutePassive;
      KindReset: case_o.route = RouteReset;
      default: ;
    endcase
  end

endmodule
