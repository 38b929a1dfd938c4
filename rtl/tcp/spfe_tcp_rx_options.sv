// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Options of a TCP header: maximum segment size (RFC 9293, 3.7.1) and window scale (RFC 7323, 2).
///
/// All bytes of a beat are decoded in parallel, in three steps. First each byte is decoded as if an
/// option began there. One beat later the length of an option in the last byte is known; for each
/// byte the set of options follows that a chain from this byte would reach. Then the byte where the
/// first option begins selects one chain. An option that would exceed the header is ignored. A
/// length of 0 or 1 and the end-of-list option end the search.
module spfe_tcp_rx_options
  import spfe_tcp_rx_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned Width = 32,
  /// Number of bytes in a beat; follows from Width.
  localparam int unsigned Bytes = Width / 8
) (
  input logic clk_i,
  input logic rst_i,
  /// Data of a beat, the first byte in bits 7:0.
  input logic [Width-1:0] data_i,
  /// A beat is on the bus.
  input logic valid_i,
  /// Last beat of the frame.
  input logic last_i,
  /// The beat has word 13, with the first options.
  input logic begin_i,
  /// With begin_i: lane of word 13.
  input logic begin_lane_i,
  /// Data offset of this frame; valid with begin_i.
  input logic [3:0] doff_i,
  /// The beat has the first word of payload, where the header ends.
  input logic end_i,
  /// Options found; valid from three cycles after end_i until the next begin_i.
  output options_t options_o
);
  options_t options_q;
  logic run_q;  // between the first and the last beat with options
  logic fresh_q;  // late_q holds a beat that was not searched yet
  logic flush_q;  // search the last beat, although no further one comes
  logic [Width-1:0] late_q, look_q;
  logic look_valid_q;
  logic stop_q;
  logic [8:0] skip_q;  // distance of the next option from the first byte of look_q
  logic [6:0] left_q;  // distance of the end of the header from the first byte of look_q

  // A byte decoded as the first one of an option.
  typedef struct packed {
    logic stops;  // end of list, or an invalid length
    logic [Bytes-1:0] next;  // one-hot: byte of the same beat where the next option begins
    logic over;  // the next option begins after the beat
    logic [8:0] skip;  // with over: its distance from the first byte after the beat
    logic mss;
    logic ws;
  } kind_t;

  kind_t [Bytes-1:0] kind_q, kind_d;  // bytes of look_q
  kind_t [Bytes-1:0] early_q, early_d;  // bytes of late_q except the last one
  // chain_q[i][j]: if an option begins at byte i, one begins at byte j.
  logic [Bytes-1:0][Bytes-1:0] chain_q, chain_d;
  logic [Bytes+2:0] room_q;  // bit i: byte i from the first one of look_q on is in the header

  logic take;
  logic [2*Bytes-1:0][7:0] window;
  logic [Bytes-1:0][7:0] data;
  logic [Bytes-1:0] starts;
  logic stop;
  logic [8:0] skip;
  logic [6:0] begin_left;
  options_t found;

  assign options_o = options_q;
  assign data = data_i;
  assign take = valid_i && (begin_i || run_q);
  assign window = {late_q, look_q};
  assign begin_left = 7'({begin_lane_i, 2'd2}) +
      (doff_i < 4'd5 ? 7'd0 : {1'b0, doff_i - 4'd5, 2'd0});

  // Decodes byte i of a beat; second is the byte after it.
  function automatic kind_t kind_of(int unsigned i, logic [7:0] first, logic [7:0] second);
    kind_t k;
    k = '0;
    if (first == 8'd1) begin
      if (i + 1 < Bytes) k.next[(i+1)%Bytes] = 1'b1;
      else k.over = 1'b1;
    end else if (first == 8'd0 || second < 8'd2) begin
      k.stops = 1'b1;
    end else begin
      k.over = 1'b1;
      k.skip = 9'(i) + 9'(second) - 9'(Bytes);
      for (int unsigned j = i + 2; j < Bytes; j++) begin
        if (second == 8'(j - i)) begin
          k.next[j] = 1'b1;
          k.over = 1'b0;
        end
      end
    end
    k.mss = first == 8'd2 && second == 8'd4;
    k.ws = first == 8'd3 && second == 8'd3;
    return k;
  endfunction

  always_comb begin
    early_d = '0;
    for (int unsigned i = 0; i + 1 < Bytes; i++) early_d[i] = kind_of(i, data[i], data[i+1]);
    kind_d = early_q;
    kind_d[Bytes-1] = kind_of(Bytes - 1, late_q[Width-1-:8], data[0]);
  end

  // Transitive closure of `next`: each step doubles the number of options that a chain may have.
  always_comb begin
    logic [Bytes-1:0][Bytes-1:0] step;
    for (int unsigned i = 0; i < Bytes; i++) begin
      chain_d[i] = early_q[i].next;
      chain_d[i][i] = 1'b1;
    end
    for (int unsigned n = 1; n < Bytes - 1; n *= 2) begin
      step = chain_d;
      for (int unsigned i = 0; i < Bytes; i++) begin
        for (int unsigned j = i + 1; j < Bytes; j++) begin
          chain_d[i][j] = 1'b0;
          for (int unsigned k = i; k <= j; k++) begin
            if (step[i][k] && step[k][j]) chain_d[i][j] = 1'b1;
          end
        end
      end
    end
  end

  always_comb begin
    starts = '0;
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (skip_q == 9'(i) && !stop_q) starts |= chain_q[i];
    end
    starts &= room_q[Bytes-1:0];
    stop = stop_q;
    skip = skip_q < 9'(Bytes) ? '0 : skip_q - 9'(Bytes);
    found = options_q;
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (starts[i] && kind_q[i].stops) stop = 1'b1;
      if (starts[i] && kind_q[i].over) skip |= kind_q[i].skip;
      if (starts[i] && kind_q[i].mss && room_q[i+3]) found.mss = {window[i+2], window[i+3]};
      if (starts[i] && kind_q[i].ws && room_q[i+2]) begin
        found.has_ws = 1'b1;
        found.ws = window[i+2] > 8'd14 ? 4'd14 : window[i+2][3:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    look_valid_q <= 1'b0;
    flush_q <= 1'b0;
    if (valid_i || flush_q) begin
      late_q <= data_i;
      early_q <= early_d;
      look_q <= late_q;
      kind_q <= kind_d;
      chain_q <= chain_d;
      look_valid_q <= fresh_q;
    end
    if (flush_q) fresh_q <= 1'b0;
    if (take) begin
      fresh_q <= 1'b1;
      run_q <= !end_i && !last_i;
      flush_q <= end_i;
    end
    if (look_valid_q) begin
      options_q <= found;
      stop_q <= stop;
      skip_q <= skip;
      left_q <= left_q > 7'(Bytes) ? left_q - 7'(Bytes) : '0;
      for (int unsigned i = 0; i < Bytes + 3; i++) room_q[i] <= left_q > 7'(Bytes + i);
    end
    if (take && begin_i) begin
      fresh_q <= 1'b1;
      look_valid_q <= 1'b0;
      options_q <= '0;
      stop_q <= 1'b0;
      skip_q <= 9'({begin_lane_i, 2'd2});
      left_q <= begin_left;
      for (int unsigned i = 0; i < Bytes + 3; i++) room_q[i] <= begin_left > 7'(i);
    end
    if (rst_i) begin
      run_q <= 1'b0;
      fresh_q <= 1'b0;
      flush_q <= 1'b0;
      look_valid_q <= 1'b0;
      options_q <= '0;
    end
  end
endmodule
