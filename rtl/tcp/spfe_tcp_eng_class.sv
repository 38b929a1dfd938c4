// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What a segment is to a session from SYN-RECEIVED on, before its ACK is looked at (RFC 9293,
/// 3.10.7.4, with RFC 5961). Combinational; beside spfe_tcp_eng_calc.
module spfe_tcp_eng_class
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
(
    /// Segment, if the event is one; from the pipeline, as all of these.
    input seg_t seg_i,
    /// State of its session.
    input eng_tcb_t tcb_i,
    /// What the read stage has found.
    input eng_pre_t pre_i,
    /// What the segment is.
    output eng_class_t class_o
);
  logic half_open, brings;
  logic unused_bits;

  // Of structures handed on whole.
  assign unused_bits = ^{seg_i, tcb_i, pre_i};

  assign half_open = tcb_i.state == StSynRcvd;
  assign brings = seg_i.len != 16'd0 || seg_i.flags.fin;

  always_comb begin
    // Its sequence number is before the window, whatever data it has (RFC 9293, 3.10.7.4, first).
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
      // Old or beyond the window: tell where we are. A keepalive ends here too.
      class_o.kind = SegOutside;
      class_o.challenge = !seg_i.flags.rst && !brings;
      class_o.duplicate = !seg_i.flags.rst && brings;
    end else if (seg_i.flags.rst) begin
      class_o.kind = SegRst;
      class_o.challenge = !pre_i.exact;
    end else if (seg_i.flags.syn) begin
      // Half open from LISTEN: back there (RFC 9293, 3.10.7.4, fourth); else RFC 5961, 4.
      class_o.kind = SegSyn;
      class_o.challenge = !half_open || !tcb_i.passive;
    end else if (!seg_i.flags.ack) begin
      class_o.kind = SegBare;
    end else begin
      // Out of order or not wanted any more.
      class_o.kind = SegPlain;
      class_o.duplicate = brings && !seg_i.taken;
    end
  end

endmodule
