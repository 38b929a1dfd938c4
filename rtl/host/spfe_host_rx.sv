// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A posted receive queue: takes BUFFER entries from its submission ring, writes the packets of a
/// virtual channel into the buffers, and a completion for each buffer after its bytes are in
/// memory. A packet that does not fit goes on in the next buffer (MORE). Empty packets are dropped.
module spfe_host_rx
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

  /// Word of the virtual channel.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,
  /// For one cycle: a completion is in memory.
  output logic event_o,

  /// Transfer to read, as of spfe_axi_read with 16 bytes in a beat, always of 16 bytes.
  output logic [63:0] rd_addr_o,
  output logic rd_valid_o,
  input logic rd_ready_i,
  /// Its bytes.
  input logic [127:0] rd_data_i,
  /// The bus reported an error; with rd_data_i.
  input logic rd_error_i,
  input logic rd_data_valid_i,

  /// Transfer to write, as of spfe_axi_write with 16 bytes in a beat.
  output logic [63:0] wr_addr_o,
  /// Its length, 1 to 16.
  output logic [31:0] wr_len_o,
  output logic wr_valid_o,
  input logic wr_ready_i,
  /// Its bytes.
  output logic [127:0] wr_data_o,
  output logic wr_data_valid_o,
  input logic wr_data_ready_i,
  /// A transfer is in memory.
  input logic wr_done_i,
  /// The bus reported an error in it.
  input logic wr_error_i
);
  typedef enum logic [2:0] {
    Rest,
    Fill16,
    Write,
    WriteData,
    Drain,
    Tell,
    TellData,
    TellDone
  } state_e;

  state_e state_q;
  submission_t entry;
  logic [31:0] position, completions_q;
  logic entry_valid;
  status_e status, status_q;

  spfe_host_fetch #(
    .Type(4'(ENTRY_TYPE_BUFFER))
  ) i_fetch (
    .clk_i,
    .rst_i,
    .queue_i,
    .doorbell_i,
    .cmd_addr_o(rd_addr_o),
    .cmd_valid_o(rd_valid_o),
    .cmd_ready_i(rd_ready_i),
    .data_i(rd_data_i),
    .error_i(rd_error_i),
    .valid_i(rd_data_valid_i),
    .entry_o(entry),
    .position_o(position),
    .status_o(status),
    .valid_o(entry_valid),
    .done_i(event_o)
  );

  // Symbols of the word that are not taken yet; a word is looked at until all of them are.
  logic [3:0] taken_q, taken;
  // Bytes of this beat, bytes of the buffer before it, and writes that are not answered.
  logic [15:0][7:0] beat_q, beat;
  logic [4:0] count_q, count;
  logic [31:0] before_q;
  logic [2:0] open_q;
  logic [31:0] room;
  logic ended, cut, full, error_q;
  // The packet has bytes; END and MORE of the buffer.
  logic inside_q, end_q, eep_q, more_q;
  completion_t completion;

  assign room = entry.length - before_q;
  always_comb begin
    taken = taken_q;
    beat = beat_q;
    count = count_q;
    ended = 1'b0;
    cut = 1'b0;
    full = 1'b0;
    for (int unsigned i = 0; i < 4; i++) begin
      if (!taken[i] && !ended && !full) begin
        if (!word_i.k[i]) begin
          if (32'(count) == room || count == 5'd16) begin
            full = 1'b1;
          end else begin
            for (int unsigned j = 0; j < 16; j++)
            if (32'(count) == j) beat[j] = word_i.bits[8*i+:8];
            count = count + 5'd1;
            taken[i] = 1'b1;
          end
        end else begin
          taken[i] = 1'b1;
          // An end marker without bytes before it is an empty packet.
          if (word_i.bits[8*i+:8] != Fill && (inside_q || count != '0)) begin
            ended = 1'b1;
            cut = word_i.bits[8*i+:8] == Eep;
          end
        end
      end
    end
  end
  assign word_ready_o = state_q == Fill16 && taken == '1;

  assign completion = '{
      phase: phase_of(completions_q, queue_i.cq_log2),
      flags: {
        13'd0, more_q, status_q != STATUS_OK || !end_q ? 2'(END_MARKER_NONE) : {1'b0, eep_q}
      },
      reserved0: '0,
      position: position[15:0],
      status: status_q,
      vc: Vc,
      packets: 16'(status_q == STATUS_OK),
      bytes: before_q
    };
  assign wr_addr_o = state_q == Tell ? entry_at(
    queue_i.cq, completions_q, queue_i.cq_log2
  ) : queue_i.base + 64'(entry.offset) + 64'(before_q);
  assign wr_len_o = state_q == Tell ? 32'd16 : 32'(count_q);
  assign wr_valid_o = state_q == Tell || (state_q == Write && open_q != '1);
  assign wr_data_o = state_q == TellData ? completion : beat_q;
  assign wr_data_valid_o = state_q == TellData || state_q == WriteData;
  assign event_o = state_q == TellDone && wr_done_i;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        before_q <= '0;
        count_q <= '0;
        end_q <= 1'b0;
        eep_q <= 1'b0;
        more_q <= 1'b0;
        error_q <= 1'b0;
        status_q <= status;
        if (entry_valid) state_q <= status == STATUS_OK ? Fill16 : Tell;
      end
      Fill16:
      if (word_valid_i) begin
        taken_q <= taken == '1 ? '0 : taken;
        beat_q <= beat;
        count_q <= count;
        if (count != '0) inside_q <= 1'b1;
        if (ended) begin
          inside_q <= 1'b0;
          end_q <= 1'b1;
          eep_q <= cut;
        end else if (full && 32'(count) == room) begin
          more_q <= 1'b1;
        end
        if (ended || full) state_q <= count == '0 ? Drain : Write;
      end
      Write: if (wr_ready_i && open_q != '1) state_q <= WriteData;
      WriteData:
      if (wr_data_ready_i) begin
        before_q <= before_q + 32'(count_q);
        count_q <= '0;
        state_q <= end_q || more_q ? Drain : Fill16;
      end
      // All bytes are in memory before the completion is written.
      Drain:
      if (open_q == '0) begin
        if (error_q) status_q <= STATUS_ACCESS_DENIED;
        state_q <= Tell;
      end
      Tell: if (wr_ready_i) state_q <= TellData;
      TellData: if (wr_data_ready_i) state_q <= TellDone;
      default:
      if (wr_done_i) begin
        completions_q <= completions_q + 32'd1;
        state_q <= Rest;
      end
    endcase
    if (state_q != TellDone) begin
      open_q <= open_q + 3'(state_q == Write && wr_valid_o && wr_ready_i) - 3'(wr_done_i);
      if (wr_done_i && wr_error_i) error_q <= 1'b1;
    end
    if (rst_i || (!queue_i.enable && state_q == Rest)) begin
      state_q <= Rest;
      completions_q <= '0;
      taken_q <= '0;
      inside_q <= 1'b0;
      open_q <= '0;
    end
  end

  logic unused_entry;
  assign unused_entry = ^{entry, position};
endmodule
