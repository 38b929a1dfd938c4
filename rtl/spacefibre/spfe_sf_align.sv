// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Aligns the lanes and joins their words to rows: alignment buffers, data-receiving lanes, the
/// active lanes of the far end, and the state of the alignment (ECSS-E-ST-50-11C, 5.6.4.3 to
/// 5.6.4.6). The lanes' words of a word period come with go_i, the row a cycle later.
module spfe_sf_align
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes, 2 to 16.
  parameter int unsigned Lanes = 4,
  /// Word periods after Near-End Ready in which an RXERR starts the alignment again: 4 us.
  parameter int unsigned EarlyWords = 625,
  /// A row with an RXERR starts the alignment again.
  parameter bit RxErrRowMisaligns = 1'b0,
  /// A lane that said "in reserve" and delivers a word of the data link layer does so.
  parameter bit ChecksReserve = 1'b1
) (
  input logic clk_i,
  input logic rst_i,
  /// Words of a word period are here.
  input logic go_i,
  /// Link reset.
  input logic clear_i,

  /// Active lanes.
  input logic [Lanes-1:0] active_i,
  /// They changed.
  input logic changed_i,
  /// Lanes that became active.
  input logic [Lanes-1:0] fresh_i,
  /// Lanes in ClearLine.
  input logic [Lanes-1:0] down_i,
  /// Active lanes that receive.
  input logic [Lanes-1:0] receiving_i,
  /// Only lane 0 is used, as a single lane.
  input logic bypass_i,
  /// Word of each lane.
  input word_t [Lanes-1:0] word_i,
  /// What it is.
  input arrival_t [Lanes-1:0] arrival_i,

  /// State of the alignment.
  output alignment_e alignment_o,
  /// The words sent since the last ALIGN count from here.
  output logic restart_o,
  /// A valid ACTIVE came.
  output logic asked_o,
  /// Active lanes of the far end.
  output logic [15:0] far_end_active_o,
  /// Lanes from which rows are received.
  output logic [Lanes-1:0] data_receiving_o,
  /// Times that alignment started again in this cycle.
  output logic [1:0] misaligned_o,
  /// The last reason.
  output misaligned_e cause_o,

  /// Row: RowNone, RowRxErr, RowControl or RowData.
  output row_kind_e row_o,
  /// Word of each lane, as it was on the line.
  output word_t [Lanes-1:0] words_o,
  /// Lanes that belong to the row.
  output logic [Lanes-1:0] lanes_o,
  /// Lanes of it with data.
  output logic [Lanes-1:0] data_o
);
  localparam int unsigned EarlyWidth = $clog2(EarlyWords + 1);

  /// A word in an alignment buffer.
  typedef struct packed {
    in_row_e kind;
    logic fits;
    word_t word;
  } held_t;

  alignment_e alignment_q, alignment;
  logic [15:0] far_end_q, far_end;
  logic [Lanes-1:0] receiving_q, receiving, heard_q, heard;
  logic aligned_q, aligned;
  logic [EarlyWidth-1:0] ready_q;

  logic [Lanes-1:0] flush, push, full, valid, pop;
  held_t [Lanes-1:0] head;
  logic [3:0] count;
  logic [1:0] misaligned_q;
  misaligned_e cause_q;
  row_kind_e row_q;
  word_t [Lanes-1:0] words_q;
  logic [Lanes-1:0] lanes_q, data_q;
  logic ready_before, starts, overflow, misaligned1, misaligned2, lost;
  logic arrived;
  misaligned_e arrived_cause, cause1, cause2;

  assign ready_before = alignment_q != AlNotReady;
  // Number of lanes that an ALIGN has to name; 16 are 0.
  always_comb begin
    count = '0;
    for (int unsigned l = 0; l < Lanes; l++) count = count + 4'(receiving_i[l]);
  end

  // The words that arrive. Later lanes overrule earlier ones, as if they came one after another.
  always_comb begin
    logic differs;
    far_end = far_end_q;
    for (int unsigned l = 0; l < Lanes; l++) if (down_i[l]) far_end[l] = 1'b0;
    heard = heard_q & ~fresh_i;
    receiving = receiving_q & receiving_i;
    flush = fresh_i | (receiving_q & ~receiving_i);
    arrived = changed_i || receiving != receiving_q;
    arrived_cause = receiving != receiving_q ? MisDataReceiving : MisActiveLanes;
    starts = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      differs = far_end != word_i[l].bits[31:16];
      if (arrival_i[l].valid && arrival_i[l].same) begin
        starts = 1'b1;
        far_end = word_i[l].bits[31:16];
        if (differs) begin
          arrived = 1'b1;
          arrived_cause = MisFarEndLanes;
        end
      end
      if (arrival_i[l].valid && arrival_i[l].reserve) begin
        heard[l] = 1'b1;
        if (receiving[l]) begin
          receiving[l] = 1'b0;
          flush[l] = 1'b1;
          arrived = 1'b1;
          arrived_cause = MisDataReceiving;
        end
      end
      if (arrival_i[l].valid && arrival_i[l].correct) begin
        heard[l] = 1'b1;
        if (!receiving[l]) begin
          receiving[l] = 1'b1;
          arrived = 1'b1;
          arrived_cause = MisDataReceiving;
        end
        if (!arrival_i[l].fits || word_i[l].bits[19:16] != count) begin
          arrived = 1'b1;
          arrived_cause = MisInvalidAlign;
        end
      end
      push[l] = arrival_i[l].valid && receiving[l];
      if (ChecksReserve && arrival_i[l].valid && !receiving[l] && ready_before
          && arrival_i[l].data_link) begin
        arrived = 1'b1;
        arrived_cause = MisReserveInUse;
      end
    end
    if (bypass_i) begin
      receiving = receiving_q & receiving_i;
      far_end = far_end_q & ~16'(down_i);
      heard = heard_q & ~fresh_i;
      push = '0;
      arrived = 1'b0;
      starts = 1'b0;
    end
  end
  assign overflow = !bypass_i && full != '0;
  assign misaligned1 = arrived || overflow;
  assign cause1 = overflow ? MisOverflow : arrived_cause;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    held_t in;
    assign in = '{kind: arrival_i[l].kind, fits: arrival_i[l].fits, word: word_i[l]};
    spfe_sf_align_buffer #(
      .Width($bits(held_t))
    ) i_buffer (
      .clk_i,
      .rst_i(rst_i || clear_i),
      .flush_i(go_i && (flush[l] || (bypass_i && l == 0))),
      .word_i(in),
      .push_i(go_i && push[l]),
      .full_o(full[l]),
      .drop_i(go_i && overflow),
      .head_o(head[l]),
      .valid_o(valid[l]),
      .pop_i(go_i && pop[l])
    );
  end

  // The words that leave the buffers.
  logic [Lanes-1:0] holds, held, taken, data;
  in_row_e [Lanes-1:0] kinds;
  logic there, all_held, not_ready, rx_error, invalid, data_received;
  row_kind_e judged, row;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      kinds[l] = head[l].kind;
      holds[l] = head[l].fits && head[l].word.bits[19:16] == count;
    end
    held = receiving & holds;
    all_held = held == receiving;
    taken = all_held ? receiving : receiving & ~held;
    there = receiving != '0 && (receiving & ~valid) == '0 && !overflow;
    pop = there ? taken : '0;
    not_ready = !ready_before || misaligned1;
    aligned = aligned_q && !misaligned1;
  end

  spfe_sf_row_judge #(
    .Lanes(Lanes)
  ) i_judge (
    .kind_i(kinds),
    .taken_i(taken),
    .held_i(held != '0),
    .not_ready_i(not_ready),
    .row_o(judged),
    .data_o(data),
    .rx_error_o(rx_error),
    .invalid_o(invalid)
  );

  always_comb begin
    misaligned2 = 1'b0;
    cause2 = MisHeldAlign;
    row = RowNone;
    data_received = 1'b0;
    if (there && !all_held) begin
      row = judged;
      data_received = judged == RowData;
      if (held != '0) begin
        misaligned2 = aligned;
      end else begin
        misaligned2 = invalid || (rx_error && RxErrRowMisaligns);
        cause2 = invalid ? MisInvalidRow : MisRxErrRow;
      end
      if (judged == RowRxErr && !not_ready && ready_q < EarlyWidth'(EarlyWords)) begin
        misaligned2 = 1'b1;
        cause2 = MisEarlyRxErr;
      end
    end
    lost = (misaligned1 && ready_before) || (misaligned2 && !not_ready);
    if (lost) row = RowRxErr;
  end

  // State after this word period.
  logic becomes_ready, now_aligned;
  always_comb begin
    now_aligned = (aligned || (there && all_held)) && !misaligned2;
    alignment = misaligned1 || misaligned2 ? AlNotReady : alignment_q;
    becomes_ready = 1'b0;
    case (alignment)
      AlNotReady: begin
        becomes_ready = now_aligned && far_end == 16'(active_i);
        if ((receiving_i & ~heard) != '0) becomes_ready = 1'b0;
      end
      AlNearEndReady: if (data_received) alignment = AlBothEndsReady;
      default: becomes_ready = starts;
    endcase
    if (becomes_ready) alignment = AlNearEndReady;
  end
  assign restart_o = go_i && !bypass_i && (lost || becomes_ready);
  assign asked_o = go_i && starts;

  always_ff @(posedge clk_i) begin
    misaligned_q <= '0;
    row_q <= RowNone;
    if (go_i) begin
      far_end_q <= far_end;
      receiving_q <= receiving;
      heard_q <= heard;
      if (!bypass_i) begin
        alignment_q <= alignment;
        aligned_q <= now_aligned;
        misaligned_q <= 2'(misaligned1) + 2'(misaligned2);
        if (misaligned1) cause_q <= cause1;
        if (misaligned2) cause_q <= cause2;
        ready_q <= ready_q == EarlyWidth'(EarlyWords) ? ready_q : ready_q + 1'b1;
        if (becomes_ready) ready_q <= '0;
      end
      row_q <= row;
      lanes_q <= receiving;
      data_q <= data;
      if (bypass_i) begin
        row_q <= RowNone;
        // The RXERR with which the lane leaves Active passes, too.
        if (arrival_i[0].given) begin
          case (arrival_i[0].kind)
            InRowData: row_q <= RowData;
            InRowControl: row_q <= RowControl;
            InRowError: row_q <= RowRxErr;
            default: ;
          endcase
        end
        lanes_q <= Lanes'(1);
        data_q <= Lanes'(arrival_i[0].kind == InRowData);
      end
      for (int unsigned l = 0; l < Lanes; l++) words_q[l] <= head[l].word;
    end
    if (clear_i) begin
      alignment_q <= AlNotReady;
      aligned_q <= 1'b0;
      row_q <= RowNone;
    end
    if (rst_i) begin
      alignment_q <= AlNotReady;
      aligned_q <= 1'b0;
      far_end_q <= '0;
      receiving_q <= '0;
      heard_q <= '0;
      ready_q <= '0;
      row_q <= RowNone;
      misaligned_q <= '0;
      cause_q <= MisActiveLanes;
    end
  end
  assign alignment_o = alignment_q;
  assign far_end_active_o = far_end_q;
  assign data_receiving_o = receiving_q;
  assign misaligned_o = misaligned_q;
  assign cause_o = cause_q;
  assign row_o = row_q;
  assign words_o = words_q;
  assign lanes_o = lanes_q;
  assign data_o = data_q;
endmodule
