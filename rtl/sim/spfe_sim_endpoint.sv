// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// An endpoint as a program sees it: its inputs and outputs are one struct each, with the fields
/// from the upper bits down. Addresses of registers have 32 bits, numbers of vectors 16.
module spfe_sim_endpoint
  import spfe_sf_pkg::*;
#(
  /// Ports.
  parameter int unsigned Ports = 2,
  /// SpaceWire ports among them, the last ones.
  parameter int unsigned Wires = 0,
  /// Lanes of each SpaceFibre port.
  parameter int unsigned Lanes = 1,
  /// Virtual channels of each SpaceFibre port.
  parameter int unsigned Vcs = 4,
  /// Memory regions.
  parameter int unsigned Regions = 64,
  /// Event vectors.
  parameter int unsigned Events = 16,
  /// Page addresses.
  parameter int unsigned Pages = 1024,
  /// Picoseconds in a cycle.
  parameter int unsigned CyclePs = 6400,
  /// There are queues.
  parameter bit Queues = 1'b1,
  /// Entries of a target of RDMA on port 0; 0: there is none. The first one is there from power-up
  /// on: 64 KiB at bus address 0, under the key 0xabc from address 0x1000 on.
  parameter int unsigned Target = 0,
  /// Its channel.
  parameter int unsigned TargetVc = Vcs - 1,
  /// Its logical address.
  parameter int unsigned TargetAddress = 66,
  /// It serves RMAP with any key, too; the address is an index and an offset.
  parameter bit Rmap = 1'b1,
  /// Queue pairs, 0 or 1, on channel 0 of port 0.
  parameter int unsigned Pairs = 0,
  /// Bits of an ID on the bus.
  localparam int unsigned IdWidth = 6,
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    // AXI4-Lite.
    logic [31:0] lite_aw_addr;
    logic lite_aw_valid;
    logic [63:0] lite_w_data;
    logic [7:0] lite_w_strb;
    logic lite_w_valid;
    logic lite_b_ready;
    logic [31:0] lite_ar_addr;
    logic lite_ar_valid;
    logic lite_r_ready;
    // AXI4.
    logic ar_ready;
    logic [127:0] r_data;
    logic [IdWidth-1:0] r_id;
    logic [1:0] r_resp;
    logic r_last;
    logic r_valid;
    logic aw_ready;
    logic w_ready;
    logic [IdWidth-1:0] b_id;
    logic [1:0] b_resp;
    logic b_valid;
    // Interrupt messages.
    logic message_ready;
    // Lanes: [port][lane], the last port in the upper bits.
    word_t [Ports-1:0][Lanes-1:0] line;
    logic [Ports-1:0][Lanes-1:0] line_on;
    logic [Ports-1:0][Lanes-1:0] realigned;
    // Data and strobe of each SpaceWire port.
    logic [Ports-1:0][1:0] wires;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    // AXI4-Lite.
    logic lite_aw_ready;
    logic lite_w_ready;
    logic [1:0] lite_b_resp;
    logic lite_b_valid;
    logic lite_ar_ready;
    logic [63:0] lite_r_data;
    logic [1:0] lite_r_resp;
    logic lite_r_valid;
    // AXI4.
    logic [63:0] ar_addr;
    logic [IdWidth-1:0] ar_id;
    logic [7:0] ar_len;
    logic ar_valid;
    logic r_ready;
    logic [63:0] aw_addr;
    logic [IdWidth-1:0] aw_id;
    logic [7:0] aw_len;
    logic aw_valid;
    logic [127:0] w_data;
    logic [15:0] w_strb;
    logic w_last;
    logic w_valid;
    logic b_ready;
    // Interrupts: messages, and a line for each vector.
    logic [15:0] message;
    logic message_valid;
    logic [Events-1:0] lines;
    // Ports.
    logic [Ports-1:0] up;
    logic failed;
    word_t [Ports-1:0][Lanes-1:0] line;
    logic [Ports-1:0][Lanes-1:0] line_on;
    logic [Ports-1:0][Lanes-1:0] receive;
    logic [Ports-1:0][Lanes-1:0] invert;
    logic [Ports-1:0][1:0] wires;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  localparam int unsigned EventWidth = $clog2(Events);
  localparam spfe_ep_shape_pkg::target_t TargetShape = '{
    entries: 8'(Target),
    fixed: Target == 0 ? 8'd0 : 8'd1,
    port: 8'd0,
    vc: 8'(TargetVc),
    protocol: 8'hf0,
    address: 8'(TargetAddress),
    segment_log2: 5'd12,
    notes: 8'd4,
    rmap: Rmap,
    rmap_settings: '{any_key: 1'b1, default: '0}
  };
  localparam spfe_ep_shape_pkg::pairs_t PairsShape = '{count: 8'(Pairs), default: '0};
  localparam int unsigned AddrWidth = spfe_ep_shape_pkg::space_log2(
    '{
      target: TargetShape,
      pairs: PairsShape,
      ports: 8'(Ports),
      wires: 8'(Wires),
      lanes: 8'(Lanes),
      vcs: 8'(Vcs),
      regions: 16'(Regions),
      events: 16'(Events)
    }
  );
  assign out_o.message[15:EventWidth] = '0;

  localparam spfe_rdma_pkg::region_t Fixed = '{
    key: 32'h0000_0abc,
    base: 64'h1000,
    bytes: 64'h1_0000,
    read: 1'b1,
    write: 1'b1,
    atomic: 1'b1,
    default: '0
  };
  spfe_ep_pkg::bus_master_t bus;
  spfe_ep_pkg::bus_slave_t answer;
  assign {out_o.r_ready, out_o.b_ready} = '1;
  assign out_o.ar_addr = bus.ar_addr;
  assign out_o.ar_id = bus.ar_id;
  assign out_o.ar_len = bus.ar_len;
  assign out_o.ar_valid = bus.ar_valid;
  assign out_o.aw_addr = bus.aw_addr;
  assign out_o.aw_id = bus.aw_id;
  assign out_o.aw_len = bus.aw_len;
  assign out_o.aw_valid = bus.aw_valid;
  assign out_o.w_data = bus.w_data;
  assign out_o.w_strb = bus.w_strb;
  assign out_o.w_last = bus.w_last;
  assign out_o.w_valid = bus.w_valid;
  assign answer = '{
      ar_ready: in_i.ar_ready,
      r_data: in_i.r_data,
      r_id: in_i.r_id,
      r_resp: in_i.r_resp,
      r_last: in_i.r_last,
      r_valid: in_i.r_valid,
      aw_ready: in_i.aw_ready,
      w_ready: in_i.w_ready,
      b_id: in_i.b_id,
      b_resp: in_i.b_resp,
      b_valid: in_i.b_valid
    };

  spfe_endpoint #(
    .Ports(Ports),
    .Wires(Wires),
    .Lanes(Lanes),
    .Vcs(Vcs),
    .Regions(Regions),
    .Events(Events),
    .Pages(Pages),
    .CyclePs(CyclePs),
    .HasQueues(Queues),
    .Target(TargetShape),
    .TargetTable(Fixed),
    .Pairs(PairsShape),
    .TargetIdentity(96'h0000_0011_0000_0022_0000_0033)
  ) i_endpoint (
    .clk_i,
    .rst_i(in_i.rst),
    .lite_aw_addr_i(in_i.lite_aw_addr[AddrWidth-1:0]),
    .lite_aw_valid_i(in_i.lite_aw_valid),
    .lite_aw_ready_o(out_o.lite_aw_ready),
    .lite_w_data_i(in_i.lite_w_data),
    .lite_w_strb_i(in_i.lite_w_strb),
    .lite_w_valid_i(in_i.lite_w_valid),
    .lite_w_ready_o(out_o.lite_w_ready),
    .lite_b_resp_o(out_o.lite_b_resp),
    .lite_b_valid_o(out_o.lite_b_valid),
    .lite_b_ready_i(in_i.lite_b_ready),
    .lite_ar_addr_i(in_i.lite_ar_addr[AddrWidth-1:0]),
    .lite_ar_valid_i(in_i.lite_ar_valid),
    .lite_ar_ready_o(out_o.lite_ar_ready),
    .lite_r_data_o(out_o.lite_r_data),
    .lite_r_resp_o(out_o.lite_r_resp),
    .lite_r_valid_o(out_o.lite_r_valid),
    .lite_r_ready_i(in_i.lite_r_ready),
    .bus_o(bus),
    .bus_i(answer),
    .message_o(out_o.message[EventWidth-1:0]),
    .message_valid_o(out_o.message_valid),
    .message_ready_i(in_i.message_ready),
    .lines_o(out_o.lines),
    .up_o(out_o.up),
    .failed_o(out_o.failed),
    .line_o(out_o.line),
    .line_on_o(out_o.line_on),
    .line_i(in_i.line),
    .line_on_i(in_i.line_on),
    .realigned_i(in_i.realigned),
    .receive_o(out_o.receive),
    .invert_o(out_o.invert),
    .wire_o(out_o.wires),
    .wire_i(in_i.wires)
  );

  logic unused;
  assign unused = ^{in_i.lite_aw_addr, in_i.lite_ar_addr};
endmodule
