// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The receiving side of a queue pair of RDMA over SpaceFibre, on one virtual channel: puts the
/// messages of the partner into posted buffers, acknowledges them, and makes completions.
module spfe_rdma_receiver
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Largest payload of a packet in bytes, a power of two from 256 to 4096.
  parameter int unsigned Segment = 4096,
  /// Buffers that are taken ahead: a power of two from 2 to 64.
  parameter int unsigned Buffers = 32,
  /// Responses that wait for the channel: a power of two from 2 to 64.
  parameter int unsigned Responses = 32,
  /// Check bits of memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// The queue pair; does not change while on_i.
  input pair_t pair_i,
  /// The queue pair works: requests are answered. Otherwise they are dropped.
  input logic on_i,
  /// Its queue of buffers works, too. Otherwise buffers and partner are forgotten.
  input logic open_i,
  /// Number of that queue, for completions.
  input logic [15:0] queue_i,
  /// Its side array.
  input address_t words_i,
  /// Logarithm of the number of its completions.
  input logic [3:0] cq_log2_i,
  /// No buffer is kept or used; with !open_i, as of its second cycle.
  output logic idle_o,
  /// No response waits.
  output logic silent_o,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Oldest entry of the ring.
  input logic [127:0] entry_i,
  input logic entry_valid_i,
  output logic entry_ready_o,
  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i,
  /// For one cycle: another buffer is there, or an entry that cannot be one.
  output logic kept_o,
  /// It is a buffer; with kept_o.
  output logic kept_good_o,
  /// For one cycle: a packet is judged, with the buffers that are there now.
  output logic judged_o,
  /// For one cycle: what became of a packet.
  output handled_t handled_o,
  output logic handled_valid_o,
  /// For one cycle: the side array cannot be written.
  output logic fault_o,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o,

  /// Accesses to memory: checks (0), and bytes and immediate data (1); see spfe_host_access.
  output access_t [1:0] request_o,
  output logic [1:0] request_valid_o,
  input logic [1:0] request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// Bytes to write.
  output logic [127:0] data_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// They are in memory.
  input logic written_i,
  /// The bus reported an error; with written_i.
  input logic write_error_i,

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
  /// Word for the virtual channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  localparam int unsigned AddrWidth = $clog2(Segment / 16);

  localparam logic [3:0] SegmentLog2 = 4'($clog2(Segment));

  // No larger payload than one that fits into the store.
  pair_t pair;
  always_comb begin
    pair = pair_i;
    if (pair.segment_log2 > SegmentLog2) pair.segment_log2 = SegmentLog2;
  end

  packet_t packet;
  logic bank, packet_valid, packet_ready, we, re, unused_corrected;
  logic [AddrWidth:0] waddr;
  logic [AddrWidth-1:0] raddr;
  logic [127:0] wdata, rdata;
  spfe_rdma_receive #(
    .Segment(Segment)
  ) i_receive (
    .clk_i,
    .rst_i,
    .protocol_i(pair_i.protocol),
    .logical_address_i(pair_i.address),
    .vc_i('0),
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

  move_t move;
  logic move_bank, move_start, move_done, move_failed;
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
    .raddr_i({move_bank, raddr}),
    .data_o(rdata),
    .corrected_o(unused_corrected),
    .failed_o
  );

  buffer_t buffer;
  submission_t slot;
  logic [31:0] total;
  logic hold, buffer_valid, buffer_ready, buffers_idle, accept_idle;
  spfe_rdma_buffers #(
    .Buffers(Buffers)
  ) i_buffers (
    .clk_i,
    .rst_i,
    .on_i(open_i || !accept_idle),
    .domain_i(pair_i.domain),
    .hold_i(hold),
    .idle_o(buffers_idle),
    .entry_i,
    .entry_valid_i,
    .entry_ready_o,
    .check_o(request_o[0]),
    .check_valid_o(request_valid_o[0]),
    .check_ready_i(request_ready_i[0]),
    .result_i,
    .kept_o,
    .kept_good_o,
    .total_o(total),
    .buffer_o(buffer),
    .buffer_valid_o(buffer_valid),
    .buffer_ready_i(buffer_ready)
  );

  access_t word_request, move_request;
  logic word_request_valid, move_request_valid, word_valid, move_valid;
  logic [127:0] word_data, move_data;
  response_t response;
  logic response_valid, response_ready, receives;
  spfe_rdma_accept i_accept (
    .clk_i,
    .rst_i,
    .pair_i(pair),
    .on_i,
    .open_i,
    .queue_i,
    .words_i,
    .cq_log2_i,
    .idle_o(accept_idle),
    .packet_i(packet),
    .bank_i(bank),
    .packet_valid_i(packet_valid),
    .packet_ready_o(packet_ready),
    .buffer_i(buffer),
    .buffer_valid_i(buffer_valid),
    .buffer_ready_o(buffer_ready),
    .total_i(total),
    .hold_o(hold),
    .move_o(move),
    .move_bank_o(move_bank),
    .move_start_o(move_start),
    .move_done_i(move_done),
    .move_failed_i(move_failed),
    .request_o(word_request),
    .request_valid_o(word_request_valid),
    .request_ready_i(request_ready_i[1]),
    .result_i,
    .data_o(word_data),
    .data_valid_o(word_valid),
    .data_ready_i,
    .written_i,
    .write_error_i,
    .fault_o,
    .job_o,
    .job_valid_o,
    .job_ready_i,
    .response_o(response),
    .receives_o(receives),
    .response_valid_o(response_valid),
    .response_ready_i(response_ready),
    .judged_o,
    .handled_o,
    .handled_valid_o
  );
  assign idle_o = accept_idle && buffers_idle && !buffer_valid;

  // A buffer is the only element of a message.
  assign slot = '{
      phase: '0,
      flags: 16'(ENTRY_TYPE_BUFFER),
      length: buffer.bytes,
      region: buffer.region,
      offset: buffer.offset
    };
  logic [2:0] unused_slot;
  logic unused_slot_read, unused_we, unused_ready;
  logic [AddrWidth-1:0] unused_waddr;
  logic [127:0] unused_wdata;
  spfe_rdma_move #(
    .AddrWidth(AddrWidth)
  ) i_move (
    .clk_i,
    .rst_i,
    .domain_i(pair_i.domain),
    .move_i(move),
    .start_i(move_start),
    .done_o(move_done),
    .failed_o(move_failed),
    .slot_o(unused_slot),
    .slot_read_o(unused_slot_read),
    .slot_i(slot),
    .we_o(unused_we),
    .waddr_o(unused_waddr),
    .wdata_o(unused_wdata),
    .re_o(re),
    .raddr_o(raddr),
    .rdata_i(rdata),
    .rfailed_i(failed_o),
    .request_o(move_request),
    .request_valid_o(move_request_valid),
    .request_ready_i(request_ready_i[1]),
    .result_i,
    .read_i('0),
    .read_valid_i(1'b0),
    .read_ready_o(unused_ready),
    .data_o(move_data),
    .data_valid_o(move_valid),
    .data_ready_i,
    .written_i,
    .write_error_i
  );
  // Immediate data is written when the bytes are in memory.
  assign request_o[1] = word_request_valid ? word_request : move_request;
  assign request_valid_o[1] = word_request_valid || move_request_valid;
  assign data_o = word_valid ? word_data : move_data;
  assign data_valid_o = word_valid || move_valid;

  spfe_rdma_answer #(
    .Depth(Responses)
  ) i_answer (
    .clk_i,
    .rst_i,
    .time_ns_i,
    .segment_log2_i(pair.segment_log2),
    .response_i(response),
    .receives_i(receives),
    .response_valid_i(response_valid),
    .response_ready_o(response_ready),
    .idle_o(silent_o),
    .word_o,
    .word_valid_o,
    .word_ready_i
  );

  logic unused;
  assign unused = ^{
    unused_corrected, unused_slot, unused_slot_read, unused_we, unused_ready, unused_waddr,
    unused_wdata
  };
endmodule
