// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Builds frames of ARP packets and echo replies, of 60 bytes or more; ARP first. A frame has no gaps.
module spfe_tcp_net_tx
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
    /// Width of the MAC stream in bits: 32 or 64.
    parameter int unsigned MacTxWidth = 32,
    /// Bits of an address in each half of the buffer of echo.
    parameter int unsigned AddrBits = 8,
    /// Words in a beat; follows from MacTxWidth.
    localparam int unsigned Lanes = MacTxWidth / 32
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Configuration; from the registers.
    input tcp_cfg_t cfg_i,
    /// ARP packet to send.
    input arp_tx_t arp_i,
    /// There is one.
    input logic arp_valid_i,
    /// It is taken.
    output logic arp_ready_o,
    /// Echo reply to send; stable until echo_done_o.
    input echo_t echo_i,
    /// There is one.
    input logic echo_valid_i,
    /// It is sent, or discarded while the core is disabled; a pulse.
    output logic echo_done_o,
    /// It is sent; a pulse.
    output logic count_reply_o,
    /// Reads of the buffer: words of even and odd numbers.
    output logic rd_en_o,
    /// Half the number of the even word.
    output logic [AddrBits-1:0] rd_even_o,
    /// Half the number of the odd word, rounded down.
    output logic [AddrBits-1:0] rd_odd_o,
    /// The even word, in the next cycle.
    input logic [31:0] rd_even_i,
    /// The odd word, in the next cycle.
    input logic [31:0] rd_odd_i,
    /// Frame, first byte in bits 7:0; to the transmitter.
    output logic [MacTxWidth-1:0] net_data_o,
    /// Bytes that are part of it.
    output logic [MacTxWidth/8-1:0] net_keep_o,
    /// Beat is valid.
    output logic net_valid_o,
    /// It is taken.
    input logic net_ready_i,
    /// Last beat of the frame.
    output logic net_last_o
);
  localparam logic [15:0] ArpBytes = 16'd28;

  if (MacTxWidth != 32 && MacTxWidth != 64) begin : gen_bad_width
    $error("spfe_tcp_net_tx: MacTxWidth is %0d, must be 32 or 64", MacTxWidth);
  end

  typedef enum logic [1:0] {
    Idle,
    Send,
    Drain  // the last words are on their way
  } state_e;

  // The frame that is built.
  typedef struct packed {
    logic echo;
    logic reply;
    mac_t dmac;
    mac_t smac;
    logic vlan;
    logic [15:0] tag;
    ip_t ip;  // ours
    mac_t tha;
    ip_t peer;
    logic [15:0] len;  // bytes behind the Ethernet header
    logic [15:0] ip_check;
    logic [15:0] icmp_check;
  } job_t;

  state_e state_q;
  job_t job_q, job_d;
  vif_t vif;
  vif_cfg_t source;
  logic [15:0] bytes;  // of the frame
  logic start, advance;

  always_comb begin
    vif = arp_valid_i ? arp_i.vif : echo_i.vif;
    source = cfg_i.vif[vif];
    job_d.echo = !arp_valid_i;
    job_d.reply = arp_i.reply;
    job_d.dmac = arp_valid_i ? arp_i.dmac : echo_i.dmac;
    job_d.smac = source.mac;
    job_d.vlan = source.vlan;
    job_d.tag = source.tag;
    job_d.ip = source.ip;
    job_d.tha = arp_i.tha;
    job_d.peer = arp_valid_i ? arp_i.tpa : echo_i.dip;
    job_d.len = arp_valid_i ? ArpBytes : echo_i.len;
    job_d.ip_check = echo_i.ip_check;
    job_d.icmp_check = echo_i.icmp_check;
    bytes = job_d.len + 16'(EthBytes) + (source.vlan ? 16'd4 : 16'd0);
    if (bytes < 16'(FrameMin)) bytes = 16'(FrameMin);
  end

  assign start = state_q == Idle && cfg_i.enable && (arp_valid_i || echo_valid_i);
  assign arp_ready_o = state_q == Idle && cfg_i.enable;

  // First step: numbers of the words of a beat, with the tag and without it, and their addresses.
  pos_t beat_q;  // number of the first word, with the tag
  logic [15:0] left_q;  // bytes from this beat on
  pos_t [Lanes-1:0] word;
  logic [Lanes-1:0] is_tag;
  logic final_beat;

  always_comb begin
    rd_even_o = '0;
    rd_odd_o = '0;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      pos_t pos;
      pos = beat_q + pos_t'(lane);
      is_tag[lane] = job_q.vlan && pos == pos_t'(3);
      word[lane] = job_q.vlan && pos > pos_t'(3) ? pos - 1'b1 : pos;
      if (Lanes == 1 || !word[lane][0]) rd_even_o = word[lane][AddrBits:1];
      if (Lanes == 1 || word[lane][0]) rd_odd_o = word[lane][AddrBits:1];
    end
  end

  assign final_beat = left_q <= 16'(MacTxWidth / 8);
  assign rd_en_o = advance && state_q == Send && job_q.echo;

  // Second step: the words have been read; ours are put in their place.
  logic valid_q, final_q;
  pos_t [Lanes-1:0] word_q;
  logic [Lanes-1:0] is_tag_q;
  logic [3:0] keep_q;  // bytes of the beat
  logic [Lanes-1:0][31:0] built;

  /* verilator lint_off UNUSEDSIGNAL */  // each takes its part of the job
  function automatic logic [31:0] arp_word(job_t job, pos_t pos);
    unique case (pos)
      pos_t'(3): return {TypeArp, 16'd1};
      pos_t'(4): return {TypeIp, 16'h0604};
      pos_t'(5): return {job.reply ? 16'd2 : 16'd1, job.smac[47:32]};
      pos_t'(6): return job.smac[31:0];
      pos_t'(7): return job.ip;
      pos_t'(8): return job.tha[47:16];
      pos_t'(9): return {job.tha[15:0], job.peer[31:16]};
      pos_t'(10): return {job.peer[15:0], 16'd0};
      default: return '0;
    endcase
  endfunction

  // `stored`: the word of the request. Bytes behind the packet are 0.
  function automatic logic [31:0] echo_word(job_t job, pos_t pos, logic [31:0] stored);
    logic [17:0] past;
    logic [31:0] kept;
    past = 18'(job.len) + 18'(EthBytes) - {4'd0, pos, 2'd0};
    kept = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (!past[17] && past > 18'(i)) kept[31-8*i-:8] = stored[31-8*i-:8];
    end
    unique case (pos)
      pos_t'(5): return {stored[31:16], Ttl, ProtoIcmp};
      pos_t'(6): return {job.ip_check, job.ip[31:16]};
      pos_t'(7): return {job.ip[15:0], job.peer[31:16]};
      pos_t'(8): return {job.peer[15:0], 16'd0};
      pos_t'(9): return {job.icmp_check, kept[15:0]};
      default: return kept;
    endcase
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

  always_comb begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      unique case (word_q[lane])
        pos_t'(0): built[lane] = job_q.dmac[47:16];
        pos_t'(1): built[lane] = {job_q.dmac[15:0], job_q.smac[47:32]};
        pos_t'(2): built[lane] = job_q.smac[31:0];
        default: begin
          if (is_tag_q[lane]) built[lane] = {TypeVlan, job_q.tag};
          else if (!job_q.echo) built[lane] = arp_word(job_q, word_q[lane]);
          else built[lane] = echo_word(job_q, word_q[lane], word_q[lane][0] ? rd_odd_i : rd_even_i);
        end
      endcase
    end
  end

  // Third step: the register at the exit.
  logic out_valid_q, out_last_q;
  logic [MacTxWidth-1:0] out_data_q, out_data_d;
  logic [MacTxWidth/8-1:0] out_keep_q, out_keep_d;

  assign advance = !out_valid_q || net_ready_i;

  always_comb begin
    for (int unsigned i = 0; i < MacTxWidth / 8; i++) begin
      out_data_d[8*i+:8] = built[i/4][31-8*(i%4)-:8];
      out_keep_d[i] = 4'(i) < keep_q;
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        job_q <= job_d;
        beat_q <= '0;
        left_q <= bytes;
        if (start) state_q <= Send;
      end
      Send: begin
        if (advance) begin
          beat_q <= beat_q + pos_t'(Lanes);
          left_q <= left_q - 16'(MacTxWidth / 8);
          if (final_beat) state_q <= Drain;
        end
      end
      default: if (!valid_q) state_q <= Idle;
    endcase
    if (advance) begin
      valid_q <= state_q == Send;
      final_q <= final_beat;
      word_q <= word;
      is_tag_q <= is_tag;
      keep_q <= final_beat ? left_q[3:0] : 4'(MacTxWidth / 8);
      out_valid_q <= valid_q;
      out_last_q <= final_q;
      out_data_q <= out_data_d;
      out_keep_q <= out_keep_d;
    end
    if (rst_i) begin
      state_q <= Idle;
      valid_q <= 1'b0;
      out_valid_q <= 1'b0;
    end
  end

  // With the last read its place is free: at the rate of the line each cycle counts.
  assign count_reply_o = rd_en_o && final_beat;
  assign echo_done_o = count_reply_o || (echo_valid_i && state_q == Idle && !cfg_i.enable);
  assign net_data_o = out_data_q;
  assign net_keep_o = out_keep_q;
  assign net_valid_o = out_valid_q;
  assign net_last_o = out_last_q;

  // The rest of the configuration.
  logic unused;
  assign unused = ^{cfg_i, source};

`ifndef SYNTHESIS
  logic inside_q;  // within a frame
  always_ff @(posedge clk_i) begin
    inside_q <= !rst_i && (out_valid_q && net_ready_i ? !out_last_q : inside_q);
    if (!rst_i) a_gap: assert (!inside_q || out_valid_q) else $error("gap in a frame");
  end
`endif
endmodule
