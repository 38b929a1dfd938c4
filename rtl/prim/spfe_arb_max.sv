// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Selects the requester with the greatest value, the lowest number among equals. A tree of
/// comparators, with a register behind each of its $clog2(Ports) levels or without any.
module spfe_arb_max #(
  /// Number of requesters, 1 or more.
  parameter int unsigned Ports = 8,
  /// Bits of a value, 1 or more.
  parameter int unsigned Width = 20,
  /// There are registers.
  parameter bit Registered = 1'b0,
  /// Bits in a port number; follows from Ports.
  localparam int unsigned IndexWidth = Ports > 1 ? $clog2(Ports) : 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Requests.
  input logic [Ports-1:0] request_i,
  /// Value of each port, unsigned.
  input logic [Ports-1:0][Width-1:0] value_i,
  /// A port requests.
  output logic valid_o,
  /// Number of the selected port; only with valid_o.
  output logic [IndexWidth-1:0] index_o,
  /// Value of the selected port; only with valid_o.
  output logic [Width-1:0] value_o
);
  if (Ports < 1 || Width < 1) begin : gen_bad_size
    $error("spfe_arb_max: Ports is %0d and Width %0d; both are 1 or more", Ports, Width);
  end

  // Node 1 is the root, 2n and 2n + 1 are the children of n; the leaves are the ports.
  localparam int unsigned Leaves = 1 << $clog2(Ports);

  logic valid[2*Leaves];
  logic [IndexWidth-1:0] index[2*Leaves];
  logic [Width-1:0] value[2*Leaves];

  for (genvar i = 0; i < Leaves; i++) begin : gen_leaf
    assign index[Leaves+i] = IndexWidth'(i);
    if (i < Ports) begin : gen_port
      assign valid[Leaves+i] = request_i[i];
      assign value[Leaves+i] = value_i[i];
    end else begin : gen_none
      assign valid[Leaves+i] = 1'b0;
      assign value[Leaves+i] = '0;
    end
  end

  for (genvar n = 1; n < Leaves; n++) begin : gen_node
    logic right, either;
    assign right = valid[2*n+1] && (!valid[2*n] || value[2*n+1] > value[2*n]);
    assign either = valid[2*n] || valid[2*n+1];
    if (Registered) begin : gen_registers
      logic valid_q;
      logic [IndexWidth-1:0] index_q;
      logic [Width-1:0] value_q;
      assign valid[n] = valid_q;
      assign index[n] = index_q;
      assign value[n] = value_q;
      always_ff @(posedge clk_i) begin
        valid_q <= either;
        index_q <= right ? index[2*n+1] : index[2*n];
        value_q <= right ? value[2*n+1] : value[2*n];
        if (rst_i) valid_q <= 1'b0;
      end
    end else begin : gen_wires
      assign valid[n] = either;
      assign index[n] = right ? index[2*n+1] : index[2*n];
      assign value[n] = right ? value[2*n+1] : value[2*n];
    end
  end
  if (!Registered || Ports == 1) begin : gen_no_clock
    logic unused_clock;
    assign unused_clock = clk_i ^ rst_i;
  end

  assign valid_o = valid[1];
  assign index_o = index[1];
  assign value_o = value[1];
endmodule
