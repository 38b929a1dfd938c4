// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Options of a TCP header: maximum segment size (RFC 9293, 3.7.1) and window scale (RFC 7323, 2).
///
/// All bytes of a beat are looked at together, one beat behind, so that the length of an option that
/// begins in it is there. Options that would go beyond the header are ignored; a length of 0 or 1
/// and the end-of-list option end the search.
module spfe_tcp_rx_options
  import spfe_tcp_rx_pkg::*;
#(
    /// Width of the MAC stream in bits: 32 or 64.
    parameter int unsigned Width = 32,
    /// Bytes in a beat; follows from Width.
    localparam int unsigned Bytes = Width / 8
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Beat, first byte in bits 7:0.
    input logic [Width-1:0] data_i,
    /// It is on the bus.
    input logic valid_i,
    /// Last beat of the frame.
    input logic last_i,
    /// Word 13, with the first options, is in the beat.
    input logic begin_i,
    /// With begin_i: in this lane.
    input logic begin_lane_i,
    /// Data offset; of this frame when begin_i comes.
    input logic [3:0] doff_i,
    /// The word with the first byte of payload is in the beat: the header ends there.
    input logic end_i,
    /// What was found, from three cycles after end_i until the next begin_i.
    output options_t options_o
);
  logic run_q;  // between the first and the last beat with options
  logic fresh_q;  // late_q is a beat that was not looked at
  logic flush_q;
  logic [Width-1:0] late_q, look_q;
  logic look_valid_q;
  logic stop_q;
  logic [8:0] skip_q;  // bytes from the first of look_q to the next option
  logic [6:0] left_q;  // bytes from the first of look_q to the end of the header

  // What each byte of look_q is if an option begins there.
  typedef struct packed {
    logic stops;  // end of list, or a length that cannot be
    logic [Bytes-1:0] next;  // byte of look_q where the next option begins
    logic over;  // that is behind look_q
    logic [8:0] skip;  // with over: by so many bytes
    logic mss;
    logic ws;
  } kind_t;

  kind_t [Bytes-1:0] kind_q, kind_d;
  logic [Bytes+2:0] room_q;  // byte from the first of look_q on is in the header

  logic take;
  logic [2*Bytes-1:0][7:0] window, coming;
  logic [Bytes-1:0] starts;
  logic stop;
  logic [8:0] skip;
  logic [6:0] begin_left;
  options_t found;

  assign take = valid_i && (begin_i || run_q);
  assign window = {late_q, look_q};
  assign coming = {data_i, late_q};
  assign begin_left = 7'({begin_lane_i, 2'd2}) +
      (doff_i < 4'd5 ? 7'd0 : {1'b0, doff_i - 4'd5, 2'd0});

  always_comb begin
    kind_d = '0;
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (coming[i] == 8'd1) begin
        if (i + 1 < Bytes) kind_d[i].next[(i+1)%Bytes] = 1'b1;
        else kind_d[i].over = 1'b1;
      end else if (coming[i] == 8'd0 || coming[i+1] < 8'd2) begin
        kind_d[i].stops = 1'b1;
      end else begin
        kind_d[i].over = 1'b1;
        kind_d[i].skip = 9'(i) + 9'(coming[i+1]) - 9'(Bytes);
        for (int unsigned j = i + 2; j < Bytes; j++) begin
          if (coming[i+1] == 8'(j - i)) begin
            kind_d[i].next[j] = 1'b1;
            kind_d[i].over = 1'b0;
          end
        end
      end
      kind_d[i].mss = coming[i] == 8'd2 && coming[i+1] == 8'd4;
      kind_d[i].ws = coming[i] == 8'd3 && coming[i+1] == 8'd3;
    end
  end

  always_comb begin
    starts = '0;
    stop = stop_q;
    skip = skip_q < 9'(Bytes) ? '0 : skip_q - 9'(Bytes);
    found = options_o;
    for (int unsigned i = 0; i < Bytes; i++) begin
      starts[i] = skip_q == 9'(i) && !stop_q;
      for (int unsigned j = 0; j < i; j++) if (starts[j] && kind_q[j].next[i]) starts[i] = 1'b1;
      if (!room_q[i]) starts[i] = 1'b0;
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
    if (take || flush_q) begin
      late_q <= data_i;
      look_q <= late_q;
      kind_q <= kind_d;
      look_valid_q <= fresh_q;
    end
    if (flush_q) fresh_q <= 1'b0;
    if (take) begin
      fresh_q <= 1'b1;
      run_q <= !end_i && !last_i;
      flush_q <= end_i;
    end
    if (look_valid_q) begin
      options_o <= found;
      stop_q <= stop;
      skip_q <= skip;
      left_q <= left_q > 7'(Bytes) ? left_q - 7'(Bytes) : '0;
      for (int unsigned i = 0; i < Bytes + 3; i++) room_q[i] <= left_q > 7'(Bytes + i);
    end
    if (take && begin_i) begin
      fresh_q <= 1'b1;
      look_valid_q <= 1'b0;
      options_o <= '0;
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
      options_o <= '0;
    end
  end
endmodule
