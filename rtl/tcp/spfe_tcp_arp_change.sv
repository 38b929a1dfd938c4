// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Effect of a pass on an entry of the ARP table. Combinational.
module spfe_tcp_arp_change
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
  /// 1: refresh known addresses after cfg.arp_refresh ticks.
  parameter bit Refresh = 1'b1
) (
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Kind of the pass.
  input arp_job_e job_i,
  /// Entry before the pass.
  input arp_entry_t entry_i,
  /// Comparison results of the entry.
  input arp_judged_t judged_i,
  /// Sender's MAC address in the received packet.
  input mac_t mac_i,
  /// The previous request was not sent yet: no other can be.
  input logic busy_i,
  /// Ticks between requests.
  input logic [31:0] retry_i,
  /// retry_i - 1.
  input logic [31:0] retry_less_i,
  /// Effect on the entry.
  output arp_change_t change_o
);
  logic unused_bits;
  assign unused_bits = ^{cfg_i, judged_i};

  always_comb begin
    change_o = '0;
    change_o.entry = entry_i;
    if (judged_i.used && job_i == JobUpdate && judged_i.heard) begin
      change_o.write = 1'b1;
      change_o.changed = entry_i.state == ArpAsking || entry_i.state == ArpFailed || judged_i.moved;
      change_o.entry.state = ArpKnown;
      change_o.entry.mac = mac_i;
      change_o.entry.timer = cfg_i.arp_refresh;
    end
    if (judged_i.used && job_i == JobAge) begin
      change_o.write = 1'b1;
      if (!judged_i.enabled) begin
        change_o.drop = 1'b1;
      end else if (entry_i.state == ArpFailed && !judged_i.reported) begin
        change_o.write = 1'b0;
      end else if (entry_i.state == ArpKnown && (!Refresh || cfg_i.arp_refresh == '0)) begin
        change_o.write = 1'b0;
      end else if (!judged_i.due) begin
        change_o.entry.timer = judged_i.timer;
      end else begin
        unique case (entry_i.state)
          ArpKnown: begin
            change_o.send = 1'b1;
            change_o.entry.tries = 8'd0;
            if (!busy_i) change_o.entry.state = ArpAgain;
          end
          ArpFailed: change_o.drop = 1'b1;
          default: change_o.send = judged_i.try_again;
        endcase
        if (change_o.send && !busy_i) begin
          change_o.entry.tries = judged_i.tries;
          change_o.entry.timer = retry_less_i;
        end
        if (!change_o.send && entry_i.state == ArpAgain) change_o.drop = 1'b1;
        if (!change_o.send && entry_i.state == ArpAsking) begin
          change_o.fail = 1'b1;
          change_o.entry.state = ArpFailed;
          change_o.entry.timer = retry_i;
        end
      end
    end
  end
endmodule
