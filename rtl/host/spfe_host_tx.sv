// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A transmit queue: takes DATA entries from its submission ring, reads the packets from memory and
/// gives their words to a virtual channel. A completion is written when an entry asks for it
/// (SIGNAL), and for every error.
module spfe_host_tx
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Virtual channel, for completions.
  parameter logic [7:0] Vc = 8'd0
) (
  input logic clk_i,
  input logic rst_i,
  /// The queue.
  input queue_t queue_i,
  /// The host posted entries.
  input logic doorbell_i,

  /// Word for the virtual channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i,
  /// For one cycle: a completion is in memory.
  output logic event_o,

  /// Transfer to read, as of spfe_axi_read with 16 bytes in a beat.
  output logic [63:0] rd_addr_o,
  /// Its length.
  output logic [31:0] rd_len_o,
  output logic rd_valid_o,
  input logic rd_ready_i,
  /// Its bytes.
  input logic [127:0] rd_data_i,
  /// They are its last; with rd_data_i.
  input logic rd_last_i,
  /// The bus reported an error in the transfer; with rd_last_i.
  input logic rd_error_i,
  input logic rd_data_valid_i,
  output logic rd_data_ready_o,

  /// Transfer to write, as of spfe_axi_write, always of 16 bytes.
  output logic [63:0] wr_addr_o,
  /// Its bytes.
  output logic [127:0] wr_data_o,
  output logic wr_valid_o,
  input logic wr_ready_i,
  /// With wr_data_o.
  output logic wr_data_valid_o,
  input logic wr_data_ready_i,
  /// The transfer is in memory.
  input logic wr_done_i
);
  typedef enum logic [2:0] {
    Rest,
    AskData,
    Send,
    Finish,
    Tell,
    TellData,
    TellDone
  } state_e;

  state_e state_q;
  submission_t entry;
  logic [31:0] position, left_q, completions_q;
  logic [63:0] fetch_addr;
  logic fetch_valid, entry_valid, entry_done;
  status_e status, status_q;
  logic [1:0] place_q, end_mark;
  logic [31:0] bytes_q;
  logic [15:0] packets_q;
  logic fetching;
  completion_t completion;

  assign fetching = state_q == Rest;
  spfe_host_fetch #(
    .Type(4'(ENTRY_TYPE_DATA))
  ) i_fetch (
    .clk_i,
    .rst_i,
    .queue_i,
    .doorbell_i,
    .cmd_addr_o(fetch_addr),
    .cmd_valid_o(fetch_valid),
    .cmd_ready_i(rd_ready_i && fetching),
    .data_i(rd_data_i),
    .error_i(rd_error_i),
    .valid_i(rd_data_valid_i && fetching),
    .entry_o(entry),
    .position_o(position),
    .status_o(status),
    .valid_o(entry_valid),
    .done_i(entry_done)
  );

  assign rd_addr_o = fetching ? fetch_addr : queue_i.base + 64'(entry.offset);
  assign rd_len_o = fetching ? 32'd16 : entry.length;
  assign rd_valid_o = fetching ? fetch_valid : state_q == AskData;
  assign end_mark = entry.flags[8:7];

  // Words of the packet: four bytes of a beat at a time, with the end marker behind the last byte.
  logic [31:0] part;
  logic fills;
  logic last, failed, finished, signals;
  logic [7:0] mark;
  assign part = rd_data_i[32*place_q+:32];
  always_comb begin
    mark = end_mark == 2'(END_MARKER_EEP) || status_q != STATUS_OK ? Eep : Eop;
    if (end_mark == 2'(END_MARKER_NONE) && status_q == STATUS_OK) mark = Fill;
    if (state_q == Send && failed) mark = Eep;
    word_o = '{k: 4'h0, bits: part};
    fills = 1'b0;
    if (state_q == Finish) begin
      word_o = '{k: 4'hF, bits: {Fill, Fill, Fill, mark}};
    end else if (left_q < 32'd4) begin
      fills = 1'b1;
      for (int unsigned i = 0; i < 4; i++) begin
        if (left_q <= i) begin
          word_o.k[i] = 1'b1;
          word_o.bits[8*i+:8] = left_q == i ? mark : Fill;
        end
      end
    end
  end
  assign word_valid_o = (state_q == Send && rd_data_valid_i) || state_q == Finish;
  // The last word of a beat lets it go; Finish needs nothing of it.
  assign rd_data_ready_o = fetching ||
      (state_q == Send && word_ready_i && (place_q == 2'd3 || left_q <= 32'd4));

  assign completion = '{
      phase: phase_of(completions_q, queue_i.cq_log2),
      flags: '0,
      reserved0: '0,
      position: position[15:0],
      status: status_q,
      vc: Vc,
      packets: packets_q,
      bytes: bytes_q
    };
  assign wr_addr_o = entry_at(queue_i.cq, completions_q, queue_i.cq_log2);
  assign wr_data_o = completion;
  assign wr_valid_o = state_q == Tell;
  assign wr_data_valid_o = state_q == TellData;
  assign event_o = state_q == TellDone && wr_done_i;

  assign last = state_q == Send && word_valid_o && word_ready_i && left_q <= 32'd4;
  assign failed = rd_error_i && rd_last_i;
  // A full last word has no room for an end marker. An error of the bus cuts the packet.
  assign finished = (last && (fills || (end_mark == 2'(END_MARKER_NONE) && !failed)))
      || (state_q == Finish && word_ready_i);
  // An entry ends with its completion, or without one.
  assign signals = (entry.flags & SUBMIT_FLAGS_SIGNAL) != '0 || status_q != STATUS_OK
      || (state_q == Send && failed);
  assign entry_done = event_o || (finished && !signals);

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (entry_valid) begin
        status_q <= status;
        left_q <= entry.length;
        place_q <= '0;
        state_q <= status == STATUS_OK ? AskData : Tell;
        if (status != STATUS_OK) bytes_q <= '0;
      end
      AskData: if (rd_ready_i) state_q <= Send;
      Send:
      if (word_valid_o && word_ready_i) begin
        place_q <= place_q + 2'd1;
        left_q <= left_q - 32'd4;
        if (last) begin
          if (failed) status_q <= STATUS_ACCESS_DENIED;
          state_q <= !finished ? Finish : signals ? Tell : Rest;
          packets_q <= packets_q + 16'd1;
          bytes_q <= bytes_q + entry.length;
        end
      end
      Finish: if (word_ready_i) state_q <= signals ? Tell : Rest;
      Tell: if (wr_ready_i) state_q <= TellData;
      TellData: if (wr_data_ready_i) state_q <= TellDone;
      default:
      if (wr_done_i) begin
        state_q <= Rest;
        completions_q <= completions_q + 32'd1;
        packets_q <= '0;
        bytes_q <= '0;
      end
    endcase
    if (rst_i || (!queue_i.enable && state_q == Rest)) begin
      state_q <= Rest;
      completions_q <= '0;
      packets_q <= '0;
      bytes_q <= '0;
    end
  end

  logic unused_entry;
  assign unused_entry = ^{entry, position};
endmodule
