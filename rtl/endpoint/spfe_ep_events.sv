// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Event vectors: counts events, and interrupts the host with messages and with lines. A message
/// is offered after the count has risen. Line n is high while vector n is enabled and its count
/// differs from the count that the host has seen.
module spfe_ep_events #(
  /// Vectors, 2 to 512.
  parameter int unsigned Events = 16,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a vector's number; follows from Events.
  localparam int unsigned Width = $clog2(Events)
) (
  input logic clk_i,
  input logic rst_i,

  /// Vector to signal.
  input logic [Width-1:0] event_i,
  input logic event_valid_i,
  output logic event_ready_o,

  /// Vector to enable or disable. Enabling makes its count the count seen.
  input logic [Width-1:0] enable_i,
  /// Enable it; with enable_i.
  input logic enable_on_i,
  input logic enable_valid_i,
  output logic enable_ready_o,

  /// The host has seen this count.
  input logic [31:0] seen_i,
  /// Of this vector; with seen_i.
  input logic [Width-1:0] seen_vector_i,
  input logic seen_valid_i,
  output logic seen_ready_o,

  /// Vector whose count is read; keep it until count_done_o.
  input logic [Width-1:0] count_i,
  input logic count_valid_i,
  /// Its count.
  output logic [31:0] count_o,
  /// For one cycle; with count_o.
  output logic count_done_o,

  /// Vector whose interrupt message is due. Signals of the same vector may share a message.
  output logic [Width-1:0] message_o,
  output logic message_valid_o,
  input logic message_ready_i,
  /// Level-sensitive lines.
  output logic [Events-1:0] lines_o,
  /// The memory reported an error.
  output logic failed_o
);
  typedef enum logic [2:0] {
    Clear,
    Rest,
    Count,
    Seen,
    Enable,
    Signal
  } state_e;

  typedef struct packed {
    logic [31:0] count;
    logic [31:0] seen;
  } vector_t;

  state_e state_q, next;
  logic [Width-1:0] index_q, choice;
  logic [Events-1:0] enabled_q, due_q, lines_q;
  vector_t read, write;
  logic [31:0] count_up;
  logic we, line, found;
  logic unused_corrected;
  logic [Events-1:0] unused_onehot;

  always_comb begin
    next = Rest;
    choice = event_i;
    if (count_valid_i) begin
      next = Count;
      choice = count_i;
    end else if (seen_valid_i) begin
      next = Seen;
      choice = seen_vector_i;
    end else if (enable_valid_i) begin
      next = Enable;
      choice = enable_i;
    end else if (event_valid_i) begin
      next = Signal;
    end
  end

  assign count_up = read.count + 32'd1;
  assign seen_ready_o = state_q == Seen;
  assign enable_ready_o = state_q == Enable;
  assign event_ready_o = state_q == Signal;
  assign count_done_o = state_q == Count;
  assign count_o = read.count;

  always_comb begin
    write = read;
    we = 1'b0;
    unique case (state_q)
      Clear: begin
        write = '0;
        we = 1'b1;
      end
      Seen: begin
        write.seen = seen_i;
        we = 1'b1;
      end
      Enable: begin
        write.seen = read.count;
        we = enable_on_i && !enabled_q[index_q];
      end
      Signal: begin
        write.count = count_up;
        we = 1'b1;
      end
      default: ;
    endcase
    line = write.count != write.seen;
  end

  spfe_ram_safe #(
    .Width($bits(vector_t)),
    .Depth(Events),
    .Block(Events > 64),
    .Protect(Protect)
  ) i_memory (
    .clk_i,
    .we_i(we && !rst_i),
    .addr_i(index_q),
    .data_i(write),
    .rclk_i(clk_i),
    .re_i(state_q == Rest && next != Rest),
    .raddr_i(choice),
    .data_o(read),
    .corrected_o(unused_corrected),
    .failed_o
  );

  spfe_first_one #(
    .Width(Events)
  ) i_first (
    .data_i(due_q),
    .found_o(found),
    .onehot_o(unused_onehot),
    .index_o(message_o)
  );
  assign message_valid_o = found;
  assign lines_o = lines_q;

  always_ff @(posedge clk_i) begin
    state_q <= Rest;
    if (found && message_ready_i) due_q[message_o] <= 1'b0;
    unique case (state_q)
      Clear: begin
        index_q <= index_q + 1'b1;
        if (32'(index_q) != Events - 1) state_q <= Clear;
      end
      Rest: begin
        state_q <= next;
        index_q <= choice;
      end
      Seen: lines_q[index_q] <= enabled_q[index_q] && line;
      Enable: begin
        enabled_q[index_q] <= enable_on_i;
        if (!enable_on_i) due_q[index_q] <= 1'b0;
        if (enable_on_i != enabled_q[index_q]) lines_q[index_q] <= 1'b0;
      end
      Signal: begin
        if (enabled_q[index_q]) due_q[index_q] <= 1'b1;
        lines_q[index_q] <= enabled_q[index_q] && line;
      end
      default: ;
    endcase
    if (rst_i) begin
      state_q <= Clear;
      index_q <= '0;
      enabled_q <= '0;
      due_q <= '0;
      lines_q <= '0;
    end
  end

  if (Events < 2 || Events > 512) begin : gen_bad_events
    $error("spfe_ep_events: Events is %0d; 2 to 512 are possible", Events);
  end
endmodule
