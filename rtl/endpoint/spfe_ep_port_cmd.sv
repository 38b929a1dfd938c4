// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Carries out PORT_CONFIGURE and MIB_SET: checks the values and gives them to the ports.
module spfe_ep_port_cmd
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Items that the SpaceFibre ports do not have. SpaceWire ports have the command Link Reset only.
  parameter logic [63:0] MibAbsent = '0
) (
  input logic clk_i,
  input logic rst_i,

  /// OpEnable: PORT_CONFIGURE. OpSet: MIB_SET.
  input op_e op_i,
  /// The port; with op_i.
  input logic [31:0] index_i,
  /// Stays until done_o.
  input logic valid_i,
  /// For one cycle.
  output logic done_o,
  /// Result; with done_o.
  output status_e status_o,

  /// Access to the register memory, as of spfe_ep_regs.
  output word_access_t access_o,
  output logic access_valid_o,
  input logic access_ready_i,
  /// Word read.
  input logic [31:0] access_data_i,

  /// Parameter to set.
  output mib_set_t set_o,
  /// For one cycle.
  output logic set_valid_o,
  /// Register LINK_VECTOR of the port that set_o names.
  output logic [15:0] vector_o,
  /// For one cycle.
  output logic vector_valid_o
);
  localparam int unsigned PortBase = block_at(Shape, BLOCK_TYPE_PORT) / 4;
  localparam int unsigned BroadcastBase = block_at(Shape, BLOCK_TYPE_BROADCAST) / 4;
  // PORT_CONFIGURE reads LINK_START to LINK_VECTOR, and CHANNEL. MIB_SET reads MIB_ITEM to
  // MIB_VALUE_HI.
  localparam int unsigned PortWords = (PORT_BLOCK_LINK_VECTOR - PORT_BLOCK_LINK_START) / 4 + 1;
  localparam int unsigned SetWords = (GLOBAL_BLOCK_MIB_VALUE_HI - GLOBAL_BLOCK_MIB_ITEM) / 4 + 1;
  localparam int unsigned Words = PortWords + 1;

  typedef enum logic [2:0] {
    Rest,
    Fetch,
    Take,
    Judge,
    Divide,
    Set,
    Lanes,
    Finish
  } state_e;

  state_e state_q;
  logic [2:0] word_q, last_word;
  logic [Words-1:0][31:0] words_q;
  logic [5:0] step_q;
  status_e status_q, check, set_check;
  logic setting, exists, wired;

  assign setting = op_i == OpSet;
  assign exists = index_i < 32'(Shape.ports);
  assign wired = is_wire(Shape, index_i);
  assign last_word = setting ? 3'(SetWords - 1) : 3'(Words - 1);
  assign done_o = state_q == Finish;
  assign status_o = status_q;

  // MIB_SET.
  logic [31:0] item, element;
  logic [63:0] value, least, most, bit_of, known;
  logic [31:0] count;
  logic is_share;
  assign item = words_q[0];
  assign element = words_q[(GLOBAL_BLOCK_MIB_ELEMENT-GLOBAL_BLOCK_MIB_ITEM)/4];
  assign value = {
    words_q[(GLOBAL_BLOCK_MIB_VALUE_HI-GLOBAL_BLOCK_MIB_ITEM)/4],
    words_q[(GLOBAL_BLOCK_MIB_VALUE_LO-GLOBAL_BLOCK_MIB_ITEM)/4]
  };
  assign bit_of = 64'd1 << item[5:0];
  assign known = wired ? 64'd1 << MIB_ITEM_LINK_RESET
      : (MIB_RW_MASK | MIB_COMMAND_MASK) & ~MibAbsent;
  assign is_share = item[7:0] == MIB_ITEM_EXPECTED_BANDWIDTH
      || item[7:0] == MIB_ITEM_EXPECTED_BROADCAST_BANDWIDTH;
  always_comb begin
    count = 32'd1;
    if ((MIB_LANE_MASK & bit_of) != '0 && !wired) count = 32'(Shape.lanes);
    if ((MIB_VC_MASK & bit_of) != '0 && !wired) count = 32'(Shape.vcs);
    least = mib_min(item[7:0]);
    most = mib_max(item[7:0]);
    case (item[7:0])
      // A frame has as many words as fit this number of lanes.
      MIB_ITEM_MAX_DATA_SENDING_LANES: {least, most} = {2{64'(Shape.lanes)}};
      // As many bits as the link counts.
      MIB_ITEM_IDLE_TIME_LIMIT: most = 64'hFF_FFFF;
      // The virtual network of channel 0 is fixed.
      MIB_ITEM_VIRTUAL_NETWORK: if (element == '0) most = '0;
      default: ;
    endcase
    set_check = STATUS_OK;
    if (item > 32'(MIB_ITEM_SCHEDULE_TYPE) || element >= count) set_check = STATUS_NOT_FOUND;
    else if ((known & bit_of) == '0) set_check = STATUS_BAD_OPCODE;
    else if (value < least || value > most) set_check = STATUS_BAD_FIELD;
  end

  // PORT_CONFIGURE.
  logic [31:0] link_start, link_vector, channel;
  assign link_start = words_q[0];
  assign link_vector = words_q[PortWords-1];
  assign channel = words_q[PortWords];
  always_comb begin
    check = set_check;
    if (!setting) begin
      check = STATUS_OK;
      if (link_start > 32'd1 || link_vector > 32'(Shape.events) || channel > 32'd255)
        check = STATUS_BAD_FIELD;
    end
  end

  always_comb begin
    access_o = '{write: 1'b0, addr: 16'(word_q), data: '0};
    if (setting) access_o.addr += 16'(GLOBAL_BLOCK_MIB_ITEM / 4);
    else if (32'(word_q) < PortWords)
      access_o.addr += 16'(PortBase) + {index_i[9:0], 6'd0} + 16'(PORT_BLOCK_LINK_START / 4);
    else
      access_o.addr = 16'(BroadcastBase) + {index_i[9:0], 6'd0} + 16'(BROADCAST_BLOCK_CHANNEL / 4);
  end
  assign access_valid_o = state_q == Fetch;

  // Rows of the link for each row of the channel, in 256ths; rows for each broadcast frame.
  logic [24:0] dividend_q, quotient_q;
  logic [16:0] rest_q, rest, less;
  logic [4:0] bit_q;
  assign rest = {rest_q[15:0], dividend_q[24]};
  assign less = rest - {1'b0, value[15:0]};
  always_ff @(posedge clk_i) begin
    if (state_q == Judge) begin
      dividend_q <= item[7:0] == MIB_ITEM_EXPECTED_BANDWIDTH ? 25'd1 << 24 : 25'd262_144
          + 25'(value[15:1]);
      rest_q <= '0;
      quotient_q <= '0;
      bit_q <= '0;
    end else if (state_q == Divide) begin
      dividend_q <= dividend_q << 1;
      rest_q <= less[16] ? rest : less;
      quotient_q <= {quotient_q[23:0], !less[16]};
      bit_q <= bit_q + 5'd1;
    end
  end

  // What PORT_CONFIGURE sets: the start of all lanes, priorities of all channels, and the broadcast
  // channel.
  logic [5:0] vc;
  assign vc = step_q - 6'(Shape.lanes);
  always_comb begin
    set_o.port = index_i[5:0];
    set_o.item = item[7:0];
    set_o.element = element[5:0];
    set_o.value = value;
    set_o.share = value[15:0] == '0 ? '0 : quotient_q;
    // The whole link is 65535 of 65536.
    if (item[7:0] == MIB_ITEM_EXPECTED_BANDWIDTH && value[15:0] == '1) set_o.share = 25'd256;
    if (!setting) begin
      if (step_q < 6'(Shape.lanes)) begin
        set_o.item = MIB_ITEM_LANE_START;
        set_o.element = step_q;
        set_o.value = 64'(link_start);
      end else if (vc < 6'(Shape.vcs)) begin
        set_o.item = MIB_ITEM_PRIORITY;
        set_o.element = vc;
        set_o.value = 64'(words_q[1+32'(vc[4:3])][4*vc[2:0]+:4]);
      end else begin
        set_o.item = MIB_ITEM_BROADCAST_CHANNEL;
        set_o.element = '0;
        set_o.value = 64'(channel);
      end
    end
  end
  assign set_valid_o = state_q == Set || state_q == Lanes;
  assign vector_o = link_vector[15:0];
  assign vector_valid_o = state_q == Lanes && step_q == '0;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        word_q <= '0;
        step_q <= '0;
        status_q <= exists ? STATUS_OK : STATUS_NOT_FOUND;
        if (valid_i) state_q <= exists ? Fetch : Finish;
      end
      Fetch: if (access_ready_i) state_q <= Take;
      Take: begin
        words_q[word_q] <= access_data_i;
        word_q <= word_q + 3'd1;
        state_q <= word_q == last_word ? Judge : Fetch;
      end
      Judge: begin
        status_q <= check;
        state_q <= check != STATUS_OK ? Finish : !setting ? Lanes : is_share ? Divide : Set;
      end
      Divide: if (bit_q == 5'd24) state_q <= Set;
      Set: state_q <= Finish;
      Lanes: begin
        step_q <= step_q + 6'd1;
        if (step_q == 6'(Shape.lanes + Shape.vcs)) state_q <= Finish;
      end
      default: state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  logic unused;
  assign unused = ^{index_i, element, link_vector, rest_q};
endmodule
