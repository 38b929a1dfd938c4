// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Target of RMAP without software (50-52C): serves the regions of a target of RDMA to the packets
/// with protocol identifier 1, one command after the other. Verified writes and read-modify-writes
/// touch memory only when their data is complete and intact; other writes do so while it arrives.
module spfe_rmap_target
  import spfe_rdma_pkg::*;
  import spfe_rmap_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Bytes of a store, and most bytes of a verified write: a power of two from 256 to 65536.
  parameter int unsigned Segment = 4096,
  /// Number of entries, as of spfe_rdma_regions.
  parameter int unsigned Regions = 8,
  /// Check bits, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Logical address of the target.
  input logic [7:0] logical_address_i,
  /// Virtual channel of commands and replies, a constant.
  input logic [4:0] vc_i,
  /// Key and addressing.
  input rmap_settings_t settings_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Nothing else uses memory, so a packet may begin.
  input logic start_i,
  /// A packet is being executed, or its reply sent.
  output logic busy_o,
  /// End all accesses to the entry with this index.
  input logic revoke_i,
  /// The index; with revoke_i.
  input logic [19:0] revoke_index_i,
  /// Memory is being read or written.
  output logic accesses_o,

  /// Bytes of packets, as of spfe_rdma_bytes.
  input logic [3:0][7:0] data_i,
  /// Number of bytes; with data_i.
  input logic [2:0] count_i,
  /// The packet ends here; with data_i.
  input logic last_i,
  /// It ends with EEP; with last_i.
  input logic cut_i,
  input logic valid_i,
  output logic ready_o,

  /// Word of a reply.
  output word_t word_o,
  /// Virtual channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i,

  /// Index of an entry to look up.
  output logic [19:0] region_index_o,
  /// For one cycle: look up.
  output logic region_find_o,
  /// There is such an entry; a cycle after region_find_o.
  input logic region_valid_i,
  /// The entry; a cycle after region_find_o.
  input region_t region_i,

  /// Transfers of memory.
  output memory_ask_t memory_o,
  /// Their data and ends.
  input memory_answer_t memory_i,

  /// For software.
  output note_t note_o,
  output logic note_valid_o,
  /// What became of a packet.
  output handled_t handled_o,
  output logic handled_valid_o,
  /// For one cycle: a store has given a wrong word.
  output logic failed_o
);
  localparam int unsigned AddrWidth = $clog2(Segment / 16);

  typedef enum logic [3:0] {
    Rest,
    Look,
    Seen,
    Decide,
    Body,
    Judge,
    Access,
    Wait,
    Reply,
    Offer,
    More,
    MoreWait,
    Sent,
    Tell
  } state_e;

  state_e state_q;
  command_t command;
  reply_path_t path;
  body_t body;
  drop_e drop, drop_q;
  logic head, ended, idle, full, full_ready, full_bank;
  logic [15:0][7:0] beat;
  rmap_op_e op, op_q;
  rmap_status_e status, status_q, ending;
  logic fits, fits_q, revoked_q, error_q, skipped_q;
  logic [23:0] bytes, bytes_q, done_q;
  logic [63:0] memory, memory_q;
  logic [7:0] index_q;
  region_t region_q;
  logic region_valid_q;

  // The two stores.
  logic receive_we, access_we, access_re, reply_re, store_failed, unused_corrected;
  logic [AddrWidth:0] receive_waddr, access_waddr, access_raddr, reply_raddr;
  logic [15:0][7:0] receive_wdata, access_wdata, rdata;
  spfe_ram_safe #(
    .Width(128),
    .Depth(2 * Segment / 16),
    .Protect(Protect)
  ) i_store (
    .clk_i,
    .we_i(receive_we || access_we),
    .addr_i(access_we ? access_waddr : receive_waddr),
    .data_i(access_we ? access_wdata : receive_wdata),
    .rclk_i(clk_i),
    .re_i(access_re || reply_re),
    .raddr_i(access_re ? access_raddr : reply_raddr),
    .data_o(rdata),
    .corrected_o(unused_corrected),
    .failed_o(store_failed)
  );
  assign failed_o = store_failed;

  spfe_rmap_receive #(
    .Segment(Segment)
  ) i_receive (
    .clk_i,
    .rst_i,
    .start_i(start_i && state_q == Rest),
    .data_i,
    .count_i,
    .last_i,
    .cut_i,
    .valid_i,
    .ready_o,
    .command_o(command),
    .path_o(path),
    .drop_o(drop),
    .head_o(head),
    .go_i(state_q == Body),
    .keep_i(op_q inside {RunStream, RunVerify, RunModify}),
    .stream_i(op_q == RunStream),
    .full_bank_o(full_bank),
    .full_valid_o(full),
    .full_ready_i(full_ready),
    .beat_o(beat),
    .body_o(body),
    .ended_o(ended),
    .release_i(state_q == Tell),
    .idle_o(idle),
    .we_o(receive_we),
    .waddr_o(receive_waddr),
    .wdata_o(receive_wdata)
  );
  assign busy_o = !idle || state_q != Rest;

  assign region_index_o = 20'(index_q);
  assign region_find_o = state_q == Look;
  spfe_rmap_decide #(
    .Segment(Segment)
  ) i_decide (
    .logical_address_i,
    .settings_i,
    .command_i(command),
    .region_valid_i(region_valid_q),
    .region_i(region_q),
    .op_o(op),
    .status_o(status),
    .fits_o(fits),
    .bytes_o(bytes),
    .memory_o(memory)
  );

  rmap_access_t access;
  logic access_valid, access_ready, access_done, access_error, dead;
  spfe_rmap_access #(
    .AddrWidth(AddrWidth)
  ) i_access (
    .clk_i,
    .rst_i,
    .access_i(access),
    .access_valid_i(access_valid),
    .access_ready_o(access_ready),
    .done_o(access_done),
    .error_o(access_error),
    .re_o(access_re),
    .raddr_o(access_raddr),
    .rdata_i(rdata),
    .rfailed_i(store_failed),
    .we_o(access_we),
    .waddr_o(access_waddr),
    .wdata_o(access_wdata),
    .memory_o,
    .memory_i
  );
  assign accesses_o = !access_ready || access_valid;

  reply_t reply;
  reply_part_t part, part_q;
  logic reply_ready, part_ready;
  spfe_rmap_reply #(
    .AddrWidth(AddrWidth)
  ) i_reply (
    .clk_i,
    .rst_i,
    .vc_i,
    .reply_i(reply),
    .reply_valid_i(state_q == Reply && command.instruction.reply),
    .reply_ready_o(reply_ready),
    .part_i(part),
    .part_valid_i(state_q == Offer),
    .part_ready_o(part_ready),
    .re_o(reply_re),
    .raddr_o(reply_raddr),
    .rdata_i(rdata),
    .rfailed_i(store_failed),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );

  // Of a command: bytes before this part, bytes in it, and its store.
  logic [23:0] left;
  logic [16:0] size;
  logic [3:0][7:0] change_data, change_mask;
  assign dead = error_q || revoked_q;
  assign left = bytes_q - done_q;
  assign size = left > 24'(Segment) ? 17'(Segment) : left[16:0];
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      change_data[i] = beat[i];
      change_mask[i] = beat[4'(bytes_q)+4'(i)];
    end
    access = '{
      kind: AccessWrite,
      fixed: !command.instruction.increment,
      addr: memory_q + (command.instruction.increment ? 64'(done_q) : '0),
      bytes: size,
      bank: done_q[AddrWidth+4],
      data: change_data,
      mask: change_mask
    };
    unique case (op_q)
      RunRead: access.kind = AccessRead;
      RunModify: access.kind = AccessModify;
      RunStream: begin
        access.bank = state_q == Body ? full_bank : body.bank;
        access.bytes = state_q == Body ? 17'(Segment) : body.rest;
      end
      default: ;
    endcase
  end
  assign full_ready = state_q == Body && access_ready;
  assign access_valid = !dead && ((state_q == Body && full && access_ready) ||
                                  (state_q inside {Access, More} && access_ready));

  // How the packet ended.
  always_comb begin
    ending = status_q;
    if (op_q == RunRead && body.bytes != '0) ending = RmapTooMuch;
    if (op_q inside {RunStream, RunVerify, RunModify}) begin
      if (body.cut) ending = RmapEep;
      else if (body.bytes <= 25'(command.length)) ending = RmapEarly;
      else if (body.bytes > 25'(command.length) + 25'd1) ending = RmapTooMuch;
      else if (!body.intact) ending = RmapDataCrc;
    end
    if (op_q == RunRead && body.cut) ending = RmapEep;
  end

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (head) state_q <= Look;
      else if (ended) state_q <= Tell;
      Look: state_q <= Seen;
      Seen: state_q <= Decide;
      Decide: begin
        state_q <= Body;
        if (settings_i.absolute && !fits && index_q != 8'(Regions - 1)) state_q <= Look;
      end
      Body: if (ended && access_ready) state_q <= Judge;
      Judge: begin
        state_q <= Reply;
        if (body.cut && body.bytes == '0) state_q <= Tell;
        else if (command.instruction.reserved) state_q <= Tell;
        else if (op_q == RunStream) state_q <= body.rest != '0 ? Access : Reply;
        else if (ending == RmapOk && bytes_q != '0) state_q <= Access;
      end
      Access: if (dead || access_ready) state_q <= dead ? Reply : Wait;
      Wait: if (access_done) state_q <= Reply;
      Reply:
      if (!command.instruction.reply) state_q <= Tell;
      else if (reply_ready) state_q <= reply.length != '0 ? Offer : Sent;
      Offer: if (part_ready) state_q <= part.fails || done_q == bytes_q ? Sent : More;
      More: if (dead || access_ready) state_q <= dead ? Offer : MoreWait;
      MoreWait: if (access_done) state_q <= Offer;
      Sent: if (reply_ready) state_q <= Tell;
      default: state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  // A part that is not accessed, because its entry is gone.
  logic skips, begins;
  assign skips = revoked_q && !error_q &&
      ((state_q == Body && full && full_ready) || state_q inside {Access, More});
  assign begins = access_valid && state_q inside {Access, More};
  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      drop_q <= drop;
      index_q <= settings_i.absolute ? '0 : command.address[39:32];
      {done_q, revoked_q, error_q, skipped_q} <= '0;
    end
    if (state_q == Seen) begin
      region_q <= region_i;
      region_valid_q <= region_valid_i;
    end
    if (state_q == Decide) begin
      op_q <= op;
      status_q <= status;
      fits_q <= fits;
      bytes_q <= bytes;
      memory_q <= memory;
      index_q <= index_q + 8'(settings_i.absolute && !fits && index_q != 8'(Regions - 1));
    end
    if (state_q == Judge) begin
      status_q <= ending;
      if (body.cut && body.bytes == '0) drop_q <= DropBehind;
      else if (command.instruction.reserved) drop_q <= DropReserved;
    end
    if (state_q != Rest && revoke_i && revoke_index_i == region_index_o) revoked_q <= 1'b1;
    else if (state_q == Look) revoked_q <= 1'b0;
    if (access_done && access_error) error_q <= 1'b1;
    if (skips) skipped_q <= 1'b1;
    if (full && full_ready) done_q <= done_q + 24'(Segment);
    if (begins && op_q inside {RunRead, RunModify}) begin
      done_q <= done_q + 24'(size);
      part_q <= '{bank: access.bank, bytes: size, fails: 1'b0};
    end
  end

  rmap_status_e final_status;
  always_comb begin
    final_status = status_q;
    if (status_q == RmapOk && error_q) final_status = RmapFailed;
    else if (status_q == RmapOk && skipped_q) final_status = RmapDenied;
    reply = '{path: path, command: command, status: final_status, length: '0};
    if (final_status == RmapOk && op_q inside {RunRead, RunModify}) reply.length = bytes_q;
    part = part_q;
    part.fails = error_q || skipped_q;
  end

  assign handled_o = '{
      rmap: 1'b1,
      drop: drop_q,
      status: sfrp_status_e'(final_status),
      repeated: 1'b0,
      code: command.instruction
    };
  assign handled_valid_o = state_q == Tell;
  always_comb begin
    note_o = '0;
    note_o.time_ns = time_ns_i;
    note_o.initiator = command.initiator;
    note_o.opcode = command.instruction;
    note_o.has_region = 1'b1;
    note_o.region = 16'(index_q);
    note_o.number = command.transaction;
    note_o.address = 64'(command.address);
    note_o.length = 32'(bytes_q);
  end
  assign note_valid_o = state_q == Tell && drop_q == DropNone && final_status == RmapOk && fits_q
      && region_q.notify;

  logic unused;
  assign unused = ^{body, region_q};
endmodule
