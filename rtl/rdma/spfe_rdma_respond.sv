// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Makes responses. The payload of a packet is in a store before its header is sent, so that a
/// memory that fails leads to a status and not to a cut packet.
module spfe_rdma_respond
  import spfe_rdma_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Largest payload of a packet, as of spfe_rdma_receive.
  parameter int unsigned Segment = 4096,
  /// Number of regions, as of spfe_rdma_regions.
  parameter int unsigned Regions = 8,
  /// Virtual channels of the port, 1 to 32.
  parameter int unsigned Vcs = 32,
  /// There is software that reads notifications.
  parameter bit Notes = 1'b1,
  /// The target serves RMAP, too.
  parameter bit Rmap = 1'b0,
  /// Check bits, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Vendor, device and serial number, for INFO.
  parameter logic [95:0] Identity = '0,
  /// Bits of an address of the store; follows from Segment.
  localparam int unsigned AddrWidth = $clog2(Segment / 16)
) (
  input logic clk_i,
  input logic rst_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Response to make.
  input response_t response_i,
  input logic response_valid_i,
  /// The response before it has read all it needs.
  output logic response_ready_o,

  /// Read no more from the region with this index; its READ ends with REVOKED.
  input logic revoke_i,
  /// The index; with revoke_i.
  input logic [19:0] revoke_index_i,
  /// Memory is being read.
  output logic reads_o,

  /// Index of a region to list.
  output logic [19:0] region_index_o,
  /// For one cycle: look up.
  output logic region_find_o,
  /// There is such a region; a cycle after region_find_o.
  input logic region_valid_i,
  /// The region; a cycle after region_find_o.
  input region_t region_i,
  /// Number of regions.
  input logic [15:0] region_count_i,

  /// Transfer to read, as of spfe_axi_read with 16 bytes in a beat.
  output logic [63:0] rd_addr_o,
  /// Its length.
  output logic [31:0] rd_len_o,
  output logic rd_valid_o,
  input logic rd_ready_i,
  /// Its bytes. They are taken in each cycle in which a READ waits for them.
  input logic [15:0][7:0] rd_data_i,
  /// They are its last; with rd_data_i.
  input logic rd_last_i,
  /// The bus reported an error in the transfer; with rd_last_i.
  input logic rd_error_i,
  input logic rd_data_valid_i,

  /// Word for the virtual channel.
  output word_t word_o,
  /// Number of the channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  typedef enum logic [3:0] {
    Rest,
    Look,
    Info0,
    Info1,
    List,
    ListSeen,
    ListHalf,
    ListEnd,
    Ask,
    Take,
    Send
  } state_e;

  state_e state_q;
  response_t response_q;
  logic bank_q, error_q, odd_q;
  // A READ whose region is gone; one whose request to the bus waits goes on.
  logic revoked_q, asked_q, revoked;
  // Of the next packet: payload, and the part of a READ before it.
  logic [16:0] bytes_q;
  logic [31:0] before_q, rest, left;
  logic [16:0] room;
  logic [7:0] index_q;
  logic [63:0] half_q;
  logic [AddrWidth-1:0] at_q;
  logic [191:0] entry;
  logic [127:0] entry_q;
  header_t header;
  logic ends, send_ready;

  // A READ is cut where the offset in the region is a multiple of the segment.
  assign rest = response_q.request.length - before_q;
  assign room = 17'(Segment) - (17'(response_q.place + before_q[15:0]) & 17'(Segment - 1));
  assign left = rest > 32'(room) ? 32'(room) : rest;
  assign ends = response_q.carry != CarryMemory || error_q || before_q + 32'(bytes_q) ==
      response_q.request.length;

  always_comb begin
    header = response_to(response_q.request);
    header.flags.first = before_q == '0;
    header.flags.last = ends;
    header.flags.payload_crc = bytes_q != '0 && !error_q;
    header.status = response_q.status;
    if (error_q) header.status = revoked_q ? SfrpRevoked : SfrpMemory;
    header.length = error_q ? '0 : 32'(bytes_q);
    header.address = response_q.carry == CarryMemory ? 64'(before_q) : response_q.bytes;
    header.immediate = response_q.immediate;
  end

  // The list of regions, 24 bytes each. The key of a hidden one is not told.
  assign entry = {
    16'(index_q),
    11'd0,
    region_i.notify,
    region_i.base == '0,
    region_i.atomic,
    region_i.write,
    region_i.read,
    region_i.hidden ? 32'd0 : region_i.key,
    region_i.base,
    region_i.bytes
  };
  assign region_index_o = 20'(index_q);
  assign region_find_o = state_q == List;

  // What is written to the store.
  logic we;
  logic [127:0] wdata;
  logic [7:0] capabilities;
  assign capabilities = {3'd0, Notes, Rmap, 1'b0, 1'b1, Notes};
  always_comb begin
    we = 1'b0;
    wdata = {response_q.number, 64'd0};
    unique case (state_q)
      Look: we = response_q.carry == CarryNumber;
      Info0: begin
        we = 1'b1;
        wdata = {
          4'd0,
          Version,
          4'd0,
          Version,
          capabilities,
          8'($clog2(Segment)),
          region_count_i,
          16'(Results),
          32'(NoteBytes),
          Identity[95:64]
        };
      end
      Info1: begin
        we = 1'b1;
        wdata = {Identity[63:0], time_ns_i};
      end
      ListSeen: begin
        we = region_valid_i;
        wdata = odd_q ? {half_q, entry[191:128]} : entry[191:64];
      end
      ListHalf: begin
        we = 1'b1;
        wdata = entry_q;
      end
      ListEnd: begin
        we = odd_q;
        wdata = {half_q, 64'd0};
      end
      default: begin
        // Bytes of the bus come with the first one in the low bits.
        we = state_q == Take && rd_data_valid_i;
        wdata = {reversed(rd_data_i[7:0]), reversed(rd_data_i[15:8])};
      end
    endcase
  end

  logic re, failed, unused_corrected;
  logic [AddrWidth:0] raddr;
  logic [127:0] read;
  logic [15:0][7:0] rdata;
  spfe_ram_safe #(
    .Width(128),
    .Depth(2 * Segment / 16),
    .Protect(Protect)
  ) i_store (
    .clk_i,
    .we_i(we),
    .addr_i({bank_q, at_q}),
    .data_i(wdata),
    .rclk_i(clk_i),
    .re_i(re),
    .raddr_i(raddr),
    .data_o(read),
    .corrected_o(unused_corrected),
    .failed_o(failed)
  );
  for (genvar i = 0; i < 16; i++) begin : gen_byte
    assign rdata[i] = read[127-8*i-:8];
  end

  assign response_ready_o = state_q == Rest;
  assign rd_addr_o = response_q.memory + 64'(before_q);
  assign rd_len_o = left;
  assign rd_valid_o = state_q == Ask && left != '0 && !revoked;
  assign revoked = revoked_q && !asked_q;
  assign reads_o = state_q == Ask || state_q == Take;
  always_ff @(posedge clk_i) begin
    asked_q <= rd_valid_o && !rd_ready_i;
    if (state_q == Rest) revoked_q <= 1'b0;
    else if (revoke_i && response_q.request.key[31:12] == revoke_index_i) revoked_q <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (we) at_q <= at_q + 1'b1;
    unique case (state_q)
      Rest: begin
        response_q <= response_i;
        before_q <= '0;
        bytes_q <= '0;
        at_q <= '0;
        error_q <= 1'b0;
        if (response_valid_i) state_q <= Look;
      end
      Look: begin
        if (response_q.carry == CarryNumber) bytes_q <= 17'd8;
        unique case (response_q.carry)
          CarryInfo: state_q <= Info0;
          CarryRegions: state_q <= List;
          CarryMemory: state_q <= Ask;
          default: state_q <= Send;
        endcase
      end
      Info0: state_q <= Info1;
      Info1: begin
        bytes_q <= 17'd32;
        state_q <= Send;
      end
      List: state_q <= ListSeen;
      ListSeen: begin
        if (region_valid_i) bytes_q <= bytes_q + 17'd24;
        if (region_valid_i && odd_q) state_q <= ListHalf;
        else state_q <= index_q == 8'(Regions - 1) ? ListEnd : List;
      end
      ListHalf: state_q <= index_q == 8'(Regions) ? ListEnd : List;
      ListEnd: state_q <= Send;
      Ask: begin
        bytes_q <= revoked ? '0 : 17'(left);
        error_q <= revoked;
        if (left == '0 || revoked) state_q <= Send;
        else if (rd_ready_i) state_q <= Take;
      end
      Take:
      if (rd_data_valid_i && rd_last_i) begin
        error_q <= rd_error_i;
        state_q <= Send;
      end
      default:
      if (send_ready) begin
        bank_q <= !bank_q;
        before_q <= before_q + 32'(bytes_q);
        at_q <= '0;
        state_q <= ends ? Rest : Ask;
      end
    endcase
    if (rst_i) begin
      state_q <= Rest;
      bank_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      index_q <= '0;
      odd_q <= 1'b0;
    end else if (state_q == ListSeen) begin
      entry_q <= entry[127:0];
      index_q <= index_q + 1'b1;
      if (region_valid_i) begin
        odd_q <= !odd_q;
        half_q <= entry[63:0];
      end
    end
  end

  logic [4:0] vc;
  assign vc = 32'(response_q.request.status) < Vcs ? response_q.request.status[4:0] : response_q.vc;

  spfe_rdma_transmit #(
    .AddrWidth(AddrWidth)
  ) i_transmit (
    .clk_i,
    .rst_i,
    .header_i(header),
    .reply_i('0),
    .path_i(response_q.path),
    .path_bytes_i(response_q.request.path_bytes[4:0]),
    .bytes_i(error_q ? '0 : bytes_q),
    .bank_i(bank_q),
    .vc_i(vc),
    .valid_i(state_q == Send),
    .ready_o(send_ready),
    .re_o(re),
    .raddr_o(raddr),
    .rdata_i(rdata),
    .failed_i(failed),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );

  logic unused;
  assign unused = ^{response_q, region_i};
endmodule
