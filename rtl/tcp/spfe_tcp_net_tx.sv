// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Builds frames for ARP packets and echo replies, padded to 60 bytes and without gaps. ARP has
/// priority.
module spfe_tcp_net_tx
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacTxWidth = 32,
  /// Address width of each half of the echo buffer.
  parameter int unsigned AddrBits = 8,
  /// Words per beat; derived.
  localparam int unsigned Lanes = MacTxWidth / 32
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// ARP packet to send.
  input arp_tx_t arp_i,
  input logic arp_valid_i,
  output logic arp_ready_o,
  /// Echo reply to send; held until echo_done_o.
  input echo_t echo_i,
  input logic echo_valid_i,
  /// The reply was sent, or discarded because the core is disabled; one cycle.
  output logic echo_done_o,
  /// A reply was sent; one cycle.
  output logic count_reply_o,
  /// Reads an even and an odd word of the echo buffer.
  output logic rd_en_o,
  /// Half the number of the even word.
  output logic [AddrBits-1:0] rd_even_o,
  /// Half the number of the odd word, rounded down.
  output logic [AddrBits-1:0] rd_odd_o,
  /// Even word, in the next cycle.
  input logic [31:0] rd_even_i,
  /// Odd word, in the next cycle.
  input logic [31:0] rd_odd_i,
  /// Frames to the transmitter.
  output mac_beat_t net_o,
  output logic net_valid_o,
  input logic net_ready_i
);
  localparam logic [15:0] ArpBytes = 16'd28;

  if (MacTxWidth != 32 && MacTxWidth != 64) begin : gen_bad_width
    $error("spfe_tcp_net_tx: MacTxWidth is %0d, must be 32 or 64", MacTxWidth);
  end

  typedef enum logic [1:0] {
    Idle,
    Send,
    Drain  // until the last words have been sent
  } state_e;

  // The frame being built.
  typedef struct packed {
    logic echo;
    logic reply;
    vif_t vif;
    mac_t dmac;
    mac_t tha;
    ip_t peer;
    logic [15:0] len;  // bytes after the Ethernet header
    logic [15:0] ip_check;
    logic [15:0] icmp_check;
  } job_t;

  localparam int unsigned Bytes = MacTxWidth / 8;
  // Number of initial beats that cannot be the last; the length is computed during them.
  localparam int unsigned Early = 3;
  localparam logic [15:0] LeftMin = 16'(FrameMin - Early * Bytes);

  state_e state_q;
  job_t job_q, job_d;
  vif_cfg_t source_q;  // interface of job_q, one cycle later
  // Bytes after the early beats, one more cycle later: total of the packet, padded of the frame.
  logic [15:0] total, total_q, padded_q;
  logic start, advance;

  always_comb begin
    job_d.echo = !arp_valid_i;
    job_d.reply = arp_i.reply;
    job_d.vif = arp_valid_i ? arp_i.vif : echo_i.vif;
    job_d.dmac = arp_valid_i ? arp_i.dmac : echo_i.dmac;
    job_d.tha = arp_i.tha;
    job_d.peer = arp_valid_i ? arp_i.tpa : echo_i.dip;
    job_d.len = arp_valid_i ? ArpBytes : echo_i.len;
    job_d.ip_check = echo_i.ip_check;
    job_d.icmp_check = echo_i.icmp_check;
  end

  assign start = state_q == Idle && cfg_i.enable && (arp_valid_i || echo_valid_i);
  assign arp_ready_o = state_q == Idle && cfg_i.enable;

  assign total = job_q.len + 16'(EthBytes - Early * Bytes) + (source_q.vlan ? 16'd4 : 16'd0);

  always_ff @(posedge clk_i) begin
    source_q <= cfg_i.vif[job_q.vif];
    total_q <= total;
    padded_q <= total < LeftMin ? LeftMin : total;
  end

  // Step 1: word numbers of the beat, without the tag, and their buffer addresses.
  logic [Early-1:0] early_q;  // one-hot number of the early beat; 0 afterwards
  pos_t [Lanes-1:0] word_q;
  logic tagged_q;  // the tag has been sent
  logic [15:0] left_q, real_q;  // bytes left from this beat: of the frame, of the packet
  logic is_tag, final_beat, short_q;  // short_q: real_q is less than a beat
  logic [Lanes-1:0][3:0] kept;  // bytes within the packet

  // As in spfe_tcp_front, the tag fills the last lane of its beat.
  assign is_tag = source_q.vlan && !tagged_q && word_q[Lanes-1] == pos_t'(3);
  assign final_beat = early_q == '0 && left_q <= 16'(Bytes);
  assign rd_en_o = advance && state_q == Send && job_q.echo;

  always_comb begin
    rd_even_o = word_q[0][AddrBits:1];
    rd_odd_o = word_q[0][AddrBits:1];
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (Lanes > 1 && !word_q[lane][0]) rd_even_o = word_q[lane][AddrBits:1];
      if (Lanes > 1 && word_q[lane][0]) rd_odd_o = word_q[lane][AddrBits:1];
      for (int unsigned i = 0; i < 4; i++) begin
        kept[lane][i] = early_q != '0 || !short_q || real_q[3:0] > 4'(4 * lane + i);
      end
    end
  end

  // One-hot selection of the field that we insert into a word.
  typedef struct packed {
    logic dmac;
    logic macs;
    logic smac;
    logic tag;
    logic arp_3;
    logic arp_4;
    logic arp_5;
    logic arp_6;
    logic arp_7;
    logic arp_8;
    logic arp_9;
    logic echo_5;
    logic echo_6;
    logic echo_7;
    logic echo_9;
    logic peer;
  } kind_t;

  function automatic kind_t kind_of(pos_t pos, logic tag, logic echo);
    kind_t kind;
    kind = '0;
    kind.dmac = pos == pos_t'(0);
    kind.macs = pos == pos_t'(1);
    kind.smac = pos == pos_t'(2);
    kind.tag = tag;
    kind.arp_3 = !tag && !echo && pos == pos_t'(3);
    kind.arp_4 = !echo && pos == pos_t'(4);
    kind.arp_5 = !echo && pos == pos_t'(5);
    kind.arp_6 = !echo && pos == pos_t'(6);
    kind.arp_7 = !echo && pos == pos_t'(7);
    kind.arp_8 = !echo && pos == pos_t'(8);
    kind.arp_9 = !echo && pos == pos_t'(9);
    kind.echo_5 = echo && pos == pos_t'(5);
    kind.echo_6 = echo && pos == pos_t'(6);
    kind.echo_7 = echo && pos == pos_t'(7);
    kind.echo_9 = echo && pos == pos_t'(9);
    kind.peer = pos == (echo ? pos_t'(8) : pos_t'(10));
    return kind;
  endfunction

  // Bytes of a word that are copied from the request.
  function automatic logic [3:0] stored_of(pos_t pos, logic tag, logic echo);
    if (!echo || tag || pos < pos_t'(3) || (pos > pos_t'(5) && pos < pos_t'(9))) return 4'b0000;
    if (pos == pos_t'(5)) return 4'b0011;
    if (pos == pos_t'(9)) return 4'b1100;
    return 4'b1111;
  endfunction

  // Step 2: the buffer words arrive; select our fields.
  logic valid_q, final_q;
  kind_t [Lanes-1:0] kind_q;
  logic [Lanes-1:0] odd_q;
  // Bytes to copy from the request; bit 0 is the first byte.
  logic [Lanes-1:0][3:0] stored_q;
  logic [3:0] keep_q;  // valid bytes of the beat
  logic [Lanes-1:0][31:0] ours, ours_q, read_q;
  logic built_q, built_final_q;
  logic [Lanes-1:0][3:0] built_stored_q;
  logic [3:0] built_keep_q;

  function automatic logic [31:0] when(logic on, logic [31:0] word);
    return on ? word : '0;
  endfunction

  always_comb begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      // verilog_format: off
      ours[lane] = when(kind_q[lane].dmac, job_q.dmac[47:16])
          | when(kind_q[lane].macs, {job_q.dmac[15:0], source_q.mac[47:32]})
          | when(kind_q[lane].smac || kind_q[lane].arp_6, source_q.mac[31:0])
          | when(kind_q[lane].tag, {TypeVlan, source_q.tag})
          | when(kind_q[lane].arp_3, {TypeArp, 16'd1})
          | when(kind_q[lane].arp_4, {TypeIp, 16'h0604})
          | when(kind_q[lane].arp_5, {job_q.reply ? 16'd2 : 16'd1, source_q.mac[47:32]})
          | when(kind_q[lane].arp_7, source_q.ip)
          | when(kind_q[lane].arp_8, job_q.tha[47:16])
          | when(kind_q[lane].arp_9, {job_q.tha[15:0], job_q.peer[31:16]})
          | when(kind_q[lane].echo_5, {16'd0, Ttl, ProtoIcmp})
          | when(kind_q[lane].echo_6, {job_q.ip_check, source_q.ip[31:16]})
          | when(kind_q[lane].echo_7, {source_q.ip[15:0], job_q.peer[31:16]})
          | when(kind_q[lane].echo_9, {job_q.icmp_check, 16'd0})
          | when(kind_q[lane].peer, {job_q.peer[15:0], 16'd0});
      // verilog_format: on
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle: begin
        job_q <= job_d;
        early_q <= Early'(1);
        tagged_q <= 1'b0;
        for (int unsigned lane = 0; lane < Lanes; lane++) word_q[lane] <= pos_t'(lane);
        if (start) state_q <= Send;
      end
      Send: begin
        if (advance) begin
          early_q <= early_q << 1;
          tagged_q <= tagged_q || is_tag;
          for (int unsigned lane = 0; lane < Lanes; lane++) begin
            word_q[lane] <= is_tag ? pos_t'(3 + lane) : word_q[lane] + pos_t'(Lanes);
          end
          left_q <= early_q != '0 ? padded_q : left_q - 16'(Bytes);
          real_q <= early_q != '0 ? total_q : short_q ? '0 : real_q - 16'(Bytes);
          short_q <= early_q != '0 ? total_q < 16'(Bytes) : short_q || real_q < 16'(2 * Bytes);
          if (final_beat) state_q <= Drain;
        end
      end
      default: if (!valid_q || advance) state_q <= Idle;
    endcase
    if (advance) begin
      valid_q <= state_q == Send;
      final_q <= final_beat;
      keep_q <= final_beat ? left_q[3:0] : 4'(Bytes);
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        kind_q[lane] <= kind_of(word_q[lane], lane == Lanes - 1 && is_tag, job_q.echo);
        odd_q[lane] <= word_q[lane][0];
        stored_q[lane] <= kept[lane] & stored_of(
          word_q[lane], lane == Lanes - 1 && is_tag, job_q.echo
        );
      end

      built_q <= valid_q;
      built_final_q <= final_q;
      built_keep_q <= keep_q;
      built_stored_q <= stored_q;
      ours_q <= ours;
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        read_q[lane] <= odd_q[lane] ? rd_odd_i : rd_even_i;
      end
    end
    if (rst_i) begin
      state_q <= Idle;
      valid_q <= 1'b0;
      built_q <= 1'b0;
    end
  end

  // Step 3: merge both and register the output.
  typedef struct packed {
    logic last;
    logic [Bytes-1:0] keep;
    logic [MacTxWidth-1:0] data;
  } beat_t;
  beat_t built, out;

  always_comb begin
    built.last = built_final_q;
    for (int unsigned i = 0; i < Bytes; i++) begin
      built.keep[i] = 4'(i) < built_keep_q;
      built.data[8*i+:8] = ours_q[i/4][31-8*(i%4)-:8]
          | (built_stored_q[i/4][i%4] ? read_q[i/4][31-8*(i%4)-:8] : 8'd0);
    end
  end

  spfe_slice #(
    .Width($bits(beat_t))
  ) i_exit (
    .clk_i,
    .rst_i,
    .valid_i(built_q),
    .ready_o(advance),
    .data_i(built),
    .valid_o(net_valid_o),
    .ready_i(net_ready_i),
    .data_o(out)
  );

  // The buffer is released with the last read rather than the last beat, because at line rate every
  // cycle counts.
  assign count_reply_o = rd_en_o && final_beat;
  assign echo_done_o = count_reply_o || (echo_valid_i && state_q == Idle && !cfg_i.enable);
  assign net_o = '{
      data: MacBits'(out.data),
      keep: (MacBits / 8)'(out.keep),
      last: out.last,
      err: 1'b0
    };

  // The configuration is used in part.
  logic unused;
  assign unused = ^{cfg_i, source_q};

`ifndef SYNTHESIS
  logic inside_q;  // a frame is in progress
  always_ff @(posedge clk_i) begin
    inside_q <= !rst_i && (net_valid_o && net_ready_i ? !net_o.last : inside_q);
    if (!rst_i)
      a_gap :
      assert (!inside_q || net_valid_o)
      else $error("gap in a frame");
  end
`endif
endmodule
