// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of the endpoint's control plane: registers, commands, region table.
package spfe_ep_pkg;
  import spfe_pkg::*;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  /* verilator lint_off UNUSEDSIGNAL */

  // Bits of a protection domain: DOMAINS is 256.
  localparam int unsigned DomainBits = 8;
  // Bits of a region's size: an offset has 48.
  localparam int unsigned SizeBits = 49;
  // Cycles within which a queue stops or the accesses to a region end; otherwise BUSY.
  localparam int unsigned StopCycles = 1 << 20;

  /// Source of a register whose value the register memory does not hold.
  typedef enum logic [3:0] {
    LiveNone,
    LiveTime,
    LivePort,
    LiveEvent,
    LiveBroadcast,
    LiveStatistics,
    LiveMib,
    LiveTarget,
    LivePair
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
    logic whole;  // all of the bus (LOCAL_DMA): an offset is a bus address
  } region_t;

  // Words of a queue context that the host writes: KIND to REPLY_HI.
  localparam int unsigned ContextWords = (QUEUE_BLOCK_REPLY_HI - QUEUE_BLOCK_KIND) / 4 + 1;

  /// A queue context as the registers have it.
  typedef struct packed {
    logic [63:0] reply;
    logic [63:0] path;
    logic [63:0] limits;
    logic [63:0] pair;
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

  // Bits of FILTER of a message queue: channel and type of broadcast messages, whether they count;
  // whether only interrupts do.
  localparam logic [31:0] BroadcastFilter = 32'h0003FFFF;
  localparam logic [31:0] InterruptFilter = 32'h00040000;

  /// A broadcast code of SpaceWire is a distributed interrupt (ECSS-E-ST-50-12C 5.6).
  function automatic logic is_interrupt(input logic [7:0] code);
    return code[7:6] == 2'b10;
  endfunction

  // Register CAPABILITY, and kinds of queues: bit N for queue_kind N.
  localparam logic [31:0] DeviceCapability =
      CAPABILITY_IOVA | CAPABILITY_MIB | CAPABILITY_COUNT_FIRST | CAPABILITY_LINK_EVENT |
      CAPABILITY_LEVEL | CAPABILITY_MESSAGE | CAPABILITY_STAMP | CAPABILITY_BURST |
      CAPABILITY_PACKED | CAPABILITY_INTERRUPTS | CAPABILITY_LOCAL_DMA;
  localparam logic [7:0] DeviceKinds =
      8'(1 << QUEUE_KIND_MESSAGE_TX) | 8'(1 << QUEUE_KIND_MESSAGE_RX) |
      8'(1 << QUEUE_KIND_TX) | 8'(1 << QUEUE_KIND_RX) | 8'(1 << QUEUE_KIND_RX_PACKED);

  // Without queues.
  localparam logic [31:0] PlainCapability =
      CAPABILITY_IOVA | CAPABILITY_MIB | CAPABILITY_COUNT_FIRST | CAPABILITY_LINK_EVENT |
      CAPABILITY_LEVEL | CAPABILITY_LOCAL_DMA;

  /// Register CAPABILITY of an endpoint with queues, queue pairs among them, and a target.
  function automatic logic [31:0] capability_of(input logic queues, input logic pairs,
                                                input logic target);
    return (queues ? DeviceCapability : PlainCapability)
        | (queues && pairs ? CAPABILITY_RDMA | CAPABILITY_PAIR_COUNTERS : '0)
        | (target ? CAPABILITY_TARGET : '0);
  endfunction

  /// Its kinds of queues.
  function automatic logic [7:0] kinds_of(input logic queues, input logic pairs);
    return (queues ? DeviceKinds : '0) | (queues && pairs ?
        8'(1 << QUEUE_KIND_RDMA) | 8'(1 << QUEUE_KIND_RDMA_RX) : '0);
  endfunction

  /* verilator lint_on UNUSEDSIGNAL */
endpackage
