// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The bursts of spfe_axi_split cover each byte of a transfer once, in order, and none crosses a
/// block.
module formal_axi_split #(
  /// Bytes in a beat.
  parameter int unsigned Bytes = 4,
  /// Bytes in a block.
  parameter int unsigned BurstBytes = 16
) (
  input logic clk_i,
  /// Free: address of a transfer.
  input logic [12:0] addr_i,
  /// Free: its length.
  input logic [6:0] len_i,
  /// Free: there is a transfer.
  input logic valid_i,
  /// Free: the burst is taken.
  input logic ready_i
);
  localparam int unsigned PlaceWidth = $clog2(Bytes);

  logic rst_q = 1'b1;
  logic ready;
  logic [12:0] addr;
  logic [7:0] len;
  logic [PlaceWidth-1:0] first;
  logic [PlaceWidth-1:0] place;
  logic last;
  logic valid;

  spfe_axi_split #(
    .AddrWidth(13),
    .LenWidth(7),
    .Bytes(Bytes),
    .BurstBytes(BurstBytes)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .cmd_addr_i(addr_i),
    .cmd_len_i(len_i),
    .cmd_valid_i(valid_i),
    .cmd_ready_o(ready),
    .burst_addr_o(addr),
    .burst_len_o(len),
    .burst_first_o(first),
    .burst_end_o(place),
    .burst_last_o(last),
    .burst_valid_o(valid),
    .burst_ready_i(ready_i)
  );

  // Next byte of the transfer, and how many are missing.
  logic [13:0] next_q = '0;
  logic [7:0] left_q = '0;
  logic [13:0] final_byte;
  logic [7:0] size;

  assign final_byte = 14'(addr) + 14'(Bytes) * 14'(len) + 14'(place);
  assign size = 8'(final_byte - next_q) + 8'd1;

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (valid && ready_i) begin
      next_q <= next_q + 14'(size);
      left_q <= left_q - size;
    end
    if (valid_i && ready) begin
      next_q <= 14'(addr_i);
      left_q <= 8'(len_i);
    end
    if (rst_q) left_q <= '0;
  end

  always_ff @(posedge clk_i) begin
    m_length : assume (len_i != '0 && 14'(addr_i) + 14'(len_i) <= 14'h2000);
    if (!rst_q) begin
      a_valid : assert (valid == (left_q != '0));
      a_space : assert (next_q + 14'(left_q) <= 14'h2000);
      a_left : assert (!valid || 8'(i_dut.left_q) + 8'd1 == left_q);
      if (valid) begin
        a_aligned : assert (addr[PlaceWidth-1:0] == '0);
        a_begins : assert (14'(addr) + 14'(first) == next_q);
        a_size : assert (size != '0 && size <= left_q);
        a_last : assert (last == (size == left_q));
        a_block : assert (addr / 13'(BurstBytes) == 13'(final_byte / 14'(BurstBytes)));
        c_four : cover (last && first == '0 && left_q == 8'd1);
      end
      c_chained : cover (valid && last && ready_i && valid_i && ready);
    end
  end
endmodule
