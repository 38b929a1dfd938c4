// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Output stage of the sender: the register before the MAC, and the frames of ARP and ICMP, which
/// are passed through and padded.
module spfe_tcp_tx_mac
  import spfe_tcp_io_pkg::*;
#(
  /// Bytes per beat: 4 or 8.
  parameter int unsigned MacBytes = 4,
  /// 1: pad frames of ARP and ICMP to 60 bytes.
  parameter bit MacPad = 1'b1
) (
  input logic clk_i,
  input logic rst_i,

  /// While idle: the frame of a session starts.
  input logic load_i,
  /// First beat of that frame.
  input logic [MacBytes*8-1:0] start_i,
  /// Current beat of the frame.
  input logic [MacBytes*8-1:0] data_i,
  /// The current beat is the last one.
  input logic final_i,
  /// The frame is aborted with the current beat.
  input logic stop_i,
  /// Valid bytes of the last beat.
  input logic [MacBytes-1:0] keep_i,
  /// Number of the current beat.
  input logic [11:0] beat_i,
  /// No frame is in progress.
  output logic idle_o,
  /// The frame of a session is in progress.
  output logic frame_o,
  /// A frame of ARP or ICMP is in progress.
  output logic net_o,
  /// The output register accepts a beat in this cycle.
  output logic adv_o,

  /// Frames of ARP and ICMP; valid stays high within a frame.
  input mac_beat_t net_i,
  input logic net_valid_i,

  /// Frames to the MAC; valid stays high within a frame.
  output mac_beat_t mac_o,
  output logic mac_valid_o,
  input logic mac_ready_i
);
  localparam logic [11:0] PadBeat = 12'(59 / MacBytes);
  localparam logic [MacBytes-1:0] PadKeep = MacBytes'((1 << ((59 % MacBytes) + 1)) - 1);

  typedef enum logic [1:0] {
    Idle = 2'd0,
    Frame = 2'd1,
    Net = 2'd2,
    NetPad = 2'd3
  } state_e;

  typedef struct packed {
    logic err;
    logic last;
    logic [MacBytes-1:0] keep;
    logic [MacBytes*8-1:0] data;
  } beat_t;

  state_e state_q, state_d, net_state;
  beat_t mac_q, mac_d, net_beat;
  logic valid_q, valid_d;
  logic unused_bits;

  assign unused_bits = ^net_i;

  assign adv_o = !valid_q || mac_ready_i;
  assign idle_o = state_q == Idle;
  assign frame_o = state_q == Frame;
  assign net_o = state_q == Net;
  assign mac_o = '{
      data: MacBits'(mac_q.data),
      keep: (MacBits / 8)'(mac_q.keep),
      last: mac_q.last,
      err: mac_q.err
    };
  assign mac_valid_o = valid_q;

  // Next beat and state of a frame of ARP or ICMP.
  always_comb begin
    net_beat.err = 1'b0;
    net_beat.keep = net_i.keep[MacBytes-1:0];
    net_beat.last = net_i.last;
    for (int unsigned i = 0; i < MacBytes; i++) begin
      net_beat.data[i*8+:8] = net_i.keep[i] ? net_i.data[i*8+:8] : 8'd0;
    end
    net_state = state_q == Idle && !net_valid_i ? Idle : net_i.last && net_valid_i ? Idle : Net;
    if (MacPad && net_valid_i && net_i.last) begin
      if (state_q == Idle || beat_i < PadBeat) begin
        net_beat.keep = '1;
        net_beat.last = 1'b0;
        net_state = NetPad;
      end else if (beat_i == PadBeat) begin
        net_beat.keep = net_i.keep[MacBytes-1:0] | PadKeep;
      end
    end
  end

  always_comb begin
    unique case (state_q)
      // Without a start of a session's frame, the beat belongs to a network frame or is idle.
      Idle: begin
        mac_d = load_i ? '{err: 1'b0, last: 1'b0, keep: '1, data: start_i} : net_beat;
        valid_d = load_i || net_valid_i;
        state_d = load_i ? Frame : net_state;
      end
      Frame: begin
        mac_d.err = stop_i;
        mac_d.last = final_i || stop_i;
        mac_d.keep = final_i && !stop_i ? keep_i : '1;
        mac_d.data = data_i;
        valid_d = 1'b1;
        state_d = final_i || stop_i ? Idle : Frame;
      end
      Net: begin
        mac_d = net_beat;
        valid_d = net_valid_i;
        state_d = net_state;
      end
      NetPad: begin
        mac_d.err = 1'b0;
        mac_d.last = beat_i == PadBeat;
        mac_d.keep = beat_i == PadBeat ? PadKeep : '1;
        mac_d.data = '0;
        valid_d = 1'b1;
        state_d = beat_i == PadBeat ? Idle : NetPad;
      end
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (adv_o) begin
      mac_q <= mac_d;
      valid_q <= valid_d;
      state_q <= state_d;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      state_q <= Idle;
    end
  end
endmodule
