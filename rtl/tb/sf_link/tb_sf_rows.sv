// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Two data link layers that exchange rows, under back-pressure and faults: words of every channel
/// and broadcast messages arrive once and in order. Rows are lost, damaged with or without notice,
/// and delayed; lanes fail and come back, with another number of lanes; and links are reset, which
/// may lose what was accepted before.
module tb_sf_rows
  import spfe_tb_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Largest number of words in a row.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// 1: rows are damaged and lost, and lanes fail.
  parameter bit Faults = 1'b1,
  /// 1: link resets by command.
  parameter bit Resets = 1'b1,
  /// Check bits of the memories.
  parameter int unsigned Protect = 0,
  /// Words to send on each channel.
  parameter int unsigned Words = 6000 * Lanes
);
  localparam int unsigned CountWidth = $clog2(Lanes + 1);
  localparam int unsigned MostCycles = 600000;

  /* verilator lint_off BLKSEQ */  // Variables of the bench belong to one process.
  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;

  initial begin
    run = chosen(Name);
    if (run) #200 rst = 1'b0;
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  typedef struct {
    row_kind_e kind;
    word_t [Lanes-1:0] words;
    logic [CountWidth-1:0] count;
    bit good;
  } row_t;

  typedef struct {
    word_t word;
    int unsigned epoch;  // link resets of the sender before it was accepted
  } expected_t;

  typedef struct {
    logic [79:0] message;
    int unsigned epoch;
  } expected_message_t;

  link_param_t [1:0] param;
  vc_param_t [1:0][Vcs-1:0] vc_param;
  link_status_t [1:0] status;
  vc_status_t [1:0][Vcs-1:0] vc_status;
  word_t [1:0][Vcs-1:0][Lanes-1:0] tx, rx;
  logic [1:0][Vcs-1:0][CountWidth-1:0] tx_count, rx_count;
  logic [1:0][Vcs-1:0] tx_valid = '0, tx_ready, rx_valid, rx_ready = '0;
  broadcast_t [1:0] message, arrived;
  logic [1:0] message_valid = '0, message_ready, arrived_valid, arrived_ready = '0;
  row_kind_e [1:0] row_out, row_in;
  word_t [1:0][Lanes-1:0] words_out, words_in;
  logic [1:0][CountWidth-1:0] count_out, count_in;
  logic [1:0] row_ready, ready = '0, good_in = '0;
  logic [CountWidth-1:0] width = '0;
  logic [1:0] lane_reset, link_reset;
  logic [1:0][7:0] capability;
  logic [1:0][Lanes-1:0] far_valid = '0;
  logic [1:0][Lanes-1:0][7:0] far = '0;

  assign row_ready = width != '0 ? ready : '0;

  for (genvar i = 0; i < 2; i++) begin : gen_end
    spfe_sf_data_link #(
      .Lanes(Lanes), .Vcs(Vcs), .Frames(16), .Protect(Protect), .ResetRetryWords(0)
    ) i_link (
      .clk_i(clk), .rst_i(rst), .param_i(param[i]), .vc_param_i(vc_param[i]),
      .status_o(status[i]), .vc_status_o(vc_status[i]),
      .tx_i(tx[i]), .tx_count_i(tx_count[i]), .tx_valid_i(tx_valid[i]), .tx_ready_o(tx_ready[i]),
      .rx_o(rx[i]), .rx_count_o(rx_count[i]), .rx_valid_o(rx_valid[i]), .rx_ready_i(rx_ready[i]),
      .broadcast_i(message[i]), .broadcast_valid_i(message_valid[i]),
      .broadcast_ready_o(message_ready[i]), .broadcast_o(arrived[i]),
      .broadcast_valid_o(arrived_valid[i]), .broadcast_ready_i(arrived_ready[i]),
      .row_o(row_out[i]), .row_words_o(words_out[i]), .row_count_o(count_out[i]),
      .row_ready_i(row_ready[i]), .width_i(width), .row_i(row_in[i]), .row_words_i(words_in[i]),
      .row_count_i(count_in[i]), .crc16_good_i(good_in[i]),
      .lane_reset_o(lane_reset[i]), .link_reset_o(link_reset[i]), .capability_o(capability[i]),
      .far_valid_i(far_valid[i]), .far_i(far[i]), .any_active_i(1'b0)
    );
  end

  // Rows on their way, the words and messages that are expected, from end i to the other.
  row_t line[2][$];
  // An array of a single queue loses words in Verilator.
  expected_t expected[2][32][$];
  expected_message_t messages[2][$];
  int unsigned epoch[2] = '{0, 0};
  // Link resets of the end that receives, which may each cut a packet.
  int unsigned cuts[2][Vcs];
  int unsigned accepted[2][Vcs];
  int unsigned delivered[2] = '{0, 0};
  int unsigned messages_done[2] = '{0, 0};
  bit open[2][Vcs];
  bit discards[2][Vcs];
  bit frame_bad[2] = '{0, 0};
  int unsigned delay = 20;
  int unsigned error_per_mille = 0;
  int unsigned down = 0;
  int unsigned far_in = 0;
  int unsigned cycles = 0;
  int unsigned stall = 100;
  int unsigned write_activity[2] = '{100, 100};
  int unsigned read_activity[2] = '{100, 100};
  int unsigned recoveries = 0;
  int unsigned resets = 0;
  int unsigned errors_seen = 0;
  int unsigned sent_words = 0;
  bit calm = 1'b0;
  bit few = 1'b0;

  function automatic word_t new_word(int i, int v, bit last);
    word_t word;
    word = '{k: 4'h0, bits: {2'(i), 6'(v), 24'(accepted[i][v])}};
    if (last) word = '{k: 4'hC, bits: {Fill, Eop, word.bits[15:0]}};
    return word;
  endfunction

  // A row as it arrives: right, lost, or changed with or without notice.
  task automatic spoil(int i, ref row_t row);
    logic [31:0] flip;
    flip = 32'd1 << $urandom_range(31);
    if (chance(50)) begin
      row.kind = RowRxErr;
      frame_bad[i] = 1'b0;
    end else begin
      if (row.kind == RowData || row.kind == RowSdf) frame_bad[i] = 1'b1;
      if (row.kind == RowEdf) row.good = 1'b0;
      row.words[0].bits ^= flip;
      // A control word that looks like data now is part of the frame, whose CRC is wrong then.
      if (link_kind(row.words[0]) == LinkData) frame_bad[i] = 1'b1;
    end
  endtask

  task automatic carry(int i);
    row_t row;
    if (row_out[i] != RowNone && row_ready[i]) begin
      row.kind = row_out[i];
      row.words = words_out[i];
      row.count = count_out[i];
      row.good = 1'b1;
      if (row.kind == RowData && (row.count == '0 || row.count > width))
        $fatal(1, "a row of %0d words", row.count);
      if (row.kind == RowSdf) frame_bad[i] = 1'b0;
      if (!calm && Faults && $urandom_range(9999) < error_per_mille) begin
        errors_seen++;
        spoil(i, row);
      end
      if (row.kind == RowEdf && frame_bad[i]) row.good = 1'b0;
      if (row.kind == RowSdf || row.kind == RowEdf) row.kind = RowControl;
      line[i].push_back(row);
    end
    row_in[1-i] <= RowNone;
    words_in[1-i] <= '0;
    good_in[1-i] <= 1'b0;
    if (line[i].size() > delay) begin
      row = line[i].pop_front();
      row_in[1-i] <= row.kind;
      words_in[1-i] <= row.words;
      count_in[1-i] <= row.count;
      good_in[1-i] <= row.good;
    end
  endtask

  // All rows on their way are lost, and the receivers notice.
  task automatic lose_lanes(int unsigned cycles_down);
    width <= '0;
    down = cycles_down;
    far_in = 0;
    for (int i = 0; i < 2; i++) begin
      line[i].delete();
      frame_bad[i] = 1'b0;
      row_in[1-i] <= RowRxErr;
    end
  endtask

  task automatic write(int i, int v);
    if (tx_valid[i][v] && tx_ready[i][v]) begin
      for (int unsigned j = 0; j < 32'(tx_count[i][v]); j++) begin
        word_t word;
        word = tx[i][v][j];
        if (!discards[i][v]) expected[i][v].push_back('{word, epoch[i]});
        open[i][v] = word.k == 4'h0;
        if (word.k != 4'h0) discards[i][v] = 1'b0;
        sent_words++;
      end
    end
    if (!tx_valid[i][v] || tx_ready[i][v]) begin
      tx_valid[i][v] <= 1'b0;
      if (accepted[i][v] < Words && chance(write_activity[i])) begin
        int unsigned count;
        count = $urandom_range(Lanes - 1) + 1;
        tx_valid[i][v] <= 1'b1;
        tx_count[i][v] <= CountWidth'(count);
        for (int unsigned j = 0; j < count; j++) begin
          tx[i][v][j] <= new_word(i, v, chance(4) || accepted[i][v] + 1 >= Words);
          accepted[i][v]++;
        end
      end
    end
  endtask

  // What end 1 - i has read on channel v.
  task automatic read(int i, int v);
    if (rx_valid[1-i][v] && rx_ready[1-i][v]) begin
      if (rx_count[1-i][v] == '0) $fatal(1, "a beat without words");
      for (int unsigned j = 0; j < 32'(rx_count[1-i][v]); j++) begin
        word_t word;
        word = rx[1-i][v][j];
        if (word == EepWord) begin
          if (cuts[1-i][v] == 0) $fatal(1, "an EEP on channel %0d of end %0d", v, 1 - i);
          cuts[1-i][v]--;
        end else begin
          while (expected[i][v].size() != 0 && expected[i][v][0].word != word
              && expected[i][v][0].epoch < epoch[i])
            void'(expected[i][v].pop_front());
          if (expected[i][v].size() == 0 || expected[i][v][0].word != word)
            $fatal(1, "cycle %0d: channel %0d of end %0d: %h instead of %h", cycles, v, 1 - i, word,
                   expected[i][v].size() == 0 ? '0 : expected[i][v][0].word);
          void'(expected[i][v].pop_front());
          delivered[i]++;
        end
      end
    end
    rx_ready[1-i][v] <= chance(read_activity[1-i]);
  endtask

  task automatic broadcasts(int i);
    if (message_valid[i] && message_ready[i])
      messages[i].push_back('{message[i][79:0], epoch[i]});
    if (!message_valid[i] || message_ready[i]) begin
      message_valid[i] <= !calm && chance(3);
      message[i] <= {3'b000, 8'($urandom), 8'($urandom), $urandom, $urandom};
    end
    arrived_ready[i] <= chance(80);
    if (arrived_valid[i] && arrived_ready[i]) begin
      while (messages[1-i].size() != 0 && messages[1-i][0].message != arrived[i][79:0]
          && messages[1-i][0].epoch < epoch[1-i])
        void'(messages[1-i].pop_front());
      if (messages[1-i].size() == 0 || messages[1-i][0].message != arrived[i][79:0])
        $fatal(1, "end %0d got a wrong broadcast message", i);
      void'(messages[1-i].pop_front());
      messages_done[i]++;
    end
    if (status[i].ev.broadcast_dropped) $fatal(1, "a broadcast message was dropped");
  endtask

  function automatic bit all_there();
    bit there;
    there = sent_words >= 2 * Vcs * Words;
    for (int i = 0; i < 2; i++) begin
      for (int v = 0; v < Vcs; v++) begin
        // Words from before a link reset may be lost.
        while (expected[i][v].size() != 0 && expected[i][v][0].epoch < epoch[i] && there && calm
            && status[i].recovery_empty && cycles % 4096 == 0)
          void'(expected[i][v].pop_front());
        if (expected[i][v].size() != 0) there = 1'b0;
      end
      if (!status[i].recovery_empty || status[i].state != RstInitialised) there = 1'b0;
    end
    return there;
  endfunction

  always @(posedge clk) if (!rst) begin
    cycles++;
    if (cycles > MostCycles)
      $fatal(1, "after %0d cycles %0d and %0d words of %0d have arrived", cycles, delivered[0],
             delivered[1], Vcs * Words);
    calm = sent_words >= 2 * Vcs * Words;
    // Each bench has what it is about.
    if (sent_words > Vcs * Words && recoveries < 5) error_per_mille = 100;
    if ($urandom_range(999) == 0) begin
      stall = activity();
      error_per_mille = $urandom_range(3) == 0 ? 200 : $urandom_range(20);
      for (int i = 0; i < 2; i++) begin
        write_activity[i] = activity();
        read_activity[i] = activity();
      end
    end
    if (calm) begin
      stall = 100;
      read_activity = '{100, 100};
    end
    for (int i = 0; i < 2; i++) begin
      ready[i] <= chance(stall);
      far_valid[i] <= '0;
      far[i] <= {Lanes{capability[1-i]}};
      param[i].link_reset <= 1'b0;
      for (int v = 0; v < Vcs; v++) begin
        write(i, v);
        read(i, v);
      end
      broadcasts(i);
      carry(i);
      if (status[i].ev.recovery) recoveries++;
      if (status[i].ev.protocol_error || status[i].ev.input_overflow)
        $fatal(1, "end %0d: protocol error or overflow", i);
      if (!Faults && status[i].ev.rxerr | status[i].ev.crc8_error | status[i].ev.crc16_error
          | status[i].ev.frame_error | status[i].ev.sequence_error) $fatal(1, "an error");
      if (status[i].ev.ram_failed || status[i].ev.ram_corrected) $fatal(1, "a memory error");
      for (int v = 0; v < Vcs; v++)
        if (vc_status[i][v].ev_credit_overflow) $fatal(1, "credit overflow");
    end
    // What was accepted in the cycle of a link reset is lost, too.
    for (int i = 0; i < 2; i++) begin
      if (link_reset[i]) begin
        resets++;
        epoch[i]++;
        for (int v = 0; v < Vcs; v++) begin
          discards[i][v] |= open[i][v];
          open[i][v] = 1'b0;
          cuts[i][v]++;
        end
      end
    end
    // Lanes.
    few = resets < 6 && sent_words > Vcs * Words;
    if (lane_reset != '0) lose_lanes(30 + $urandom_range(60));
    else if (width != '0) begin
      if (Faults && !calm && $urandom_range(6000) == 0) lose_lanes($urandom_range(200) + 5);
      else if (Resets && !calm && ($urandom_range(8000) == 0 || (few && link_reset == '0)))
        param[$urandom_range(1)].link_reset <= 1'b1;
    end else begin
      if (down != 0) down--;
      if (down == 3) for (int i = 0; i < 2; i++) far_valid[i] <= '1;
      if (down == 0) width <= CountWidth'(Faults ? $urandom_range(Lanes - 1) + 1 : Lanes);
      if (down == 0) delay = $urandom_range(60) + 1;
    end
    if (all_there()) begin
      if (Faults && recoveries < 5) $fatal(1, "only %0d recoveries of %0d errors", recoveries, errors_seen);
      if (messages_done[0] + messages_done[1] < 20) $fatal(1, "few broadcast messages");
      if (Resets && resets < 6) $fatal(1, "few resets");
      passed(Name, delivered[0] + delivered[1]);
    end
  end

  initial begin
    for (int i = 0; i < 2; i++) begin
      param[i] = '0;
      param[i].data_scrambled = 1'b1;
      param[i].broadcast_rows = 19'd40;
      param[i].idle_limit = 24'd100000;
      row_in[i] = RowNone;
      for (int v = 0; v < Vcs; v++) begin
        vc_param[i][v] = '{
            priority_level: 4'($urandom), price: 25'(256 * Vcs), time_slots: '1, continuous: 1'b0
        };
      end
    end
  end
endmodule
