// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceFibre port with its management information base and its link events.
module spfe_ep_port
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Number of the port.
  parameter int unsigned Port = 0,
  /// Lanes, 1 to 16.
  parameter int unsigned Lanes = 1,
  /// Virtual channels, 1 to 32.
  parameter int unsigned Vcs = 4,
  /// Words in the output buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned OutputWords = 256 << $clog2(Lanes),
  /// Words in the input buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned InputWords = 256 << $clog2(Lanes),
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a number of words; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameter to set.
  input mib_set_t set_i,
  input logic set_valid_i,
  /// Register LINK_VECTOR.
  input logic [15:0] vector_i,
  /// Sets it for the port that set_i names.
  input logic vector_valid_i,
  /// Register to read: word of the port block, or element and word of the mib block.
  input live_t live_i,
  /// Word of the port block.
  output logic [31:0] value_o,
  /// Word of the mib block.
  output logic [31:0] item_o,
  /// Vector of a link event.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Packets can pass.
  output logic up_o,

  /// Words for each channel.
  input word_t [Vcs-1:0][Lanes-1:0] tx_i,
  /// Their number; with tx_i.
  input logic [Vcs-1:0][CountWidth-1:0] tx_count_i,
  input logic [Vcs-1:0] tx_valid_i,
  output logic [Vcs-1:0] tx_ready_o,
  /// Words of each channel.
  output word_t [Vcs-1:0][Lanes-1:0] rx_o,
  /// Their number; with rx_o.
  output logic [Vcs-1:0][CountWidth-1:0] rx_count_o,
  output logic [Vcs-1:0] rx_valid_o,
  input logic [Vcs-1:0] rx_ready_i,
  /// Broadcast message to send.
  input broadcast_t broadcast_i,
  input logic broadcast_valid_i,
  output logic broadcast_ready_o,
  /// Broadcast message received.
  output broadcast_t broadcast_o,
  output logic broadcast_valid_o,
  input logic broadcast_ready_i,

  /// Word to each lane; see spfe_sf_lane.
  output word_t [Lanes-1:0] line_o,
  /// The line driver is on.
  output logic [Lanes-1:0] line_on_o,
  /// Word from each lane.
  input word_t [Lanes-1:0] line_i,
  /// There is a signal.
  input logic [Lanes-1:0] line_on_i,
  /// The word boundary moved.
  input logic [Lanes-1:0] realigned_i,
  /// The receiver is on.
  output logic [Lanes-1:0] receive_o,
  /// The received bits are to be inverted.
  output logic [Lanes-1:0] invert_o
);
  link_param_t param;
  vc_param_t [Vcs-1:0] vc_param;
  lane_param_t [Lanes-1:0] lane_param;
  link_status_t status;
  vc_status_t [Vcs-1:0] vc_status;
  lane_status_t [Lanes-1:0] lane_status;
  multilane_param_t multilane_param;
  multilane_status_t multilane_status;
  assign multilane_param.bypass = 1'b0;

  spfe_ep_mib #(
    .Port(Port),
    .Lanes(Lanes),
    .Vcs(Vcs)
  ) i_mib (
    .clk_i,
    .rst_i,
    .set_i,
    .set_valid_i,
    .element_i(live_i.element),
    .word_i(live_i.word),
    .value_o(item_o),
    .sent_i(broadcast_i),
    .sent_valid_i(broadcast_valid_i && broadcast_ready_o),
    .received_i(broadcast_o),
    .received_valid_i(broadcast_valid_o && broadcast_ready_i),
    .param_o(param),
    .vc_param_o(vc_param),
    .lane_param_o(lane_param),
    .sending_lanes_o(multilane_param.max_data_sending),
    .multilane_status_i(multilane_status),
    .status_i(status),
    .vc_status_i(vc_status),
    .lane_status_i(lane_status)
  );

  logic [Vcs-1:0][CountWidth-1:0] tx_words;
  always_comb begin
    for (int i = 0; i < Vcs; i++) begin
      tx_words[i] = tx_valid_i[i] ? tx_count_i[i] : '0;
      rx_valid_o[i] = rx_count_o[i] != '0;
    end
  end
  spfe_sf_port #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .OutputWords(OutputWords),
    .InputWords(InputWords),
    .Protect(Protect)
  ) i_port (
    .clk_i,
    .rst_i,
    .param_i(param),
    .vc_param_i(vc_param),
    .multilane_param_i(multilane_param),
    .lane_param_i(lane_param),
    .status_o(status),
    .multilane_status_o(multilane_status),
    .lane_status_o(lane_status),
    .vc_status_o(vc_status),
    .tx_i,
    .tx_valid_i(tx_words),
    .tx_ready_o,
    .rx_o,
    .rx_valid_o(rx_count_o),
    .rx_ready_i,
    .broadcast_i,
    .broadcast_valid_i,
    .broadcast_ready_o,
    .broadcast_o,
    .broadcast_valid_o,
    .broadcast_ready_i,
    .line_o,
    .line_on_o,
    .line_i,
    .line_on_i,
    .realigned_i,
    .receive_o,
    .invert_o
  );

  // State for software.
  port_state_e state, state_now;
  logic [31:0] changes;
  logic starts, active;
  always_comb begin
    starts = 1'b0;
    active = 1'b0;
    for (int i = 0; i < Lanes; i++) begin
      starts |= lane_status[i].state != StClearLine && lane_status[i].state != StDisabled
          && !lane_status[i].no_signal;
      active |= lane_status[i].state == StActive;
    end
    state_now = starts ? PORT_STATE_STARTING : PORT_STATE_DOWN;
    if (up_o) state_now = PORT_STATE_UP;
  end
  assign up_o = active && status.state == RstInitialised;
  spfe_ep_link_state i_state (
    .clk_i,
    .rst_i,
    .state_i(state_now),
    .vector_i,
    .vector_valid_i(vector_valid_i && set_i.port == 6'(Port)),
    .state_o(state),
    .changes_o(changes),
    .event_o,
    .event_valid_o,
    .event_ready_i
  );

  // Messages that the link dropped, because the message queues were slower.
  logic [31:0] lost_q;
  always_ff @(posedge clk_i) begin
    lost_q <= rst_i ? '0 : lost_q + 32'(status.ev.broadcast_dropped);
  end
  always_comb begin
    value_o = live_i.word == 7'(PORT_BLOCK_STATE / 4) ? 32'(state) : changes;
    if (live_i.source == LiveBroadcast) value_o = lost_q;
  end

  logic unused;
  assign unused = ^live_i;
endmodule
