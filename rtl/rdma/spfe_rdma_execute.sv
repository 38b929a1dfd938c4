// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Executes the packets that spfe_rdma_receive has taken, one after the other: looks up initiator
/// and region, decides (spfe_rdma_decide), accesses memory, asks for a response. A packet waits
/// until the response before it has read all that it sends, so operations keep their order.
module spfe_rdma_execute
  import spfe_rdma_pkg::*;
#(
  /// Largest payload of a packet, as of spfe_rdma_receive.
  parameter int unsigned Segment = 4096,
  /// Initiators that are remembered, as of spfe_rdma_peers.
  parameter int unsigned Peers = 32,
  /// There is software that reads notifications.
  parameter bit Notes = 1'b1,
  /// Check bits, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an address of the store; follows from Segment.
  localparam int unsigned AddrWidth = $clog2(Segment / 16)
) (
  input logic clk_i,
  input logic rst_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Packet.
  input packet_t packet_i,
  /// Which store has its payload; with packet_i.
  input logic bank_i,
  input logic packet_valid_i,
  output logic packet_ready_o,
  /// Begin with no packet.
  input logic hold_i,
  /// No packet is being executed.
  output logic idle_o,

  /// Reads the store of payloads.
  output logic re_o,
  /// Which store, and the address in it; with re_o.
  output logic [AddrWidth:0] raddr_o,
  /// Its bytes, a cycle after re_o, until the next read.
  input logic [15:0][7:0] rdata_i,
  /// They are wrong; with rdata_i, for one cycle.
  input logic rfailed_i,

  /// Index of a region to look up.
  output logic [19:0] region_index_o,
  /// For one cycle: look up.
  output logic region_find_o,
  /// There is such a region; a cycle after region_find_o.
  input logic region_valid_i,
  /// The region; a cycle after region_find_o.
  input region_t region_i,

  /// Transfer to read, as of spfe_axi_read with 16 bytes in a beat, of 8 bytes.
  output logic [63:0] rd_addr_o,
  output logic rd_valid_o,
  input logic rd_ready_i,
  /// Its bytes.
  input logic [63:0] rd_data_i,
  /// The bus reported an error; with rd_data_i.
  input logic rd_error_i,
  input logic rd_data_valid_i,

  /// Transfer to write, as of spfe_axi_write with 16 bytes in a beat.
  output logic [63:0] wr_addr_o,
  /// Its length.
  output logic [31:0] wr_len_o,
  output logic wr_valid_o,
  input logic wr_ready_i,
  /// Its bytes.
  output logic [127:0] wr_data_o,
  output logic wr_data_valid_o,
  input logic wr_data_ready_i,
  /// The transfer is in memory.
  input logic wr_done_i,
  /// The bus reported an error in it; with wr_done_i.
  input logic wr_error_i,

  /// Response to make.
  output response_t response_o,
  output logic response_valid_o,
  /// The response before it has read all it needs.
  input logic response_ready_i,

  /// For software.
  output note_t note_o,
  output logic note_valid_o,
  /// What became of a packet.
  output handled_t handled_o,
  output logic handled_valid_o,
  /// For one cycle: the memory of initiators has given a wrong word.
  output logic failed_o
);
  typedef enum logic [4:0] {
    Rest,
    Sort,
    Seek,
    Region,
    RegionSeen,
    Decide,
    Act,
    Fetch,
    FetchSeen,
    Write,
    WriteRead,
    WriteData,
    WriteDone,
    Load,
    Loaded,
    Change,
    ChangeData,
    ChangeDone,
    Results0,
    Results1,
    Keep,
    Tell
  } state_e;

  localparam int unsigned SlotWidth = $clog2(Peers);

  state_e state_q;
  packet_t packet_q;
  header_t header;
  logic bank_q, sequenced, hit_q, repeated_q, decided_q, forgotten_q, starts, again, answers;
  logic [31:0] packets_q;
  assign header = packet_q.header;
  assign sequenced = is_sequenced(header.code);

  // The initiator.
  logic find, hit, found_done, put, remove;
  logic [SlotWidth-1:0] found_slot, slot_q;
  peer_t found, peer_q, fresh, after, after_q;
  assign find = state_q == Sort && packet_q.drop == DropNone;
  spfe_rdma_peers #(
    .Peers(Peers),
    .Protect(Protect)
  ) i_peers (
    .clk_i,
    .rst_i,
    .sender_i(header.sender),
    .sender_queue_i(header.sender_queue),
    .find_i(find),
    .hit_o(hit),
    .slot_o(found_slot),
    .peer_o(found),
    .done_o(found_done),
    .put_i(after_q),
    .slot_i(slot_q),
    .put_valid_i(put),
    .remove_i(remove),
    .failed_o
  );
  always_comb begin
    fresh = '0;
    fresh.sender = header.sender;
    fresh.sender_queue = header.sender_queue;
    fresh.connected = header.code == OpConnect;
    fresh.connection = header.request;
    fresh.expected = header.number + 16'(header.code == OpConnect);
    fresh.used = packets_q;
  end

  // The region, and the decision.
  region_t region_q;
  logic region_valid_q, failed_q;
  decision_t decision, decision_q;
  logic [63:0] memory, result_q;
  assign region_index_o = header.key[31:12];
  assign region_find_o = state_q == Region;
  assign memory = region_q.memory + header.address - region_q.base;
  spfe_rdma_decide #(
    .Notes(Notes)
  ) i_decide (
    .packet_i(packet_q),
    .segment_i(17'(Segment)),
    .buffer_valid_i(1'b0),
    .buffer_bytes_i('0),
    .credit_i(peer_q.sends + CreditAlways),
    .peer_i(peer_q),
    .region_valid_i(region_valid_q),
    .region_i(region_q),
    .failed_i(failed_q),
    .decision_o(decision),
    .peer_o(after)
  );

  // Results of atomic operations, by initiator.
  logic [3:0] result_at_q;
  logic [79:0] result;
  logic result_failed, unused_corrected;
  spfe_ram_safe #(
    .Width(80),
    .Depth(Peers * Results),
    .Protect(Protect)
  ) i_results (
    .clk_i,
    .we_i(state_q == Keep && decision_q.action == DoAtomic),
    .addr_i({slot_q, peer_q.next_result}),
    .data_i({header.number, result_q}),
    .rclk_i(clk_i),
    .re_i(state_q == Results0),
    .raddr_i({slot_q, result_at_q}),
    .data_o(result),
    .corrected_o(unused_corrected),
    .failed_o(result_failed)
  );

  // Payload: the beat that is read next, and the two operands of an atomic operation.
  logic [AddrWidth-1:0] at_q;
  logic [31:0] left_q;
  logic [1:0][63:0] operand_q;
  logic [63:0] changed;
  logic reads_message;
  assign reads_message = header.code == OpSend && decision_q.executed && header.length != '0;
  assign re_o = state_q == Fetch || state_q == WriteRead;
  assign raddr_o = {bank_q, at_q};
  assign changed = header.code == OpFetchAdd ? result_q + operand_q[0] :
      result_q == operand_q[0] ? operand_q[1] : result_q;

  assign rd_addr_o = memory;
  assign rd_valid_o = state_q == Load;
  assign wr_addr_o = memory;
  assign wr_len_o = state_q == Write ? header.length : 32'd8;
  assign wr_valid_o = state_q == Write || state_q == Change;
  assign wr_data_o = state_q == ChangeData ? {64'd0, changed} : rdata_i;
  assign wr_data_valid_o = state_q == WriteData || state_q == ChangeData;

  assign put = state_q == Keep && (sequenced ? decided_q : header.code == OpConnect &&
                                   decision_q.action == DoAnswer);
  assign remove = state_q == Keep && header.code == OpDisconnect && decision_q.action == DoAnswer &&
      header.receiver_queue == '0 && hit_q;
  assign packet_ready_o = state_q == Rest && response_ready_i && !hold_i;
  assign idle_o = state_q == Rest;

  assign again = hit && found.connected && found.connection == header.request;
  assign starts = sequenced && header.version == Version && header.receiver_queue == '0 &&
      (hit || (header.flags.first && !header.flags.retry));

  // The decision on a request outside of the sequence, and on one that cannot be in it.
  decision_t plain;
  spfe_rdma_manage i_manage (
    .packet_i(packet_q),
    .sequenced_i(sequenced),
    .here_i(header.receiver_queue == '0),
    .credit_i(CreditAlways + (again ? found.sends : '0)),
    .decision_o(plain)
  );

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: if (packet_valid_i && packet_ready_o) state_q <= Sort;
      Sort: state_q <= packet_q.drop == DropNone ? Seek : Tell;
      Seek: if (found_done) state_q <= starts ? Region : Keep;
      Region: state_q <= RegionSeen;
      RegionSeen: state_q <= Decide;
      Decide: state_q <= Act;
      Act:
      unique case (decision_q.action)
        DoWrite: state_q <= header.length == '0 ? Keep : Write;
        DoAtomic: state_q <= Fetch;
        DoResult: state_q <= peer_q.results == '0 ? Keep : Results0;
        DoAnswer, DoNothing: state_q <= reads_message ? Fetch : Keep;
        default: state_q <= Keep;
      endcase
      // A message has up to 32 bytes, operands up to 16.
      Fetch: if (header.length <= 32'd16 || at_q != '0) state_q <= FetchSeen;
      FetchSeen: begin
        if (rfailed_i || failed_q) state_q <= Decide;
        else state_q <= header.code == OpSend ? Keep : Load;
      end
      Write: if (wr_ready_i) state_q <= WriteRead;
      WriteRead: state_q <= WriteData;
      WriteData: if (wr_data_ready_i) state_q <= left_q <= 32'd16 ? WriteDone : WriteRead;
      WriteDone, ChangeDone: if (wr_done_i) state_q <= wr_error_i || failed_q ? Decide : Keep;
      Load: if (rd_ready_i) state_q <= Loaded;
      Loaded: if (rd_data_valid_i) state_q <= rd_error_i || failed_q ? Decide : Change;
      Change: if (wr_ready_i) state_q <= ChangeData;
      ChangeData: if (wr_data_ready_i) state_q <= ChangeDone;
      Results0: state_q <= Results1;
      Results1: begin
        if (result[79:64] == header.number && !result_failed) state_q <= Keep;
        else if (result_at_q + 4'd1 == peer_q.results[3:0]) state_q <= Keep;
        else state_q <= Results0;
      end
      Keep: state_q <= Tell;
      default: if (!response_valid_o || response_ready_i) state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  // A repeated atomic operation whose result is there no more is discarded.
  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      packet_q <= packet_i;
      bank_q <= bank_i;
      packets_q <= packets_q + 32'(packet_valid_i && packet_ready_o);
    end
    if (state_q == Seek && found_done) begin
      hit_q <= hit;
      slot_q <= found_slot;
      peer_q <= hit ? found : fresh;
      peer_q.used <= packets_q;
      repeated_q <= again && header.code == OpConnect;
      decision_q <= plain;
      decided_q <= starts;
      // What Connect keeps.
      after_q <= again ? found : fresh;
      after_q.used <= packets_q;
    end
    if (state_q == RegionSeen) begin
      region_q <= region_i;
      region_valid_q <= region_valid_i && region_i.key == header.key;
    end
    if (state_q == Decide) begin
      decision_q <= decision;
      after_q <= after;
    end
    if (state_q == Results1) begin
      result_q <= result[63:0];
      forgotten_q <= result[79:64] != header.number || result_failed;
      result_at_q <= result_at_q + 4'd1;
    end
    if (state_q == Act) begin
      result_at_q <= '0;
      forgotten_q <= peer_q.results == '0;
      at_q <= '0;
      left_q <= header.length;
    end
    if (re_o) at_q <= at_q + 1'b1;
    if (state_q == WriteData && wr_data_ready_i) left_q <= left_q - 32'd16;
    if (state_q == Loaded) result_q <= rd_data_i;

    if (state_q == Sort) failed_q <= 1'b0;
    if (state_q inside {WriteDone, ChangeDone} && wr_done_i && wr_error_i) failed_q <= 1'b1;
    if (state_q == Loaded && rd_data_valid_i && rd_error_i) failed_q <= 1'b1;
    if (rfailed_i) failed_q <= 1'b1;
    if (rst_i) packets_q <= '0;
  end

  // The first 32 bytes of the payload, as they come from the store.
  logic [31:0][7:0] message_q;
  logic [1:0] fetched_q;
  always_ff @(posedge clk_i) begin
    fetched_q <= state_q == Fetch ? 2'd1 << at_q[0] : '0;
    if (fetched_q[0]) begin
      message_q[15:0] <= rdata_i;
      operand_q <= {reversed(rdata_i[15:8]), reversed(rdata_i[7:0])};
    end
    if (fetched_q[1]) message_q[31:16] <= rdata_i;
  end

  always_comb begin
    unique case (decision_q.action)
      DoRefuse, DoAnswer, DoRead, DoAtomic: answers = 1'b1;
      DoResult: answers = !forgotten_q;
      DoWrite: answers = decision_q.answer;
      default: answers = 1'b0;
    endcase
    if (packet_q.drop != DropNone) answers = 1'b0;
    response_o = '{
      request: header,
      path: packet_q.path,
      vc: packet_q.vc,
      carry: CarryNothing,
      status: decision_q.action == DoRefuse ? decision_q.status : SfrpOk,
      immediate: decision_q.immediate,
      bytes: decision_q.bytes,
      number: result_q,
      memory: memory,
      place: 16'(header.address - region_q.base)
    };
    if (decision_q.action == DoRead) response_o.carry = CarryMemory;
    if (decision_q.action inside {DoAtomic, DoResult}) response_o.carry = CarryNumber;
    if (decision_q.action == DoAnswer && header.code == OpInfo) response_o.carry = CarryInfo;
    if (decision_q.action == DoAnswer && header.code == OpRegions) response_o.carry = CarryRegions;
  end
  assign response_valid_o = state_q == Tell && answers;
  assign handled_valid_o = state_q == Tell && (!response_valid_o || response_ready_i);

  always_comb begin
    handled_o = {1'b0, packet_q.drop, response_o.status, 1'b0, header.code};
    if (packet_q.drop == DropNone) begin
      if (decision_q.action == DoDrop) handled_o.drop = decision_q.drop;
      if (decision_q.action == DoResult && forgotten_q) handled_o.drop = DropForgotten;
      handled_o.repeated = sequenced ? !decision_q.executed : repeated_q;
    end
  end

  logic noted;
  spfe_rdma_note i_note (
    .time_ns_i,
    .packet_i(packet_q),
    .decision_i(decision_q),
    .notify_i(region_q.notify),
    .message_i(message_q),
    .note_o,
    .wanted_o(noted)
  );
  assign note_valid_o = Notes && state_q == Keep && sequenced && noted;
endmodule
