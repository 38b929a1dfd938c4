// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_host_fetch hands out an entry only if its phase is that of its position and the bus reported
/// no error, calls it good only if it lies in the region, and never passes an entry over or twice,
/// whatever the ring holds.
module formal_fetch
  import spfe_pkg::*;
  import spfe_host_pkg::*;
(
  input logic clk_i,
  /// Free: the host rings.
  input logic doorbell_i,
  /// Free: the bus takes the read.
  input logic cmd_ready_i,
  /// Free: what the ring holds.
  input logic [127:0] data_i,
  /// Free: the bus reports an error.
  input logic error_i,
  /// Free: the answer is there.
  input logic answer_i,
  /// Free: the user is done with the entry.
  input logic done_i
);
  logic rst_q = 1'b1;
  queue_t queue;
  logic [63:0] address;
  logic asks, valid, reading_q = 1'b0;
  submission_t entry, read_q;
  logic error_q = 1'b1;
  logic [31:0] position, model_q = '0;
  status_e status;
  logic answers, done;

  // A small ring, so that laps pass.
  assign queue = '{
      enable: 1'b1,
      sq_log2: 4'd1,
      cq_log2: 4'd1,
      sq: 64'h1000,
      cq: 64'h2000,
      region: 16'h1001,
      base: 64'h4000,
      bytes: 48'hFFFF_FFFF_FFF0
    };
  assign answers = answer_i && reading_q;
  assign done = done_i && valid;

  spfe_host_fetch i_dut (
    .clk_i,
    .rst_i(rst_q),
    .queue_i(queue),
    .doorbell_i,
    .cmd_addr_o(address),
    .cmd_valid_o(asks),
    .cmd_ready_i,
    .data_i,
    .error_i,
    .valid_i(answers),
    .entry_o(entry),
    .position_o(position),
    .status_o(status),
    .valid_o(valid),
    .done_i(done)
  );

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (asks && cmd_ready_i) reading_q <= 1'b1;
    else if (answers) reading_q <= 1'b0;
    if (answers) begin
      read_q <= submission_t'(data_i);
      error_q <= error_i;
    end
    if (done) model_q <= model_q + 32'd1;
    if (rst_q) begin
      reading_q <= 1'b0;
      model_q <= '0;
    end
  end

  logic [63:0] last;
  assign last = 64'(entry.offset) + 64'(entry.length);

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      a_position : assert (position == model_q);
      a_address : assert (!asks || address == 64'h1000 + 64'({model_q[0], 4'd0}));
      a_one : assert (!(asks && reading_q) && !(valid && (asks || reading_q)));
      if (valid) begin
        // Of the copy that was read, which stays.
        a_copy : assert (entry == read_q && !error_q);
        a_phase : assert (entry.phase == 16'((model_q >> 1) + 32'd1));
        a_good :
        assert (status != STATUS_OK || (entry.flags[3:0] == 4'd1 && entry.region == 16'h1001
            && entry.length != '0 && last <= 64'hFFFF_FFFF_FFF0
            && (entry.flags & 16'hFC40) == '0));
      end
      c_lap : cover (valid && entry.phase == 16'd2 && status == STATUS_OK);
      c_bounds : cover (valid && status == STATUS_OUT_OF_BOUNDS);
    end
  end
endmodule
