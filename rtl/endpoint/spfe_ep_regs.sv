// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The register space behind an AXI4-Lite slave. All registers are in one memory, which the host
/// reads and of which it writes the words marked writable. Values that change by themselves come
/// from their owners (live registers), and commands read and write the memory, too.
module spfe_ep_regs
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Constants of spfe_ep_fill.
  parameter logic [31:0] Capability = CAPABILITY_IOVA,
  /// Register PAGES_MAX.
  parameter int unsigned Pages = 1024,
  /// Register LANE_RATE_MBPS of all ports.
  parameter int unsigned LaneRateMbps = 6250,
  /// Register USER_RATE_KBPS of all ports.
  parameter int unsigned UserRateKbps = 4_750_000,
  /// Rate of the SpaceWire ports, as of spfe_ep_fill.
  parameter int unsigned WireRateMbps = 78,
  /// Items that the ports do not have.
  parameter logic [63:0] MibAbsent = '0,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an address; follows from Shape.
  localparam int unsigned AddrWidth = space_log2(Shape)
) (
  input logic clk_i,
  input logic rst_i,

  /// AXI4-Lite of 64 bits, for aligned accesses of 4 and 8 bytes. Others are ignored; all are
  /// answered with OKAY.
  input logic [AddrWidth-1:0] aw_addr_i,
  input logic aw_valid_i,
  output logic aw_ready_o,
  /// Bytes for the aligned address, of which the byte enables select 4 or all 8.
  input logic [63:0] w_data_i,
  /// Byte enables; with w_data_i.
  input logic [7:0] w_strb_i,
  input logic w_valid_i,
  output logic w_ready_o,
  /// The write was carried out.
  output logic b_valid_o,
  /// With b_valid_o.
  input logic b_ready_i,
  /// Address of a read, of which the low 3 bits do not matter.
  input logic [AddrWidth-1:0] ar_addr_i,
  input logic ar_valid_i,
  output logic ar_ready_o,
  /// The 8 bytes at the aligned address.
  output logic [63:0] r_data_o,
  output logic r_valid_o,
  input logic r_ready_i,

  /// Access of a command; a read is answered with access_data_o.
  input word_access_t access_i,
  input logic access_valid_i,
  output logic access_ready_o,
  /// Word read, one cycle after the access was taken.
  output logic [31:0] access_data_o,

  /// Register to read, until live_done_i.
  output live_t live_o,
  output logic live_valid_o,
  /// Its value.
  input logic [31:0] live_data_i,
  /// With live_data_i.
  input logic live_done_i,

  /// For one cycle: the host wrote CFG_SEQ, or rang the doorbell of the latch.
  output logic latch_o,
  /// For one cycle: a doorbell of queues.
  output logic [63:0] doorbell_o,
  output logic doorbell_valid_o,
  /// The host has seen this count of a vector.
  output logic [31:0] seen_o,
  /// The vector; with seen_o.
  output logic [8:0] seen_vector_o,
  output logic seen_valid_o,
  input logic seen_ready_i,
  /// The memory reported an error.
  output logic failed_o
);
  localparam int unsigned Words = block_at(Shape, BLOCK_TYPE_END) / 4;
  localparam int unsigned WordWidth = $clog2(Words);
  localparam int unsigned Doorbells = doorbell_at(Shape);

  typedef enum logic [3:0] {
    Fill,
    Rest,
    Write,
    WriteSee,
    WriteRead,
    WriteWord,
    Written,
    Read,
    ReadWord,
    ReadLive,
    Answer
  } state_e;

  state_e state_q;
  logic [AddrWidth-1:3] addr_q;
  logic half_q;
  logic [7:0] strobe_q;
  logic [1:0][31:0] data_q;
  logic sequence_q;
  live_t live_q;

  logic [15:0] fill_addr;
  cell_t fill_word;
  logic filled;

  spfe_ep_fill #(
    .Shape(Shape),
    .Capability(Capability),
    .Pages(Pages),
    .LaneRateMbps(LaneRateMbps),
    .UserRateKbps(UserRateKbps),
    .WireRateMbps(WireRateMbps),
    .MibAbsent(MibAbsent)
  ) i_fill (
    .clk_i,
    .rst_i,
    .addr_o(fill_addr),
    .word_o(fill_word),
    .done_o(filled)
  );

  // The memory: the host comes before commands, writes before reads.
  logic we, re;
  logic [WordWidth-1:0] waddr, raddr;
  cell_t wdata, rdata;
  logic host_write, host_read;
  logic unused_corrected;
  logic [AddrWidth-3:0] word;
  logic is_doorbell, is_word, whole;
  assign word = {addr_q, half_q};
  assign is_doorbell = {addr_q, 3'd0} >= AddrWidth'(Doorbells);
  assign is_word = 32'(word) < Words;
  assign whole = half_q ? strobe_q[7:4] == '1 : strobe_q[3:0] == '1;
  assign host_write = state_q == WriteWord && rdata.writable;
  assign host_read = state_q == WriteRead || state_q == Read;
  assign access_ready_o = filled && !host_write && !host_read && state_q != WriteWord;
  assign we = !rst_i && ((state_q == Fill && !filled) || host_write
      || (access_valid_i && access_ready_o && access_i.write));
  assign re = host_read || (access_valid_i && access_ready_o && !access_i.write);
  assign raddr = host_read ? WordWidth'(word) : WordWidth'(access_i.addr);
  always_comb begin
    waddr = WordWidth'(access_i.addr);
    wdata = '{writable: 1'b0, live: 1'b0, data: access_i.data};
    if (!filled) begin
      waddr = WordWidth'(fill_addr);
      wdata = fill_word;
    end else if (host_write) begin
      waddr = WordWidth'(word);
      wdata = '{writable: 1'b1, live: 1'b0, data: data_q[half_q]};
    end
  end

  spfe_ram_safe #(
    .Width($bits(cell_t)),
    .Depth(Words),
    .Protect(Protect)
  ) i_memory (
    .clk_i,
    .we_i(we),
    .addr_i(waddr),
    .data_i(wdata),
    .rclk_i(clk_i),
    .re_i(re),
    .raddr_i(raddr),
    .data_o(rdata),
    .corrected_o(unused_corrected),
    .failed_o
  );
  assign access_data_o = rdata.data;

  // Addresses of doorbell pages.
  logic [11:3] in_page;
  logic first_page, rings, sees;
  logic [9:0] see_word;
  assign in_page = addr_q[11:3];
  assign first_page = {addr_q, 3'd0} < AddrWidth'(Doorbells + DOORBELL_STRIDE);
  assign rings = in_page == '0 && strobe_q[3:0] == '1;
  assign see_word = {in_page, half_q} - 10'(SEEN_OFFSET / 4);
  assign sees = first_page && in_page >= 9'(SEEN_OFFSET / 8)
      && see_word < 10'(Shape.events) && whole;

  assign aw_ready_o = state_q == Rest && aw_valid_i && w_valid_i;
  assign w_ready_o = aw_ready_o;
  assign ar_ready_o = state_q == Rest && !(aw_valid_i && w_valid_i);
  assign b_valid_o = state_q == Written;
  assign r_valid_o = state_q == Answer;
  assign r_data_o = data_q;
  assign live_valid_o = state_q == ReadLive;
  always_comb begin
    live_o = live_q;
    if (!live_valid_o) live_o.source = LiveNone;
  end
  assign latch_o = sequence_q;
  assign doorbell_o = {strobe_q[7:4] == '1 ? data_q[1] : 32'd0, data_q[0]};
  assign seen_o = data_q[half_q];
  assign seen_vector_o = see_word[8:0];
  assign seen_valid_o = state_q == WriteSee && sees;

  logic is_latch;
  assign is_latch = doorbell_o[23:16] == DOORBELL_KIND_LATCH;
  assign doorbell_valid_o = state_q == Write && is_doorbell && rings && !is_latch;

  always_ff @(posedge clk_i) begin
    sequence_q <= 1'b0;
    case (state_q)
      Fill: if (filled) state_q <= Rest;
      Rest: begin
        half_q <= 1'b0;
        if (aw_valid_i && w_valid_i) begin
          addr_q <= aw_addr_i[AddrWidth-1:3];
          data_q <= w_data_i;
          strobe_q <= w_strb_i;
          state_q <= Write;
        end else if (ar_valid_i) begin
          addr_q <= ar_addr_i[AddrWidth-1:3];
          state_q <= Read;
        end
      end
      Write: begin
        state_q <= is_doorbell ? WriteSee : WriteRead;
        if (is_doorbell && rings && is_latch) sequence_q <= 1'b1;
      end
      WriteSee:
      if (!sees || seen_ready_i) begin
        half_q <= 1'b1;
        if (half_q) state_q <= Written;
      end
      WriteRead: state_q <= is_word && whole ? WriteWord : half_q ? Written : WriteRead;
      WriteWord: begin
        if (32'(word) == GLOBAL_BLOCK_CFG_SEQ / 4) sequence_q <= 1'b1;
        state_q <= half_q ? Written : WriteRead;
      end
      Written: if (b_ready_i) state_q <= Rest;
      Read: begin
        state_q <= ReadWord;
        data_q[half_q] <= '0;
      end
      ReadWord: begin
        if (is_word) data_q[half_q] <= rdata.data;
        half_q <= 1'b1;
        state_q <= half_q ? Answer : Read;
        live_q <= live_t'(rdata.data[$bits(live_t)-1:0]);
        if (is_word && rdata.live) begin
          half_q <= half_q;
          state_q <= ReadLive;
        end
      end
      ReadLive:
      if (live_done_i) begin
        data_q[half_q] <= live_data_i;
        half_q <= 1'b1;
        state_q <= half_q ? Answer : Read;
      end
      default: if (r_ready_i) state_q <= Rest;
    endcase
    if (state_q == WriteWord || (state_q == WriteRead && !(is_word && whole))) half_q <= 1'b1;
    if (rst_i) state_q <= Fill;
  end

  logic unused;
  assign unused = ^{aw_addr_i[2:0], ar_addr_i[2:0], rdata, fill_addr};
endmodule
