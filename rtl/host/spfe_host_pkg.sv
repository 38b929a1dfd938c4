// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types between queues, memory and registers, and helpers for ring entries. contract/README.md has
/// the rules.
package spfe_host_pkg;
  import spfe_pkg::*;

  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  // Register CHAIN_MAX: entries of a packet. The engine reads up to 32 entries of a ring ahead.
  localparam int unsigned ChainMax = 24;

  /// Address in a region.
  typedef struct packed {
    logic [15:0] region;  // index (12 bits) and generation (4 bits)
    logic [47:0] offset;
  } address_t;

  /// A queue context as QUEUE_ENABLE latched and checked it.
  typedef struct packed {
    queue_kind_e kind;
    logic stamp;  // option STAMP
    logic [15:0] domain;
    logic [15:0] vector;  // event vector
    logic [3:0] sq_log2;  // entries of the submission ring
    logic [3:0] cq_log2;  // entries of the completion ring
    address_t sq;
    address_t cq;
    address_t stamps;  // side array of times
    address_t lines;  // host line, device line 64 bytes behind it
    address_t area;  // of packed receive
    logic [31:0] area_bytes;
    logic [31:0] filter;  // of message receive
  } queue_context_t;

  /// An access that needs a translation.
  typedef struct packed {
    address_t address;
    logic [47:0] length;  // bytes, 1 or more; all of them are checked
    logic [15:0] domain;
    logic local_write;
    logic remote_write;
    logic remote_read;
    logic local_read;
  } translate_t;

  /// The translation.
  typedef struct packed {
    status_e status;  // of the whole length
    logic [63:0] address;  // bus address of the first byte
    logic [31:0] bytes;  // contiguous from there, at most the length; not 0 with STATUS_OK
  } translation_t;

  /// What a part of an engine asks of spfe_host_access.
  typedef struct packed {
    address_t address;
    logic [47:0] length;  // bytes, 1 or more
    logic [15:0] domain;
    logic write;
    logic check;  // only looks whether the access would be allowed
  } access_t;

  /// A completion to be written.
  typedef struct packed {
    logic [15:0] index;  // of the queue
    logic [15:0] flags;
    logic [15:0] position;
    status_e status;
    logic [15:0] packets;
    logic [31:0] bytes;
    logic urgent;  // wakes the host, whatever it waits for
    logic [3:0] buffer;  // receive: low bits of the number of the buffer
  } job_t;

  /// Bytes that were read.
  typedef struct packed {
    logic [127:0] data;
    logic last;  // of the access
    logic error;  // the bus reported an error; with last
  } read_t;

  /// A completion is in memory.
  typedef struct packed {
    logic [15:0] index;  // of the queue
    logic [31:0] position;  // of the next completion
    logic [63:0] bytes;  // of all completions before it
    logic urgent;  // wakes the host, whatever it waits for
  } told_t;

  /// Outputs of an AXI4 port; see spfe_axi_read and spfe_axi_write.
  typedef struct packed {
    logic [63:0] ar_addr;
    logic [2:0] ar_id;
    logic [7:0] ar_len;
    logic ar_valid;
    logic r_ready;
    logic [63:0] aw_addr;
    logic [2:0] aw_id;
    logic [7:0] aw_len;
    logic aw_valid;
    logic [127:0] w_data;
    logic [15:0] w_strb;
    logic w_last;
    logic w_valid;
    logic b_ready;
  } axi_master_t;

  /// Inputs of an AXI4 port.
  typedef struct packed {
    logic ar_ready;
    logic [127:0] r_data;
    logic [2:0] r_id;
    logic [1:0] r_resp;
    logic r_last;
    logic r_valid;
    logic aw_ready;
    logic w_ready;
    logic [2:0] b_id;
    logic [1:0] b_resp;
    logic b_valid;
  } axi_slave_t;

  /// A doorbell. It is a hint.
  typedef struct packed {
    logic [15:0] index;  // of the queue
    doorbell_kind_e kind;
  } doorbell_t;

  /// Counts of a queue, to be added to its statistics.
  typedef struct packed {
    logic [15:0] index;  // of the queue
    logic [15:0] packets;
    logic [31:0] bytes;
    logic error;
    logic stall;
    logic wake;
    logic dropped;
  } statistics_t;

  /// A queue stopped by itself.
  typedef struct packed {
    logic [15:0] index;  // of the queue
    status_e status;
  } queue_error_t;

  /// What a queue waits for.
  typedef enum logic [2:0] {
    WaitDisabled,  // it is not enabled
    WaitNothing,  // it works
    WaitEntry,  // the host has posted nothing
    WaitChannel,  // transmit: the virtual channel takes no words. Receive: it has none.
    WaitBuffer,  // receive: words are there, but no buffer or no room in the area
    WaitMemory,  // an answer of the bus
    WaitStop,  // it is being stopped
    WaitError  // it has stopped with an error
  } wait_e;

  /// Lap number of a position.
  function automatic logic [15:0] phase_of(input logic [31:0] position, input logic [3:0] log2);
    return 16'((position >> log2) + 32'd1);
  endfunction

  /// Offset of the entry at a position from the start of its ring.
  function automatic logic [47:0] ring_offset(input logic [31:0] position, input logic [3:0] log2);
    return 48'({position & ((32'd1 << log2) - 32'd1), 4'd0});
  endfunction
  /* verilator lint_on UNUSEDPARAM */
endpackage
