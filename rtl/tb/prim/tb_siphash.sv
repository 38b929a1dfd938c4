// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Compares spfe_siphash with the published test vectors of SipHash-2-4: the key is the bytes 0 to
/// 15, the messages are the bytes 0 to n - 1.
module tb_siphash
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Blocks of the padded message, 1 or 2: messages of 0 to 7 or 8 to 15 bytes.
  parameter int unsigned Blocks = 2
);
  // Results for messages of 0 to 15 bytes. The last one is also in the paper (appendix A).
  localparam logic [63:0] Want[16] = '{
      64'h726fdb47dd0e0e31, 64'h74f839c593dc67fd, 64'h0d6c8009d9a94f5a, 64'h85676696d7fb7e2d,
      64'hcf2794e0277187b7, 64'h18765564cd99a68d, 64'hcbc9466e58fee3ce, 64'hab0200f58b01d137,
      64'h93f5f5799a932462, 64'h9e0082df0ba9e4b0, 64'h7a5dbbc594ddb9f3, 64'hf4b32f46226bada7,
      64'h751e8fbc860ee5fb, 64'h14ea5627c0843d90, 64'hf723ca908e7af2ee, 64'ha129ca6149be45e5
  };
  // As the module's comment says, for two rounds a block and four at the end.
  localparam int unsigned Cycles = 2 * (2 * Blocks + 4) + Blocks + 1;

  bit run = 1'b0;
  logic clk, rst = 1'b1, start = 1'b0, done;
  logic [127:0] key;
  logic [Blocks-1:0][7:0][7:0] message;
  logic [63:0] hash;

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));
  spfe_siphash #(.Blocks(Blocks)) i_dut (
    .clk_i(clk), .rst_i(rst), .start_i(start), .key_i(key), .blocks_i(message), .done_o(done),
    .hash_o(hash)
  );

  initial begin
    run = chosen(Name);
    if (run) begin
      int unsigned checks, cycles;
      for (int unsigned i = 0; i < 16; i++) key[8*i+:8] = 8'(i);
      repeat (2) @(negedge clk);
      rst = 1'b0;
      if (done) $fatal(1, "done after a reset");
      // Twice, in any order, so that nothing of an earlier message remains.
      for (int unsigned i = 0; i < 50; i++) begin
        int unsigned n;
        n = 8 * (Blocks - 1) + (i < 8 ? i : $urandom_range(7));
        message = '0;
        for (int unsigned b = 0; b < n; b++) message[b/8][b%8] = 8'(b);
        message[Blocks-1][7] = 8'(n);
        start = 1'b1;
        @(negedge clk) start = 1'b0;
        cycles = 0;
        while (!done && cycles < 100) begin
          @(negedge clk) cycles++;
        end
        checks++;
        if (cycles != Cycles) $fatal(1, "%0d bytes: %0d cycles, not %0d", n, cycles, Cycles);
        if (hash != Want[n]) $fatal(1, "%0d bytes: %h, not %h", n, hash, Want[n]);
        repeat ($urandom_range(3)) @(negedge clk);
        if (hash != Want[n] || !done) $fatal(1, "%0d bytes: the result does not stay", n);
      end
      passed(Name, checks);
    end
  end
endmodule
