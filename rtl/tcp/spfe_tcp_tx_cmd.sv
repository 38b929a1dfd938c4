// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Segments of the engine: fetches the payload, offers the segment to the sender, and after
/// transmission advances SND.NXT and reports to the engine. Meanwhile it fetches the payload of the
/// next command.
module spfe_tcp_tx_cmd
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Bytes per chunk: 4 or 8.
  parameter int unsigned MacBytes = 4,
  /// log2 of the number of 16-byte words in the ring memory.
  parameter int unsigned MemAddrBits = 16,
  /// Longest segment in bytes.
  parameter int unsigned Size = 1460
) (
  input logic clk_i,
  input logic rst_i,
  /// Value of the MSS option; from the configuration.
  input logic [15:0] mss_i,
  /// Value of the window scale option; from the configuration.
  input logic [3:0] wscale_i,

  /// Command from the engine.
  input tx_cmd_t cmd_i,
  input logic cmd_valid_i,
  output logic cmd_ready_o,

  /// Segment for the sender; its sum is valid from the fourth cycle of seg_valid_o.
  output segment_t seg_o,
  /// A segment waits for the sender; held until begins_i.
  output logic seg_valid_o,
  /// Header table entry of the segment, valid one cycle before seg_valid_o.
  output sid_t seg_sid_o,
  /// Chunk of its payload or options; bytes after the end are 0.
  output logic [MacBytes*8-1:0] chunk_o,
  output logic chunk_valid_o,
  input logic chunk_ready_i,
  /// The sender starts the segment.
  input logic begins_i,
  /// The segment has been sent.
  input logic left_i,
  /// With left_i: the frame of the segment.
  input frame_t frame_i,

  /// Request to advance SND.NXT.
  output state_req_t req_o,
  output logic req_valid_o,
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,

  /// Report to the engine: the segment has been sent.
  output tx_done_t done_o,
  output logic done_valid_o,
  input logic done_ready_i,

  /// Number of writes queued before the memory, modulo 256; from the ring writer.
  input logic [7:0] pushed_i,
  /// Number of writes accepted by the memory, modulo 256; from the ring writer.
  input logic [7:0] popped_i,
  /// Word address of a read of the ring memory.
  output logic [31:0] mem_rd_o,
  output logic mem_rd_valid_o,
  input logic mem_rd_ready_i,
  /// Read data; answers come in order, with any latency.
  input logic [127:0] mem_rsp_i,
  input logic mem_rsp_valid_i
);
  typedef enum logic [2:0] {
    Idle = 3'd0,
    Wait = 3'd1,  // until the sender starts the segment
    Send = 3'd2,
    Ask = 3'd3,
    Answer = 3'd4,
    Tell = 3'd5
  } state_e;
  state_e state_q;
  tx_cmd_t cmd_q, next_q;
  seq_t seq_q, ack_q, end_q;
  seq_t taken_q;  // length of the segment in sequence numbers
  sum_t read_sum_q, ws_sum_q, mss_sum_q, option_sum_q, seg_sum_q;
  logic next_long_q;  // the command has payload
  logic next_valid_q, fetching_q, fetched, start, busy, load, advances;
  sum_t read_sum;
  logic unused_bits;
  logic [MacBytes*8-1:0] read_chunk;
  logic read_valid;
  logic [3:0] option_words;

  assign unused_bits = ^{frame_i.vlan, frame_i.bytes};

  // ---- next command: fetch its payload
  assign cmd_ready_o = !next_valid_q;
  assign start = next_valid_q && !fetching_q && next_long_q;
  assign fetched = !next_long_q || (fetching_q && !busy);
  assign load = next_valid_q && fetched && state_q == Idle;

  spfe_tcp_tx_read #(
    .SessionCount(SessionCount),
    .MacBytes(MacBytes),
    .MemAddrBits(MemAddrBits),
    .Size(Size)
  ) i_read (
    .clk_i,
    .rst_i,
    .payload_i('{sid: next_q.sid, seq: next_q.seq, len: next_q.len}),
    .start_i(start),
    .busy_o(busy),
    .sum_o(read_sum),
    .give_i(load && next_long_q),
    .pushed_i,
    .popped_i,
    .mem_rd_o,
    .mem_rd_valid_o,
    .mem_rd_ready_i,
    .mem_rsp_i,
    .mem_rsp_valid_i,
    .chunk_o(read_chunk),
    .chunk_valid_o(read_valid),
    .chunk_ready_i(chunk_ready_i && !cmd_q.flags.syn)
  );

  always_ff @(posedge clk_i) begin
    if (load) next_valid_q <= 1'b0;
    if (start) fetching_q <= 1'b1;
    if (cmd_valid_i && cmd_ready_o) begin
      next_q <= cmd_i;
      next_long_q <= cmd_i.len != '0;
      next_valid_q <= 1'b1;
      fetching_q <= 1'b0;
    end
    if (rst_i) next_valid_q <= 1'b0;
  end

  // ---- current command
  // Only segments that consume sequence numbers can advance SND.NXT.
  assign advances = (cmd_q.len != '0 || cmd_q.flags.syn || cmd_q.flags.fin) && !cmd_q.flags.rst &&
      32'(cmd_q.sid) < SessionCount;

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle:
      if (load) begin
        cmd_q <= next_q;
        read_sum_q <= next_long_q ? read_sum : 16'd0;
        state_q <= Wait;
      end
      Wait: if (begins_i) state_q <= Send;
      Send: if (left_i) state_q <= advances ? Ask : Tell;
      Ask: if (req_ready_i) state_q <= Answer;
      Answer: if (res_valid_i) state_q <= Tell;
      default: if (done_ready_i) state_q <= Idle;
    endcase
    if (state_q == Send) begin
      seq_q <= frame_i.seq;
      ack_q <= frame_i.ack;
      end_q <= seq_q + taken_q;
    end
    taken_q <= 32'(cmd_q.len) + 32'(cmd_q.flags.syn) + 32'(cmd_q.flags.fin);
    ws_sum_q <= cmd_q.opt_ws ? sum2(16'h0103, {12'h030, wscale_i}) : 16'd0;
    mss_sum_q <= sum2(16'h0204, mss_i);
    option_sum_q <= sum2(mss_sum_q, ws_sum_q);
    seg_sum_q <= cmd_q.flags.syn ? option_sum_q : read_sum_q;
    if (rst_i) state_q <= Idle;
  end

  // The options of a SYN are sent like payload: MSS, then NOP and window scale.
  logic [63:0] options;
  assign options = {
    cmd_q.opt_ws ? {4'd0, wscale_i, 24'h03_03_01} : 32'd0, mss_i[7:0], mss_i[15:8], 16'h0402
  };
  if (MacBytes == 8) begin : gen_wide
    assign chunk_o = cmd_q.flags.syn ? options : read_chunk;
  end else begin : gen_narrow
    logic option_q;  // 1: the second option chunk is next
    always_ff @(posedge clk_i) begin
      if (state_q == Idle) option_q <= 1'b0;
      else if (chunk_ready_i) option_q <= 1'b1;
    end
    assign chunk_o = !cmd_q.flags.syn ? read_chunk : option_q ? options[63:32] : options[31:0];
  end
  assign chunk_valid_o = cmd_q.flags.syn || read_valid;

  assign seg_valid_o = state_q == Wait;
  assign seg_sid_o = state_q == Idle ? next_q.sid : cmd_q.sid;
  assign option_words = !cmd_q.flags.syn ? 4'd0 : cmd_q.opt_ws ? 4'd2 : 4'd1;
  assign seg_o.cmd = cmd_q;
  assign seg_o.bytes = cmd_q.flags.syn ? {10'd0, option_words, 2'b00} : cmd_q.len;
  assign seg_o.options = option_words;
  assign seg_o.sum = seg_sum_q;

  always_comb begin
    req_o = '0;
    req_o.op = StateCommand;
    req_o.sid = cmd_q.sid;
    req_o.target = end_q;
    req_o.fin = cmd_q.flags.fin;
    done_o = '0;
    done_o.kind = TxCommand;
    done_o.sid = cmd_q.sid;
    done_o.seq = seq_q;
    done_o.len = cmd_q.len;
    done_o.ack = ack_q;
    done_o.flags = cmd_q.flags;
  end
  assign req_valid_o = state_q == Ask;
  assign done_valid_o = state_q == Tell;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_syn :
    assert (rst_i || !cmd_valid_i || !cmd_i.flags.syn || cmd_i.len == '0)
    else $error("SYN with %0d bytes of payload; it must have none", cmd_i.len);
  end
`endif
endmodule
