// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks a queue context for QUEUE_ENABLE, but for the regions of its addresses, and names what
/// has to be in these regions.
module spfe_ep_queue_check
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Kinds of queues that the endpoint has: bit N for queue_kind N.
  parameter logic [7:0] Kinds = 8'h06
) (
  /// The queue.
  input logic [15:0] index_i,
  /// Its context.
  input context_t context_i,
  /// What is wrong; STATUS_OK: nothing so far.
  output status_e status_o,
  /// Number of an address: 0 lines, 1 submission ring, 2 completion ring, 3 times, 4 area.
  input logic [2:0] which_i,
  /// What has to be at that address.
  output translate_t need_o,
  /// There is an area.
  output logic packed_o,
  /// The queue pair, of kind RDMA or RDMA_RX.
  output pair_t pair_o
);
  localparam bit HasTarget = Shape.target.entries != '0;
  localparam int unsigned TargetContext = first_queue(
    Shape, 32'(Shape.target.port)
  ) + 2 * 32'(Shape.target.vc) + 1;

  // Context in its port, contexts of its channels, and whether it is a SpaceWire port.
  logic [15:0] place, data;
  logic wired;
  always_comb begin
    place = index_i;
    data = 16'(2 * port_vcs(Shape, 0));
    wired = is_wire(Shape, 0);
    for (int unsigned i = 1; i < 32'(Shape.ports); i++) begin
      if (32'(index_i) >= first_queue(Shape, i)) begin
        place = index_i - 16'(first_queue(Shape, i));
        data = 16'(2 * port_vcs(Shape, i));
        wired = is_wire(Shape, i);
      end
    end
  end

  logic [7:0] kind;
  logic known, fits, is_message, is_packed, is_pair, good_pair, filters;
  assign kind = context_i.kind[7:0];
  assign known = context_i.kind < 32'd8 && Kinds[kind[2:0]];
  assign is_message = kind == QUEUE_KIND_MESSAGE_TX || kind == QUEUE_KIND_MESSAGE_RX;
  assign is_packed = kind == QUEUE_KIND_RX_PACKED;
  assign is_pair = kind == QUEUE_KIND_RDMA || kind == QUEUE_KIND_RDMA_RX;
  assign packed_o = is_packed;
  // A time-code has neither a channel nor a type.
  assign filters = (context_i.filter & ~(wired ? InterruptFilter : BroadcastFilter)) != '0;
  always_comb begin
    if (place < data) begin
      fits = place[0] ? kind == QUEUE_KIND_RX || is_packed : kind == QUEUE_KIND_TX;
      if (kind == QUEUE_KIND_RDMA) fits = 32'(index_i) == pair_queue(Shape);
      if (kind == QUEUE_KIND_RDMA_RX) fits = 32'(index_i) == pair_queue(Shape) + 1;
    end else if (place < data + 16'(MessageContexts)) begin
      fits = kind == QUEUE_KIND_MESSAGE_TX;
    end else begin
      fits = kind == QUEUE_KIND_MESSAGE_RX;
    end
    // What comes on the channel of the target is for the target.
    if (HasTarget && 32'(index_i) == TargetContext) fits = 1'b0;
  end

  logic sizes, equal, aligned, area;
  assign sizes = context_i.sq_log2 >= RING_LOG2_MIN && context_i.cq_log2 <= RING_LOG2_MAX
      && context_i.sq_log2 <= context_i.cq_log2;
  assign equal = context_i.sq_log2 == context_i.cq_log2
      || !(is_packed || kind == QUEUE_KIND_MESSAGE_RX);
  assign aligned = {context_i.sq[5:0], context_i.cq[5:0], context_i.lines[5:0]} == '0
      && context_i.stamp[2:0] == '0;
  assign area = !is_packed || (context_i.area_bytes >= PACKED_AREA_MIN_BYTES
      && context_i.area_bytes <= PACKET_MAX_BYTES
      && {context_i.area_bytes[2:0], context_i.area[2:0]} == '0);

  always_comb begin
    status_o = STATUS_OK;
    if (!known || !fits || context_i.vector >= 32'(Shape.events)
        || context_i.domain >= 32'd1 << DomainBits
        || (is_message && filters) || (is_pair && !good_pair))
      status_o = STATUS_BAD_FIELD;
    else if (!sizes || !equal || !aligned || !area) status_o = STATUS_BAD_RING;
  end

  spfe_ep_pair_check i_pair (
    .context_i,
    .pair_o,
    .good_o(good_pair)
  );

  logic [63:0] address;
  always_comb begin
    need_o = '0;
    need_o.local_write = 1'b1;
    need_o.local_read = which_i != 3'd4;
    need_o.domain = context_i.domain[15:0];
    case (which_i)
      3'd0: begin
        address = context_i.lines;
        need_o.length = 48'(HOST_LINE_BYTES + DEVICE_LINE_BYTES);
      end
      3'd1: begin
        address = context_i.sq;
        need_o.length = 48'(ENTRY_BYTES) << context_i.sq_log2[3:0];
      end
      3'd2: begin
        address = context_i.cq;
        need_o.length = 48'(ENTRY_BYTES) << context_i.cq_log2[3:0];
      end
      3'd3: begin
        address = context_i.stamp;
        need_o.length = 48'd8 << context_i.cq_log2[3:0];
        // Immediate data follows.
        if (kind == QUEUE_KIND_RDMA_RX) need_o.length = 48'd16 << context_i.cq_log2[3:0];
      end
      default: begin
        address = context_i.area;
        need_o.length = 48'(context_i.area_bytes);
      end
    endcase
    need_o.address = address_t'(address);
  end

  logic unused;
  assign unused = ^context_i;
endmodule
