// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Packets of RMAP (ECSS-E-ST-50-52C), and what the parts of its target tell each other.
package spfe_rmap_pkg;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  /// Protocol identifier.
  localparam logic [7:0] RmapProtocol = 8'h01;
  /// Words of four bytes in the header of a command without a reply address.
  localparam int unsigned HeaderWords = 4;

  /// Status of a reply (50-52C 5.6).
  typedef enum logic [7:0] {
    RmapOk = 8'd0,
    RmapFailed = 8'd1,
    RmapUnused = 8'd2,
    RmapKey = 8'd3,
    RmapDataCrc = 8'd4,
    RmapEarly = 8'd5,
    RmapTooMuch = 8'd6,
    RmapEep = 8'd7,
    RmapOverrun = 8'd9,
    RmapDenied = 8'd10,
    RmapModifyLength = 8'd11,
    RmapNotOurs = 8'd12
  } rmap_status_e;

  /// Instruction byte.
  typedef struct packed {
    logic reserved;
    logic command;  // otherwise a reply
    logic write;
    logic verify;
    logic reply;  // one is wanted
    logic increment;
    logic [1:0] path_words;  // of the reply address
  } instruction_t;

  /// The header of a command without its reply address, byte 0 in the highest bits.
  typedef struct packed {
    logic [7:0] target;
    logic [7:0] protocol;
    instruction_t instruction;
    logic [7:0] key;
    logic [7:0] initiator;
    logic [15:0] transaction;
    logic [39:0] address;
    logic [23:0] length;
    logic [7:0] crc;
  } command_t;

  /// Reply address; byte 11 is sent first.
  typedef logic [11:0][7:0] reply_path_t;

  /// Settings of a target.
  typedef struct packed {
    logic any_key;
    logic [7:0] key;  // counts without any_key
    logic absolute;  // entries lie at their addresses; otherwise byte 4 of an address is an index
  } rmap_settings_t;

  /// What a command does after its header was checked.
  typedef enum logic [2:0] {
    RunRefuse,
    RunRead,
    RunStream,  // write while the data arrives
    RunVerify,  // write when the data is complete and intact
    RunModify
  } rmap_op_e;

  /// What has arrived behind a header.
  typedef struct packed {
    logic cut;  // the packet ended with EEP
    logic [24:0] bytes;  // stops at 2^24 + 4 or above
    logic intact;  // the last byte is the check of those before it
    logic bank;  // store with the rest of the data
    logic [16:0] rest;  // bytes in it that are certainly data
  } body_t;

  /// An access to memory.
  typedef enum logic [1:0] {
    AccessRead,
    AccessWrite,
    AccessModify
  } access_e;

  /// One access, of a store at most.
  typedef struct packed {
    access_e kind;
    logic fixed;  // each byte is an access of its own to the same address
    logic [63:0] addr;
    logic [16:0] bytes;  // 1 or more
    logic bank;  // store with the bytes, or for them
    logic [3:0][7:0] data;  // for AccessModify
    logic [3:0][7:0] mask;  // for AccessModify
  } rmap_access_t;

  /// A reply.
  typedef struct packed {
    reply_path_t path;
    command_t command;
    rmap_status_e status;
    logic [23:0] length;  // bytes of data
  } reply_t;

  /// Data of a reply, in a store.
  typedef struct packed {
    logic bank;
    logic [16:0] bytes;  // 1 or more
    logic fails;  // there is no more: the reply ends with EEP
  } reply_part_t;
endpackage
