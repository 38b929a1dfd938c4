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
  parameter int unsigned MacBytes = 4
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// Value of the MSS option; from the configuration.
  input logic [15:0] mss_i,
  /// Value of the window scale option; from the configuration.
  input logic [3:0] wscale_i,

  /// Command from the engine.
  input tx_cmd_t cmd_i,
  /// cmd_i is valid.
  input logic cmd_valid_i,
  /// Accepts cmd_i.
  output logic cmd_ready_o,

  /// Tells the reader to fetch a payload.
  output logic read_start_o,
  /// With read_start_o: session.
  output sid_t read_sid_o,
  /// With read_start_o: sequence number of the first byte.
  output seq_t read_seq_o,
  /// With read_start_o: bytes.
  output logic [15:0] read_len_o,
  /// The reader is still fetching.
  input logic read_busy_i,
  /// Ones-complement sum of the payload; valid when read_busy_i is low.
  input sum_t read_sum_i,
  /// Tells the reader to output the payload it has fetched.
  output logic give_o,
  /// A payload chunk is valid.
  input logic read_valid_i,
  /// Accepts the payload chunk.
  output logic read_ready_o,
  /// Payload chunk.
  input logic [MacBytes*8-1:0] read_chunk_i,

  /// A segment waits for the sender.
  output logic seg_valid_o,
  /// Command of the segment.
  output tx_cmd_t seg_o,
  /// Header table entry of the segment, valid one cycle before seg_valid_o.
  output sid_t seg_sid_o,
  /// Bytes after the 20-byte TCP header: payload or options.
  output logic [15:0] seg_bytes_o,
  /// 32-bit words of TCP options.
  output logic [3:0] seg_options_o,
  /// Ones-complement sum of payload or options, from the fourth cycle of seg_valid_o.
  output sum_t seg_sum_o,
  /// A chunk of payload or options is valid.
  output logic chunk_valid_o,
  /// Sender accepts the chunk.
  input logic chunk_ready_i,
  /// Payload or option chunk.
  output logic [MacBytes*8-1:0] chunk_o,
  /// The sender starts the segment.
  input logic begins_i,
  /// The segment has been sent.
  input logic left_i,
  /// With left_i: SEQ of the segment.
  input seq_t left_seq_i,
  /// With left_i: ACK of the segment.
  input seq_t left_ack_i,

  /// Request to advance SND.NXT.
  output state_req_t req_o,
  /// req_o is valid.
  output logic req_valid_o,
  /// req_o is accepted.
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,

  /// Report to the engine: the segment has been sent.
  output tx_done_t done_o,
  /// done_o is valid.
  output logic done_valid_o,
  /// Accepts done_o.
  input logic done_ready_i
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
  logic next_valid_q, fetching_q, fetched, load, advances;

  // ---- next command: fetch its payload
  assign cmd_ready_o = !next_valid_q;
  assign read_sid_o = next_q.sid;
  assign read_seq_o = next_q.seq;
  assign read_len_o = next_q.len;
  assign read_start_o = next_valid_q && !fetching_q && next_long_q;
  assign fetched = !next_long_q || (fetching_q && !read_busy_i);
  assign load = next_valid_q && fetched && state_q == Idle;
  assign give_o = load && next_long_q;

  always_ff @(posedge clk_i) begin
    if (load) next_valid_q <= 1'b0;
    if (read_start_o) fetching_q <= 1'b1;
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
        read_sum_q <= next_long_q ? read_sum_i : 16'd0;
        state_q <= Wait;
      end
      Wait: if (begins_i) state_q <= Send;
      Send: if (left_i) state_q <= advances ? Ask : Tell;
      Ask: if (req_ready_i) state_q <= Answer;
      Answer: if (res_valid_i) state_q <= Tell;
      default: if (done_ready_i) state_q <= Idle;
    endcase
    if (state_q == Send) begin
      seq_q <= left_seq_i;
      ack_q <= left_ack_i;
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
    assign chunk_o = cmd_q.flags.syn ? options : read_chunk_i;
  end else begin : gen_narrow
    logic option_q;  // 1: the second option chunk is next
    always_ff @(posedge clk_i) begin
      if (state_q == Idle) option_q <= 1'b0;
      else if (chunk_ready_i) option_q <= 1'b1;
    end
    assign chunk_o = !cmd_q.flags.syn ? read_chunk_i : option_q ? options[63:32] : options[31:0];
  end
  assign chunk_valid_o = cmd_q.flags.syn || read_valid_i;
  assign read_ready_o = chunk_ready_i && !cmd_q.flags.syn;

  assign seg_valid_o = state_q == Wait;
  assign seg_o = cmd_q;
  assign seg_sid_o = state_q == Idle ? next_q.sid : cmd_q.sid;
  assign seg_options_o = !cmd_q.flags.syn ? 4'd0 : cmd_q.opt_ws ? 4'd2 : 4'd1;
  assign seg_bytes_o = cmd_q.flags.syn ? {10'd0, seg_options_o, 2'b00} : cmd_q.len;
  assign seg_sum_o = seg_sum_q;

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
