// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Executes the requests to a queue pair, one after the other: decides (spfe_rdma_decide), has the
/// bytes of messages moved into buffers, completes buffers, and asks for responses. It has no
/// regions, so requests for memory fail. A request that finds no room for a response is discarded;
/// nothing that arrives ever waits for what leaves.
module spfe_rdma_accept
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// The queue pair; does not change while on_i.
  input pair_t pair_i,
  /// The queue pair works. Otherwise packets are dropped.
  input logic on_i,
  /// It takes messages. Otherwise its partner is forgotten.
  input logic open_i,
  /// Number of the queue of buffers, for completions.
  input logic [15:0] queue_i,
  /// Side array of that queue.
  input address_t words_i,
  /// Logarithm of the number of its completions.
  input logic [3:0] cq_log2_i,
  /// Nothing is done with a buffer; with !open_i, nothing begins.
  output logic idle_o,

  /// Packet.
  input packet_t packet_i,
  /// Which store has its payload; with packet_i.
  input logic bank_i,
  input logic packet_valid_i,
  output logic packet_ready_o,

  /// Oldest buffer.
  input buffer_t buffer_i,
  input logic buffer_valid_i,
  /// For one cycle: it is used up.
  output logic buffer_ready_o,
  /// Buffers so far, told as credit.
  input logic [31:0] total_i,
  /// In this cycle the buffers must not change.
  output logic hold_o,

  /// Bytes of the packet to move into the buffer.
  output move_t move_o,
  /// Which store has them.
  output logic move_bank_o,
  /// For one cycle: begin.
  output logic move_start_o,
  /// They are in memory.
  input logic move_done_i,
  /// Not all of them; with move_done_i.
  input logic move_failed_i,

  /// Access for immediate data; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// What is written.
  output logic [127:0] data_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// It is in memory.
  input logic written_i,
  /// The bus reported an error; with written_i.
  input logic write_error_i,
  /// For one cycle: immediate data cannot be written.
  output logic fault_o,

  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i,
  /// Response to make.
  output response_t response_o,
  /// Messages were taken when its packet was judged; with response_o.
  output logic receives_o,
  output logic response_valid_o,
  input logic response_ready_i,
  /// For one cycle: a packet is judged, with the buffers that are there now.
  output logic judged_o,
  /// For one cycle: what became of a packet.
  output handled_t handled_o,
  output logic handled_valid_o
);
  typedef enum logic [3:0] {
    Rest,
    Judge,
    Act,
    Move,
    Finish,
    Word,
    WordData,
    WordDone,
    Tell,
    Refused,
    Credit
  } state_e;

  state_e state_q;
  packet_t packet_q;
  header_t header;
  logic bank_q, open_q, fault_q, full_q, again_q, met_q, known_q, long_q;
  logic bad, mine, met, known, sequenced, connects, completes;
  // The partner: its sequence, and where its credit goes.
  logic peer_valid_q;
  peer_t peer_q, fresh, after, after_q;
  path_t path_q;
  logic [4:0] path_bytes_q;
  decision_t plain, decision, decision_q;
  // Buffers that the partner has been told of, and completions so far.
  logic [31:0] told_q;
  logic [15:0] done_q;

  assign header = packet_q.header;
  assign bad = buffer_valid_i && buffer_i.status != STATUS_OK;
  assign sequenced = is_sequenced(header.code);
  assign mine = open_i && header.receiver_queue == pair_i.own;
  assign met = peer_valid_q && mine && peer_q.sender == header.sender &&
      peer_q.sender_queue == header.sender_queue;
  assign known = met && sequenced && header.version == Version;
  always_comb begin
    fresh = '0;
    fresh.sender = header.sender;
    fresh.sender_queue = header.sender_queue;
    fresh.connection = header.request;
    fresh.expected = header.number + 16'd1;
  end

  spfe_rdma_manage i_manage (
    .packet_i(packet_q),
    .sequenced_i(sequenced),
    .here_i(mine),
    .credit_i(total_i),
    .decision_o(plain)
  );
  spfe_rdma_decide #(
    .Notes(1'b0),
    .Receives(1'b1)
  ) i_decide (
    .packet_i(packet_q),
    .segment_i(17'd1 << pair_i.segment_log2),
    .peer_i(peer_q),
    .region_valid_i(1'b0),
    .region_i('0),
    .buffer_valid_i(buffer_valid_i && !bad),
    .buffer_bytes_i(buffer_i.bytes),
    .credit_i(total_i),
    .failed_i(1'b0),
    .decision_o(decision),
    .peer_o(after)
  );

  // What is done with the packet, once it was judged.
  assign connects = decision_q.action == DoAnswer && header.code == OpConnect;
  assign completes = long_q || (decision_q.action == DoWrite && header.flags.last);
  assign packet_ready_o = state_q == Rest && !bad;
  assign hold_o = state_q == Judge;
  assign judged_o = state_q == Judge && on_i && response_ready_i;
  assign idle_o = state_q inside {Rest, Judge, Tell, Credit};

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (bad) state_q <= Refused;
      else if (packet_valid_i) state_q <= Judge;
      else if (peer_valid_q && open_i && told_q != total_i && response_ready_i) state_q <= Credit;
      Judge: state_q <= on_i ? Act : Rest;
      Act:
      if (move_start_o) state_q <= Move;
      else if (completes && !full_q) state_q <= header.flags.immediate ? Word : Finish;
      else state_q <= Tell;
      Move:
      if (move_done_i) begin
        state_q <= !completes ? Tell : header.flags.immediate ? Word : Finish;
      end
      Word: if (request_ready_i) state_q <= result_i.status == STATUS_OK ? WordData : Finish;
      WordData: if (data_ready_i) state_q <= WordDone;
      WordDone: if (written_i) state_q <= Finish;
      Finish: if (job_ready_i) state_q <= Tell;
      Refused: if (job_ready_i) state_q <= Rest;
      default: state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      packet_q <= packet_i;
      bank_q <= bank_i;
      if (!open_i) peer_valid_q <= 1'b0;
    end
    if (state_q == Judge) begin
      decision_q <= known ? decision : plain;
      if (packet_q.drop != DropNone) begin
        decision_q.action <= DoDrop;
        decision_q.drop <= packet_q.drop;
      end else if (known && decision.action == DoResult) begin
        // There was never a result.
        decision_q.action <= DoDrop;
        decision_q.drop <= DropForgotten;
      end
      full_q <= !response_ready_i;
      open_q <= open_i;
      after_q <= after;
      known_q <= known && packet_q.drop == DropNone;
      met_q <= met;
      again_q <= met && peer_q.connection == header.request;
      long_q <= known && packet_q.drop == DropNone && decision.action == DoRefuse &&
          decision.status == SfrpTooLong && !peer_q.failed;
    end
    if (state_q == Act && !full_q) begin
      if (known_q) peer_q <= after_q;
      if (connects && !again_q) begin
        peer_valid_q <= open_i;
        peer_q <= fresh;
        path_q <= packet_q.path;
        path_bytes_q <= header.path_bytes[4:0];
      end
      if (connects) told_q <= decision_q.immediate;
      if (decision_q.action == DoAnswer && header.code == OpDisconnect && met_q)
        peer_valid_q <= 1'b0;
      if (decision_q.action == DoWrite && header.address[31:0] == '0) fault_q <= 1'b0;
    end
    if (state_q == Move && move_done_i && move_failed_i) fault_q <= 1'b1;
    if (state_q == Credit) told_q <= total_i;
    if (buffer_ready_o) done_q <= done_q + 16'd1;
    if (!open_i && state_q == Rest) done_q <= '0;
    if (rst_i) peer_valid_q <= 1'b0;
  end

  always_comb begin
    move_o = '{scatter: 1'b1, elements: 3'd1, default: '0};
    move_o.offset = header.address[31:0];
    move_o.bytes = header.length[12:0];
  end
  assign move_bank_o = bank_q;
  assign move_start_o = state_q == Act && decision_q.action == DoWrite && header.length != '0 &&
      !full_q;

  // The second half of the side array has a word for each completion.
  assign request_o = '{
      address: '{
        region: words_i.region,
        offset: words_i.offset + (48'd8 << cq_log2_i) + (ring_offset(32'(done_q), cq_log2_i) >> 1)
      },
      length: 48'd8,
      domain: pair_i.domain,
      write: 1'b1,
      check: 1'b0
    };
  assign request_valid_o = state_q == Word;
  assign data_o = 128'(header.immediate);
  assign data_valid_o = state_q == WordData;
  assign fault_o = (state_q == Word && request_ready_i && result_i.status != STATUS_OK) ||
      (state_q == WordDone && written_i && write_error_i);

  always_comb begin
    job_o = '{
      index: queue_i,
      position: buffer_i.position,
      status: buffer_i.status,
      packets: 16'd1,
      default: '0
    };
    if (state_q == Finish) begin
      job_o.bytes = header.address[63:32];
      job_o.flags = header.flags.immediate ? COMPLETION_FLAGS_IMMEDIATE : '0;
      job_o.status = long_q ? STATUS_TOO_LONG : fault_q ? STATUS_BAD_REGION : STATUS_OK;
    end
    job_o.urgent = job_o.status != STATUS_OK;
  end
  assign job_valid_o = state_q inside {Finish, Refused};
  assign buffer_ready_o = job_valid_o && job_ready_i;

  always_comb begin
    response_o = '{
      request: header,
      path: packet_q.path,
      vc: '0,
      carry: header.code == OpInfo && decision_q.action == DoAnswer ? CarryInfo : CarryNothing,
      status: decision_q.action == DoRefuse ? decision_q.status : SfrpOk,
      immediate: decision_q.immediate,
      bytes: decision_q.bytes,
      default: '0
    };
    if (state_q == Credit) begin
      response_o = '{carry: CarryCredit, status: SfrpOk, path: path_q, default: '0};
      response_o.immediate = total_i;
      response_o.request.protocol = pair_i.protocol;
      response_o.request.sender = peer_q.sender;
      response_o.request.sender_queue = peer_q.sender_queue;
      response_o.request.receiver = pair_i.address;
      response_o.request.receiver_queue = pair_i.own;
      response_o.request.path_bytes = 8'(path_bytes_q);
    end
  end
  assign receives_o = open_q;
  assign response_valid_o = state_q == Credit || (state_q == Tell && !full_q &&
      (decision_q.action inside {DoRefuse, DoAnswer} ||
       (decision_q.action == DoWrite && decision_q.answer)));

  always_comb begin
    handled_o = '{
      rmap: 1'b0,
      drop: decision_q.action == DoDrop ? decision_q.drop : DropNone,
      status: response_o.status,
      repeated: sequenced ? !decision_q.executed : again_q && connects,
      code: header.code
    };
    if (full_q) handled_o.drop = DropFull;
  end
  assign handled_valid_o = state_q == Tell;

  logic unused;
  assign unused = ^{packet_q, decision, decision_q, plain, pair_i, buffer_i, result_i};
endmodule
