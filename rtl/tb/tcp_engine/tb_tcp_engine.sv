// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the protocol engine. Each engine is a program of its own, because the models of all
/// engines would otherwise be evaluated at every time step.
module tb_tcp_engine #(
  /// 0: directed tests, 1: rates, 2: random connections, 3: random connections with all options.
  parameter int Part = 0
);
  if (Part == 0) begin : gen_directed
    tb_engine_directed i_directed ();
  end else if (Part == 1) begin : gen_rate
    tb_engine_rate i_rate ();
  end else if (Part == 2) begin : gen_plain
    tb_engine_random #(.Name("engine")) i_plain ();
  end else begin : gen_full
    tb_engine_random #(
      .Name("engine-64"), .Sessions(64), .CongestionControl(1), .StatusEvents(1), .CreditEvents(1),
      .InstantAck(1)
    ) i_full ();
  end
endmodule
