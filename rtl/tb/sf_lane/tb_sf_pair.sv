// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Two lanes on a line: they start, pass words in order, go into standby, and come back after the
/// signal was lost. With bits on the line the word boundary is at any place, the wires of a pair may
/// be swapped, and bits may be wrong: then an RXERR stands where words are missing.
module tb_sf_pair
  import spfe_tb_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// 1: 8b/10b on the line; 0: words.
  parameter bit Coded = 1'b0,
  /// 1: the wires from end 0 to end 1 are swapped.
  parameter bit Swapped = 1'b0,
  /// 1: bits are inverted at random.
  parameter bit Errors = 1'b0
);
  // Cycles in which a lane must be up: ClearLine, 1023 words, three INIT2 and INIT3 with filler, and
  // what the coders and the finding of swapped wires take.
  localparam int unsigned UpWithin = 313 + 2 * 1023 + 8 * 65 + 400;
  localparam int unsigned Rounds = 6;
  localparam int unsigned Passing = 15000;

  /* verilator lint_off BLKSEQ */  // Variables of the bench belong to one process.
  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  lane_param_t [1:0] param;
  lane_status_t [1:0] status;
  logic [1:0] reset = '0;
  word_t [1:0] tx;
  logic [1:0] tx_valid = '0;
  logic [1:0] tx_ready;
  word_t [1:0] rx;
  logic [1:0] rx_valid;
  word_t [1:0] out;
  logic [1:0] out_on;
  word_t [1:0] in;
  logic [1:0] in_on;
  logic [1:0] realigned;
  logic [1:0] receive;
  logic [1:0] invert;
  logic [1:0] unused_active;
  // Words at another boundary, newest in bit 0; with errors only.
  logic [1:0][15:0] astray;
  logic cable = 1'b1;
  int unsigned errors_every = 0;
  bit errors_began = 1'b0;

  initial begin
    run = chosen(Name);
    if (run) #200 rst = 1'b0;
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  for (genvar i = 0; i < 2; i++) begin : gen_end
    spfe_sf_lane i_lane (
      .clk_i(clk), .rst_i(rst), .param_i(param[i]), .status_o(status[i]), .reset_i(reset[i]),
      .capability_i(8'(4 * i + 1)), .far_end_active_i(1'b0), .rx_only_i(1'b0),
      .tx_i(tx[i]), .tx_valid_i(tx_valid[i]), .tx_ready_o(tx_ready[i]),
      .rx_o(rx[i]), .rx_valid_o(rx_valid[i]),
      .line_o(out[i]), .line_on_o(out_on[i]), .line_i(in[i]), .line_on_i(in_on[i]),
      .realigned_i(realigned[i]), .active_o(unused_active[i]),
      .receive_o(receive[i]), .invert_o(invert[i])
    );

    if (Coded) begin : gen_coded
      logic [39:0] bits;
      logic [79:0] line_q = '0;
      logic [39:0] arrived;
      logic [39:0] aligned;
      logic [3:0] wrong;
      logic [5:0] shift = 6'($urandom_range(39));
      logic moved_q;
      logic moved;
      logic [5:0] on_q = '0;
      logic [39:0] flips = '0;

      spfe_sf_encode i_encode (.clk_i(clk), .rst_i(rst), .word_i(out[i]), .bits_o(bits));
      always @(posedge clk) begin
        line_q <= {bits, line_q[79:40]};
        on_q <= {on_q[4:0], out_on[i] && cable};
        moved_q <= moved;
        flips <= '0;
        if (errors_every != 0 && $urandom_range(errors_every) == 0)
          flips[$urandom_range(39)] <= 1'b1;
      end
      assign arrived = 40'(line_q >> shift) ^ flips ^ {40{Swapped && i == 0}};
      spfe_sf_bit_sync i_sync (
        .clk_i(clk), .rst_i(rst), .bits_i(arrived), .invert_i(invert[1-i]),
        .bits_o(aligned), .moved_o(moved)
      );
      spfe_sf_decode i_decode (
        .clk_i(clk), .rst_i(rst), .bits_i(aligned), .word_o(in[1-i]), .error_o(wrong)
      );
      // The decoder takes two cycles.
      logic moved_2q;
      always @(posedge clk) moved_2q <= moved_q;
      assign realigned[1-i] = moved_2q;
      assign in_on[1-i] = on_q[5];

      // A wrong bit can look like a comma at another place. Words at that boundary are nonsense until
      // the next comma, and most but not all of them break the code: the frame's CRC finds the rest.
      logic [5:0] boundary_q;
      always @(posedge clk) begin
        if (!errors_began) boundary_q <= i_sync.offset_q;
        astray[1-i] <= {astray[1-i][14:0], errors_began && i_sync.offset_q != boundary_q};
      end
    end else begin : gen_words
      assign in[1-i] = out[i];
      assign in_on[1-i] = out_on[i] && cable;
      assign realigned[1-i] = 1'b0;
      assign astray[1-i] = '0;
    end
  end

  // Words of each direction carry their number. RXERR says that words are missing.
  int unsigned number[2] = '{0, 0};
  int unsigned next[2] = '{0, 0};
  bit gap[2] = '{1, 1};
  int unsigned arrived[2] = '{0, 0};
  int unsigned rxerrs[2] = '{0, 0};
  int unsigned fill = 100;
  int unsigned since_skip[2] = '{0, 0};

  always @(posedge clk) begin
    if (chance(1)) fill <= activity();
    for (int i = 0; i < 2; i++) begin
      if (!tx_valid[i] || tx_ready[i]) begin
        if (tx_valid[i]) number[i] = number[i] + 1;
        tx_valid[i] <= chance(fill);
        tx[i] <= '{k: 4'h0, bits: number[i]};
      end
      if (astray[i] != '0) gap[i] = 1'b1;
      if (rx_valid[i]) begin
        if (rx[i] == RxErr) begin
          rxerrs[i] = rxerrs[i] + 1;
          gap[i] = 1'b1;
        end else begin
          if (has_error(rx[i]) || (rx[i].k != 4'h0 && !Errors))
            $fatal(1, "end %0d got the word %h", i, rx[i]);
          if (rx[i].k == 4'h0) begin
            if (!gap[i] && rx[i].bits != next[i])
              $fatal(1, "end %0d got word %0d instead of %0d", i, rx[i].bits, next[i]);
            if (gap[i] && !Errors && rx[i].bits < next[i])
              $fatal(1, "end %0d got word %0d again", i, rx[i].bits);
            next[i] = rx[i].bits + 1;
            gap[i] = 1'b0;
            arrived[i] = arrived[i] + 1;
          end
        end
      end
      // A SKIP every 5000 words while Active.
      since_skip[i] = out_on[i] && status[i].state == StActive && out[i] != Skip ? since_skip[i] + 1 : 0;
      if (since_skip[i] > 5001) $fatal(1, "no SKIP for %0d words", since_skip[i]);
    end
  end

  task automatic wait_for(int end_number, lane_state_e state, int unsigned most, string what);
    int unsigned cycles;
    cycles = 0;
    while (status[end_number].state != state) begin
      @(posedge clk);
      cycles++;
      if (cycles > most)
        $fatal(1, "%s: end %0d is in state %0d after %0d cycles", what, end_number,
               status[end_number].state, cycles);
    end
  endtask

  // Waits until both lanes have been up for a while: wrong bits may have ended one of them.
  task automatic settle();
    int unsigned steady;
    int unsigned cycles;
    steady = 0;
    cycles = 0;
    while (steady < 2000) begin
      @(posedge clk);
      steady = status[0].state == StActive && status[1].state == StActive ? steady + 1 : 0;
      cycles++;
      if (cycles > 40 * UpWithin) $fatal(1, "the lanes do not recover");
    end
  endtask

  task automatic both_up(string what);
    int unsigned most;
    most = Swapped ? 3 * UpWithin : Errors ? 20 * UpWithin : UpWithin;
    wait_for(0, StActive, most, what);
    wait_for(1, StActive, most, what);
  endtask

  initial begin
    for (int i = 0; i < 2; i++) begin
      param[i] = '0;
      param[i].tx_en = 1'b1;
      param[i].rx_en = 1'b1;
      param[i].auto_start = 1'b1;
    end
    wait (run && !rst);
    // Two ends that only follow never start.
    repeat (2000) @(posedge clk);
    if (status[0].state != StWait || status[1].state != StWait) $fatal(1, "two followers start");
    for (int round = 0; round < Rounds; round++) begin
      int unsigned earlier[2];
      param[0].lane_start = 1'b1;
      both_up("start");
      if (status[1].far_end_capability != 8'h03) $fatal(1, "capability %h", status[1].far_end_capability);
      if (status[0].far_end_capability != 8'h05) $fatal(1, "capability %h", status[0].far_end_capability);
      if (Swapped && !status[1].rx_inverted) $fatal(1, "swapped wires were not found");
      if (!Swapped && (status[0].rx_inverted || status[1].rx_inverted)) $fatal(1, "inverted");
      earlier = arrived;
      repeat (100) @(posedge clk);
      rxerrs = '{0, 0};
      if (Errors) begin
        errors_began = 1'b1;
        errors_every = 2000;
      end
      repeat (Passing) @(posedge clk);
      errors_every = 0;
      settle();
      if (arrived[0] - earlier[0] < Passing / 20 || arrived[1] - earlier[1] < Passing / 20)
        $fatal(1, "only %0d and %0d words arrived", arrived[0] - earlier[0], arrived[1] - earlier[1]);
      if (Errors && rxerrs[0] + rxerrs[1] == 0) $fatal(1, "no error was noticed");
      if (!Errors && rxerrs[0] + rxerrs[1] != 0) $fatal(1, "%0d RXERR", rxerrs[0] + rxerrs[1]);
      case (round % 3)
        0: begin
          // Standby: the end that starts gives up, and says why.
          param[0].standby_reason = 8'h5A;
          param[0].lane_start = 1'b0;
          param[0].auto_start = 1'b0;
          wait_for(0, StDisabled, 1000, "standby");
          wait_for(1, StWait, 1000, "standby of the far end");
          if (status[1].far_end_field != 8'h5A) $fatal(1, "reason %h", status[1].far_end_field);
          param[0].auto_start = 1'b1;
        end
        1: begin
          // The cable is pulled out.
          cable = 1'b0;
          repeat (100) @(posedge clk);
          if (status[0].lost_cause != LostNoSignal) $fatal(1, "cause %0d", status[0].lost_cause);
          if (status[0].state == StActive || status[1].state == StActive) $fatal(1, "still active");
          cable = 1'b1;
        end
        default: begin
          // One end starts again.
          reset[1] = 1'b1;
          @(posedge clk);
          reset[1] = 1'b0;
          repeat (3) @(posedge clk);
          if (status[1].state == StActive) $fatal(1, "still active after a reset");
          wait_for(0, StClearLine, 8000, "the far end starts again");
        end
      endcase
    end
    passed(Name, Rounds);
  end
endmodule
