// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// ICMP echo (RFC 792). Buffers two requests, so that one can be received while the reply to the
/// other is sent; at line rate every request is answered as long as nothing else is sent. Requests
/// are dropped while both buffers are in use, and if they are fragments or have a wrong FCS,
/// checksum or length. Replies leave in the order of the requests.
module spfe_tcp_icmp
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
  /// Words per beat: 1 or 2.
  parameter int unsigned Lanes = 1,
  /// Number of virtual interfaces, 1 to MaxVifs.
  parameter int unsigned VifCount = 1,
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu = 1500,
  /// Words per half of the buffer; derived.
  localparam int unsigned Depth = echo_depth(Mtu),
  /// Address width of each half; derived.
  localparam int unsigned AddrBits = $clog2(Depth)
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// A frame starts with the words of this cycle.
  input logic start_i,
  /// The lane carries a word.
  input logic [Lanes-1:0] word_valid_i,
  /// Word number.
  input pos_t [Lanes-1:0] word_pos_i,
  /// Word data; first byte in bits 31:24.
  input logic [Lanes-1:0][31:0] word_data_i,
  /// end_i is valid: a frame has ended.
  input logic end_valid_i,
  /// The frame.
  input frame_end_t end_i,
  /// echo_o is valid; held until done_i.
  output logic echo_valid_o,
  /// Reply to send.
  output echo_t echo_o,
  /// The reply was sent; one cycle.
  input logic done_i,
  /// Reads an even and an odd word of the reply.
  input logic rd_en_i,
  /// Half the number of the even word.
  input logic [AddrBits-1:0] rd_even_i,
  /// Half the number of the odd word, rounded down.
  input logic [AddrBits-1:0] rd_odd_i,
  /// Even word, in the next cycle.
  output logic [31:0] rd_even_o,
  /// Odd word, in the next cycle.
  output logic [31:0] rd_odd_o,
  /// An echo request for one of our addresses was received; one cycle.
  output logic count_rx_o,
  /// The request was dropped; one cycle.
  output logic count_drop_o
);
  localparam logic [15:0] LenMin = 16'd28;  // headers of IP and ICMP

  // Two buffers, each with the words and the header fields of a reply.
  logic [1:0] used_q;  // holds a request, possibly with checksums not yet verified
  logic [1:0] full_q;  // holds a request that will be answered
  logic place, place_q;  // buffer that stores the incoming frame
  logic judged_q;  // buffer whose checksums are being verified
  logic first_q;  // buffer whose reply is sent first
  logic storing, storing_q;
  logic maybe, hold, free;

  // Candidate for an echo request: IPv4 without options, ICMP, type 8, code 0.
  logic is_ip_q, is_icmp_q, is_echo_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (word_valid_i[lane] && word_pos_i[lane] == pos_t'(3)) begin
        is_ip_q <= word_data_i[lane][31:8] == {TypeIp, 8'h45};
      end
      if (word_valid_i[lane] && word_pos_i[lane] == pos_t'(5)) begin
        is_icmp_q <= word_data_i[lane][7:0] == ProtoIcmp;
      end
      if (word_valid_i[lane] && word_pos_i[lane] == pos_t'(8)) begin
        is_echo_q <= word_data_i[lane][15:0] == 16'h0800;
      end
    end
  end
  assign maybe = end_i.bytes >= 16'(EthBytes) + LenMin && is_ip_q && is_icmp_q && is_echo_q;
  assign hold = end_valid_i && storing_q && maybe;

  // A frame is stored from its first word or not at all.
  always_comb begin
    storing = storing_q;
    place = place_q;
    if (start_i) begin
      place = used_q[0] || (hold && !place_q);
      storing = place ? !used_q[1] && !(hold && place_q) : 1'b1;
    end
  end

  // Even and odd words are in separate memories, so that two words can be accessed per cycle. A
  // word is written one cycle after it arrives, when storing_q tells whether to store it.
  logic [Lanes-1:0] word_fits_q;
  logic [Lanes-1:0][AddrBits:0] word_pos_q;
  logic [Lanes-1:0][31:0] word_data_q;
  logic [1:0] we;
  logic [1:0][AddrBits:0] waddr;
  logic [1:0][31:0] wdata;

  always_ff @(posedge clk_i) begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      word_fits_q[lane] <= word_valid_i[lane] && 32'(word_pos_i[lane]) < 2 * Depth;
      word_pos_q[lane] <= word_pos_i[lane][AddrBits:0];
      word_data_q[lane] <= word_data_i[lane];
    end
  end

  always_comb begin
    we = '0;
    for (int unsigned half = 0; half < 2; half++) begin
      waddr[half] = {place_q, word_pos_q[0][AddrBits:1]};
      wdata[half] = word_data_q[0];
      for (int unsigned lane = 0; lane < Lanes; lane++) begin
        if (word_pos_q[lane][0] == 1'(half)) begin
          we[half] = we[half] || (word_fits_q[lane] && storing_q);
          waddr[half] = {place_q, word_pos_q[lane][AddrBits:1]};
          wdata[half] = word_data_q[lane];
        end
      end
    end
  end

  spfe_bram #(
    .Width(32),
    .Depth(2 << AddrBits)
  ) i_even (
    .clk_i,
    .we_i(we[0]),
    .addr_i(waddr[0]),
    .data_i(wdata[0]),
    .re_i(rd_en_i),
    .raddr_i({first_q, rd_even_i}),
    .data_o(rd_even_o)
  );

  spfe_bram #(
    .Width(32),
    .Depth(2 << AddrBits)
  ) i_odd (
    .clk_i,
    .we_i(we[1]),
    .addr_i(waddr[1]),
    .data_i(wdata[1]),
    .re_i(rd_en_i),
    .raddr_i({first_q, rd_odd_i}),
    .data_o(rd_odd_o)
  );

  logic sums_good;
  logic [15:0] len;
  assign len = end_i.header[4][31:16];

  spfe_tcp_icmp_sum #(
    .Lanes(Lanes)
  ) i_sum (
    .clk_i,
    .rst_i,
    .start_i,
    .word_valid_i,
    .word_pos_i,
    .word_data_i,
    .len_i(len),
    .good_o(sums_good)
  );

  // Destination and lengths.
  vif_set_t ours;
  ip_t sip, dip;
  mac_t smac;
  logic [15:0] ttl_proto, ip_check, icmp_check, ip_less_q, icmp_less_q;
  logic fits;

  assign sip = {end_i.header[6][15:0], end_i.header[7][31:16]};
  assign dip = {end_i.header[7][15:0], end_i.header[8][31:16]};
  assign smac = {end_i.header[1][15:0], end_i.header[2]};
  assign ttl_proto = end_i.header[5][15:0];
  assign ip_check = end_i.header[6][31:16];
  assign icmp_check = end_i.header[9][31:16];

  always_comb begin
    ours = '0;
    for (int unsigned i = 0; i < VifCount; i++) begin
      ours[i] = end_i.unicast[i] && dip == cfg_i.vif[i].ip;
    end
  end

  // Not a fragment, valid length, sent by a single host (RFC 1122, 3.2.1.3 and 3.2.2.6).
  assign fits = !end_i.err && end_i.header[5][29:16] == '0 && len >= LenMin && 32'(len) <= Mtu
      && 32'(end_i.bytes) >= 32'(len) + EthBytes && !smac[40] && sip != '0
      && sip[31:28] < 4'd14;

  logic end_q, maybe_q, fits_q;
  logic hold_q, verdict_q;  // one and two cycles after hold
  logic told_q, good_q;  // one cycle later: a request for us; everything but the checksums is good
  vif_set_t ours_q;
  echo_t [1:0] echo_q;

  assign free = verdict_q && !(told_q && good_q && sums_good);
  assign count_rx_o = told_q;
  assign count_drop_o = told_q && !(verdict_q && good_q && sums_good);
  assign echo_valid_o = full_q[first_q];
  assign echo_o = echo_q[first_q];

  always_ff @(posedge clk_i) begin
    storing_q <= storing;
    place_q <= place;
    end_q <= end_valid_i;
    maybe_q <= maybe;
    fits_q <= fits;
    ours_q <= ours;
    told_q <= end_q && maybe_q && ours_q != '0;
    good_q <= fits_q;
    hold_q <= hold;
    verdict_q <= hold_q;
    if (hold) judged_q <= place_q;
    // A buffer stays free until its frame is accepted with hold, so it may be overwritten.
    if (end_valid_i && storing_q) begin
      echo_q[place_q].dmac <= smac;
      echo_q[place_q].dip <= sip;
      echo_q[place_q].len <= len;
    end
    // RFC 1624, equation 3: the type becomes 0 and the time to live Ttl.
    ip_less_q <= sum_add(~ip_check, ~ttl_proto);
    icmp_less_q <= sum_add(~icmp_check, ~16'h0800);
    if (hold_q) begin
      echo_q[judged_q].vif <= first_vif(ours_q);
      echo_q[judged_q].ip_check <= ~sum_add(ip_less_q, {Ttl, ProtoIcmp});
      echo_q[judged_q].icmp_check <= ~icmp_less_q;
    end
    // Send in the order in which the buffers were filled.
    if (done_i) first_q <= !first_q;
    else if (full_q == '0 && verdict_q) first_q <= judged_q;
    for (int unsigned i = 0; i < 2; i++) begin
      if (hold && place_q == 1'(i)) used_q[i] <= 1'b1;
      if (verdict_q && judged_q == 1'(i)) begin
        full_q[i] <= !free;
        used_q[i] <= !free;
      end
      if (done_i && first_q == 1'(i)) begin
        full_q[i] <= 1'b0;
        used_q[i] <= 1'b0;
      end
    end
    if (rst_i) begin
      used_q <= '0;
      full_q <= '0;
      first_q <= 1'b0;
      storing_q <= 1'b0;
      end_q <= 1'b0;
      told_q <= 1'b0;
      hold_q <= 1'b0;
      verdict_q <= 1'b0;
    end
  end

  // Configuration and header are used in part.
  logic unused;
  assign unused = ^{end_i, cfg_i};
endmodule
