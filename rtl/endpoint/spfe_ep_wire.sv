// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceWire port with one channel, its state and link events, and time-codes as messages. A
/// cycle of clk_i takes at most one bit each way.
module spfe_ep_wire
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sw_pkg::*;
#(
  /// Number of the port.
  parameter int unsigned Port = 0,
  /// Words in a beat of the channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Picoseconds in a cycle.
  parameter int unsigned CyclePs = 6400,
  /// Cycles of a bit in Run.
  parameter int unsigned BitCycles = 2,
  /// Bits of a number of words; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameter to set: the start of the link, or its reset.
  input mib_set_t set_i,
  input logic set_valid_i,
  /// Register LINK_VECTOR.
  input logic [15:0] vector_i,
  /// Sets it for the port that set_i names.
  input logic vector_valid_i,
  /// Register to read: word of the port block, or of the block of time-codes.
  input live_t live_i,
  /// Its value.
  output logic [31:0] value_o,
  /// Vector of a link event.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Packets can pass.
  output logic up_o,

  /// Words for the channel.
  input word_t [Words-1:0] tx_i,
  /// Their number; with tx_i.
  input logic [CountWidth-1:0] tx_count_i,
  input logic tx_valid_i,
  output logic tx_ready_o,
  /// Words of the channel.
  output word_t [Words-1:0] rx_o,
  /// Their number; with rx_o.
  output logic [CountWidth-1:0] rx_count_o,
  output logic rx_valid_o,
  input logic rx_ready_i,
  /// Time-code to send, in bits 7:0 of its data.
  input broadcast_t code_i,
  input logic code_valid_i,
  output logic code_ready_o,
  /// Time-code received.
  output broadcast_t code_o,
  output logic code_valid_o,
  input logic code_ready_i,

  /// Data (1) and strobe (0) to the far end.
  output logic [1:0] wire_o,
  /// Data and strobe from the far end, of any clock.
  input logic [1:0] wire_i
);
  // Time-codes that wait for the message queues.
  localparam int unsigned Codes = 8;

  logic mine;
  assign mine = set_i.port == 6'(Port);

  // Management. A port starts when the far end does, or when it is told to.
  sw_control_t control;
  logic start_q, reset_q;
  always_comb begin
    control = '{auto_start: 1'b1, default: '0};
    control.link_start = start_q;
    // A link that is disabled for a moment starts again, and ends packets with EEP.
    control.enabled = !reset_q;
  end
  always_ff @(posedge clk_i) begin
    reset_q <= mine && set_valid_i && set_i.item == MIB_ITEM_LINK_RESET;
    if (mine && set_valid_i && set_i.item == MIB_ITEM_LANE_START && set_i.element == '0)
      start_q <= set_i.value[0];
    if (rst_i) {start_q, reset_q} <= '0;
  end

  logic [8:0] tx_char, rx_char;
  logic tx_char_valid, tx_char_ready, rx_char_valid, rx_char_ready, came, unused_tick;
  logic [1:0] heard;
  logic [7:0] code;
  sw_status_t status;
  spfe_ep_chars_tx #(
    .Words(Words)
  ) i_tx (
    .clk_i,
    .rst_i,
    .words_i(tx_i),
    .count_i(tx_count_i),
    .words_valid_i(tx_valid_i),
    .words_ready_o(tx_ready_o),
    .char_o(tx_char),
    .char_valid_o(tx_char_valid),
    .char_ready_i(tx_char_ready)
  );
  spfe_sync #(
    .Width(2)
  ) i_sync (
    .clk_i,
    .data_i(wire_i),
    .data_o(heard)
  );
  spfe_sw_port #(
    .ResetCycles(6_400_000 / CyclePs),
    .WaitCycles(12_800_000 / CyclePs),
    .DisconnectCycles(850_000 / CyclePs),
    .StartBitCycles((100_000 + CyclePs / 2) / CyclePs)
  ) i_port (
    .clk_i,
    .rst_i,
    .control_i(control),
    .bit_cycles_i(8'(BitCycles)),
    .status_o(status),
    .tx_i(tx_char),
    .tx_valid_i(tx_char_valid),
    .tx_ready_o(tx_char_ready),
    .rx_o(rx_char),
    .rx_valid_o(rx_char_valid),
    .rx_ready_i(rx_char_ready),
    .code_i(code_i.data[7:0]),
    .code_valid_i,
    .code_ready_o,
    .code_o(code),
    .code_valid_o(came),
    .d_o(wire_o[1]),
    .s_o(wire_o[0]),
    .tick_o(unused_tick),
    .d_i(heard[1]),
    .s_i(heard[0])
  );
  word_t rx_word;
  spfe_ep_chars_rx i_rx (
    .clk_i,
    .rst_i,
    .char_i(rx_char),
    .char_valid_i(rx_char_valid),
    .char_ready_o(rx_char_ready),
    .word_o(rx_word),
    .word_valid_o(rx_valid_o),
    .word_ready_i(rx_ready_i)
  );
  always_comb begin
    rx_o = '0;
    rx_o[0] = rx_word;
    rx_count_o = CountWidth'(rx_valid_o);
  end

  // Time-codes.
  logic [7:0] waiting;
  logic taken, lost_q, unused_almost;
  logic [$clog2(Codes+1)-1:0] unused_count;
  logic [7:0] last_q;
  logic [31:0] received_q, invalid_q;
  logic lost;
  spfe_fifo #(
    .Width(9),
    .Depth(Codes)
  ) i_codes (
    .clk_i,
    .rst_i,
    .data_i({lost_q, code}),
    .valid_i(came),
    .ready_o(taken),
    .data_o({lost, waiting}),
    .valid_o(code_valid_o),
    .ready_i(code_ready_i),
    .count_o(unused_count),
    .almost_full_o(unused_almost)
  );
  assign code_o = '{lost: lost, data: 64'(waiting), default: '0};
  always_ff @(posedge clk_i) begin
    if (came) begin
      lost_q <= !taken;
      received_q <= received_q + 32'd1;
      if (!is_interrupt(code)) begin
        last_q <= code;
        if (code[5:0] != last_q[5:0] + 6'd1) invalid_q <= invalid_q + 32'd1;
      end
    end
    if (rst_i) begin
      lost_q <= 1'b0;
      last_q <= '0;
      received_q <= '0;
      invalid_q <= '0;
    end
  end

  // State. A port that searches for a far end tries again and again, and is down meanwhile.
  port_state_e state, state_now;
  logic [31:0] changes;
  assign up_o = status.state == SwRun;
  always_comb begin
    state_now = status.state == SwConnecting ? PORT_STATE_STARTING : PORT_STATE_DOWN;
    if (up_o) state_now = PORT_STATE_UP;
  end
  spfe_ep_link_state i_state (
    .clk_i,
    .rst_i,
    .state_i(state_now),
    .vector_i,
    .vector_valid_i(mine && vector_valid_i),
    .state_o(state),
    .changes_o(changes),
    .event_o,
    .event_valid_o,
    .event_ready_i
  );
  always_comb begin
    value_o = live_i.word == 7'(PORT_BLOCK_STATE / 4) ? 32'(state) : changes;
    if (live_i.source == LiveBroadcast) begin
      case (32'(live_i.word))
        TIME_CODE_BLOCK_LAST / 4: value_o = 32'(last_q);
        TIME_CODE_BLOCK_RECEIVED / 4: value_o = received_q;
        default: value_o = invalid_q;
      endcase
    end
  end

  if (BitCycles < 1 || BitCycles > 255 || CyclePs * 5 > 100_000) begin : gen_bad_rate
    $error(
      "spfe_ep_wire: a bit of %0d cycles of %0d ps; 1 to 255 cycles, of at most 20 ns",
      BitCycles,
      CyclePs
    );
  end

  logic unused;
  assign unused = ^{set_i, live_i, code_i, status};
endmodule
