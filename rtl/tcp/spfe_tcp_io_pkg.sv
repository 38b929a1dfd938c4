// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types of the ports of spfe_tcp: MAC, user, memory and register interface.
///
/// A beat has room for the widest build, 64 bits beside the MAC and 128 bits beside the user. A
/// narrower build uses the low bytes of `data` and `keep`, ignores the others and drives them with
/// 0. The first byte on the wire is in bits 7:0, and all beats of a packet but its last are full.
package spfe_tcp_io_pkg;
  import spfe_tcp_pkg::*;

  /// Bits of the data of a MAC beat.
  localparam int unsigned MacBits = 64;
  /// Bits of the data of a user beat.
  localparam int unsigned UserBits = 128;

  /// Beat of an Ethernet frame without preamble and FCS.
  typedef struct packed {
    logic [MacBits-1:0] data;
    logic [MacBits/8-1:0] keep;  // bytes that belong to the frame
    logic last;
    logic err;  // with last: the FCS was wrong, or (to the MAC) must be made wrong
  } mac_beat_t;

  /// Beat of a message of the user.
  typedef struct packed {
    logic [UserBits-1:0] data;
    logic [UserBits/8-1:0] keep;
    logic last;
    user_head_t head;  // counts in the first beat only
  } user_tx_beat_t;

  /// Beat of received payload.
  typedef struct packed {
    logic [UserBits-1:0] data;
    logic [UserBits/8-1:0] keep;  // 0 in an empty beat
    logic last;
    sid_t sid;
    logic err;  // with last, cut-through only: discard the segment, it will come again
    logic oos;  // out of sequence: the first byte is `rel` bytes after the next expected one
    seq_t rel;
  } user_rx_beat_t;

  /// What a latency probe sees of a stream.
  typedef struct packed {
    logic valid;
    logic ready;
    logic last;
  } probed_t;

  /// Write of up to 16 bytes to the memory for retransmission.
  typedef struct packed {
    logic [31:0] addr;  // in words of 16 bytes
    logic [127:0] data;
    logic [15:0] mask;  // bytes to write
  } mem_write_t;

  /// AXI4-Lite, from the master.
  typedef struct packed {
    logic [11:0] awaddr;
    logic awvalid;
    logic [31:0] wdata;
    logic [3:0] wstrb;
    logic wvalid;
    logic bready;
    logic [11:0] araddr;
    logic arvalid;
    logic rready;
  } axil_req_t;

  /// AXI4-Lite, from the registers.
  typedef struct packed {
    logic awready;
    logic wready;
    logic [1:0] bresp;
    logic bvalid;
    logic arready;
    logic [31:0] rdata;
    logic [1:0] rresp;
    logic rvalid;
  } axil_rsp_t;
endpackage
