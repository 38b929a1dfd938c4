// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A target of RDMA on one virtual channel, with its memory behind AXI4.
module spfe_sim_rdma
  import spfe_sf_pkg::*;
  import spfe_rdma_pkg::*;
#(
  /// Largest payload of a packet.
  parameter int unsigned Segment = 4096,
  /// Check bits of memories.
  parameter int unsigned Protect = 0,
  /// Number of regions.
  parameter int unsigned Regions = 8,
  /// Notifications that are kept.
  parameter int unsigned Notes = 4,
  /// It serves RMAP, too.
  parameter bit Rmap = 1'b1,
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    logic [7:0] protocol;
    logic [7:0] logical_address;
    spfe_rmap_pkg::rmap_settings_t rmap;
    logic [63:0] time_ns;
    region_t set;
    logic [$clog2(Regions)-1:0] set_index;
    logic set_region;
    logic set_valid;
    logic fence;
    word_t word;
    logic word_valid;
    logic word_ready;
    logic note_ready;
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
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    logic word_ready;
    word_t word;
    logic [4:0] vc;
    logic word_valid;
    note_t note;
    logic note_valid;
    logic note_dropped;
    handled_t handled;
    logic handled_valid;
    logic fence_ready;
    logic failed;
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
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  logic unused_made;
  logic [7:0] unused_count;
  spfe_rdma_target #(
    .Segment(Segment),
    .Regions(Regions),
    .Vcs(8),
    .Notes(Notes),
    .Rmap(Rmap),
    .Identity(96'h0000_0011_0000_0022_0000_0033),
    .Protect(Protect)
  ) i_target (
    .clk_i,
    .rst_i(in_i.rst),
    .protocol_i(in_i.protocol),
    .logical_address_i(in_i.logical_address),
    .vc_i(5'd3),
    .rmap_i(in_i.rmap),
    .time_ns_i(in_i.time_ns),
    .set_i(in_i.set),
    .set_index_i(in_i.set_index),
    .set_region_i(in_i.set_region),
    .set_valid_i(in_i.set_valid),
    .fence_index_i(in_i.set_index),
    .fence_valid_i(in_i.fence),
    .fence_ready_o(out_o.fence_ready),
    .word_i(in_i.word),
    .word_valid_i(in_i.word_valid),
    .word_ready_o(out_o.word_ready),
    .word_o(out_o.word),
    .vc_o(out_o.vc),
    .word_valid_o(out_o.word_valid),
    .word_ready_i(in_i.word_ready),
    .note_o(out_o.note),
    .note_valid_o(out_o.note_valid),
    .note_ready_i(in_i.note_ready),
    .note_count_o(unused_count),
    .note_made_o(unused_made),
    .note_dropped_o(out_o.note_dropped),
    .handled_o(out_o.handled),
    .handled_valid_o(out_o.handled_valid),
    .failed_o(out_o.failed),
    .ar_addr_o(out_o.ar_addr),
    .ar_id_o(out_o.ar_id),
    .ar_len_o(out_o.ar_len),
    .ar_valid_o(out_o.ar_valid),
    .ar_ready_i(in_i.ar_ready),
    .r_data_i(in_i.r_data),
    .r_id_i(in_i.r_id),
    .r_resp_i(in_i.r_resp),
    .r_last_i(in_i.r_last),
    .r_valid_i(in_i.r_valid),
    .r_ready_o(out_o.r_ready),
    .aw_addr_o(out_o.aw_addr),
    .aw_id_o(out_o.aw_id),
    .aw_len_o(out_o.aw_len),
    .aw_valid_o(out_o.aw_valid),
    .aw_ready_i(in_i.aw_ready),
    .w_data_o(out_o.w_data),
    .w_strb_o(out_o.w_strb),
    .w_last_o(out_o.w_last),
    .w_valid_o(out_o.w_valid),
    .w_ready_i(in_i.w_ready),
    .b_id_i(in_i.b_id),
    .b_resp_i(in_i.b_resp),
    .b_valid_i(in_i.b_valid),
    .b_ready_o(out_o.b_ready)
  );
endmodule
