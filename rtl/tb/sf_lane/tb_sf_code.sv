// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The 8b/10b code: every symbol returns from the decoder at both disparities, every pattern that no
/// symbol makes is an error, the disparity stays within bounds, and published codes are right.
module tb_sf_code
  import spfe_tb_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_code_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Random words through encoder and decoder.
  parameter int unsigned Words = 20000
);
  localparam table_t Table = decode_table();

  /* verilator lint_off BLKSEQ */  // Variables of the bench belong to one process.
  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  word_t word = Idle;
  logic [39:0] line;
  word_t back;
  logic [3:0] error;
  word_t sent[$];
  int unsigned words = 0;
  int signed sum = 0;

  /// The bits of a symbol as they are printed: `a` leftmost.
  function automatic void published(logic k, logic [7:0] value, logic [9:0] minus, logic [9:0] plus);
    logic [9:0] want;
    want = {<<{minus}};
    if (encode(k, value, 1'b0).bits != want) $fatal(1, "%b %h at negative disparity", k, value);
    want = {<<{plus}};
    if (encode(k, value, 1'b1).bits != want) $fatal(1, "%b %h at positive disparity", k, value);
  endfunction

  initial begin
    run = chosen(Name);
    if (run) begin
      bit known[1024];
      published(1, 8'hFC, 10'b0011111000, 10'b1100000111);
      published(1, 8'hBC, 10'b0011111010, 10'b1100000101);
      published(1, 8'h1C, 10'b0011110100, 10'b1100001011);
      published(1, 8'hFB, 10'b1101101000, 10'b0010010111);
      published(1, 8'hFE, 10'b0111101000, 10'b1000010111);
      published(0, 8'hCE, 10'b0111000110, 10'b0111000110);
      published(0, 8'h7F, 10'b1010110011, 10'b0101001100);
      published(0, 8'h44, 10'b1101010101, 10'b0010100101);
      published(0, 8'h87, 10'b1110001101, 10'b0001110010);
      for (int unsigned i = 0; i < 1024; i++) begin
        code_t code;
        decoded_t found;
        code = encode(i[8], i[7:0], i[9]);
        found = Table[code.bits];
        if (code.valid) begin
          known[code.bits] = 1'b1;
          if (!(i[9] ? found.valid_plus : found.valid_minus)) $fatal(1, "symbol %h is no code", i);
          if ({found.k, found.value} != i[8:0]) $fatal(1, "symbol %h returns as %h", i, found);
          if ((i[9] ? found.after_plus : found.after_minus) != (i[9] ^ code.flips))
            $fatal(1, "the disparity after symbol %h", i);
        end
      end
      for (int unsigned i = 0; i < 1024; i++)
        if (known[i] != (Table[i].valid_minus || Table[i].valid_plus))
          $fatal(1, "pattern %b: known %b", 10'(i), known[i]);
      #100 rst = 1'b0;
    end
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  spfe_sf_encode i_encode (.clk_i(clk), .rst_i(rst), .word_i(word), .bits_o(line));
  spfe_sf_decode i_decode (
    .clk_i(clk), .rst_i(rst), .bits_i(line), .word_o(back), .error_o(error)
  );

  // Encoder and decoder take three cycles.
  always @(posedge clk) begin
    words <= words + 1;
    word <= chance(20) ? Skip : chance(20) ? Init2 : word_t'({4'h0, $urandom});
    sent.push_back(word);
    if (sent.size() == 4) begin
      word_t want;
      want = sent.pop_front();
      if (!rst && words > 20 && (back != want || error != '0))
        $fatal(1, "word %0d: %h instead of %h, errors %b", words, back, want, error);
    end
    // The sum of the bits varies by six at most. It begins anywhere in that range.
    if (!rst && words > 20) begin
      for (int i = 0; i < 40; i++) begin
        sum = sum + (line[i] ? 1 : -1);
        if (sum > 6 || sum < -6) $fatal(1, "the sum of the bits is %0d", sum);
      end
      if (words == Words) passed(Name, Words + 2048);
    end
  end
endmodule
