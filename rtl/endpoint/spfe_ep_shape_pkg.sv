// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What an endpoint has, and what follows from it: numbers of channels and queue contexts, and the
/// places of register blocks.
package spfe_ep_shape_pkg;
  import spfe_pkg::*;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  /* verilator lint_off UNUSEDSIGNAL */

  // Message contexts of a port in one direction.
  localparam int unsigned MessageContexts = 4;
  // Pages for doorbells; register DOORBELL_PAGES is at least this.
  localparam int unsigned DoorbellPagesMin = 16;
  // Alignment of register blocks, bytes.
  localparam int unsigned BlockAlign = 256;

  // Engines of queues.
  localparam int unsigned MessageEngine = 0;
  localparam int unsigned TxEngine = 1;
  localparam int unsigned RxEngine = 2;
  localparam int unsigned PairEngine = 3;
  localparam int unsigned Engines = 4;

  /// The target of RDMA without queues.
  typedef struct packed {
    logic [7:0] entries;  // 2 to 128; 0: there is no target
    logic [7:0] fixed;  // of them from power-up on
    logic [7:0] port;
    logic [7:0] vc;  // of the requests
    logic [7:0] protocol;
    logic [7:0] address;  // logical address
    logic [4:0] segment_log2;  // largest payload of a packet
    logic [7:0] notes;  // notifications that are kept: 0, or a power of two from 2
    logic rmap;  // it serves RMAP, too
    spfe_rmap_pkg::rmap_settings_t rmap_settings;
  } target_t;

  localparam target_t NoTarget = '0;  // no entries

  /// Queue pairs of RDMA: queues of kind RDMA.
  typedef struct packed {
    logic [7:0] count;  // 0 or 1
    logic [7:0] port;
    logic [7:0] vc;  // of the one
  } pairs_t;

  localparam pairs_t NoPairs = '0;

  /// What an endpoint has.
  typedef struct packed {
    target_t target;
    pairs_t pairs;
    logic [7:0] ports;
    logic [7:0] wires;  // of them SpaceWire ports, the last ones
    logic [7:0] lanes;
    logic [7:0] vcs;
    logic [15:0] regions;
    logic [15:0] events;
  } shape_t;

  // What a module has by default.
  localparam shape_t DefaultShape = '{
    target: NoTarget,
    pairs: NoPairs,
    ports: 8'd1,
    wires: 8'd0,
    lanes: 8'd1,
    vcs: 8'd4,
    regions: 16'd64,
    events: 16'd16
  };

  // What a module for the target has by default.
  localparam shape_t DefaultTargetShape = '{
    target: '{
      entries: 8'd4,
      fixed: 8'd1,
      protocol: 8'hf0,
      address: 8'd254,
      segment_log2: 5'd12,
      notes: 8'd4,
      default: '0
    },
    pairs: NoPairs,
    ports: 8'd1,
    wires: 8'd0,
    lanes: 8'd1,
    vcs: 8'd4,
    regions: 16'd64,
    events: 16'd16
  };

  // What a module for queue pairs has by default.
  localparam shape_t DefaultPairShape = '{
    target: NoTarget,
    pairs: '{count: 8'd1, default: '0},
    ports: 8'd1,
    wires: 8'd0,
    lanes: 8'd1,
    vcs: 8'd4,
    regions: 16'd64,
    events: 16'd16
  };

  /// Items that a port does not have: bit N for mib_item N. The lane has no serial loopback and no
  /// bits to align; a single lane has no alignment.
  function automatic logic [63:0] mib_absent(input shape_t shape);
    logic [63:0] absent;
    absent = 64'd1 << MIB_ITEM_NEAR_END_SERIAL_LOOPBACK
        | 64'd1 << MIB_ITEM_FAR_END_SERIAL_LOOPBACK | 64'd1 << MIB_ITEM_BIT_SYNC;
    if (shape.lanes == 8'd1)
      absent |= 64'd1 << MIB_ITEM_ALIGNMENT_STATE | 64'd1 << MIB_ITEM_MISALIGNED_EVENTS;
    return absent;
  endfunction

  /// A port is a SpaceWire port.
  function automatic logic is_wire(input shape_t shape, input int unsigned port);
    return port >= 32'(shape.ports) - 32'(shape.wires);
  endfunction

  /// Virtual channels of a port.
  function automatic int unsigned port_vcs(input shape_t shape, input int unsigned port);
    return is_wire(shape, port) ? 1 : 32'(shape.vcs);
  endfunction

  /// Number of the first channel of a port, where all ports count.
  function automatic int unsigned first_channel(input shape_t shape, input int unsigned port);
    int unsigned others;
    others = 32'(shape.ports) - 32'(shape.wires);
    return port <= others ? port * 32'(shape.vcs) : others * 32'(shape.vcs) + port - others;
  endfunction

  /// Queue contexts of a port.
  function automatic int unsigned port_queues(input shape_t shape, input int unsigned port);
    return 2 * port_vcs(shape, port) + 2 * MessageContexts;
  endfunction

  /// The first queue context of a port.
  function automatic int unsigned first_queue(input shape_t shape, input int unsigned port);
    return 2 * first_channel(shape, port) + 2 * MessageContexts * port;
  endfunction

  /// Queue contexts of the endpoint.
  function automatic int unsigned queues(input shape_t shape);
    return first_queue(shape, 32'(shape.ports));
  endfunction

  /// Channel of the queue pair, where all ports count.
  function automatic int unsigned pair_channel(input shape_t shape);
    return first_channel(shape, 32'(shape.pairs.port)) + 32'(shape.pairs.vc);
  endfunction

  /// Queue context that can be of kind RDMA. The one behind it receives on the same channel.
  function automatic int unsigned pair_queue(input shape_t shape);
    return first_queue(shape, 32'(shape.pairs.port)) + 2 * 32'(shape.pairs.vc);
  endfunction

  /// Queue context of a queue of an engine.
  function automatic logic [15:0] context_of(input shape_t shape, input int unsigned engine,
                                             input logic [15:0] number);
    int unsigned port;
    int unsigned place;
    port = 0;
    if (engine == PairEngine) return 16'(pair_queue(shape)) + number;
    if (engine == MessageEngine) begin
      port = 32'(number) / (2 * MessageContexts);
      place = 2 * port_vcs(shape, port) + 32'(number) % (2 * MessageContexts);
    end else begin
      for (int unsigned i = 1; i < 8; i++)
      if (i < 32'(shape.ports) && 32'(number) >= first_channel(shape, i)) port = i;
      place = 2 * (32'(number) - first_channel(shape, port)) + (engine == RxEngine ? 1 : 0);
    end
    return 16'(first_queue(shape, port) + place);
  endfunction

  /// Queues of an engine for data, at least 2.
  function automatic int unsigned data_queues(input shape_t shape);
    int unsigned count;
    count = first_channel(shape, 32'(shape.ports));
    return count < 2 ? 2 : count;
  endfunction

  /// Elements of the mib block of a port.
  function automatic int unsigned mib_elements(input shape_t shape);
    return shape.vcs > shape.lanes ? 32'(shape.vcs) : 32'(shape.lanes);
  endfunction

  /// Rate of users of a SpaceFibre port, kbit/s: 8 of 10 bits are data, and of 67 words 64.
  function automatic int unsigned user_rate_kbps(input int unsigned lanes, input int unsigned mbps);
    return lanes * mbps * 800 / 67 * 64;
  endfunction

  /// Number of the blocks of a type.
  function automatic int unsigned block_count(input shape_t shape, input block_type_e kind);
    case (kind)
      BLOCK_TYPE_PORT, BLOCK_TYPE_BROADCAST, BLOCK_TYPE_MIB, BLOCK_TYPE_PAIR:
      return 32'(shape.ports);
      default: return 1;
    endcase
  endfunction

  /// Bytes from one element of a block to the next; 0: the block is not an array.
  function automatic int unsigned block_stride(input block_type_e kind);
    case (kind)
      BLOCK_TYPE_QUEUE: return QUEUE_BLOCK_STRIDE;
      BLOCK_TYPE_REGION: return REGION_BLOCK_STRIDE;
      BLOCK_TYPE_EVENT: return EVENT_BLOCK_STRIDE;
      BLOCK_TYPE_STATISTICS: return STATISTICS_BLOCK_STRIDE;
      BLOCK_TYPE_MIB: return MIB_BLOCK_STRIDE;
      BLOCK_TYPE_PAIR: return PAIR_BLOCK_STRIDE;
      default: return 0;
    endcase
  endfunction

  /// Elements of a block.
  function automatic int unsigned block_elements(input shape_t shape, input block_type_e kind);
    case (kind)
      BLOCK_TYPE_QUEUE, BLOCK_TYPE_STATISTICS: return queues(shape);
      BLOCK_TYPE_REGION: return 32'(shape.regions);
      BLOCK_TYPE_EVENT: return 32'(shape.events);
      BLOCK_TYPE_MIB: return mib_elements(shape);
      BLOCK_TYPE_PAIR: return 32'(shape.vcs);
      default: return 0;
    endcase
  endfunction

  /// Size in the header of a block.
  function automatic int unsigned block_size(input block_type_e kind);
    case (kind)
      BLOCK_TYPE_GLOBAL: return GLOBAL_BLOCK_SIZE;
      BLOCK_TYPE_PORT: return PORT_BLOCK_SIZE;
      BLOCK_TYPE_BROADCAST: return BROADCAST_BLOCK_SIZE;
      BLOCK_TYPE_TARGET: return TARGET_BLOCK_SIZE;
      default: return QUEUE_BLOCK_SIZE;
    endcase
  endfunction

  /// Version in the header of a block.
  function automatic logic [15:0] block_version(input block_type_e kind);
    case (kind)
      BLOCK_TYPE_GLOBAL: return GLOBAL_BLOCK_VERSION;
      BLOCK_TYPE_PORT: return PORT_BLOCK_VERSION;
      BLOCK_TYPE_BROADCAST: return BROADCAST_BLOCK_VERSION;
      BLOCK_TYPE_TIME_CODE: return TIME_CODE_BLOCK_VERSION;
      BLOCK_TYPE_QUEUE: return QUEUE_BLOCK_VERSION;
      BLOCK_TYPE_REGION: return REGION_BLOCK_VERSION;
      BLOCK_TYPE_EVENT: return EVENT_BLOCK_VERSION;
      BLOCK_TYPE_STATISTICS: return STATISTICS_BLOCK_VERSION;
      BLOCK_TYPE_PAIR: return PAIR_BLOCK_VERSION;
      BLOCK_TYPE_TARGET: return TARGET_BLOCK_VERSION;
      default: return MIB_BLOCK_VERSION;
    endcase
  endfunction

  /// Bytes that a block takes, with what aligns the next one.
  function automatic int unsigned block_bytes(input shape_t shape, input block_type_e kind);
    int unsigned bytes;
    bytes = block_size(kind) + block_elements(shape, kind) * block_stride(kind);
    return (bytes + BlockAlign - 1) / BlockAlign * BlockAlign;
  endfunction

  /// The block type behind another one in the list.
  function automatic block_type_e block_after(input shape_t shape, input block_type_e kind);
    case (kind)
      BLOCK_TYPE_GLOBAL: return BLOCK_TYPE_PORT;
      BLOCK_TYPE_PORT: return BLOCK_TYPE_BROADCAST;
      BLOCK_TYPE_BROADCAST: return BLOCK_TYPE_QUEUE;
      BLOCK_TYPE_QUEUE: return BLOCK_TYPE_REGION;
      BLOCK_TYPE_REGION: return BLOCK_TYPE_EVENT;
      BLOCK_TYPE_EVENT: return BLOCK_TYPE_STATISTICS;
      BLOCK_TYPE_STATISTICS: return BLOCK_TYPE_MIB;
      BLOCK_TYPE_MIB, BLOCK_TYPE_PAIR: begin
        if (kind == BLOCK_TYPE_MIB && shape.pairs.count != '0) return BLOCK_TYPE_PAIR;
        return shape.target.entries != '0 ? BLOCK_TYPE_TARGET : BLOCK_TYPE_END;
      end
      default: return BLOCK_TYPE_END;
    endcase
  endfunction

  /// Byte offset of the first block of a type; of BLOCK_TYPE_END: the end of the list.
  function automatic int unsigned block_at(input shape_t shape, input block_type_e kind);
    int unsigned at;
    block_type_e kind_at;
    at = 0;
    kind_at = BLOCK_TYPE_GLOBAL;
    for (int unsigned i = 0; i < 10; i++) begin
      if (kind_at != kind && kind_at != BLOCK_TYPE_END) begin
        at += block_count(shape, kind_at) * block_bytes(shape, kind_at);
        kind_at = block_after(shape, kind_at);
      end
    end
    return at;
  endfunction

  /// Byte offset of the first doorbell page.
  function automatic int unsigned doorbell_at(input shape_t shape);
    return (block_at(shape, BLOCK_TYPE_END) + DOORBELL_STRIDE - 1) / DOORBELL_STRIDE *
      DOORBELL_STRIDE;
  endfunction

  /// log2 of the bytes of the register space, which doorbell pages fill up.
  function automatic int unsigned space_log2(input shape_t shape);
    return $clog2(doorbell_at(shape) + DoorbellPagesMin * DOORBELL_STRIDE);
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */
endpackage
