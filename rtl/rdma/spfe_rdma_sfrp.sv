// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The side of a target that serves SFRP: takes packets, executes one after the other, responds.
module spfe_rdma_sfrp
  import spfe_rdma_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Largest payload of a packet, as of spfe_rdma_target.
  parameter int unsigned Segment = 4096,
  /// Number of regions, as of spfe_rdma_regions.
  parameter int unsigned Regions = 8,
  /// Initiators that are remembered, 2 or more.
  parameter int unsigned Peers = 32,
  /// Virtual channels of the port, 1 to 32.
  parameter int unsigned Vcs = 32,
  /// There is software that reads notifications.
  parameter bit Notes = 1'b1,
  /// The target serves RMAP, too.
  parameter bit Rmap = 1'b0,
  /// Vendor, device and serial number, for INFO.
  parameter logic [95:0] Identity = '0,
  /// Check bits of memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Protocol identifier.
  input logic [7:0] protocol_i,
  /// Logical address of the target.
  input logic [7:0] logical_address_i,
  /// Virtual channel of the requests.
  input logic [4:0] vc_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Begin with no packet.
  input logic hold_i,
  /// Nothing is being executed, and no packet waits; a response may still go out.
  output logic idle_o,
  /// No access to memory is under way; with hold_i.
  output logic quiet_o,
  /// Read no more from the region with this index; its READ ends with REVOKED.
  input logic revoke_i,
  /// The index; with revoke_i.
  input logic [19:0] revoke_index_i,

  /// Bytes of packets, as of spfe_rdma_bytes.
  input logic [3:0][7:0] data_i,
  /// Number of bytes; with data_i.
  input logic [2:0] count_i,
  /// The packet ends here; with data_i.
  input logic last_i,
  /// It ends with EEP; with last_i.
  input logic cut_i,
  input logic valid_i,
  output logic ready_o,

  /// Word of a response.
  output word_t word_o,
  /// Virtual channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i,

  /// Index of a region to look up.
  output logic [19:0] region_index_o,
  /// For one cycle: look up.
  output logic region_find_o,
  /// There is such a region; a cycle after region_find_o.
  input logic region_valid_i,
  /// The region; a cycle after region_find_o.
  input region_t region_i,
  /// Number of regions.
  input logic [15:0] region_count_i,

  /// Transfers of memory.
  output memory_ask_t memory_o,
  /// Their data and ends.
  input memory_answer_t memory_i,

  /// For software.
  output note_t note_o,
  output logic note_valid_o,
  /// What became of a packet.
  output handled_t handled_o,
  output logic handled_valid_o,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o
);
  localparam int unsigned AddrWidth = $clog2(Segment / 16);

  packet_t packet;
  logic bank, packet_valid, packet_ready;
  logic we, re, store_failed, peers_failed, unused_corrected;
  logic [AddrWidth:0] waddr, raddr;
  logic [127:0] wdata, rdata;

  spfe_rdma_receive #(
    .Segment(Segment)
  ) i_receive (
    .clk_i,
    .rst_i,
    .protocol_i,
    .logical_address_i,
    .vc_i,
    .data_i,
    .count_i,
    .last_i,
    .cut_i,
    .valid_i,
    .ready_o,
    .we_o(we),
    .waddr_o(waddr),
    .wdata_o(wdata),
    .packet_o(packet),
    .bank_o(bank),
    .packet_valid_o(packet_valid),
    .packet_ready_i(packet_ready)
  );

  spfe_ram_safe #(
    .Width(128),
    .Depth(2 * Segment / 16),
    .Protect(Protect)
  ) i_store (
    .clk_i,
    .we_i(we),
    .addr_i(waddr),
    .data_i(wdata),
    .rclk_i(clk_i),
    .re_i(re),
    .raddr_i(raddr),
    .data_o(rdata),
    .corrected_o(unused_corrected),
    .failed_o(store_failed)
  );

  // Reads of the two sides never overlap: a packet waits until the response before it has read all.
  logic [19:0] wanted, listed;
  logic find, list, one_valid, read_valid, idle, reads;
  logic [63:0] one_addr, read_addr;
  logic [31:0] read_len;
  response_t response;
  logic response_valid, response_ready;
  assign region_index_o = list ? listed : wanted;
  assign region_find_o = find || list;
  assign memory_o.rd_addr = one_valid ? one_addr : read_addr;
  assign memory_o.rd_len = one_valid ? 32'd8 : read_len;
  assign memory_o.rd_ask = one_valid || read_valid;

  spfe_rdma_execute #(
    .Segment(Segment),
    .Peers(Peers),
    .Notes(Notes),
    .Protect(Protect)
  ) i_execute (
    .clk_i,
    .rst_i,
    .time_ns_i,
    .packet_i(packet),
    .bank_i(bank),
    .packet_valid_i(packet_valid),
    .packet_ready_o(packet_ready),
    .hold_i,
    .idle_o(idle),
    .re_o(re),
    .raddr_o(raddr),
    .rdata_i(rdata),
    .rfailed_i(store_failed),
    .region_index_o(wanted),
    .region_find_o(find),
    .region_valid_i,
    .region_i,
    .rd_addr_o(one_addr),
    .rd_valid_o(one_valid),
    .rd_ready_i(memory_i.rd_ready),
    .rd_data_i(memory_i.rd_data[7:0]),
    .rd_error_i(memory_i.rd_error),
    .rd_data_valid_i(memory_i.rd_valid),
    .wr_addr_o(memory_o.wr_addr),
    .wr_len_o(memory_o.wr_len),
    .wr_valid_o(memory_o.wr_ask),
    .wr_ready_i(memory_i.wr_ready),
    .wr_data_o(memory_o.wr_data),
    .wr_data_valid_o(memory_o.wr_valid),
    .wr_data_ready_i(memory_i.wr_data_ready),
    .wr_done_i(memory_i.wr_done),
    .wr_error_i(memory_i.wr_error),
    .response_o(response),
    .response_valid_o(response_valid),
    .response_ready_i(response_ready),
    .note_o,
    .note_valid_o,
    .handled_o,
    .handled_valid_o,
    .failed_o(peers_failed)
  );
  assign failed_o = store_failed || peers_failed;
  assign idle_o = idle && !packet_valid && response_ready;
  assign quiet_o = idle && !reads;

  spfe_rdma_respond #(
    .Segment(Segment),
    .Regions(Regions),
    .Vcs(Vcs),
    .Notes(Notes),
    .Rmap(Rmap),
    .Protect(Protect),
    .Identity(Identity)
  ) i_respond (
    .clk_i,
    .rst_i,
    .time_ns_i,
    .response_i(response),
    .response_valid_i(response_valid),
    .response_ready_o(response_ready),
    .revoke_i,
    .revoke_index_i,
    .reads_o(reads),
    .region_index_o(listed),
    .region_find_o(list),
    .region_valid_i,
    .region_i,
    .region_count_i,
    .rd_addr_o(read_addr),
    .rd_len_o(read_len),
    .rd_valid_o(read_valid),
    .rd_ready_i(memory_i.rd_ready),
    .rd_data_i(memory_i.rd_data),
    .rd_last_i(memory_i.rd_last),
    .rd_error_i(memory_i.rd_error),
    .rd_data_valid_i(memory_i.rd_valid),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );
endmodule
