// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Initial sequence numbers (RFC 6528): a clock plus SipHash-2-4 of the connection. The virtual
/// interface stands for our address. Serves one user at a time, within 25 cycles.
module spfe_tcp_eng_iss
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Secret (tcp_cfg_t).
  input logic [127:0] key_i,
  /// Time part of the sequence numbers.
  input seq_t clock_i,
  /// Connections of the users; `used` is ignored. The first user has priority.
  input eng_tup_t [1:0] tup_i,
  /// A user asks for a number; tup_i and valid_i are held until done_o.
  input logic [1:0] valid_i,
  /// The number of this user is in iss_o; one cycle.
  output logic [1:0] done_o,
  /// Initial sequence number.
  output seq_t iss_o
);
  localparam int unsigned MessageBytes = 9;
  typedef enum logic [1:0] {
    Idle,
    Hash,
    Add,
    Give
  } state_e;

  state_e state_q;
  logic user_q, start_q, done;
  eng_tup_t tup;
  logic [63:0] hash;
  seq_t iss_q;
  logic unused_bits;

  assign tup = tup_i[user_q];
  assign unused_bits = ^{tup_i, tup.used, hash[63:32]};

  spfe_siphash #(
    .Blocks(2)
  ) i_hash (
    .clk_i,
    .rst_i,
    .start_i(start_q),
    .key_i,
    .blocks_i({8'(MessageBytes), 53'd0, tup.vif, tup.ip, tup.port, tup.lport}),
    .done_o(done),
    .hash_o(hash)
  );

  always_ff @(posedge clk_i) begin
    start_q <= 1'b0;
    unique case (state_q)
      Idle: begin
        user_q <= !valid_i[0];
        if (valid_i != '0) begin
          state_q <= Hash;
          start_q <= 1'b1;
        end
      end
      Hash: if (done && !start_q) state_q <= Add;
      Add: begin
        iss_q <= hash[31:0] + clock_i;
        state_q <= Give;
      end
      default: state_q <= Idle;
    endcase
    if (rst_i) begin
      state_q <= Idle;
      start_q <= 1'b0;
    end
  end

  assign done_o = state_q == Give ? 2'b01 << user_q : 2'b00;
  assign iss_o = iss_q;
endmodule
