// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Decisions for operations of software, answers of address resolution, and SYNs for listening
/// sessions. Combinational.
module spfe_tcp_eng_open
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
(
  /// Context of the event.
  input eng_ctx_t ctx_i,
  /// Case of the event; from the judge stage.
  input eng_case_t case_i,
  /// Window scaling is enabled (tcp_cfg_t).
  input logic wscale_en_i,
  /// A next-hop query can be started.
  input logic query_free_i,
  /// Decision for RouteOp.
  output eng_dec_t op_o,
  /// Decision for RouteArp.
  output eng_dec_t arp_o,
  /// Decision for RouteMac.
  output eng_dec_t mac_o,
  /// Decision for RoutePassive.
  output eng_dec_t passive_o
);
  eng_tcb_t tcb;
  eng_dec_t op_dec, arp_dec, mac_dec, passive_dec;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{ctx_i, case_i};

  assign tcb = ctx_i.tcb;

  always_comb begin
    op_dec = dec_keep(tcb, ctx_i.tup);
    op_dec.op_done = 1'b1;
    unique case (case_i.op)
      OpaWait: op_dec.op_done = 1'b0;
      OpaListen, OpaConnect: begin
        op_dec.tcb = '0;
        op_dec.tcb.una = ctx_i.iss;  // for an active open
        op_dec.tup.vif = ctx_i.op.vif;
        op_dec.tup.ip = ctx_i.op.ip;
        op_dec.tup.lport = ctx_i.op.lport;
        if (case_i.op == OpaListen) begin
          op_dec.tcb.state = StListen;
          op_dec.tcb.passive = 1'b1;
          op_dec.tcb.lip = ctx_i.op.ip;
          op_dec.tup.port = 16'd0;
        end else begin
          op_dec.tcb.state = StResolve;
          op_dec.tup.port = ctx_i.op.port;
          op_dec.query = query_free_i;
          op_dec.arm = ArmResolve;
        end
      end
      OpaFree: begin
        op_dec.tcb = '0;
        op_dec.tcb.una = tcb.una;
        op_dec.tcb.busy = tcb.busy;
        op_dec.tcb.rst_now = tcb.rst_now;
      end
      OpaFin: begin
        op_dec.tcb.fin_req = 1'b1;
        op_dec.tcb.send_check = !case_i.half_open;
        op_dec.snd = 1'b1;
      end
      default: ;
    endcase
  end

  // The next hop of an active open is known.
  always_comb begin
    arp_dec = dec_keep(tcb, ctx_i.tup);
    arp_dec.tcb.state = StSynSent;
    arp_dec.tcb.dmac = ctx_i.arp.mac;
    arp_dec.tcb.scaled = 1'b0;
    arp_dec.tcb.syn_now = 1'b1;
    arp_dec.arm = ArmStop;
    arp_dec.key = 1'b1;
    arp_dec.hdr = 1'b1;
    arp_dec.snd = 1'b1;
    arp_dec.snd_init = 1'b1;
    arp_dec.rcv = 1'b1;
  end

  // The MAC address of a next hop has changed.
  always_comb begin
    mac_dec = dec_keep(tcb, ctx_i.tup);
    if (case_i.mac_new) begin
      mac_dec.tcb.dmac = ctx_i.mac;
      mac_dec.hdr = 1'b1;
    end
    // It may be the next hop this session is waiting for.
    mac_dec.query = case_i.resolving && query_free_i;
  end

  // Passive open.
  always_comb begin
    passive_dec = dec_keep(tcb, ctx_i.tup);
    if (case_i.listens) begin
      // The receiver accepts only segments with the right ACK (see ack_lo_o of the engine).
      passive_dec = dec_syn(
        passive_dec,
        ctx_i.seg.seq,
        ctx_i.seg.wnd,
        ctx_i.p.mss,
        ctx_i.seg.has_ws && wscale_en_i,
        ctx_i.seg.ws
      );
      passive_dec.tcb.state = StSynRcvd;
      passive_dec.tcb.dmac = ctx_i.seg.smac;
      passive_dec.tcb.una = ctx_i.iss;
      passive_dec.tcb.syn_now = 1'b1;
      passive_dec.tup.vif = ctx_i.seg.vif;
      passive_dec.tup.ip = ctx_i.seg.sip;
      passive_dec.tup.port = ctx_i.seg.sport;
      passive_dec.tup.lport = ctx_i.seg.dport;
      passive_dec.key = 1'b1;
      passive_dec.snd_init = 1'b1;
    end else begin
      passive_dec.count.syn_drop = 1'b1;
    end
  end

  assign op_o = op_dec;
  assign arp_o = arp_dec;
  assign mac_o = mac_dec;
  assign passive_o = passive_dec;

endmodule
