// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Management information base of a port: its parameters, its status, and its errors until the link
/// is reset (ECSS-E-ST-50-11C, 5.9).
module spfe_ep_mib
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
  /// Words of an FCT and of a segment, in units of 64, for the items of these names.
  parameter int unsigned FctMultiplier = Lanes > 8 ? 8 : Lanes,
  /// As above.
  parameter int unsigned SegmentMultiplier = Lanes,
  /// Bandwidth credit limit in rows, and its threshold in tenths below zero, as of spfe_sf_qos.
  parameter int unsigned CreditLimit = 16384,
  /// As above.
  parameter int unsigned ThresholdTenths = 9
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameter to set.
  input mib_set_t set_i,
  input logic set_valid_i,

  /// Item to read: element and word of the mib block.
  input logic [9:0] element_i,
  /// As above.
  input logic [6:0] word_i,
  /// Its value.
  output logic [31:0] value_o,

  /// Broadcast message that the link takes to send.
  input broadcast_t sent_i,
  input logic sent_valid_i,
  /// Broadcast message received.
  input broadcast_t received_i,
  input logic received_valid_i,

  /// Parameters of the link.
  output link_param_t param_o,
  /// Parameters of each virtual channel.
  output vc_param_t [Vcs-1:0] vc_param_o,
  /// Parameters of each lane.
  output lane_param_t [Lanes-1:0] lane_param_o,
  /// Most lanes that send data.
  output logic [4:0] sending_lanes_o,
  /// Status of the link.
  input link_status_t status_i,
  /// Status of each virtual channel.
  input vc_status_t [Vcs-1:0] vc_status_i,
  /// Status of the multi-lane layer.
  input multilane_status_t multilane_status_i,
  /// Status of each lane.
  input lane_status_t [Lanes-1:0] lane_status_i
);
  // Values after reset, as of the model spfe-link.
  localparam logic [15:0] BandwidthVc0 = 16'd6554;
  localparam logic [15:0] BandwidthOther = 16'd256;
  localparam logic [15:0] BroadcastBandwidth = 16'd6554;
  localparam logic [23:0] IdleLimit = 24'h2_625A;
  localparam lane_param_t LaneStart = '{tx_en: 1'b1, rx_en: 1'b1, auto_start: 1'b1, default: '0};

  link_param_t param_q;
  vc_param_t [Vcs-1:0] vc_q;
  lane_param_t [Lanes-1:0] lane_q;
  logic [15:0] broadcast_share_q;
  logic [Vcs-1:0][15:0] share_q;
  logic [Vcs-1:0][5:0] network_q;
  logic [7:0] channel_q;
  // Type of the messages that begin a time-slot; none has type 256.
  logic [8:0] schedule_q;
  logic [4:0] sending_q;
  logic set, defaults;

  assign param_o = param_q;
  assign vc_param_o = vc_q;
  assign lane_param_o = lane_q;
  assign sending_lanes_o = sending_q;
  assign set = set_valid_i && set_i.port == 6'(Port);
  assign defaults = param_q.interface_reset || rst_i;

  always_ff @(posedge clk_i) begin
    param_q.link_reset <= set && set_i.item == MIB_ITEM_LINK_RESET;
    param_q.interface_reset <= set && set_i.item == MIB_ITEM_INTERFACE_RESET;
    if (sent_valid_i && 9'(sent_i.kind) == schedule_q) param_q.time_slot <= sent_i.data[5:0];
    if (received_valid_i && 9'(received_i.kind) == schedule_q)
      param_q.time_slot <= received_i.data[5:0];
    if (set) begin
      case (set_i.item)
        MIB_ITEM_BROADCAST_CHANNEL: channel_q <= set_i.value[7:0];
        MIB_ITEM_SCHEDULE: param_q.time_slot <= set_i.value[5:0];
        MIB_ITEM_SCHEDULE_TYPE: schedule_q <= set_i.value[8:0];
        MIB_ITEM_DATA_SCRAMBLED: param_q.data_scrambled <= set_i.value[0];
        MIB_ITEM_EXPECTED_BROADCAST_BANDWIDTH: begin
          broadcast_share_q <= set_i.value[15:0];
          param_q.broadcast_rows <= set_i.share[18:0];
        end
        MIB_ITEM_IDLE_TIME_LIMIT: param_q.idle_limit <= set_i.value[23:0];
        MIB_ITEM_MAX_DATA_SENDING_LANES: sending_q <= set_i.value[4:0];
        default: ;
      endcase
    end
    if (defaults) begin
      param_q.data_scrambled <= 1'b1;
      param_q.broadcast_rows <= 19'((4 * 65536 + 32'(BroadcastBandwidth) / 2) /
                                    32'(BroadcastBandwidth));
      param_q.time_slot <= '0;
      param_q.idle_limit <= IdleLimit;
      param_q.routing_switch <= 1'b0;
      broadcast_share_q <= BroadcastBandwidth;
      channel_q <= '0;
      schedule_q <= 9'd256;
      sending_q <= 5'(Lanes);
    end
    if (rst_i) param_q.interface_reset <= 1'b0;
  end

  for (genvar i = 0; i < Vcs; i++) begin : gen_vc
    localparam logic [15:0] Bandwidth = i == 0 ? BandwidthVc0 : BandwidthOther;
    always_ff @(posedge clk_i) begin
      if (set && set_i.element == 6'(i)) begin
        case (set_i.item)
          MIB_ITEM_VIRTUAL_NETWORK: network_q[i] <= set_i.value[5:0];
          MIB_ITEM_PRIORITY: vc_q[i].priority_level <= set_i.value[3:0];
          MIB_ITEM_EXPECTED_BANDWIDTH: begin
            share_q[i] <= set_i.value[15:0];
            vc_q[i].price <= set_i.share;
          end
          MIB_ITEM_TIME_SLOTS: vc_q[i].time_slots <= set_i.value;
          MIB_ITEM_CONTINUOUS_MODE: vc_q[i].continuous <= set_i.value[0];
          default: ;
        endcase
      end
      if (defaults) begin
        network_q[i] <= 6'(i);
        share_q[i] <= Bandwidth;
        vc_q[i] <= '{
          priority_level: 4'd15,
          price: 25'((1 << 24) / 32'(Bandwidth)),
          time_slots: '1,
          continuous : 1'b0
        };
      end
    end
  end

  for (genvar i = 0; i < Lanes; i++) begin : gen_lane
    always_ff @(posedge clk_i) begin
      if (set && set_i.element == 6'(i)) begin
        case (set_i.item)
          MIB_ITEM_TX_EN: lane_q[i].tx_en <= set_i.value[0];
          MIB_ITEM_RX_EN: lane_q[i].rx_en <= set_i.value[0];
          MIB_ITEM_LANE_START: lane_q[i].lane_start <= set_i.value[0];
          MIB_ITEM_AUTO_START: lane_q[i].auto_start <= set_i.value[0];
          MIB_ITEM_LANE_RESET: lane_q[i].lane_reset <= set_i.value[0];
          MIB_ITEM_NEAR_END_PARALLEL_LOOPBACK: lane_q[i].near_end_loopback <= set_i.value[0];
          MIB_ITEM_FAR_END_PARALLEL_LOOPBACK: lane_q[i].far_end_loopback <= set_i.value[0];
          MIB_ITEM_STANDBY_REASON: lane_q[i].standby_reason <= set_i.value[7:0];
          default: ;
        endcase
      end
      if (defaults) lane_q[i] <= LaneStart;
    end
  end

  // Errors, from the event to the reset of the link.
  logic crc16_q, crc8_q, frame_q, sequence_q, protocol_q, far_reset_q, forget;
  logic [31:0] attempts_q, misaligned_q;
  logic [Vcs-1:0] overflow_q, credit_q, over_q, under_q;
  logic [Lanes-1:0] rxerr_q, standby_q, timeout_q, lost_q;
  assign forget = rst_i || param_q.link_reset || param_q.interface_reset;
  always_ff @(posedge clk_i) begin
    if (status_i.ev.crc16_error) crc16_q <= 1'b1;
    if (status_i.ev.crc8_error) crc8_q <= 1'b1;
    if (status_i.ev.frame_error) frame_q <= 1'b1;
    if (status_i.ev.sequence_error) sequence_q <= 1'b1;
    if (status_i.ev.protocol_error) protocol_q <= 1'b1;
    if (status_i.ev.far_end_reset) far_reset_q <= 1'b1;
    if (status_i.ev.recovery) attempts_q <= attempts_q + 32'd1;
    misaligned_q <= misaligned_q + 32'(multilane_status_i.misaligned);
    for (int unsigned i = 0; i < Vcs; i++) begin
      if (vc_status_i[i].ev_input_overflow) overflow_q[i] <= 1'b1;
      if (vc_status_i[i].ev_credit_overflow) credit_q[i] <= 1'b1;
      if (vc_status_i[i].ev_over_use) over_q[i] <= 1'b1;
      if (vc_status_i[i].under_use) under_q[i] <= 1'b1;
    end
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (lane_status_i[i].ev_rxerr_overflow) rxerr_q[i] <= 1'b1;
      if (lane_status_i[i].ev_far_end_standby) standby_q[i] <= 1'b1;
      if (lane_status_i[i].ev_timeout) timeout_q[i] <= 1'b1;
      if (lane_status_i[i].ev_far_end_lost_signal) lost_q[i] <= 1'b1;
    end
    if (forget) begin
      {crc16_q, crc8_q, frame_q, sequence_q, protocol_q, far_reset_q} <= '0;
      attempts_q <= '0;
      misaligned_q <= '0;
      {overflow_q, credit_q, over_q, under_q} <= '0;
      {rxerr_q, standby_q, timeout_q, lost_q} <= '0;
    end
  end

  // Field of the last STANDBY or LOST_SIGNAL of each lane.
  logic [Lanes-1:0][7:0] reason_q;
  logic [Lanes-1:0][1:0] cause_q;
  for (genvar i = 0; i < Lanes; i++) begin : gen_field
    always_ff @(posedge clk_i) begin
      if (lane_status_i[i].ev_far_end_standby) reason_q[i] <= lane_status_i[i].far_end_field;
      if (lane_status_i[i].ev_far_end_lost_signal)
        cause_q[i] <= lane_status_i[i].far_end_field[1:0];
      if (forget) begin
        reason_q[i] <= '0;
        cause_q[i] <= '0;
      end
    end
  end

  // One of the lanes, and one of the channels.
  localparam int unsigned LaneWidth = Lanes > 1 ? $clog2(Lanes) : 1;
  localparam int unsigned VcWidth = Vcs > 1 ? $clog2(Vcs) : 1;
  logic [LaneWidth-1:0] l;
  logic [VcWidth-1:0] v;
  logic [Lanes-1:0] active;
  lane_param_t lane;
  lane_status_t lane_status;
  logic [63:0] value;
  assign l = Lanes > 1 ? LaneWidth'(element_i) : '0;
  assign v = Vcs > 1 ? VcWidth'(element_i) : '0;
  assign lane = lane_q[l];
  assign lane_status = lane_status_i[l];
  always_comb for (int i = 0; i < Lanes; i++) active[i] = lane_status_i[i].state == StActive;

  always_comb begin
    case ({
      2'd0, word_i[6:1]
    })
      MIB_ITEM_VIRTUAL_NETWORK: value = 64'(network_q[v]);
      MIB_ITEM_BROADCAST_CHANNEL: value = 64'(channel_q);
      MIB_ITEM_SCHEDULE_TYPE: value = 64'(schedule_q);
      MIB_ITEM_DATA_SCRAMBLED: value = 64'(param_q.data_scrambled);
      MIB_ITEM_EXPECTED_BROADCAST_BANDWIDTH: value = 64'(broadcast_share_q);
      MIB_ITEM_PRIORITY: value = 64'(vc_q[v].priority_level);
      MIB_ITEM_EXPECTED_BANDWIDTH: value = 64'(share_q[v]);
      MIB_ITEM_TIME_SLOTS: value = vc_q[v].time_slots;
      MIB_ITEM_CONTINUOUS_MODE: value = 64'(vc_q[v].continuous);
      MIB_ITEM_IDLE_TIME_LIMIT: value = 64'(param_q.idle_limit);
      MIB_ITEM_BANDWIDTH_CREDIT_LIMIT: value = 64'(CreditLimit);
      MIB_ITEM_MINIMUM_BANDWIDTH_CREDIT_THRESHOLD: value = 64'(ThresholdTenths);
      MIB_ITEM_FCT_MULTIPLIER: value = 64'(FctMultiplier);
      MIB_ITEM_SEGMENT_MULTIPLIER: value = 64'(SegmentMultiplier);
      MIB_ITEM_TX_EN: value = 64'(lane.tx_en);
      MIB_ITEM_RX_EN: value = 64'(lane.rx_en);
      MIB_ITEM_MAX_DATA_SENDING_LANES: value = 64'(sending_q);
      MIB_ITEM_BYPASS: value = 64'(multilane_status_i.bypass);
      MIB_ITEM_LANE_START: value = 64'(lane.lane_start);
      MIB_ITEM_AUTO_START: value = 64'(lane.auto_start);
      MIB_ITEM_LANE_RESET: value = 64'(lane.lane_reset);
      MIB_ITEM_NEAR_END_PARALLEL_LOOPBACK: value = 64'(lane.near_end_loopback);
      MIB_ITEM_FAR_END_PARALLEL_LOOPBACK: value = 64'(lane.far_end_loopback);
      MIB_ITEM_STANDBY_REASON: value = 64'(lane.standby_reason);
      MIB_ITEM_HAS_CREDIT: value = 64'(vc_status_i[v].has_credit);
      MIB_ITEM_INPUT_BUFFER_OVERFLOW: value = 64'(overflow_q[v]);
      MIB_ITEM_FCT_CREDIT_OVERFLOW: value = 64'(credit_q[v]);
      MIB_ITEM_BANDWIDTH_OVER_USE: value = 64'(over_q[v]);
      MIB_ITEM_BANDWIDTH_UNDER_USE: value = 64'(under_q[v]);
      MIB_ITEM_CRC16_ERROR: value = 64'(crc16_q);
      MIB_ITEM_CRC8_ERROR: value = 64'(crc8_q);
      MIB_ITEM_FRAME_ERROR: value = 64'(frame_q);
      MIB_ITEM_SEQUENCE_ERROR: value = 64'(sequence_q);
      MIB_ITEM_ERROR_RECOVERY_BUFFER_EMPTY: value = 64'(status_i.recovery_empty);
      MIB_ITEM_ERROR_RECOVERY_ATTEMPTS: value = 64'(attempts_q);
      MIB_ITEM_PROTOCOL_ERROR: value = 64'(protocol_q);
      MIB_ITEM_FAR_END_LINK_RESET: value = 64'(far_reset_q);
      MIB_ITEM_CURRENT_TIME_SLOT: value = 64'(param_q.time_slot);
      MIB_ITEM_DATA_SENDING_LANES:
      value = Lanes == 1 ? 64'(active) : 64'(multilane_status_i.data_sending);
      MIB_ITEM_DATA_RECEIVING_LANES:
      value = Lanes == 1 ? 64'(active) : 64'(multilane_status_i.data_receiving);
      MIB_ITEM_ALIGNMENT_STATE: value = 64'(multilane_status_i.alignment);
      MIB_ITEM_MISALIGNED_EVENTS: value = 64'(misaligned_q);
      MIB_ITEM_LANE_STATE: value = 64'(lane_status.state);
      MIB_ITEM_RXERR_COUNT: value = 64'(lane_status.rxerr_count);
      MIB_ITEM_RXERR_OVERFLOW: value = 64'(rxerr_q[l]);
      MIB_ITEM_FAR_END_STANDBY: value = 64'(standby_q[l]);
      MIB_ITEM_FAR_END_STANDBY_REASON: value = 64'(reason_q[l]);
      MIB_ITEM_TIMEOUT: value = 64'(timeout_q[l]);
      MIB_ITEM_FAR_END_LOST_SIGNAL: value = 64'(lost_q[l]);
      MIB_ITEM_FAR_END_LOST_SIGNAL_CAUSE: value = 64'(cause_q[l]);
      MIB_ITEM_FAR_END_CAPABILITIES: value = 64'(lane_status.far_end_capability);
      MIB_ITEM_RX_POLARITY: value = 64'(lane_status.rx_inverted);
      MIB_ITEM_NO_SIGNAL: value = 64'(lane_status.no_signal);
      default: value = '0;
    endcase
  end
  assign value_o = word_i[0] ? value[63:32] : value[31:0];

  logic unused;
  assign unused = ^{
    sent_i,
    received_i,
    set_i, status_i, vc_status_i, lane_status_i, element_i, lane_status, multilane_status_i
  };
endmodule
