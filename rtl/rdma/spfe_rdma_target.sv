// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Target of RDMA over SpaceFibre without software: serves the regions of its table to the packets
/// of one virtual channel, of SFRP (queue pair 0 only) and, with Rmap, of RMAP.
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
  /// Key and addressing of RMAP.
  input spfe_rmap_pkg::rmap_settings_t rmap_i,
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
  logic [3:0][7:0] data;
  logic [2:0] count;
  logic last, cut, valid, ready, sfrp_valid, sfrp_ready;
  spfe_rdma_bytes i_bytes (
    .clk_i,
    .rst_i,
    .word_i,
    .word_valid_i,
    .word_ready_o,
    .data_o(data),
    .count_o(count),
    .last_o(last),
    .cut_o(cut),
    .valid_o(valid),
    .ready_i(ready)
  );

  logic [19:0] index, sfrp_index;
  logic find, sfrp_find, region_valid, regions_failed;
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
    .index_i(index),
    .find_i(find),
    .valid_o(region_valid),
    .region_o(region),
    .count_o(region_count),
    .failed_o(regions_failed)
  );

  memory_ask_t ask, sfrp_ask;
  memory_answer_t answer;
  logic [3:0] unused_end;
  note_t note, sfrp_note;
  handled_t sfrp_handled;
  word_t sfrp_word;
  logic [4:0] sfrp_vc;
  logic note_valid, sfrp_note_valid, sfrp_handled_valid, sfrp_word_valid, sfrp_word_ready;
  logic hold, idle, quiet, sfrp_failed, rmap_failed;
  spfe_rdma_sfrp #(
    .Segment(Segment),
    .Regions(Regions),
    .Peers(Peers),
    .Vcs(Vcs),
    .Notes(Notes != 0),
    .Rmap(Rmap),
    .Identity(Identity),
    .Protect(Protect)
  ) i_sfrp (
    .clk_i,
    .rst_i,
    .protocol_i,
    .logical_address_i,
    .vc_i,
    .time_ns_i,
    .hold_i(hold),
    .idle_o(idle),
    .quiet_o(quiet),
    .revoke_i(fence_valid_i),
    .revoke_index_i(20'(fence_index_i)),
    .data_i(data),
    .count_i(count),
    .last_i(last),
    .cut_i(cut),
    .valid_i(sfrp_valid),
    .ready_o(sfrp_ready),
    .word_o(sfrp_word),
    .vc_o(sfrp_vc),
    .word_valid_o(sfrp_word_valid),
    .word_ready_i(sfrp_word_ready),
    .region_index_o(sfrp_index),
    .region_find_o(sfrp_find),
    .region_valid_i(region_valid),
    .region_i(region),
    .region_count_i(region_count),
    .memory_o(sfrp_ask),
    .memory_i(answer),
    .note_o(sfrp_note),
    .note_valid_o(sfrp_note_valid),
    .handled_o(sfrp_handled),
    .handled_valid_o(sfrp_handled_valid),
    .failed_o(sfrp_failed)
  );
  assign failed_o = regions_failed || sfrp_failed || rmap_failed;

  // Packets of the two protocols are executed in the order in which they came: while one side has a
  // packet, the other one begins with none.
  if (Rmap) begin : gen_rmap
    logic [19:0] rmap_index;
    logic rmap_find, busy, accesses, rmap_ready, rmap_valid;
    memory_ask_t rmap_ask;
    note_t rmap_note;
    handled_t rmap_handled;
    word_t rmap_word;
    logic [4:0] rmap_vc;
    logic rmap_note_valid, rmap_handled_valid, rmap_word_valid, rmap_word_ready;

    spfe_rdma_split i_split (
      .clk_i,
      .rst_i,
      .protocol_i(data[1]),
      .count_i(count),
      .last_i(last),
      .valid_i(valid),
      .ready_o(ready),
      .sfrp_valid_o(sfrp_valid),
      .sfrp_ready_i(sfrp_ready),
      .rmap_valid_o(rmap_valid),
      .rmap_ready_i(rmap_ready),
      .sfrp_word_i(sfrp_word),
      .sfrp_vc_i(sfrp_vc),
      .sfrp_word_valid_i(sfrp_word_valid),
      .sfrp_word_ready_o(sfrp_word_ready),
      .rmap_word_i(rmap_word),
      .rmap_vc_i(rmap_vc),
      .rmap_word_valid_i(rmap_word_valid),
      .rmap_word_ready_o(rmap_word_ready),
      .word_o,
      .vc_o,
      .word_valid_o,
      .word_ready_i
    );

    spfe_rmap_target #(
      .Segment(Segment),
      .Regions(Regions),
      .Protect(Protect)
    ) i_rmap (
      .clk_i,
      .rst_i,
      .logical_address_i,
      .vc_i,
      .settings_i(rmap_i),
      .time_ns_i,
      .start_i(idle && !fence_valid_i),
      .busy_o(busy),
      .revoke_i(fence_valid_i),
      .revoke_index_i(20'(fence_index_i)),
      .accesses_o(accesses),
      .data_i(data),
      .count_i(count),
      .last_i(last),
      .cut_i(cut),
      .valid_i(rmap_valid),
      .ready_o(rmap_ready),
      .word_o(rmap_word),
      .vc_o(rmap_vc),
      .word_valid_o(rmap_word_valid),
      .word_ready_i(rmap_word_ready),
      .region_index_o(rmap_index),
      .region_find_o(rmap_find),
      .region_valid_i(region_valid),
      .region_i(region),
      .memory_o(rmap_ask),
      .memory_i(answer),
      .note_o(rmap_note),
      .note_valid_o(rmap_note_valid),
      .handled_o(rmap_handled),
      .handled_valid_o(rmap_handled_valid),
      .failed_o(rmap_failed)
    );
    assign hold = fence_valid_i || busy;
    assign fence_ready_o = fence_valid_i && quiet && !accesses;
    assign {index, ask} = busy ? {rmap_index, rmap_ask} : {sfrp_index, sfrp_ask};
    assign {note, handled_o} = busy ? {rmap_note, rmap_handled} : {sfrp_note, sfrp_handled};
    assign find = sfrp_find || rmap_find;
    assign note_valid = sfrp_note_valid || rmap_note_valid;
    assign handled_valid_o = sfrp_handled_valid || rmap_handled_valid;
  end else begin : gen_sfrp
    assign {sfrp_valid, ready} = {valid, sfrp_ready};
    assign {word_o, vc_o, word_valid_o} = {sfrp_word, sfrp_vc, sfrp_word_valid};
    assign {sfrp_word_ready, hold} = {word_ready_i, fence_valid_i};
    assign fence_ready_o = fence_valid_i && quiet;
    assign {index, find, ask} = {sfrp_index, sfrp_find, sfrp_ask};
    assign {note, note_valid} = {sfrp_note, sfrp_note_valid};
    assign {handled_o, handled_valid_o} = {sfrp_handled, sfrp_handled_valid};
    assign rmap_failed = 1'b0;
    logic unused;
    assign unused = idle ^ (^rmap_i);
  end

  spfe_axi_read #(
    .Protect(Protect)
  ) i_read (
    .clk_i,
    .rst_i,
    .cmd_addr_i(ask.rd_addr),
    .cmd_len_i(ask.rd_len),
    .cmd_valid_i(ask.rd_ask),
    .cmd_ready_o(answer.rd_ready),
    .data_o(answer.rd_data),
    .end_o(unused_end),
    .last_o(answer.rd_last),
    .error_o(answer.rd_error),
    .valid_o(answer.rd_valid),
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
    .cmd_addr_i(ask.wr_addr),
    .cmd_len_i(ask.wr_len),
    .cmd_valid_i(ask.wr_ask),
    .cmd_ready_o(answer.wr_ready),
    .data_i(ask.wr_data),
    .valid_i(ask.wr_valid),
    .ready_o(answer.wr_data_ready),
    .done_o(answer.wr_done),
    .done_error_o(answer.wr_error),
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
    logic [$clog2(Notes+1)-1:0] kept;
    assign note_dropped_o = note_valid && !room;
    assign note_made_o = note_valid && room;
    assign note_count_o = 8'(kept);
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
      .count_o(kept),
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
