// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Merges header words, TCP checksum and payload into the beats of a frame. Payload starts in the
/// lower half of a word, so it is shifted by two bytes, or by six with a tag and 8-byte beats.
module spfe_tcp_tx_merge #(
  /// Bytes per beat: 4 or 8.
  parameter int unsigned MacBytes = 4,
  /// 32-bit words per beat; derived.
  localparam int unsigned Lanes = MacBytes / 4
) (
  input logic clk_i,
  /// First words of a frame; first byte in bits 31:24.
  input logic [Lanes-1:0][31:0] start_words_i,
  /// First beat of a frame; first byte in bits 7:0.
  output logic [MacBytes*8-1:0] start_o,
  /// Header words of the current beat; 0 after the header.
  input logic [Lanes-1:0][31:0] words_i,
  /// TCP checksum in the lower half of its word; 0 in other words.
  input logic [Lanes-1:0][15:0] checks_i,
  /// The current beat carries payload.
  input logic pay_i,
  /// The frame has an IEEE 802.1Q tag.
  input logic tagged_i,
  /// Payload chunk; 0 if the beat needs none.
  input logic [MacBytes*8-1:0] chunk_i,
  /// The frame advances by one beat.
  input logic step_i,
  /// Current beat; first byte in bits 7:0.
  output logic [MacBytes*8-1:0] data_o
);
  logic [MacBytes*8-1:16] prev_q;  // rest of the previous chunk
  logic [MacBytes*8-1:0] head, check, shifted2, shifted6;

  always_comb begin
    for (int unsigned i = 0; i < MacBytes; i++) begin
      start_o[i*8+:8] = start_words_i[i/4][(3-i%4)*8+:8];
      head[i*8+:8] = words_i[i/4][(3-i%4)*8+:8];
      check[i*8+:8] = i % 4 < 2 ? 8'd0 : checks_i[i/4][(3-i%4)*8+:8];
    end
  end

  // The first beat with payload takes 2 bytes of the first chunk, or 6.
  assign shifted2 = {chunk_i[15:0], prev_q};
  if (MacBytes == 4) begin : gen_shift4
    assign shifted6 = shifted2;
  end else begin : gen_shift8
    assign shifted6 = {chunk_i[47:0], prev_q[63:48]};
  end

  // Header words are 0 after the header, and prev_q is 0 before the payload.
  assign data_o = head | check | (pay_i ? (tagged_i ? shifted6 : shifted2) : '0);

  always_ff @(posedge clk_i) begin
    if (step_i) prev_q <= chunk_i[MacBytes*8-1:16];
  end
endmodule
