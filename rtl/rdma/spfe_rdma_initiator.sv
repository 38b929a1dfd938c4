// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Initiator of RDMA over SpaceFibre: the sending side of one queue pair on one virtual channel.
/// Takes the slots of work requests, sends and receives SFRP packets, and makes completions. A
/// message that brings no progress is repeated, so each work request ends within a bounded time.
module spfe_rdma_initiator
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Largest payload of a packet in bytes, a power of two from 256 to 4096. No larger one is sent,
  /// and data of a READ in larger packets fails with REMOTE_DATA.
  parameter int unsigned Segment = 4096,
  /// Work requests that may be outstanding: a power of two from 4 to 64.
  parameter int unsigned Works = 32,
  /// Check bits of memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// The queue pair; does not change while on_i.
  input pair_t pair_i,
  /// Number of its queue, for completions.
  input logic [15:0] queue_i,
  /// The queue works. Otherwise everything is forgotten.
  input logic on_i,
  /// Nothing is under way.
  output logic idle_o,
  /// Numbers to start with, random.
  input logic [47:0] seed_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Oldest slot of the ring.
  input logic [127:0] entry_i,
  input logic entry_valid_i,
  output logic entry_ready_o,
  /// Nothing follows what was taken.
  input logic dry_i,
  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i,
  /// End of a work request.
  output ended_t ended_o,
  /// For one cycle: it is on its way to a completion.
  output logic ended_valid_o,
  /// State of the queue pair.
  output queue_pair_state_e state_o,
  /// What it waits for.
  output queue_pair_wait_e wait_o,
  /// For one cycle: what was done.
  output step_e step_o,
  /// At this time, ns; with step_o.
  output logic [63:0] step_time_o,
  /// The packet that the step sends repeats a message.
  output logic step_again_o,
  /// Its bytes.
  output logic [12:0] step_bytes_o,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o,

  /// Accesses to memory: checks (0) and moves (1); see spfe_host_access.
  output access_t [1:0] request_o,
  output logic [1:0] request_valid_o,
  input logic [1:0] request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// Bytes that were read by moves.
  input read_t read_i,
  input logic read_valid_i,
  output logic read_ready_o,
  /// Bytes that moves write.
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
  localparam int unsigned Width = $clog2(Works);

  // Slots of work requests: 8 for each place in the table.
  logic [2:0] slot, slot_in;
  logic slot_we, slot_re, room, post_idle, pair_idle, move_start, move_done, move_failed;
  logic [Width-1:0] place, move_place;
  logic [127:0] slot_data;
  posted_t posted;
  logic posted_valid, posted_ready;
  logic [3:0] failed;
  logic [2:0] unused_corrected;
  spfe_rdma_post i_post (
    .clk_i,
    .rst_i,
    .domain_i(pair_i.domain),
    .room_i(room),
    .stop_i(!on_i),
    .entry_i,
    .entry_valid_i(entry_valid_i && on_i),
    .entry_ready_o,
    .dry_i,
    .idle_o(post_idle),
    .slot_o(slot_in),
    .slot_valid_o(slot_we),
    .check_o(request_o[0]),
    .check_valid_o(request_valid_o[0]),
    .check_ready_i(request_ready_i[0]),
    .result_i,
    .posted_o(posted),
    .posted_valid_o(posted_valid),
    .posted_ready_i(posted_ready)
  );
  spfe_ram_safe #(
    .Width(128),
    .Depth(8 * Works),
    .Protect(Protect)
  ) i_slots (
    .clk_i,
    .we_i(slot_we),
    .addr_i({place, slot_in}),
    .data_i(entry_i),
    .rclk_i(clk_i),
    .re_i(slot_re),
    .raddr_i({move_place, slot}),
    .data_o(slot_data),
    .corrected_o(unused_corrected[0]),
    .failed_o(failed[0])
  );

  // Packets that arrive, and those that leave, each with two stores.
  packet_t packet;
  logic packet_bank, packet_valid, packet_ready, rx_we, rx_re, tx_we, tx_re;
  logic [AddrWidth:0] rx_waddr, tx_raddr;
  logic [AddrWidth-1:0] rx_raddr, tx_waddr;
  logic [127:0] rx_wdata, rx_rdata, tx_wdata, tx_rdata;
  logic move_bank, bank, header_valid, header_ready;
  logic [12:0] bytes;
  logic [4:0] unused_vc;
  header_t header;
  path_t path;
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
    .we_o(rx_we),
    .waddr_o(rx_waddr),
    .wdata_o(rx_wdata),
    .packet_o(packet),
    .bank_o(packet_bank),
    .packet_valid_o(packet_valid),
    .packet_ready_i(packet_ready)
  );
  spfe_ram_safe #(
    .Width(128),
    .Depth(2 * Segment / 16),
    .Protect(Protect)
  ) i_rx_store (
    .clk_i,
    .we_i(rx_we),
    .addr_i(rx_waddr),
    .data_i(rx_wdata),
    .rclk_i(clk_i),
    .re_i(rx_re),
    .raddr_i({move_bank, rx_raddr}),
    .data_o(rx_rdata),
    .corrected_o(unused_corrected[1]),
    .failed_o(failed[1])
  );
  spfe_ram_safe #(
    .Width(128),
    .Depth(2 * Segment / 16),
    .Protect(Protect)
  ) i_tx_store (
    .clk_i,
    .we_i(tx_we),
    .addr_i({move_bank, tx_waddr}),
    .data_i(tx_wdata),
    .rclk_i(clk_i),
    .re_i(tx_re),
    .raddr_i(tx_raddr),
    .data_o(tx_rdata),
    .corrected_o(unused_corrected[2]),
    .failed_o(failed[2])
  );
  always_comb begin
    path = '0;
    path[7:0] = pair_i.path;
  end
  spfe_rdma_transmit #(
    .AddrWidth(AddrWidth)
  ) i_transmit (
    .clk_i,
    .rst_i,
    .header_i(header),
    .reply_i(pair_i.reply),
    .path_i(path),
    .path_bytes_i(5'(pair_i.path_bytes)),
    .bytes_i(17'(bytes)),
    .bank_i(bank),
    .vc_i('0),
    .valid_i(header_valid),
    .ready_o(header_ready),
    .re_o(tx_re),
    .raddr_o(tx_raddr),
    .rdata_i(tx_rdata),
    .failed_i(failed[2]),
    .word_o,
    .vc_o(unused_vc),
    .word_valid_o,
    .word_ready_i
  );

  move_t move;
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
    .slot_o(slot),
    .slot_read_o(slot_re),
    .slot_i(slot_data),
    .we_o(tx_we),
    .waddr_o(tx_waddr),
    .wdata_o(tx_wdata),
    .re_o(rx_re),
    .raddr_o(rx_raddr),
    .rdata_i(rx_rdata),
    .rfailed_i(failed[1]),
    .request_o(request_o[1]),
    .request_valid_o(request_valid_o[1]),
    .request_ready_i(request_ready_i[1]),
    .result_i,
    .read_i,
    .read_valid_i,
    .read_ready_o,
    .data_o,
    .data_valid_o,
    .data_ready_i,
    .written_i,
    .write_error_i
  );

  ended_t ended;
  logic ended_valid, ended_ready;
  spfe_rdma_pair #(
    .Segment(Segment),
    .Works(Works),
    .Protect(Protect)
  ) i_pair (
    .clk_i,
    .rst_i,
    .pair_i,
    .on_i,
    .idle_o(pair_idle),
    .seed_i,
    .time_ns_i,
    .posted_i(posted),
    .posted_valid_i(posted_valid),
    .posted_ready_o(posted_ready),
    .nothing_i(post_idle && dry_i),
    .room_o(room),
    .place_o(place),
    .packet_i(packet),
    .bank_i(packet_bank),
    .packet_valid_i(packet_valid),
    .packet_ready_o(packet_ready),
    .move_o(move),
    .move_place_o(move_place),
    .move_bank_o(move_bank),
    .move_start_o(move_start),
    .move_done_i(move_done),
    .move_failed_i(move_failed),
    .header_o(header),
    .bytes_o(bytes),
    .bank_o(bank),
    .header_valid_o(header_valid),
    .header_ready_i(header_ready),
    .ended_o(ended),
    .ended_valid_o(ended_valid),
    .ended_ready_i(ended_ready),
    .state_o,
    .wait_o,
    .step_o,
    .step_time_o,
    .failed_o(failed[3])
  );
  spfe_rdma_results i_results (
    .clk_i,
    .rst_i,
    .stop_i(!on_i),
    .queue_i,
    .ended_i(ended),
    .ended_valid_i(ended_valid),
    .ended_ready_o(ended_ready),
    .job_o,
    .job_valid_o,
    .job_ready_i
  );
  assign step_again_o = header.flags.retry;
  assign step_bytes_o = bytes;
  assign ended_o = ended;
  assign ended_valid_o = ended_valid && ended_ready;
  assign idle_o = pair_idle && header_ready && !word_valid_o && !request_valid_o[0];
  assign failed_o = failed != '0;

  if (Segment < 256 || Segment > 4096 || (Segment & (Segment - 1)) != 0) begin : gen_bad_segment
    $error(
      "spfe_rdma_initiator: Segment is %0d; powers of two from 256 to 4096 are possible", Segment
    );
  end

  logic unused;
  assign unused = ^{unused_corrected, unused_vc};
endmodule
