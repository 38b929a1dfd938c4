// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The regions of a target. An entry that is changed counts from the next lookup on.
module spfe_rdma_regions
  import spfe_rdma_pkg::*;
#(
  /// Number of regions, from 2 to 128.
  parameter int unsigned Regions = 8,
  /// Check bits, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an index; follows from Regions.
  localparam int unsigned IndexWidth = $clog2(Regions)
) (
  input logic clk_i,
  input logic rst_i,

  /// Entry to write.
  input region_t set_i,
  /// Its index, below Regions.
  input logic [IndexWidth-1:0] set_index_i,
  /// The entry is a region; otherwise the index has none from now on.
  input logic set_region_i,
  /// For one cycle: write.
  input logic set_valid_i,

  /// Index to look up; one that is too large has no region.
  input logic [19:0] index_i,
  /// For one cycle: look up.
  input logic find_i,
  /// There is a region; one cycle after find_i.
  output logic valid_o,
  /// The region; one cycle after find_i.
  output region_t region_o,
  /// Number of regions.
  output logic [15:0] count_o,
  /// For one cycle: the memory has given a wrong word.
  output logic failed_o
);
  logic [Regions-1:0] valid_q;
  logic found_q, fits, wrong, unused_corrected;

  assign fits = 32'(index_i) < Regions;
  assign failed_o = wrong && found_q;
  assign valid_o = found_q && !wrong;
  assign count_o = 16'($countones(valid_q));

  spfe_ram_safe #(
    .Width($bits(region_t)),
    .Depth(Regions),
    .Block(1'b0),
    .Protect(Protect)
  ) i_mem (
    .clk_i,
    .we_i(set_valid_i),
    .addr_i(set_index_i),
    .data_i(set_i),
    .rclk_i(clk_i),
    .re_i(find_i && fits),
    .raddr_i(index_i[IndexWidth-1:0]),
    .data_o(region_o),
    .corrected_o(unused_corrected),
    .failed_o(wrong)
  );

  always_ff @(posedge clk_i) begin
    if (find_i) begin
      found_q <= fits && valid_q[index_i[IndexWidth-1:0]] &&
          !(set_valid_i && set_index_i == index_i[IndexWidth-1:0]);
    end
    if (set_valid_i) valid_q[set_index_i] <= set_region_i;
    if (rst_i) valid_q <= '0;
  end

  if (Regions < 2 || Regions > 128) begin : gen_bad_regions
    $error("spfe_rdma_regions: Regions is %0d; 2 to 128 are possible", Regions);
  end
endmodule
