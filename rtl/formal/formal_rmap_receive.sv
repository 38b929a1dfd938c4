// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_rmap_receive offers no byte as data that may be the check of the data, and none behind the
/// length that the header announces.
module formal_rmap_receive
  import spfe_rdma_pkg::*;
  import spfe_rmap_pkg::*;
(
  input logic clk_i,
  /// Free: bytes.
  input logic [3:0][7:0] data_i,
  /// Free: number of bytes of the last word.
  input logic [2:0] count_i,
  /// Free: end of the packet.
  input logic last_i,
  /// Free: EEP.
  input logic cut_i,
  /// Free: bytes come.
  input logic valid_i,
  /// Free: the user takes a full store.
  input logic full_ready_i
);
  localparam int unsigned Segment = 32;

  logic rst_q = 1'b1;
  always_ff @(posedge clk_i) rst_q <= 1'b0;

  logic ready, head, ended, idle, full, full_bank, we;
  logic [2:0] count;
  command_t command;
  reply_path_t path;
  drop_e drop;
  body_t body;
  logic [15:0][7:0] beat, wdata;
  logic [1:0] waddr;
  assign count = last_i ? count_i : 3'd4;

  spfe_rmap_receive #(
    .Segment(Segment)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .start_i(1'b1),
    .data_i,
    .count_i(count),
    .last_i,
    .cut_i,
    .valid_i,
    .ready_o(ready),
    .command_o(command),
    .path_o(path),
    .drop_o(drop),
    .head_o(head),
    .go_i(1'b1),
    .keep_i(1'b1),
    .stream_i(1'b1),
    .full_bank_o(full_bank),
    .full_valid_o(full),
    .full_ready_i,
    .beat_o(beat),
    .body_o(body),
    .ended_o(ended),
    .release_i(1'b1),
    .idle_o(idle),
    .we_o(we),
    .waddr_o(waddr),
    .wdata_o(wdata)
  );

  // Bytes behind the header, and those that were offered in full stores.
  logic body_q;
  logic [7:0] came_q, offered_q;
  always_ff @(posedge clk_i) begin
    if (head) begin
      body_q <= 1'b1;
      {came_q, offered_q} <= '0;
    end else begin
      if (body_q && valid_i && ready) came_q <= came_q + 8'(count);
      if (full && full_ready_i) offered_q <= offered_q + 8'(Segment);
      if (ended) body_q <= 1'b0;
    end
    if (rst_q) body_q <= 1'b0;
  end

  // A word that is not taken stays.
  logic waits_q, last_q, cut_q;
  logic [2:0] count_q;
  logic [31:0] data_q;
  always_ff @(posedge clk_i) begin
    waits_q <= valid_i && !ready && !rst_q;
    {data_q, count_q, last_q, cut_q} <= {data_i, count_i, last_i, cut_i};
  end

  logic [7:0] certain;
  assign certain = offered_q + body.rest[7:0];
  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      m_count : assume (count_i <= 3'd4);
      m_stays :
      assume (!waits_q || (valid_i && {data_q, count_q, last_q, cut_q} == {
        data_i, count_i, last_i, cut_i
      }));
      // A full store is data when one more byte is there.
      a_full :
      assert (!full || (8'(offered_q + 8'(Segment)) <= came_q && 24'(offered_q) + 24'(Segment) <=
                        command.length));
      if (ended && body_q && drop == DropNone) begin
        a_count : assert (body.bytes == 25'(came_q));
        a_announced : assert (24'(certain) <= command.length);
        a_check :
        assert (25'(came_q) > 25'(command.length) ? 24'(certain) == command.length :
            certain == (came_q == '0 ? '0 : came_q - 8'd1));
        a_store : assert (body.rest <= 17'(Segment));
      end
      c_full : cover (full && full_ready_i);
      c_rest : cover (ended && body_q && offered_q != '0 && body.rest == 17'd3);
    end
  end

  logic unused;
  assign unused = ^{path, beat, wdata, waddr, we, idle, full_bank, cut_i, body};
endmodule
