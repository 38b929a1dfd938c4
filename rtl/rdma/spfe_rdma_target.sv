// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Target of RDMA over SpaceFibre without software: serves the regions of its table to SFRP packets
/// of one virtual channel. Queue pair 0 only.
module spfe_rdma_target
  import spfe_rdma_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Largest payload of a packet in bytes, a power of two from 256 to 32768.
  parameter int unsigned Segment = 4096,
  /// Number of regions, from 2 to 128.
  parameter int unsigned Regions = 8,
  /// Initiators that are remembered, 2 or more.
  parameter int unsigned Peers = 32,
  /// Virtual channels of the port, 1 to 32.
  parameter int unsigned Vcs = 32,
  /// Notifications that are kept for software; 0: there is none. Otherwise 2 to 128.
  parameter int unsigned Notes = 16,
  /// The target serves RMAP, too.
  parameter bit Rmap = 1'b0,
  /// Vendor, device and serial number, for INFO.
  parameter logic [95:0] Identity = '0,
  /// Check bits of memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an index of a region; follows from Regions.
  localparam int unsigned IndexWidth = $clog2(Regions)
) (
  input logic clk_i,
  input logic rst_i,
  /// Protocol identifier, 0xf0 to 0xfe.
  input logic [7:0] protocol_i,
  /// Logical address of the target.
  input logic [7:0] logical_address_i,
  /// Virtual channel of the requests.
  input logic [4:0] vc_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Region to set.
  input region_t set_i,
  /// Its index, below Regions.
  input logic [IndexWidth-1:0] set_index_i,
  /// It is a region; otherwise the index has none from now on.
  input logic set_region_i,
  /// For one cycle.
  input logic set_valid_i,
  /// End all accesses to the region with this index, which is there no more.
  input logic [IndexWidth-1:0] fence_index_i,
  input logic fence_valid_i,
  /// No access to it is under way.
  output logic fence_ready_o,

  /// Word of the virtual channel.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,
  /// Word of a response.
  output word_t word_o,
  /// Virtual channel of the response; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i,

  /// Notification for software.
  output note_t note_o,
  output logic note_valid_o,
  input logic note_ready_i,
  /// Notifications that wait.
  output logic [7:0] note_count_o,
  /// For one cycle: another one waits.
  output logic note_made_o,
  /// For one cycle: a notification was lost, because nobody read them in time.
  output logic note_dropped_o,
  /// What became of a packet, for one cycle.
  output handled_t handled_o,
  output logic handled_valid_o,
  /// For one cycle: a memory of the target has given a wrong word.
  output logic failed_o,

  /// AXI4 read address, as of spfe_axi_read.
  output logic [63:0] ar_addr_o,
  /// ID of the burst; with ar_addr_o.
  output logic [2:0] ar_id_o,
  /// Beats less one; with ar_addr_o.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// AXI4 read data.
  input logic [127:0] r_data_i,
  /// ID of the burst; with r_data_i.
  input logic [2:0] r_id_i,
  /// OKAY, EXOKAY, SLVERR or DECERR; with r_data_i.
  input logic [1:0] r_resp_i,
  /// Last beat of the burst; with r_data_i.
  input logic r_last_i,
  input logic r_valid_i,
  output logic r_ready_o,
  /// AXI4 write address, as of spfe_axi_write.
  output logic [63:0] aw_addr_o,
  /// ID of the burst; with aw_addr_o.
  output logic [2:0] aw_id_o,
  /// Beats less one; with aw_addr_o.
  output logic [7:0] aw_len_o,
  output logic aw_valid_o,
  input logic aw_ready_i,
  /// AXI4 write data.
  output logic [127:0] w_data_o,
  /// Byte enables; with w_data_o.
  output logic [15:0] w_strb_o,
  /// Last beat of the burst; with w_data_o.
  output logic w_last_o,
  output logic w_valid_o,
  input logic w_ready_i,
  /// AXI4 write response: ID of the burst.
  input logic [2:0] b_id_i,
  /// OKAY, EXOKAY, SLVERR or DECERR; with b_id_i.
  input logic [1:0] b_resp_i,
  input logic b_valid_i,
  output logic b_ready_o
);
  localparam int unsigned AddrWidth = $clog2(Segment / 16);

  packet_t packet;
  logic bank, packet_valid, packet_ready;
  logic we, re, store_failed, unused_corrected;
  logic [AddrWidth:0] waddr, raddr;
  logic [127:0] wdata, rdata;

  spfe_rdma_receive #(
    .Segment(Segment)
  ) i_receive (
    .clk_i,
    .rst_i,
    .protocol_i,
    .logical_address_i,
    .word_i,
    .vc_i,
    .word_valid_i,
    .word_ready_o,
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

  logic [19:0] wanted, listed;
  logic find, list, region_valid, regions_failed, peers_failed;
  logic [15:0] region_count;
  region_t region;

  spfe_rdma_regions #(
    .Regions(Regions),
    .Protect(Protect)
  ) i_regions (
    .clk_i,
    .rst_i,
    .set_i,
    .set_index_i,
    .set_region_i,
    .set_valid_i,
    .index_i(list ? listed : wanted),
    .find_i(find || list),
    .valid_o(region_valid),
    .region_o(region),
    .count_o(region_count),
    .failed_o(regions_failed)
  );

  // Reads of the two sides never overlap: a packet waits until the response before it has read all.
  logic [63:0] one_addr, read_addr, rd_addr, wr_addr;
  logic [31:0] read_len, rd_len, wr_len;
  logic one_valid, read_valid, rd_ready, rd_last, rd_error, rd_data_valid;
  logic wr_valid, wr_ready, wr_data_valid, wr_data_ready, wr_done, wr_error;
  logic [127:0] rd_data, wr_data;
  logic [3:0] unused_end;
  response_t response;
  logic response_valid, response_ready;
  note_t note;
  logic note_valid, idle, reads;

  spfe_rdma_execute #(
    .Segment(Segment),
    .Peers(Peers),
    .Notes(Notes != 0),
    .Protect(Protect)
  ) i_execute (
    .clk_i,
    .rst_i,
    .time_ns_i,
    .packet_i(packet),
    .bank_i(bank),
    .packet_valid_i(packet_valid),
    .packet_ready_o(packet_ready),
    .hold_i(fence_valid_i),
    .idle_o(idle),
    .re_o(re),
    .raddr_o(raddr),
    .rdata_i(rdata),
    .rfailed_i(store_failed),
    .region_index_o(wanted),
    .region_find_o(find),
    .region_valid_i(region_valid),
    .region_i(region),
    .rd_addr_o(one_addr),
    .rd_valid_o(one_valid),
    .rd_ready_i(rd_ready),
    .rd_data_i(rd_data[63:0]),
    .rd_error_i(rd_error),
    .rd_data_valid_i(rd_data_valid),
    .wr_addr_o(wr_addr),
    .wr_len_o(wr_len),
    .wr_valid_o(wr_valid),
    .wr_ready_i(wr_ready),
    .wr_data_o(wr_data),
    .wr_data_valid_o(wr_data_valid),
    .wr_data_ready_i(wr_data_ready),
    .wr_done_i(wr_done),
    .wr_error_i(wr_error),
    .response_o(response),
    .response_valid_o(response_valid),
    .response_ready_i(response_ready),
    .note_o(note),
    .note_valid_o(note_valid),
    .handled_o,
    .handled_valid_o,
    .failed_o(peers_failed)
  );
  assign failed_o = store_failed || regions_failed || peers_failed;
  assign fence_ready_o = fence_valid_i && idle && !reads;

  spfe_rdma_respond #(
    .Segment(Segment),
    .Regions(Regions),
    .Vcs(Vcs),
    .Notes(Notes != 0),
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
    .revoke_i(fence_valid_i),
    .revoke_index_i(20'(fence_index_i)),
    .reads_o(reads),
    .region_index_o(listed),
    .region_find_o(list),
    .region_valid_i(region_valid),
    .region_i(region),
    .region_count_i(region_count),
    .rd_addr_o(read_addr),
    .rd_len_o(read_len),
    .rd_valid_o(read_valid),
    .rd_ready_i(rd_ready),
    .rd_data_i(rd_data),
    .rd_last_i(rd_last),
    .rd_error_i(rd_error),
    .rd_data_valid_i(rd_data_valid),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );

  assign rd_addr = one_valid ? one_addr : read_addr;
  assign rd_len = one_valid ? 32'd8 : read_len;
  spfe_axi_read #(
    .Protect(Protect)
  ) i_read (
    .clk_i,
    .rst_i,
    .cmd_addr_i(rd_addr),
    .cmd_len_i(rd_len),
    .cmd_valid_i(one_valid || read_valid),
    .cmd_ready_o(rd_ready),
    .data_o(rd_data),
    .end_o(unused_end),
    .last_o(rd_last),
    .error_o(rd_error),
    .valid_o(rd_data_valid),
    .ready_i(1'b1),
    .ar_addr_o,
    .ar_id_o,
    .ar_len_o,
    .ar_valid_o,
    .ar_ready_i,
    .r_data_i,
    .r_id_i,
    .r_resp_i,
    .r_last_i,
    .r_valid_i,
    .r_ready_o
  );

  spfe_axi_write i_write (
    .clk_i,
    .rst_i,
    .cmd_addr_i(wr_addr),
    .cmd_len_i(wr_len),
    .cmd_valid_i(wr_valid),
    .cmd_ready_o(wr_ready),
    .data_i(wr_data),
    .valid_i(wr_data_valid),
    .ready_o(wr_data_ready),
    .done_o(wr_done),
    .done_error_o(wr_error),
    .aw_addr_o,
    .aw_id_o,
    .aw_len_o,
    .aw_valid_o,
    .aw_ready_i,
    .w_data_o,
    .w_strb_o,
    .w_last_o,
    .w_valid_o,
    .w_ready_i,
    .b_id_i,
    .b_resp_i,
    .b_valid_i,
    .b_ready_o
  );

  // Notifications are kept, or lost and counted; they never hold up a packet.
  if (Notes != 0) begin : gen_notes
    logic room, unused_almost_full;
    logic [$clog2(Notes+1)-1:0] count;
    assign note_dropped_o = note_valid && !room;
    assign note_made_o = note_valid && room;
    assign note_count_o = 8'(count);
    spfe_fifo #(
      .Width($bits(note_t)),
      .Depth(Notes)
    ) i_notes (
      .clk_i,
      .rst_i,
      .data_i(note),
      .valid_i(note_valid && room),
      .ready_o(room),
      .data_o(note_o),
      .valid_o(note_valid_o),
      .ready_i(note_ready_i),
      .count_o(count),
      .almost_full_o(unused_almost_full)
    );
  end else begin : gen_no_notes
    logic unused;
    assign unused = note_ready_i ^ note_valid ^ (^note);
    assign note_o = '0;
    assign note_valid_o = 1'b0;
    assign note_dropped_o = 1'b0;
    assign note_made_o = 1'b0;
    assign note_count_o = '0;
  end
endmodule
