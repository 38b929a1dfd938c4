// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of the endpoint's control plane: registers, commands, region table.
package spfe_ep_pkg;
  import spfe_pkg::*;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  /* verilator lint_off UNUSEDSIGNAL */

  // Message contexts of a port in one direction.
  localparam int unsigned MessageContexts = 4;
  // Bits of a protection domain: DOMAINS is 256.
  localparam int unsigned DomainBits = 8;
  // Bits of a region's size: an offset has 48.
  localparam int unsigned SizeBits = 49;
  // Pages for doorbells; register DOORBELL_PAGES is at least this.
  localparam int unsigned DoorbellPagesMin = 16;
  // Alignment of register blocks, bytes.
  localparam int unsigned BlockAlign = 256;
  // Cycles within which a queue stops or the accesses to a region end; otherwise BUSY.
  localparam int unsigned StopCycles = 1 << 20;

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
  } target_t;

  localparam target_t NoTarget = '0;  // no entries

  /// What an endpoint has.
  typedef struct packed {
    target_t target;
    logic [7:0] ports;
    logic [7:0] lanes;
    logic [7:0] vcs;
    logic [15:0] regions;
    logic [15:0] events;
  } shape_t;

  // What a module has by default.
  localparam shape_t DefaultShape = '{
    target: NoTarget,
    ports: 8'd1,
    lanes: 8'd1,
    vcs: 8'd4,
    regions: 16'd64,
    events: 16'd16
  };

  /// Source of a register whose value the register memory does not hold.
  typedef enum logic [2:0] {
    LiveNone,
    LiveTime,
    LivePort,
    LiveEvent,
    LiveBroadcast,
    LiveStatistics,
    LiveMib,
    LiveTarget
  } live_e;

  /// A register of such a source. It is what the register memory holds instead of a value.
  typedef struct packed {
    live_e source;
    logic [5:0] port;
    logic [9:0] element;  // element of the array
    logic [6:0] word;  // word of the block, or of the element
  } live_t;

  /// A word of the register memory.
  typedef struct packed {
    logic writable;  // the host writes it
    logic live;  // data is a live_t
    logic [31:0] data;
  } cell_t;

  /// Access of a command to the register memory.
  typedef struct packed {
    logic write;  // otherwise a read
    logic [15:0] addr;  // word
    logic [31:0] data;
  } word_access_t;

  /// Entry of the region table.
  typedef struct packed {
    logic enabled;
    logic [3:0] generation;
    logic [DomainBits-1:0] domain;
    logic [3:0] rights;  // LOCAL_READ, REMOTE_READ, REMOTE_WRITE, LOCAL_WRITE
    logic [SizeBits-1:0] bytes;
    logic [63:12] base;  // of a contiguous region
    logic [4:0] page_log2;  // 0: contiguous
    logic [15:0] first_page;  // in the page memory
  } region_t;

  // Words of a queue context that the host writes, for queues without RDMA: KIND to FILTER.
  localparam int unsigned ContextWords = (QUEUE_BLOCK_FILTER - QUEUE_BLOCK_KIND) / 4 + 1;

  /// A queue context as the registers have it.
  typedef struct packed {
    logic [31:0] filter;
    logic [31:0] area_bytes;
    logic [63:0] area;
    logic [63:0] lines;
    logic [63:0] stamp;
    logic [63:0] cq;
    logic [63:0] sq;
    logic [31:0] cq_log2;
    logic [31:0] sq_log2;
    logic [31:0] vector;
    logic [31:0] domain;
    logic [31:0] options;
    logic [31:0] kind;
  } context_t;

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
    ports: 8'd1,
    lanes: 8'd1,
    vcs: 8'd4,
    regions: 16'd64,
    events: 16'd16
  };

  /// A command to a block of the control plane.
  typedef enum logic [1:0] {
    OpEnable,
    OpDisable,
    OpForce,  // disable, whatever uses it (RESET)
    OpSet  // MIB_SET, where OpEnable is PORT_CONFIGURE; TARGET_TAKE
  } op_e;

  /// A change of the table of the target.
  typedef struct packed {
    logic [6:0] index;
    logic valid;  // the index has an entry from now on; otherwise it has none
    spfe_rdma_pkg::region_t entry;
  } target_set_t;

  /// What commands ask of the target.
  typedef struct packed {
    target_set_t set;
    logic set_valid;  // for one cycle
    logic fence;  // until fence_done: no access to the entry in `set` is to be under way
    logic take;  // for one cycle: the oldest notification is gone
    logic [15:0] vector;  // register NOTE_VECTOR
  } target_ask_t;

  /// What the target says to that.
  typedef struct packed {
    logic fence_done;
    logic waiting;  // there is a notification
  } target_answer_t;

  /// Outputs of the AXI4 port of an endpoint: 16 bytes in a beat, bursts INCR. The upper bits of an
  /// ID name the engine. It takes each answer at once.
  typedef struct packed {
    logic [63:0] ar_addr;
    logic [5:0] ar_id;
    logic [7:0] ar_len;
    logic ar_valid;
    logic [63:0] aw_addr;
    logic [5:0] aw_id;
    logic [7:0] aw_len;
    logic aw_valid;
    logic [127:0] w_data;
    logic [15:0] w_strb;
    logic w_last;
    logic w_valid;
  } bus_master_t;

  /// Inputs of the AXI4 port of an endpoint.
  typedef struct packed {
    logic ar_ready;
    logic [127:0] r_data;
    logic [5:0] r_id;
    logic [1:0] r_resp;
    logic r_last;
    logic r_valid;
    logic aw_ready;
    logic w_ready;
    logic [5:0] b_id;
    logic [1:0] b_resp;
    logic b_valid;
  } bus_slave_t;

  /// A page list to read, as of spfe_axi_read.
  typedef struct packed {
    logic [63:0] addr;
    logic [31:0] len;
    logic valid;
    logic data_ready;
  } list_ask_t;

  /// Words of that page list.
  typedef struct packed {
    logic ready;
    logic [127:0] data;
    logic last;
    logic error;
    logic data_valid;
  } list_answer_t;

  /// A parameter for the management information base of a port.
  typedef struct packed {
    logic [5:0] port;
    logic [7:0] item;
    logic [5:0] element;  // lane or virtual channel
    logic [63:0] value;
    logic [24:0] share;  // of a bandwidth: rows per row in 256ths, or rows per broadcast frame
  } mib_set_t;

  // Register CAPABILITY, and kinds of queues: bit N for queue_kind N.
  localparam logic [31:0] DeviceCapability =
      CAPABILITY_IOVA | CAPABILITY_MIB | CAPABILITY_COUNT_FIRST | CAPABILITY_LINK_EVENT |
      CAPABILITY_LEVEL | CAPABILITY_MESSAGE | CAPABILITY_STAMP | CAPABILITY_BURST |
      CAPABILITY_PACKED;
  localparam logic [7:0] DeviceKinds =
      8'(1 << QUEUE_KIND_MESSAGE_TX) | 8'(1 << QUEUE_KIND_MESSAGE_RX) |
      8'(1 << QUEUE_KIND_TX) | 8'(1 << QUEUE_KIND_RX) | 8'(1 << QUEUE_KIND_RX_PACKED);

  // Without queues.
  localparam logic [31:0] PlainCapability =
      CAPABILITY_IOVA | CAPABILITY_MIB | CAPABILITY_COUNT_FIRST | CAPABILITY_LINK_EVENT |
      CAPABILITY_LEVEL;

  // Engines of queues.
  localparam int unsigned MessageEngine = 0;
  localparam int unsigned TxEngine = 1;
  localparam int unsigned RxEngine = 2;
  localparam int unsigned Engines = 3;

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

  /// Queue contexts of a port.
  function automatic int unsigned port_queues(input shape_t shape);
    return 2 * 32'(shape.vcs) + 2 * MessageContexts;
  endfunction

  /// Queue contexts of the endpoint.
  function automatic int unsigned queues(input shape_t shape);
    return 32'(shape.ports) * port_queues(shape);
  endfunction

  /// Queue context of a queue of an engine.
  function automatic logic [15:0] context_of(input shape_t shape, input int unsigned engine,
                                             input logic [15:0] number);
    int unsigned each;
    int unsigned port;
    int unsigned place;
    each = engine == MessageEngine ? 2 * MessageContexts : 32'(shape.vcs);
    port = 32'(number) / each;
    place = 32'(number) % each;
    if (engine == MessageEngine) place = place + 2 * 32'(shape.vcs);
    else place = 2 * place + (engine == RxEngine ? 1 : 0);
    return 16'(port * port_queues(shape) + place);
  endfunction

  /// Queues of an engine for data, at least 2.
  function automatic int unsigned data_queues(input shape_t shape);
    int unsigned count;
    count = 32'(shape.ports) * 32'(shape.vcs);
    return count < 2 ? 2 : count;
  endfunction

  /// Elements of the mib block of a port.
  function automatic int unsigned mib_elements(input shape_t shape);
    return shape.vcs > shape.lanes ? 32'(shape.vcs) : 32'(shape.lanes);
  endfunction

  /// Number of the blocks of a type.
  function automatic int unsigned block_count(input shape_t shape, input block_type_e kind);
    case (kind)
      BLOCK_TYPE_PORT, BLOCK_TYPE_BROADCAST, BLOCK_TYPE_MIB: return 32'(shape.ports);
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
      BLOCK_TYPE_QUEUE: return QUEUE_BLOCK_VERSION;
      BLOCK_TYPE_REGION: return REGION_BLOCK_VERSION;
      BLOCK_TYPE_EVENT: return EVENT_BLOCK_VERSION;
      BLOCK_TYPE_STATISTICS: return STATISTICS_BLOCK_VERSION;
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
      BLOCK_TYPE_MIB: return shape.target.entries != '0 ? BLOCK_TYPE_TARGET : BLOCK_TYPE_END;
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
