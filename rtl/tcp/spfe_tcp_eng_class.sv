// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Classifies a segment for a session in SYN-RECEIVED or later, before its ACK is checked (RFC
/// 9293, 3.10.7.4, with RFC 5961). Combinational; part of the calc stage.
module spfe_tcp_eng_class
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
(
  /// Segment of the event.
  input seg_t seg_i,
  /// State of its session.
  input eng_tcb_t tcb_i,
  /// Results of the read stage.
  input eng_pre_t pre_i,
  /// Class of the segment.
  output eng_class_t class_o
);
  logic half_open, brings;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{seg_i, tcb_i, pre_i};

  assign half_open = tcb_i.state == StSynRcvd;
  assign brings = seg_i.len != 16'd0 || seg_i.flags.fin;

  always_comb begin
    // A SYN just before RCV.NXT is a retransmission, even if data makes it acceptable (RFC 9293,
    // 3.10.7.4, first step).
    class_o.syn_again = half_open && seg_i.flags.syn && pre_i.prior;
    class_o.crossed = class_o.syn_again && seg_i.flags.ack && !seg_i.flags.rst;
    class_o.again = !pre_i.accept && tcb_i.state == StTimeWait && seg_i.flags.fin &&
        !seg_i.flags.rst;
    class_o.challenge = 1'b0;
    class_o.duplicate = 1'b0;
    if (tcb_i.state == StTimeWait && tcb_i.passive && seg_i.flags.syn && !seg_i.flags.ack &&
        !seg_i.flags.rst && !pre_i.old && !pre_i.prior) begin
      class_o.kind = SegReopen;
      class_o.again = 1'b0;
    end else if (class_o.syn_again) begin
      class_o.kind = SegOutside;
    end else if (!pre_i.accept) begin
      // Old or beyond the window: tell the peer our state. Keepalives end here too.
      class_o.kind = SegOutside;
      class_o.challenge = !seg_i.flags.rst && !brings;
      class_o.duplicate = !seg_i.flags.rst && brings;
    end else if (seg_i.flags.rst) begin
      class_o.kind = SegRst;
      class_o.challenge = !pre_i.exact;
    end else if (seg_i.flags.syn) begin
      // SYN-RECEIVED after a passive open returns to LISTEN (RFC 9293, 3.10.7.4, fourth step);
      // other states follow RFC 5961, 4.
      class_o.kind = SegSyn;
      class_o.challenge = !half_open || !tcb_i.passive;
    end else if (!seg_i.flags.ack) begin
      class_o.kind = SegBare;
    end else begin
      // Data that was not accepted is out of order or no longer wanted.
      class_o.kind = SegPlain;
      class_o.duplicate = brings && !seg_i.taken;
    end
  end

endmodule
