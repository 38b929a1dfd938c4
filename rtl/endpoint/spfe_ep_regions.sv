// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Region table and page memory: checks an access against its region and translates it to a bus
/// address. Several units ask; each gets its answers in the order of its questions.
module spfe_ep_regions
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Units that ask, 2 or more.
  parameter int unsigned Units = 2,
  /// Regions, at most 4096.
  parameter int unsigned Regions = 64,
  /// Page addresses, at most 65536.
  parameter int unsigned Pages = 1024,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an index; follows from Regions.
  localparam int unsigned RegionWidth = $clog2(Regions),
  /// Bits of the number of a page; follows from Pages.
  localparam int unsigned PageWidth = $clog2(Pages),
  /// Bits of a unit's number; follows from Units.
  localparam int unsigned UnitWidth = $clog2(Units)
) (
  input logic clk_i,
  input logic rst_i,

  /// Access of each unit.
  input translate_t [Units-1:0] request_i,
  input logic [Units-1:0] request_valid_i,
  output logic [Units-1:0] request_ready_o,
  /// The answer to the oldest question of the unit that respond_valid_o names, four cycles later.
  output translation_t respond_o,
  /// With it: the region is all of the bus, where no ring may be.
  output logic respond_whole_o,
  /// Unit that gets it.
  output logic [Units-1:0] respond_valid_o,

  /// Entry of the region table to write.
  input region_t region_i,
  /// Its index.
  input logic [RegionWidth-1:0] region_index_i,
  /// Writes it.
  input logic region_we_i,
  /// Page address to write.
  input logic [63:12] page_i,
  /// Its number.
  input logic [PageWidth-1:0] page_index_i,
  /// Writes it.
  input logic page_we_i,
  /// A memory reported an error; the access is refused with BAD_REGION.
  output logic failed_o
);
  /// An access on its way.
  typedef struct packed {
    logic [UnitWidth-1:0] unit;
    translate_t ask;
  } step_t;

  logic [Units-1:0] unused_grant;
  logic [UnitWidth-1:0] choice;
  logic any;
  spfe_arb_rr #(
    .Ports(Units)
  ) i_arbiter (
    .clk_i,
    .rst_i,
    .request_i(request_valid_i),
    .used_i(any && !region_we_i),
    .grant_o(unused_grant),
    .index_o(choice),
    .valid_o(any)
  );
  // The table is not read while it is written.
  assign request_ready_o = region_we_i ? '0 : unused_grant;

  step_t first_q, second_q, third_q;
  logic first_valid_q, second_valid_q, third_valid_q;
  region_t region;
  logic region_failed, page_failed;
  logic [1:0] unused_corrected;

  spfe_ram_safe #(
    .Width($bits(region_t)),
    .Depth(Regions),
    .Protect(Protect)
  ) i_table (
    .clk_i,
    .we_i(region_we_i),
    .addr_i(region_index_i),
    .data_i(region_i),
    .rclk_i(clk_i),
    .re_i(any && !region_we_i),
    .raddr_i(RegionWidth'(request_i[choice].address.region)),
    .data_o(region),
    .corrected_o(unused_corrected[0]),
    .failed_o(region_failed)
  );

  // The sums have a bit more than their parts, so a large offset cannot wrap.
  status_e status, status_q;
  logic [SizeBits:0] past;
  logic [47:0] page_number;
  logic known;
  logic [3:0] wish;
  assign wish = {
    first_q.ask.local_read,
    first_q.ask.remote_read,
    first_q.ask.remote_write,
    first_q.ask.local_write
  };
  always_comb begin
    known = 32'(first_q.ask.address.region[11:0]) < Regions && region.enabled && !region_failed
        && region.generation == first_q.ask.address.region[15:12]
        && first_q.ask.domain == 16'(region.domain);
    past = (SizeBits + 1)'(first_q.ask.address.offset) + (SizeBits + 1)'(first_q.ask.length);
    page_number = first_q.ask.address.offset >> region.page_log2;
    status = STATUS_OK;
    if (!known) status = STATUS_BAD_REGION;
    else if ((wish & ~region.rights) != '0) status = STATUS_ACCESS_DENIED;
    else if (first_q.ask.length == '0) status = STATUS_EMPTY;
    else if (past > (SizeBits + 1)'(region.bytes)) status = STATUS_OUT_OF_BOUNDS;
  end

  logic [4:0] log2_q, log2_2_q;
  logic [63:12] base_q;
  logic [PageWidth-1:0] page_q;
  logic [63:12] page;
  status_e status_2_q;
  logic [2:0] whole_q;
  logic [63:0] flat_q;

  spfe_ram_safe #(
    .Width(52),
    .Depth(Pages),
    .Protect(Protect)
  ) i_pages (
    .clk_i,
    .we_i(page_we_i),
    .addr_i(page_index_i),
    .data_i(page_i),
    .rclk_i(clk_i),
    .re_i(second_valid_q && log2_q != '0 && status_q == STATUS_OK),
    .raddr_i(page_q),
    .data_o(page),
    .corrected_o(unused_corrected[1]),
    .failed_o(page_failed)
  );

  // Place in the page, and bytes from there to its end.
  logic [31:0] mask, place, left;
  assign mask = (32'd1 << log2_2_q) - 32'd1;
  assign place = third_q.ask.address.offset[31:0] & mask;
  assign left = mask - place + 32'd1;

  translation_t respond, respond_q;
  logic [Units-1:0] respond_valid_q;
  assign respond_o = respond_q;
  assign respond_whole_o = whole_q[2];
  assign respond_valid_o = respond_valid_q;
  always_comb begin
    respond.status = page_failed && status_2_q == STATUS_OK ? STATUS_BAD_REGION : status_2_q;
    respond.address = log2_2_q == '0 ? flat_q : {page, 12'd0} | 64'(place);
    respond.bytes = third_q.ask.length[47:32] != '0 ? '1 : third_q.ask.length[31:0];
    if (log2_2_q != '0 && left < respond.bytes) respond.bytes = left;
  end
  assign failed_o = region_failed || page_failed;

  always_ff @(posedge clk_i) begin
    first_valid_q <= any && !region_we_i;
    first_q <= '{unit: choice, ask: request_i[choice]};
    second_valid_q <= first_valid_q;
    second_q <= first_q;
    status_q <= status;
    whole_q <= {whole_q[1:0], known && region.whole};
    log2_q <= region.page_log2;
    base_q <= region.base;
    page_q <= PageWidth'(region.first_page) + PageWidth'(page_number);
    third_valid_q <= second_valid_q;
    third_q <= second_q;
    status_2_q <= status_q;
    log2_2_q <= log2_q;
    flat_q <= {base_q, 12'd0} + 64'(second_q.ask.address.offset);
    respond_q <= respond;
    respond_valid_q <= '0;
    respond_valid_q[third_q.unit] <= third_valid_q;
    if (rst_i) begin
      first_valid_q <= 1'b0;
      second_valid_q <= 1'b0;
      third_valid_q <= 1'b0;
      respond_valid_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{third_q, second_q, page_number};
endmodule
