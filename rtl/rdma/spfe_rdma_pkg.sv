// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Packets of SFRP, RDMA over SpaceFibre (docs/rdma.md), and what a target keeps of its regions and
/// initiators.
package spfe_rdma_pkg;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  localparam logic [3:0] Version = 4'd1;
  /// Bytes of a message that a target without receive queues takes.
  localparam int unsigned NoteBytes = 32;
  /// Results of atomic operations that are kept for each initiator.
  localparam int unsigned Results = 16;
  /// Most bytes of a READ.
  localparam logic [31:0] ReadMax = 32'h8000_0000;
  /// Messages that a target without receive queues takes at any time, told as credit.
  localparam logic [31:0] CreditAlways = 32'h1_0000;
  /// Time that an initiator waits for a receive buffer, us.
  localparam logic [31:0] NotReadyUs = 32'd200;

  // Opcodes; a response has bit 7, too.
  localparam logic [7:0] OpWrite = 8'h01;
  localparam logic [7:0] OpRead = 8'h02;
  localparam logic [7:0] OpSend = 8'h03;
  localparam logic [7:0] OpFetchAdd = 8'h04;
  localparam logic [7:0] OpCompareSwap = 8'h05;
  localparam logic [7:0] OpFlush = 8'h06;
  localparam logic [7:0] OpInfo = 8'h07;
  localparam logic [7:0] OpRegions = 8'h08;
  localparam logic [7:0] OpCredit = 8'h09;
  localparam logic [7:0] OpConnect = 8'h0a;
  localparam logic [7:0] OpDisconnect = 8'h0b;

  /// Flags of a packet.
  typedef struct packed {
    logic ack;
    logic first;
    logic last;
    logic payload_crc;
    logic immediate;
    logic solicited;
    logic retry;
    logic reserved;
  } flags_t;

  /// Status of a response.
  typedef enum logic [7:0] {
    SfrpOk = 8'd0,
    SfrpBadVersion = 8'd1,
    SfrpBadOpcode = 8'd2,
    SfrpBadKey = 8'd3,
    SfrpBounds = 8'd4,
    SfrpAccess = 8'd5,
    SfrpBadLength = 8'd6,
    SfrpNotReady = 8'd7,
    SfrpTooLong = 8'd8,
    SfrpPayloadCrc = 8'd9,
    SfrpShort = 8'd10,
    SfrpLong = 8'd11,
    SfrpEep = 8'd12,
    SfrpMemory = 8'd13,
    SfrpBadQueue = 8'd15,
    SfrpSequence = 8'd16,
    SfrpRevoked = 8'd17
  } sfrp_status_e;

  /// The first 38 bytes of a packet, byte 0 in the highest bits.
  typedef struct packed {
    logic [7:0] receiver;
    logic [7:0] protocol;
    logic [3:0] version;
    logic [3:0] size;  // in units of 8 bytes
    logic [7:0] code;
    flags_t flags;
    logic [7:0] status;
    logic [7:0] sender;
    logic [7:0] path_bytes;
    logic [15:0] sender_queue;
    logic [15:0] receiver_queue;
    logic [31:0] request;
    logic [31:0] key;
    logic [31:0] length;
    logic [63:0] address;
    logic [31:0] immediate;
    logic [15:0] number;
  } header_t;

  /// Reply path; byte 0 is sent first.
  typedef logic [23:0][7:0] path_t;

  /// Why a packet is discarded without a response.
  typedef enum logic [3:0] {
    DropNone,
    DropProtocol,
    DropShort,
    DropUnits,
    DropCrc,
    DropLayout,
    DropNotOurs,
    DropForInitiator,
    DropDrained,
    DropForgotten,
    // Of RMAP only.
    DropCut,  // EEP in the header
    DropBehind,  // EEP directly behind the header
    DropReserved,  // packet type
    // Of a queue pair only.
    DropFull  // no room for a response
  } drop_e;

  /// A packet that was received as a whole.
  typedef struct packed {
    header_t header;
    path_t path;
    drop_e drop;  // its header cannot be used
    sfrp_status_e body;  // its payload is complete and intact, or why not
    logic [4:0] vc;  // virtual channel of arrival
  } packet_t;

  /// A region of the target's memory. Its index is that of the table.
  typedef struct packed {
    logic [31:0] key;
    logic [63:0] base;  // address of the first byte, for initiators
    logic [63:0] bytes;
    logic [63:0] memory;  // address of the first byte on the bus
    logic read;
    logic write;
    logic atomic;
    logic notify;
    logic hidden;  // the list of regions does not tell the key
    logic listed;  // only these initiators may use it
    logic [3:0][7:0] initiators;  // one that is there twice counts once
  } region_t;

  /// An initiator, and where it is in its sequence of messages.
  typedef struct packed {
    logic [7:0] sender;
    logic [15:0] sender_queue;
    logic connected;  // by the request `connection`
    logic [31:0] connection;
    logic [15:0] expected;  // number of the next message
    logic open;  // a message of several packets has begun
    logic [31:0] open_request;
    logic [63:0] open_next;  // address of its next packet
    logic [63:0] open_start;
    logic told;  // the initiator knows that the expected message is missing
    logic failed;  // the sequence has ended with this error
    sfrp_status_e failed_status;
    logic [31:0] failed_immediate;
    logic [4:0] results;  // results that are kept
    logic [3:0] next_result;
    logic [31:0] sends;
    logic [31:0] used;  // number of its last packet
  } peer_t;

  /// What is to be done with a request.
  typedef enum logic [2:0] {
    DoDrop,
    DoRefuse,
    DoNothing,  // it was executed, and nobody asks for an answer
    DoAnswer,
    DoResult,  // answer with the result of an earlier atomic operation
    DoWrite,  // or a message into a buffer
    DoRead,
    DoAtomic
  } action_e;

  /// Decision on a request.
  typedef struct packed {
    action_e action;
    drop_e drop;
    sfrp_status_e status;
    logic [31:0] immediate;
    logic [63:0] bytes;  // bytes executed
    logic answer;  // a WRITE, or a message, is to be acknowledged
    logic executed;  // not repeated: it counts, and software may be told
    logic [31:0] total;  // bytes of the operation
  } decision_t;

  /// What a response carries.
  typedef enum logic [2:0] {
    CarryNothing,
    CarryNumber,  // 8 bytes
    CarryInfo,
    CarryRegions,
    CarryMemory,  // the answer to a READ
    CarryCredit  // no answer, but the credit of an initiator
  } carry_e;

  /// A response to be made.
  typedef struct packed {
    header_t request;
    path_t path;
    logic [4:0] vc;  // virtual channel of arrival
    carry_e carry;
    sfrp_status_e status;
    logic [31:0] immediate;
    logic [63:0] bytes;  // bytes executed
    logic [63:0] number;
    logic [63:0] memory;  // address of the bytes that a READ wants
    logic [15:0] place;  // low bits of their offset in the region
  } response_t;

  /// What became of a packet.
  typedef struct packed {
    logic rmap;  // of RMAP
    drop_e drop;  // DropNone: it was not discarded
    sfrp_status_e status;  // of the refusal; a status of RMAP for a packet of RMAP
    logic repeated;  // executed before
    logic [7:0] code;  // opcode, or instruction of RMAP
  } handled_t;

  /// An operation that was executed, for software of the target.
  typedef struct packed {
    logic [63:0] time_ns;
    logic [7:0] initiator;
    logic [15:0] pair;  // queue pair of the initiator
    logic [7:0] opcode;  // or instruction of RMAP
    logic has_region;
    logic [15:0] region;
    logic [15:0] number;  // or transaction of RMAP
    logic [63:0] address;
    logic [31:0] length;
    logic has_immediate;
    logic [31:0] immediate;
    logic [31:0][7:0] data;  // byte 0 of a message is data[0]
  } note_t;

  /// Transfers of memory that are asked for, as of spfe_axi_read and spfe_axi_write with 16 bytes
  /// in a beat.
  typedef struct packed {
    logic [63:0] rd_addr;
    logic [31:0] rd_len;
    logic rd_ask;
    logic [63:0] wr_addr;
    logic [31:0] wr_len;
    logic wr_ask;
    logic [127:0] wr_data;
    logic wr_valid;
  } memory_ask_t;

  /// Their data and ends. Bytes that are read are taken in the cycle in which they come.
  typedef struct packed {
    logic rd_ready;
    logic [15:0][7:0] rd_data;
    logic rd_last;
    logic rd_error;
    logic rd_valid;
    logic wr_ready;
    logic wr_data_ready;
    logic wr_done;
    logic wr_error;
  } memory_answer_t;

  /// Whether requests of an opcode carry a payload.
  function automatic logic request_has_payload(input logic [7:0] code);
    return code inside {OpWrite, OpSend, OpFetchAdd, OpCompareSwap};
  endfunction

  /// Whether good responses to an opcode carry a payload.
  function automatic logic response_has_payload(input logic [7:0] code);
    return code inside {OpRead, OpFetchAdd, OpCompareSwap, OpInfo, OpRegions};
  endfunction

  /// Whether requests of an opcode are executed in the sequence of their numbers.
  function automatic logic is_sequenced(input logic [7:0] code);
    return code inside {OpWrite, OpRead, OpSend, OpFetchAdd, OpCompareSwap, OpFlush};
  endfunction

  /// Whether repeating a request may help.
  function automatic logic is_transient(input sfrp_status_e status);
    return status inside {SfrpNotReady, SfrpPayloadCrc, SfrpShort, SfrpLong, SfrpEep, SfrpSequence};
  endfunction

  /// The response to a request: one packet, with status 0 and without payload.
  function automatic header_t response_to(input header_t request);
    header_t result;
    result = request;
    result.receiver = request.sender;
    result.version = Version;
    result.size = 4'd5;
    result.code = request.code | 8'h80;
    result.flags = '{first: 1'b1, last: 1'b1, default: '0};
    result.status = '0;
    result.sender = request.receiver;
    result.path_bytes = '0;
    result.sender_queue = request.receiver_queue;
    result.receiver_queue = request.sender_queue;
    result.length = '0;
    return result;
  endfunction

  /// A number with its bytes in the reverse order.
  function automatic logic [63:0] reversed(input logic [63:0] number);
    logic [63:0] result;
    for (int unsigned i = 0; i < 8; i++) result[8*i+:8] = number[8*(7-i)+:8];
    return result;
  endfunction
endpackage
