// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The target of RDMA in an endpoint: takes the packets of its virtual channel, sends its responses
/// between those of the transmit queues, and has the table that is there from power-up on.
module spfe_ep_target
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// What the endpoint has; with a target.
  parameter shape_t Shape = DefaultTargetShape,
  /// Entries in Fixed, 1 or more; Shape says how many of them there are.
  parameter int unsigned FixedEntries = 1,
  /// The first entries of the table, from power-up on.
  parameter spfe_rdma_pkg::region_t [FixedEntries-1:0] Fixed = '0,
  /// Vendor, device and serial number, for INFO.
  parameter logic [95:0] Identity = '0,
  /// Initiators that are remembered.
  parameter int unsigned Peers = 32,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Virtual channels of the port; follows from Shape.
  localparam int unsigned Vcs = port_vcs(Shape, 32'(Shape.target.port)),
  /// Bits of a number of words in a beat; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Device time in ns.
  input logic [63:0] time_i,

  /// Entry to set, fence, or notification to take.
  input target_ask_t ask_i,
  /// The fence is done; a notification waits.
  output target_answer_t ask_o,
  /// Event vector to signal: a notification was kept.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Register of the target block to read.
  input live_t live_i,
  /// Its value, a cycle later.
  output logic [31:0] value_o,

  /// Words that came on the channel of the target.
  input word_t [Words-1:0] rx_i,
  /// Their number; with rx_i.
  input logic [CountWidth-1:0] rx_count_i,
  input logic rx_valid_i,
  output logic rx_ready_o,
  /// Words of the transmit queues of the port, as of spfe_ep_target_tx.
  input word_t [Vcs-1:0][Words-1:0] queue_i,
  /// As above.
  input logic [Vcs-1:0][CountWidth-1:0] queue_count_i,
  input logic [Vcs-1:0] queue_valid_i,
  output logic [Vcs-1:0] queue_ready_o,
  /// Words for the port.
  output word_t [Vcs-1:0][Words-1:0] tx_o,
  /// As above.
  output logic [Vcs-1:0][CountWidth-1:0] tx_count_o,
  output logic [Vcs-1:0] tx_valid_o,
  input logic [Vcs-1:0] tx_ready_i,

  /// AXI4.
  output axi_master_t axi_o,
  /// Ready, read data and write responses.
  input axi_slave_t axi_i,
  /// A memory reported an error.
  output logic failed_o
);
  localparam int unsigned Entries = 32'(Shape.target.entries);
  localparam int unsigned IndexWidth = $clog2(Entries);
  localparam int unsigned Notes = 32'(Shape.target.notes);

  // The fixed entries are written after reset, before any command can be given.
  logic [7:0] fixed_q;
  logic fixing;
  target_set_t set;
  assign fixing = fixed_q < Shape.target.fixed;
  always_comb begin
    set = ask_i.set;
    if (fixing) begin
      set.index = fixed_q[6:0];
      set.valid = 1'b1;
      set.entry = Fixed[32'(fixed_q)<FixedEntries?32'(fixed_q) : 0];
    end
  end
  always_ff @(posedge clk_i) begin
    if (fixing) fixed_q <= fixed_q + 8'd1;
    if (rst_i) fixed_q <= '0;
  end

  // A beat becomes words.
  logic [CountWidth-1:0] at_q;
  logic rx_word_ready, rx_takes;
  assign rx_takes = rx_valid_i && rx_word_ready && !fixing;
  assign rx_ready_o = rx_word_ready && !fixing && at_q + 1'b1 == rx_count_i;
  always_ff @(posedge clk_i) begin
    if (rx_takes) at_q <= rx_ready_o ? '0 : at_q + 1'b1;
    if (rst_i) at_q <= '0;
  end
  word_t rx_word, word;
  if (Words > 1) begin : gen_place
    assign rx_word = rx_i[at_q[$clog2(Words)-1:0]];
  end else begin : gen_word
    assign rx_word = rx_i[0];
  end

  logic [4:0] vc;
  logic word_valid, word_ready, note_valid, note_made, note_dropped, handled_valid;
  logic [7:0] note_count;
  spfe_rdma_pkg::note_t note;
  spfe_rdma_pkg::handled_t handled;
  spfe_rdma_target #(
    .Segment(1 << Shape.target.segment_log2),
    .Regions(Entries),
    .Peers(Peers),
    .Vcs(Vcs),
    .Notes(Notes),
    .Rmap(Shape.target.rmap),
    .Identity(Identity),
    .Protect(Protect)
  ) i_target (
    .clk_i,
    .rst_i,
    .protocol_i(Shape.target.protocol),
    .logical_address_i(Shape.target.address),
    .vc_i(Shape.target.vc[4:0]),
    .rmap_i(Shape.target.rmap_settings),
    .time_ns_i(time_i),
    .set_i(set.entry),
    .set_index_i(set.index[IndexWidth-1:0]),
    .set_region_i(set.valid),
    .set_valid_i(ask_i.set_valid || fixing),
    .fence_index_i(ask_i.set.index[IndexWidth-1:0]),
    .fence_valid_i(ask_i.fence),
    .fence_ready_o(ask_o.fence_done),
    .word_i(rx_word),
    .word_valid_i(rx_valid_i && !fixing),
    .word_ready_o(rx_word_ready),
    .word_o(word),
    .vc_o(vc),
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .note_o(note),
    .note_valid_o(note_valid),
    .note_ready_i(ask_i.take),
    .note_count_o(note_count),
    .note_made_o(note_made),
    .note_dropped_o(note_dropped),
    .handled_o(handled),
    .handled_valid_o(handled_valid),
    .failed_o,
    .ar_addr_o(axi_o.ar_addr),
    .ar_id_o(axi_o.ar_id),
    .ar_len_o(axi_o.ar_len),
    .ar_valid_o(axi_o.ar_valid),
    .ar_ready_i(axi_i.ar_ready),
    .r_data_i(axi_i.r_data),
    .r_id_i(axi_i.r_id),
    .r_resp_i(axi_i.r_resp),
    .r_last_i(axi_i.r_last),
    .r_valid_i(axi_i.r_valid),
    .r_ready_o(axi_o.r_ready),
    .aw_addr_o(axi_o.aw_addr),
    .aw_id_o(axi_o.aw_id),
    .aw_len_o(axi_o.aw_len),
    .aw_valid_o(axi_o.aw_valid),
    .aw_ready_i(axi_i.aw_ready),
    .w_data_o(axi_o.w_data),
    .w_strb_o(axi_o.w_strb),
    .w_last_o(axi_o.w_last),
    .w_valid_o(axi_o.w_valid),
    .w_ready_i(axi_i.w_ready),
    .b_id_i(axi_i.b_id),
    .b_resp_i(axi_i.b_resp),
    .b_valid_i(axi_i.b_valid),
    .b_ready_o(axi_o.b_ready)
  );
  assign ask_o.waiting = note_valid;

  spfe_ep_target_status i_status (
    .clk_i,
    .rst_i,
    .handled_i(handled),
    .handled_valid_i(handled_valid),
    .note_i(note),
    .note_valid_i(note_valid),
    .note_count_i(note_count),
    .note_dropped_i(note_dropped),
    .word_i(live_i.word),
    .value_o
  );

  spfe_ep_target_tx #(
    .Vcs(Vcs),
    .Words(Words)
  ) i_tx (
    .clk_i,
    .rst_i,
    .word_i(word),
    .vc_i(vc),
    .word_valid_i(word_valid),
    .word_ready_o(word_ready),
    .queue_i,
    .queue_count_i,
    .queue_valid_i,
    .queue_ready_o,
    .tx_o,
    .tx_count_o,
    .tx_valid_o,
    .tx_ready_i
  );

  // Notifications that come while an event waits share it.
  logic due_q;
  assign event_o = ask_i.vector - 16'd1;
  assign event_valid_o = due_q;
  always_ff @(posedge clk_i) begin
    if (event_ready_i) due_q <= 1'b0;
    if (note_made) due_q <= ask_i.vector != '0;
    if (rst_i) due_q <= 1'b0;
  end

  if (Entries < 2 || Entries > 128 || Shape.target.fixed > Shape.target.entries
      || 32'(Shape.target.fixed) > FixedEntries || Shape.target.port >= Shape.ports
      || 32'(Shape.target.vc) >= Vcs) begin : gen_bad_target
    $error(
      "spfe_ep_target: %0d entries, %0d of them fixed, port %0d, channel %0d",
      Entries,
      Shape.target.fixed,
      Shape.target.port,
      Shape.target.vc
    );
  end

  logic unused;
  assign unused = ^{live_i, set, ask_i};
endmodule
