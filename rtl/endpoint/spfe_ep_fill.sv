// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Fills the register memory after reset, word by word: headers of the blocks, constants, the
/// places of live registers, and zeroes that the host may write.
module spfe_ep_fill
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Register CAPABILITY.
  parameter logic [31:0] Capability = CAPABILITY_IOVA,
  /// Register PAGES_MAX.
  parameter int unsigned Pages = 1024,
  /// Register LANE_RATE_MBPS of the SpaceFibre ports.
  parameter int unsigned LaneRateMbps = 6250,
  /// Register USER_RATE_KBPS of the SpaceFibre ports.
  parameter int unsigned UserRateKbps = 4_750_000,
  /// Register LANE_RATE_MBPS of the SpaceWire ports, of which 8 of 10 bits are those of users.
  parameter int unsigned WireRateMbps = 78,
  /// Items that the SpaceFibre ports do not have: bit N for mib_item N. SpaceWire ports have none.
  parameter logic [63:0] MibAbsent = '0
) (
  input logic clk_i,
  input logic rst_i,
  /// Word of the register memory to write, in every cycle until done_o.
  output logic [15:0] addr_o,
  /// What to write.
  output cell_t word_o,
  /// Everything is written.
  output logic done_o
);
  localparam int unsigned Pages64 = (1 << space_log2(Shape)) - doorbell_at(Shape);

  block_type_e kind_q;
  logic [15:0] addr_q, in_block_q;
  logic [5:0] instance_q;
  logic [15:0] element_q;
  logic [6:0] word_q;
  // Port and context in it of the queue `element_q`.
  logic [5:0] port_q;
  logic [6:0] context_q;
  logic done_q;

  logic [15:0] block_words, next, stride_words;
  logic is_array, in_header, last_block, ends_block, in_elements;
  logic [6:0] word;
  assign block_words = 16'(block_bytes(Shape, kind_q) / 4);
  assign next = addr_q + block_words;
  assign stride_words = 16'(block_stride(kind_q) / 4);
  assign is_array = stride_words != '0;
  assign in_header = in_block_q < 16'd4;
  assign ends_block = in_block_q == block_words - 16'd1;
  assign last_block = block_after(
    Shape, kind_q
  ) == BLOCK_TYPE_END && 32'(instance_q) + 1 == block_count(
    Shape, kind_q
  );
  assign in_elements = !is_array || 32'(element_q) < block_elements(Shape, kind_q);
  assign word = is_array ? word_q : 7'(in_block_q);

  // The block, if it is one of a port, is that of a SpaceWire port.
  logic wired;
  assign wired = is_wire(Shape, 32'(instance_q));

  logic [127:0] writable;
  always_comb begin
    case (kind_q)
      BLOCK_TYPE_GLOBAL: writable = GLOBAL_BLOCK_RW_MASK;
      BLOCK_TYPE_PORT: writable = PORT_BLOCK_RW_MASK;
      BLOCK_TYPE_BROADCAST: writable = wired ? TIME_CODE_BLOCK_RW_MASK : BROADCAST_BLOCK_RW_MASK;
      BLOCK_TYPE_QUEUE: writable = QUEUE_BLOCK_RW_MASK;
      BLOCK_TYPE_REGION: writable = REGION_BLOCK_RW_MASK;
      BLOCK_TYPE_EVENT: writable = EVENT_BLOCK_RW_MASK;
      BLOCK_TYPE_TARGET: writable = TARGET_BLOCK_RW_MASK;
      default: writable = '0;
    endcase
  end

  logic [31:0] offset, global_value, port_value, queue_value, target_value;
  assign offset = {23'd0, word, 2'd0};
  always_comb begin
    case (offset)
      GLOBAL_BLOCK_MAGIC: global_value = CONTRACT_MAGIC;
      GLOBAL_BLOCK_CONTRACT_VERSION:
      global_value = {CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR};
      GLOBAL_BLOCK_CAPABILITY: global_value = Capability;
      GLOBAL_BLOCK_PORTS: global_value = 32'(Shape.ports);
      GLOBAL_BLOCK_QUEUES: global_value = 32'(queues(Shape));
      GLOBAL_BLOCK_REGIONS: global_value = 32'(Shape.regions);
      GLOBAL_BLOCK_EVENTS: global_value = 32'(Shape.events);
      GLOBAL_BLOCK_DOORBELL_OFFSET: global_value = 32'(doorbell_at(Shape));
      GLOBAL_BLOCK_PACKET_MAX: global_value = PACKET_MAX_BYTES;
      GLOBAL_BLOCK_DOORBELL_PAGES: global_value = Pages64 / DOORBELL_STRIDE;
      GLOBAL_BLOCK_DOMAINS: global_value = 32'd1 << DomainBits;
      GLOBAL_BLOCK_CHAIN_MAX: global_value = spfe_host_pkg::ChainMax;
      GLOBAL_BLOCK_PAGES_MAX: global_value = Pages;
      default: global_value = '0;
    endcase
    case (offset)
      PORT_BLOCK_KIND: port_value = 32'(wired ? PORT_KIND_SPACEWIRE : PORT_KIND_SPACEFIBRE);
      PORT_BLOCK_VCS: port_value = port_vcs(Shape, 32'(instance_q));
      PORT_BLOCK_LANES: port_value = wired ? 32'd1 : 32'(Shape.lanes);
      PORT_BLOCK_LANE_RATE_MBPS: port_value = wired ? WireRateMbps : LaneRateMbps;
      PORT_BLOCK_USER_RATE_KBPS: port_value = wired ? WireRateMbps * 800 : UserRateKbps;
      PORT_BLOCK_FIRST_QUEUE: port_value = first_queue(Shape, 32'(instance_q));
      PORT_BLOCK_QUEUE_COUNT: port_value = port_queues(Shape, 32'(instance_q));
      default: port_value = '0;
    endcase
    case (offset)
      QUEUE_BLOCK_PORT: queue_value = 32'(port_q);
      QUEUE_BLOCK_VC:
      queue_value = 32'(context_q) < 2 * port_vcs(Shape, 32'(port_q)) ? 32'(context_q[6:1]) :
        32'd255;
      default: queue_value = '0;
    endcase
    case (offset)
      TARGET_BLOCK_PORT: target_value = 32'(Shape.target.port);
      TARGET_BLOCK_VC: target_value = 32'(Shape.target.vc);
      TARGET_BLOCK_ENTRIES: target_value = 32'(Shape.target.entries);
      TARGET_BLOCK_FIXED: target_value = 32'(Shape.target.fixed);
      TARGET_BLOCK_PROTOCOL: target_value = 32'(Shape.target.protocol);
      TARGET_BLOCK_LOGICAL_ADDRESS: target_value = 32'(Shape.target.address);
      TARGET_BLOCK_SEGMENT: target_value = 32'd1 << Shape.target.segment_log2;
      default: target_value = '0;
    endcase
  end

  // Items of this element of the management information base.
  logic [63:0] present;
  always_comb begin
    present = '0;
    if (element_q == '0) present |= ~(MIB_LANE_MASK | MIB_VC_MASK);
    if (element_q < 16'(Shape.lanes)) present |= MIB_LANE_MASK;
    if (element_q < 16'(Shape.vcs)) present |= MIB_VC_MASK;
    present &= ~MibAbsent & ((64'd1 << (32'(MIB_ITEM_SCHEDULE_TYPE) + 1)) - 64'd1);
    if (wired) present = '0;
  end

  live_e source;
  logic live;
  logic [31:0] value;
  always_comb begin
    source = LiveNone;
    value = '0;
    case (kind_q)
      BLOCK_TYPE_GLOBAL: begin
        value = global_value;
        if (offset == GLOBAL_BLOCK_HEARTBEAT || offset == GLOBAL_BLOCK_TIME_LO ||
            offset == GLOBAL_BLOCK_TIME_HI)
          source = LiveTime;
      end
      BLOCK_TYPE_PORT: begin
        value = port_value;
        if (offset == PORT_BLOCK_STATE || offset == PORT_BLOCK_CHANGES) source = LivePort;
      end
      BLOCK_TYPE_BROADCAST:
      if (offset >= BROADCAST_BLOCK_SENT && offset <= BROADCAST_BLOCK_DROPPED)
        source = LiveBroadcast;
      BLOCK_TYPE_QUEUE: value = queue_value;
      BLOCK_TYPE_EVENT: if (offset == EVENT_BLOCK_COUNT) source = LiveEvent;
      BLOCK_TYPE_STATISTICS: if (offset <= STATISTICS_BLOCK_DROPPED_HI) source = LiveStatistics;
      BLOCK_TYPE_MIB: begin
        if (offset == MIB_BLOCK_PRESENT_LO) value = present[31:0];
        else if (offset == MIB_BLOCK_PRESENT_HI) value = present[63:32];
        else if (present[word[6:1]]) source = LiveMib;
      end
      BLOCK_TYPE_PAIR:
      if (8'(instance_q) == Shape.pairs.port && element_q == 16'(Shape.pairs.vc)) source = LivePair;
      BLOCK_TYPE_TARGET: begin
        value = target_value;
        if (offset >= TARGET_BLOCK_EXECUTED && offset <= TARGET_BLOCK_NOTE_DATA_7)
          source = LiveTarget;
      end
      default: ;
    endcase
    live = source != LiveNone;
    if (live) value = 32'({source, instance_q, element_q[9:0], word});
  end

  // A SpaceWire port has a block for time-codes, of the same size, in place of one for messages.
  block_type_e kind;
  assign kind = kind_q == BLOCK_TYPE_BROADCAST && wired ? BLOCK_TYPE_TIME_CODE : kind_q;
  always_comb begin
    word_o = '0;
    if (in_header) begin
      case (in_block_q[1:0])
        2'd0: word_o.data = {block_version(kind), 16'(kind)};
        2'd1: word_o.data = 32'(block_size(kind_q));
        2'd2: word_o.data = last_block ? '0 : {14'd0, next, 2'd0};
        default: word_o.data = 32'(instance_q);
      endcase
    end else if (in_elements) begin
      word_o = '{writable: writable[word], live: live, data: value};
    end
  end
  assign addr_o = addr_q + in_block_q;
  assign done_o = done_q;

  always_ff @(posedge clk_i) begin
    if (!done_q) begin
      in_block_q <= in_block_q + 16'd1;
      if (!in_header && is_array) begin
        word_q <= word_q + 7'd1;
        if (16'(word_q) == stride_words - 16'd1) begin
          word_q <= '0;
          element_q <= element_q + 16'd1;
          context_q <= context_q + 7'd1;
          if (32'(context_q) == port_queues(Shape, 32'(port_q)) - 1) begin
            context_q <= '0;
            port_q <= port_q + 6'd1;
          end
        end
      end
      if (ends_block) begin
        addr_q <= next;
        in_block_q <= '0;
        word_q <= '0;
        element_q <= '0;
        context_q <= '0;
        port_q <= '0;
        instance_q <= instance_q + 6'd1;
        if (32'(instance_q) + 1 == block_count(Shape, kind_q)) begin
          instance_q <= '0;
          kind_q <= block_after(Shape, kind_q);
        end
        if (last_block) done_q <= 1'b1;
      end
    end
    if (rst_i) begin
      kind_q <= BLOCK_TYPE_GLOBAL;
      addr_q <= '0;
      in_block_q <= '0;
      instance_q <= '0;
      element_q <= '0;
      word_q <= '0;
      port_q <= '0;
      context_q <= '0;
      done_q <= 1'b0;
    end
  end

  if (block_at(Shape, BLOCK_TYPE_END) / 4 > 65536) begin : gen_bad_size
    $error(
      "spfe_ep_fill: the register blocks take %0d bytes; at most 262144 are possible",
      block_at(
        Shape, BLOCK_TYPE_END
      )
    );
  end
endmodule
