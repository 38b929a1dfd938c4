// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Compares both arbiters and spfe_first_one with simple models, under random requests.
module tb_arb
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Number of requesters.
  parameter int unsigned Ports = 4,
  /// Number of cycles to run.
  parameter int unsigned Cycles = 20000
);
  localparam int unsigned IndexWidth = $clog2(Ports);

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  logic [Ports-1:0] request = '0;
  logic used = 1'b0;
  logic [Ports-1:0] round_grant, fixed_grant, top_onehot;
  logic [IndexWidth-1:0] round_index, fixed_index, top_index;
  logic round_valid, fixed_valid, top_found;

  int unsigned asking = 50;
  int unsigned last = Ports - 1;
  int unsigned cycles = 0;
  int unsigned waited[Ports];

  initial begin
    run = chosen(Name);
    #100 rst = 1'b0;
  end

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  spfe_arb_rr #(.Ports(Ports)) i_round (
    .clk_i(clk), .rst_i(rst), .request_i(request), .used_i(used),
    .grant_o(round_grant), .index_o(round_index), .valid_o(round_valid)
  );
  spfe_arb_fixed #(.Ports(Ports)) i_fixed (
    .request_i(request), .grant_o(fixed_grant), .index_o(fixed_index), .valid_o(fixed_valid)
  );
  spfe_first_one #(.Width(Ports), .FromTop(1'b1)) i_top (
    .data_i(request), .found_o(top_found), .onehot_o(top_onehot), .index_o(top_index)
  );

  // The first requesting port from port `from` upwards, with wrap-around; Ports if there is none.
  function automatic int unsigned first(int unsigned from);
    for (int unsigned i = 0; i < Ports; i++) begin
      if (request[IndexWidth'((from + i) % Ports)]) return (from + i) % Ports;
    end
    return Ports;
  endfunction

  function automatic void compare(string what, int unsigned want, logic valid,
                                  logic [Ports-1:0] grant, logic [IndexWidth-1:0] index);
    logic [Ports-1:0] onehot;
    onehot = want == Ports ? '0 : Ports'(1) << want;
    if (valid != (want != Ports) || grant != onehot || 32'(index) != (want == Ports ? 0 : want))
      $fatal(1, "%s, requests %b: grant %b, number %0d; port %0d is due", what, request, grant,
             index, want);
  endfunction

  always @(posedge clk) begin
    if (!rst) begin
      int unsigned due;
      int unsigned highest;
      due = first((last + 1) % Ports);
      compare("round robin", due, round_valid, round_grant, round_index);
      compare("fixed", first(0), fixed_valid, fixed_grant, fixed_index);
      highest = Ports;
      for (int unsigned i = 0; i < Ports; i++) if (request[i]) highest = i;
      compare("from top", highest, top_found, top_onehot, top_index);
      for (int unsigned i = 0; i < Ports; i++) begin
        if (!request[i] || (used && round_grant[i])) waited[i] <= 0;
        else if (used) waited[i] <= waited[i] + 1;
        if (waited[i] >= Ports) $fatal(1, "port %0d waited for %0d grants", i, waited[i]);
      end
      if (used && due != Ports) last <= due;
      cycles <= cycles + 1;
      if (cycles == Cycles) passed(Name, Cycles);
      if (chance(1)) asking <= activity();
      for (int unsigned i = 0; i < Ports; i++) begin
        if (!request[i] || (used && round_grant[i]) || chance(2)) request[i] <= chance(asking);
      end
      used <= chance(70);
    end
  end
endmodule
