// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from rtl/config/both.toml by tools/rtl_config.py write.

/// The endpoint core with the parameters of rtl/config/both.toml; see spfe_endpoint.
module spfe_core_both
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_sf_pkg::*;
#(
  localparam int unsigned Ports = 1,
  localparam int unsigned Lanes = 1,
  localparam int unsigned Events = 16,
  localparam target_t Target = '{
    entries: 8'd4,
    fixed: 8'd1,
    port: 8'd0,
    vc: 8'd1,
    protocol: 8'd240,
    address: 8'd254,
    segment_log2: 5'd12,
    notes: 8'd4,
    rmap: 1'b0,
    rmap_settings: '0
  },
  localparam spfe_rdma_pkg::region_t Region0 = '{
    key: 32'habc,
    base: 64'h1000,
    bytes: 64'h10000,
    memory: 64'h0,
    read: 1'b1,
    write: 1'b1,
    atomic: 1'b1,
    notify: 1'b0,
    hidden: 1'b0,
    listed: 1'b0,
    initiators: 32'h0
  },
  localparam pairs_t Pairs = '{
    count: 8'd1,
    port: 8'd0,
    vc: 8'd0
  },
  localparam shape_t Shape = '{
    target: Target,
    pairs: Pairs,
    ports: 8'd1,
    wires: 8'd0,
    lanes: 8'd1,
    vcs: 8'd4,
    regions: 16'd64,
    events: 16'd16
  }
) (
  input logic clk_i,
  input logic rst_i,

  /// AXI4-Lite of 64 bits: the register space, usable as BAR 0 of PCI Express. Aligned accesses of
  /// 4 and 8 bytes; an access of 4 bytes uses half of the bus.
  input logic [space_log2(Shape)-1:0] lite_aw_addr_i,
  input logic lite_aw_valid_i,
  output logic lite_aw_ready_o,
  /// Bytes for the aligned address, of which the byte enables select 4 or all 8.
  input logic [63:0] lite_w_data_i,
  /// Byte enables; with lite_w_data_i.
  input logic [7:0] lite_w_strb_i,
  input logic lite_w_valid_i,
  output logic lite_w_ready_o,
  /// Write response, always OKAY.
  output logic [1:0] lite_b_resp_o,
  output logic lite_b_valid_o,
  input logic lite_b_ready_i,
  /// Address of a read, of which the low 3 bits do not matter.
  input logic [space_log2(Shape)-1:0] lite_ar_addr_i,
  input logic lite_ar_valid_i,
  output logic lite_ar_ready_o,
  /// The 8 bytes at the aligned address.
  output logic [63:0] lite_r_data_o,
  /// Read response, always OKAY; with lite_r_data_o.
  output logic [1:0] lite_r_resp_o,
  output logic lite_r_valid_o,
  input logic lite_r_ready_i,

  /// AXI4 master.
  output bus_master_t bus_o,
  /// Ready, read data and write responses of the bus.
  input bus_slave_t bus_i,

  /// Vector of an interrupt message (MSI-X): COUNT of the vector has risen.
  output logic [$clog2(Events)-1:0] message_o,
  output logic message_valid_o,
  input logic message_ready_i,
  /// Level-sensitive line of each vector. The one line of PCI is their OR.
  output logic [Events-1:0] lines_o,
  /// Packets can pass on the port.
  output logic [Ports-1:0] up_o,
  /// For one cycle: a memory of the control plane reported an error.
  output logic failed_o,

  /// Word to each lane of each port; see spfe_sf_lane.
  output word_t [Ports-1:0][Lanes-1:0] line_o,
  /// The line driver is on.
  output logic [Ports-1:0][Lanes-1:0] line_on_o,
  /// Word from each lane.
  input word_t [Ports-1:0][Lanes-1:0] line_i,
  /// There is a signal.
  input logic [Ports-1:0][Lanes-1:0] line_on_i,
  /// The word boundary moved.
  input logic [Ports-1:0][Lanes-1:0] realigned_i,
  /// The receiver and its clock recovery are on.
  output logic [Ports-1:0][Lanes-1:0] receive_o,
  /// The received bits are to be inverted.
  output logic [Ports-1:0][Lanes-1:0] invert_o,
  /// Data (1) and strobe (0) to the far end of each SpaceWire port; 0 for other ports.
  output logic [Ports-1:0][1:0] wire_o,
  /// Data and strobe from the far end, of any clock.
  input logic [Ports-1:0][1:0] wire_i
);
  spfe_endpoint #(
    .Ports(Ports),
    .Wires(0),
    .Lanes(Lanes),
    .Vcs(4),
    .Regions(64),
    .Events(Events),
    .Pages(1024),
    .CyclePs(6400),
    .LaneRateMbps(6250),
    .WireBitCycles(2),
    .Protect(0),
    .HasQueues(1'b1),
    .Target(Target),
    .TargetIdentity(96'h00000000_00000000_00000000),
    .TargetEntries(1),
    .TargetTable({Region0}),
    .Pairs(Pairs)
  ) i_endpoint (
    .*
  );
endmodule
