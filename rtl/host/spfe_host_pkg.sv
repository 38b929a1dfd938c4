// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Settings of queues, and helpers for ring entries. contract/README.md has the rules.
package spfe_host_pkg;
  /// A queue, while it is enabled.
  typedef struct packed {
    logic enable;
    logic [3:0] sq_log2;  // entries of the submission ring
    logic [3:0] cq_log2;  // entries of the completion ring
    logic [63:0] sq;  // address of the submission ring
    logic [63:0] cq;  // address of the completion ring
    logic [15:0] region;  // region that its entries may name
    logic [63:0] base;  // address of that region
    logic [47:0] bytes;  // bytes in it
  } queue_t;

  /// Lap number of a position.
  function automatic logic [15:0] phase_of(input logic [31:0] position, input logic [3:0] log2);
    return 16'((position >> log2) + 32'd1);
  endfunction

  /// Address of the entry at a position.
  function automatic logic [63:0] entry_at(input logic [63:0] base, input logic [31:0] position,
                                           input logic [3:0] log2);
    return base + 64'({position & ((32'd1 << log2) - 32'd1), 4'd0});
  endfunction
endpackage
