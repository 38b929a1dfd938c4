// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Buffers of all virtual channels (ECSS-E-ST-50-11C, 5.7.2, 5.7.3); see spfe_sf_output and
/// spfe_sf_input.
module spfe_sf_channels
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row and in a beat of a user.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Words of a segment.
  parameter int unsigned Segment = SegmentWords,
  /// Words that an FCT grants.
  parameter int unsigned Quantum = SegmentWords,
  /// Words in each output buffer.
  parameter int unsigned OutputWords = 256,
  /// Words in each input buffer.
  parameter int unsigned InputWords = 256,
  /// FCT credit limit in words.
  parameter int unsigned CreditLimit = 65535,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Banks of a buffer; follows from Lanes.
  localparam int unsigned Banks = 1 << $clog2(Lanes),
  /// Bits of a virtual channel; follows from Vcs.
  localparam int unsigned VcWidth = Vcs > 1 ? $clog2(Vcs) : 1,
  /// Bits of a position in an output buffer; follows from OutputWords.
  localparam int unsigned PosWidth = $clog2(OutputWords),
  /// Bits of the length of a segment; follows from Segment.
  localparam int unsigned LenWidth = $clog2(Segment + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset.
  input logic clear_i,
  /// Parameters of the channels.
  input vc_param_t [Vcs-1:0] param_i,
  /// No lane is active.
  input logic no_lane_i,

  /// Words of the users.
  input word_t [Vcs-1:0][Lanes-1:0] tx_i,
  /// Their number.
  input logic [Vcs-1:0][CountWidth-1:0] tx_count_i,
  input logic [Vcs-1:0] tx_valid_i,
  output logic [Vcs-1:0] tx_ready_o,
  /// Words to the users.
  output word_t [Vcs-1:0][Lanes-1:0] rx_o,
  /// Their number.
  output logic [Vcs-1:0][CountWidth-1:0] rx_count_o,
  output logic [Vcs-1:0] rx_valid_o,
  input logic [Vcs-1:0] rx_ready_i,

  /// Channel of an accepted FCT.
  input logic [Vcs-1:0] give_vc_i,
  /// Its words.
  input logic [9:0] give_i,
  /// Credit is there.
  output logic [Vcs-1:0] has_credit_o,
  /// Credit was lost.
  output logic [Vcs-1:0] credit_overflow_o,

  /// Channels with a segment to send.
  output logic [Vcs-1:0] ready_o,
  /// Position of each channel's segment.
  output logic [Vcs-1:0][PosWidth-1:0] start_o,
  /// Its words.
  output logic [Vcs-1:0][LenWidth-1:0] length_o,
  /// Takes a segment.
  input logic take_i,
  /// Its channel.
  input logic [VcWidth-1:0] take_vc_i,
  /// Reads a row of a segment.
  input logic re_i,
  /// Its channel.
  input logic [VcWidth-1:0] data_vc_i,
  /// Position of its first word.
  input logic [PosWidth-1:0] data_pos_i,
  /// Row read from each channel, a cycle later; see spfe_sf_output.
  output word_t [Vcs-1:0][Banks-1:0] data_o,
  /// An acknowledged segment leaves its buffer.
  input logic free_i,
  /// This one.
  input segment_t freed_i,
  /// A buffer has room for nothing but an acknowledgement.
  output logic starved_o,

  /// Channel of the data frame that is received.
  input logic [Vcs-1:0] in_vc_i,
  /// It begins.
  input logic begin_i,
  /// Words of it.
  input word_t [Lanes-1:0] words_i,
  /// Their number; 0: none.
  input logic [CountWidth-1:0] count_i,
  /// It is accepted.
  input logic accept_i,
  /// Words of the frame did not fit.
  output logic [Vcs-1:0] overflow_o,
  /// For one cycle: a frame that is accepted did not fit.
  output logic [Vcs-1:0] input_overflow_o,
  /// FCTs are due.
  output logic [Vcs-1:0] due_o,
  /// One is taken.
  input logic grant_i,
  /// Its channel.
  input logic [VcWidth-1:0] grant_vc_i,
  /// A wrong bit of a memory was corrected.
  output logic ram_corrected_o,
  /// A word of a memory is wrong.
  output logic ram_failed_o
);
  logic [2*Vcs-1:0] corrected, failed;
  logic [Vcs-1:0] starved;
  assign ram_corrected_o = corrected != '0;
  assign ram_failed_o = failed != '0;
  assign starved_o = starved != '0;

  // Received words go to the banks that come next in the buffer of their channel.
  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1;
  logic [Vcs-1:0][BankWidth-1:0] bank;
  logic [BankWidth-1:0] first;
  word_t [Banks-1:0] padded, words;
  logic [Banks-1:0][BankWidth-1:0] place;
  logic [Banks-1:0] banks;
  always_comb begin
    first = '0;
    for (int unsigned v = 0; v < Vcs; v++) if (in_vc_i[v]) first |= bank[v];
    padded = {Banks{words_i[0]}};
    padded[Lanes-1:0] = words_i;
    banks = '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      place[b] = BankWidth'(b) - first;
      words[b] = padded[Banks>1?place[b] : '0];
      banks[b] = Banks == 1 || 32'(place[b]) < 32'(count_i);
    end
  end

  for (genvar v = 0; v < Vcs; v++) begin : gen_vc
    spfe_sf_output #(
      .Lanes(Lanes),
      .Segment(Segment),
      .Words(OutputWords),
      .CreditLimit(CreditLimit),
      .Protect(Protect)
    ) i_output (
      .clk_i,
      .rst_i,
      .clear_i,
      .continuous_i(param_i[v].continuous),
      .no_lane_i,
      .user_i(tx_i[v]),
      .user_count_i(tx_count_i[v]),
      .user_valid_i(tx_valid_i[v]),
      .user_ready_o(tx_ready_o[v]),
      .give_i(give_vc_i[v] ? give_i : '0),
      .has_credit_o(has_credit_o[v]),
      .overflow_o(credit_overflow_o[v]),
      .ready_o(ready_o[v]),
      .length_o(length_o[v]),
      .start_o(start_o[v]),
      .take_i(take_i && 32'(take_vc_i) == v),
      .re_i(re_i && 32'(data_vc_i) == v),
      .rpos_i(data_pos_i),
      .row_o(data_o[v]),
      .free_i(free_i && 32'(freed_i.vc) == v ? LenWidth'(freed_i.words) : '0),
      .starved_o(starved[v]),
      .ram_corrected_o(corrected[2*v]),
      .ram_failed_o(failed[2*v])
    );
    spfe_sf_input #(
      .Lanes(Lanes),
      .Quantum(Quantum),
      .Words(InputWords),
      .Protect(Protect)
    ) i_input (
      .clk_i,
      .rst_i,
      .clear_i,
      .begin_i(begin_i && in_vc_i[v]),
      .count_i(in_vc_i[v] ? count_i : '0),
      .bank_o(bank[v]),
      .words_i(words),
      .banks_i(banks),
      .accept_i(accept_i && in_vc_i[v]),
      .overflow_o(overflow_o[v]),
      .due_o(due_o[v]),
      .grant_i(grant_i && 32'(grant_vc_i) == v),
      .user_o(rx_o[v]),
      .user_count_o(rx_count_o[v]),
      .user_valid_o(rx_valid_o[v]),
      .user_ready_i(rx_ready_i[v]),
      .ram_corrected_o(corrected[2*v+1]),
      .ram_failed_o(failed[2*v+1])
    );
    assign input_overflow_o[v] = overflow_o[v] && accept_i && in_vc_i[v];
  end

  logic unused_param;
  always_comb begin
    unused_param = ^freed_i;
    for (int unsigned v = 0; v < Vcs; v++) begin
      unused_param ^= ^{param_i[v].priority_level, param_i[v].price, param_i[v].time_slots};
    end
  end
endmodule
