// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reads and writes small pieces of regions, one at a time: entries, times and lines. A piece is at
/// most 48 bytes, and does not pass the end of a page.
module spfe_ep_memory
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Check bits of the reorder buffer, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,

  /// Address of the piece; stays until done_o.
  input address_t address_i,
  /// Its bytes: 8, 16 or 48.
  input logic [5:0] bytes_i,
  /// Protection domain.
  input logic [15:0] domain_i,
  /// Write it; otherwise read.
  input logic write_i,
  /// What to write, up to 16 bytes.
  input logic [127:0] data_i,
  input logic valid_i,
  /// For one cycle: the piece was read, or is in memory.
  output logic done_o,
  /// STATUS_OK, or the reason why not; with done_o.
  output status_e status_o,
  /// What was read, until the next access.
  output logic [383:0] data_o,

  /// Access to translate, as of spfe_ep_regions.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// Its answer.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// AXI4.
  output axi_master_t axi_o,
  /// Its answers.
  input axi_slave_t axi_i
);
  typedef enum logic [2:0] {
    Rest,
    Ask,
    Hear,
    Command,
    Data,
    Answer,
    Finish
  } state_e;

  state_e state_q;
  status_e status_q;
  logic [63:0] address_q;
  logic [2:0][127:0] data_q;
  logic [1:0] beat_q;
  logic rd_ready, rd_last, rd_error, rd_valid, wr_ready, wr_data_ready, wr_done, wr_error;
  logic [127:0] rd_data;
  logic [3:0] unused_end;

  assign translate_valid_o = state_q == Ask;
  always_comb begin
    translate_o = '0;
    translate_o.address = address_i;
    translate_o.length = 48'(bytes_i);
    translate_o.domain = domain_i;
    translate_o.local_write = write_i;
    translate_o.local_read = !write_i;
  end
  assign done_o = state_q == Finish;
  assign status_o = status_q;
  assign data_o = data_q;

  spfe_axi_read #(
    .Bursts(2),
    .BurstBytes(64),
    .Protect(Protect)
  ) i_read (
    .clk_i,
    .rst_i,
    .cmd_addr_i(address_q),
    .cmd_len_i(32'(bytes_i)),
    .cmd_valid_i(state_q == Command && !write_i),
    .cmd_ready_o(rd_ready),
    .data_o(rd_data),
    .end_o(unused_end),
    .last_o(rd_last),
    .error_o(rd_error),
    .valid_o(rd_valid),
    .ready_i(state_q == Data),
    .ar_addr_o(axi_o.ar_addr),
    .ar_id_o(axi_o.ar_id[0]),
    .ar_len_o(axi_o.ar_len),
    .ar_valid_o(axi_o.ar_valid),
    .ar_ready_i(axi_i.ar_ready),
    .r_data_i(axi_i.r_data),
    .r_id_i(axi_i.r_id[0]),
    .r_resp_i(axi_i.r_resp),
    .r_last_i(axi_i.r_last),
    .r_valid_i(axi_i.r_valid),
    .r_ready_o(axi_o.r_ready)
  );
  assign axi_o.ar_id[2:1] = '0;

  spfe_axi_write #(
    .Bursts(2),
    .BurstBytes(64)
  ) i_write (
    .clk_i,
    .rst_i,
    .cmd_addr_i(address_q),
    .cmd_len_i(32'(bytes_i)),
    .cmd_valid_i(state_q == Command && write_i),
    .cmd_ready_o(wr_ready),
    .data_i,
    .valid_i(state_q == Data && write_i),
    .ready_o(wr_data_ready),
    .done_o(wr_done),
    .done_error_o(wr_error),
    .aw_addr_o(axi_o.aw_addr),
    .aw_id_o(axi_o.aw_id[0]),
    .aw_len_o(axi_o.aw_len),
    .aw_valid_o(axi_o.aw_valid),
    .aw_ready_i(axi_i.aw_ready),
    .w_data_o(axi_o.w_data),
    .w_strb_o(axi_o.w_strb),
    .w_last_o(axi_o.w_last),
    .w_valid_o(axi_o.w_valid),
    .w_ready_i(axi_i.w_ready),
    .b_id_i(axi_i.b_id[0]),
    .b_resp_i(axi_i.b_resp),
    .b_valid_i(axi_i.b_valid),
    .b_ready_o(axi_o.b_ready)
  );
  assign axi_o.aw_id[2:1] = '0;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        beat_q <= '0;
        if (valid_i) state_q <= Ask;
      end
      Ask: if (translate_ready_i) state_q <= Hear;
      Hear:
      if (translation_valid_i) begin
        status_q <= translation_i.status;
        address_q <= translation_i.address;
        state_q <= translation_i.status == STATUS_OK ? Command : Finish;
      end
      Command: if (write_i ? wr_ready : rd_ready) state_q <= Data;
      Data:
      if (write_i) begin
        if (wr_data_ready) state_q <= Answer;
      end else if (rd_valid) begin
        data_q[beat_q] <= rd_data;
        beat_q <= beat_q + 2'd1;
        if (rd_last) begin
          if (rd_error) status_q <= STATUS_ACCESS_DENIED;
          state_q <= Finish;
        end
      end
      Answer:
      if (wr_done) begin
        if (wr_error) status_q <= STATUS_ACCESS_DENIED;
        state_q <= Finish;
      end
      default: state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  logic unused;
  assign unused = ^{translation_i.bytes, axi_i.r_id[2:1], axi_i.b_id[2:1]};
endmodule
