// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// ARP table: resolves, refreshes and expires the addresses of other hosts. It holds only addresses
/// that were queried. Changes are made in passes over all entries, one entry per cycle in three
/// steps (read, judge, update). Queries are answered in parallel.
module spfe_tcp_arp_table
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
  /// Number of entries, 2 to 256.
  parameter int unsigned ArpEntries = 32,
  /// 1: refresh known addresses after cfg.arp_refresh ticks.
  parameter bit Refresh = 1'b1
) (
  input logic clk_i,
  /// Synchronous reset, active high; clears the table.
  input logic rst_i,
  /// One-cycle pulse per tick, on average at least four passes apart.
  input logic tick_i,
  /// Configuration; from the registers. The table is empty while the core is disabled.
  input tcp_cfg_t cfg_i,
  /// Query for a MAC address; from the engine.
  input arp_query_t query_i,
  /// query_i is valid; held until the answer.
  input logic query_valid_i,
  /// Answer to the engine. Neither found nor failed means that requests are in progress.
  output arp_answer_t answer_o,
  /// answer_o is valid; one cycle.
  output logic answer_valid_o,
  /// Address that was resolved or has changed; to the engine.
  output arp_update_t update_o,
  output logic update_valid_o,
  input logic update_ready_i,
  /// Received ARP packet.
  input arp_rx_t rx_i,
  /// rx_i is valid; one cycle.
  input logic rx_valid_i,
  /// ARP request to send.
  output arp_tx_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// An address could not be resolved; one cycle.
  output logic failed_o,
  /// With failed_o: the address.
  output arp_query_t failed_query_o,
  /// An address was resolved or has changed; one cycle.
  output logic learnt_o
);
  localparam int unsigned IndexBits = $clog2(ArpEntries);
  localparam int unsigned Waiting = 16;  // received packets
  localparam int unsigned WaitingBits = $clog2(Waiting + 1);

  if (ArpEntries < 2 || ArpEntries > 256) begin : gen_bad_entries
    $error("spfe_tcp_arp_table: ArpEntries is %0d; 2 to 256 are possible", ArpEntries);
  end

  typedef logic [IndexBits-1:0] index_t;
  localparam index_t LastIndex = index_t'(ArpEntries - 1);

  localparam int unsigned Jobs = 4;  // values of arp_job_e
  logic [Jobs-1:0] wanted;

  typedef enum logic [1:0] {
    Rest,
    Pass,
    Put,  // write the new entry
    Give  // read the changed entry
  } state_e;

  state_e state_q;
  arp_job_e job_q, job_d;
  logic [ArpEntries-1:0] used_q;  // the entry is valid
  logic [ArpEntries-1:0] reported_q;  // the failure was reported to the engine
  logic [ArpEntries-1:0] changed_q;  // the change was not yet reported to the engine
  index_t index_q, seek_index, changed_index, changed_index_q;
  logic changed_any_q;
  arp_entry_t [1:0] word;

  // Entry that was read.
  logic read_valid_q, read_used, read_last;
  index_t read_index_q;
  arp_entry_t read_q;

  // Entry one cycle later, with comparison results and its update.
  arp_judged_t judged_q;
  arp_change_t change;
  arp_entry_t entry_q;
  index_t entry_index_q;
  logic entry_valid_q, last_q, send;

  // Entry to insert.
  arp_room_e best_q;
  index_t best_index_q, next_victim_q;
  logic best_before_q;  // best_index_q is before next_victim_q
  logic found_q, better;
  arp_entry_t new_entry;
  logic [31:0] retry_q, retry_less_q;  // cfg.arp_retry, and one tick less

  logic we;
  index_t waddr;
  arp_entry_t wdata;

  logic [3:0] ticks_q;  // ticks not yet processed
  arp_tx_t request_q, request_d;
  logic request_valid_q, update_valid_q, failed_q, learnt_q;
  arp_update_t update_q;
  arp_query_t failed_query_q, insert;
  logic insert_valid, insert_done, reported;
  index_t reported_index;

  spfe_lutram #(
    .Width($bits(arp_entry_t)),
    .Depth(ArpEntries),
    .Ports(2)
  ) i_mem (
    .clk_i,
    .we_i(we),
    .addr_i(waddr),
    .data_i(wdata),
    .raddr_i({seek_index, index_q}),
    .rdata_o(word)
  );

  spfe_tcp_arp_seek #(
    .ArpEntries(ArpEntries)
  ) i_seek (
    .clk_i,
    .rst_i,
    .query_i,
    .query_valid_i,
    .answer_o,
    .answer_valid_o,
    .index_o(seek_index),
    .entry_i(word[1]),
    .used_i(used_q),
    .reported_o(reported),
    .reported_index_o(reported_index),
    .insert_valid_o(insert_valid),
    .insert_o(insert),
    .insert_done_i(insert_done)
  );

  // Received packets waiting for a pass. Packets are dropped when the FIFO is full.
  typedef struct packed {
    vif_set_t vifs;
    mac_t sha;
    ip_t spa;
  } heard_t;

  heard_t heard, heard_q;
  logic heard_valid, heard_ready, unused_almost_full;
  logic [WaitingBits-1:0] unused_count;

  spfe_fifo #(
    .Width($bits(heard_t)),
    .Depth(Waiting)
  ) i_heard (
    .clk_i,
    .rst_i(rst_i || !cfg_i.enable),
    .valid_i(rx_valid_i && rx_i.spa != '0 && heard_ready),
    .ready_o(heard_ready),
    .data_i({rx_i.vifs, rx_i.sha, rx_i.spa}),
    .valid_o(heard_valid),
    .ready_i(state_q == Pass && last_q && job_q == JobUpdate),
    .data_o(heard),
    .count_o(unused_count),
    .almost_full_o(unused_almost_full)
  );

  // ---- next pass: round robin among the jobs that have work.

  always_comb begin
    wanted[JobUpdate] = heard_valid;
    wanted[JobInsert] = insert_valid;
    wanted[JobDeliver] = changed_any_q && !update_valid_q;
    wanted[JobAge] = ticks_q != '0;
    job_d = job_q;
    for (int unsigned i = Jobs; i > 0; i--) begin
      logic [1:0] candidate;
      candidate = job_q + 2'(i);
      if (wanted[candidate]) job_d = arp_job_e'(candidate);
    end
    changed_index = '0;
    for (int unsigned i = ArpEntries; i > 0; i--) begin
      if (changed_q[i-1]) changed_index = index_t'(i - 1);
    end
  end

  // ---- update of an entry in a pass.

  assign read_used = used_q[read_index_q];
  assign read_last = read_valid_q && read_index_q == LastIndex;

  always_ff @(posedge clk_i) begin
    retry_q <= 32'(cfg_i.arp_retry);
    retry_less_q <= 32'(cfg_i.arp_retry) - 32'd1;
    entry_q <= read_q;
    entry_index_q <= read_index_q;
    entry_valid_q <= read_valid_q && !rst_i;
    last_q <= read_last;
    judged_q.used <= read_valid_q && read_used;
    judged_q.heard <= read_q.ip == heard_q.spa && heard_q.vifs[read_q.vif];
    judged_q.moved <= read_q.mac != heard_q.sha;
    judged_q.same <= read_q.ip == insert.ip && read_q.vif == insert.vif;
    judged_q.enabled <= cfg_i.vif[read_q.vif].enable;
    judged_q.reported <= reported_q[read_index_q];
    judged_q.due <= read_q.timer == '0;
    judged_q.try_again <= read_q.tries < cfg_i.arp_tries;
    judged_q.past <= read_index_q >= next_victim_q;
    judged_q.tries <= (read_q.state == ArpKnown ? 8'd0 : read_q.tries) + 8'd1;
    judged_q.timer <= read_q.timer - 32'd1;
    if (!read_used) judged_q.room <= RoomVacant;
    else if (read_q.state == ArpFailed) judged_q.room <= RoomUseless;
    else if (read_q.state == ArpAsking) judged_q.room <= RoomNone;
    else judged_q.room <= RoomInUse;
  end

  spfe_tcp_arp_change #(
    .Refresh(Refresh)
  ) i_change (
    .cfg_i,
    .job_i(job_q),
    .entry_i(entry_q),
    .judged_i(judged_q),
    .mac_i(heard_q.sha),
    .busy_i(request_valid_q),
    .retry_i(retry_q),
    .retry_less_i(retry_less_q),
    .change_o(change)
  );

  always_comb begin
    send = change.send;
    request_d = '0;
    // The first refresh request goes to the known owner only (RFC 1122, 2.3.2.1).
    request_d.vif = entry_q.vif;
    request_d.dmac = entry_q.state == ArpKnown ? entry_q.mac : '1;
    request_d.tpa = entry_q.ip;
    if (state_q == Put) begin
      send = 1'b1;
      request_d.vif = insert.vif;
      request_d.dmac = '1;
      request_d.tpa = insert.ip;
    end
  end

  // ---- place of a new entry: a vacant entry, else a failed one, else known ones in rotation.

  always_comb begin
    better = judged_q.room > best_q
        || (judged_q.room == RoomInUse && best_q == RoomInUse && best_before_q && judged_q.past);
    new_entry = '0;
    new_entry.state = ArpAsking;
    new_entry.vif = insert.vif;
    new_entry.ip = insert.ip;
    if (!request_valid_q) begin
      new_entry.tries = 8'd1;
      new_entry.timer = retry_q;
    end
  end

  assign we = state_q == Put || (state_q == Pass && change.write);
  assign waddr = state_q == Put ? best_index_q : entry_index_q;
  assign wdata = state_q == Put ? new_entry : change.entry;
  assign insert_done = state_q == Put
      || (state_q == Pass && last_q && job_q == JobInsert
          && (found_q || (judged_q.used && judged_q.same) || (best_q == RoomNone && !better)));

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        index_q <= job_d == JobDeliver ? changed_index_q : '0;
        heard_q <= heard;
        best_q <= RoomNone;
        best_index_q <= '0;
        found_q <= 1'b0;
        read_valid_q <= 1'b0;
        if (wanted != '0) begin
          job_q <= job_d;
          state_q <= job_d == JobDeliver ? Give : Pass;
        end
      end
      Pass: begin
        index_q <= index_q + 1'b1;
        read_index_q <= index_q;
        read_q <= word[0];
        read_valid_q <= !read_last && !last_q;
        if (entry_valid_q && better) begin
          best_q <= judged_q.room;
          best_index_q <= entry_index_q;
          best_before_q <= !judged_q.past;
        end
        if (judged_q.used && judged_q.same) found_q <= 1'b1;
        if (last_q) state_q <= job_q == JobInsert && !insert_done ? Put : Rest;
      end
      Put: begin
        if (best_q == RoomInUse) next_victim_q <= best_index_q + 1'b1;
        state_q <= Rest;
      end
      Give: state_q <= Rest;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      job_q <= JobAge;
      next_victim_q <= '0;
      read_valid_q <= 1'b0;
    end
  end

  // Flags of the entries.
  always_ff @(posedge clk_i) begin
    changed_any_q <= changed_q != '0;
    changed_index_q <= changed_index;
    if (reported) reported_q[reported_index] <= 1'b1;
    if (state_q == Pass && change.changed) changed_q[entry_index_q] <= 1'b1;
    if (state_q == Pass && change.drop) used_q[entry_index_q] <= 1'b0;
    if (state_q == Give) changed_q[index_q] <= 1'b0;
    if (state_q == Pass && change.fail) reported_q[entry_index_q] <= 1'b0;
    if (state_q == Put) begin
      used_q[best_index_q] <= 1'b1;
      changed_q[best_index_q] <= 1'b0;
    end
    if (rst_i || !cfg_i.enable) begin
      used_q <= '0;
      reported_q <= '0;
      changed_q <= '0;
    end
  end

  // Outputs.
  always_ff @(posedge clk_i) begin
    if (request_ready_i) request_valid_q <= 1'b0;
    if (send && !request_valid_q) begin
      request_valid_q <= 1'b1;
      request_q <= request_d;
    end
    if (update_ready_i) update_valid_q <= 1'b0;
    if (state_q == Give) begin
      // changed_index_q may be one cycle old, so check again.
      update_valid_q <= used_q[index_q] && changed_q[index_q];
      update_q.ip <= word[0].ip;
      update_q.mac <= word[0].mac;
    end
    failed_q <= state_q == Pass && change.fail;
    failed_query_q <= {entry_q.vif, entry_q.ip};
    learnt_q <= state_q == Pass && change.changed;
    if (tick_i && ticks_q != '1) ticks_q <= ticks_q + 4'd1;
    if (state_q == Pass && last_q && job_q == JobAge) ticks_q <= ticks_q - 4'(!tick_i);
    if (rst_i || !cfg_i.enable) begin
      request_valid_q <= 1'b0;
      update_valid_q <= 1'b0;
      ticks_q <= '0;
    end
  end

  assign request_o = request_q;
  assign request_valid_o = request_valid_q;
  assign update_o = update_q;
  assign update_valid_o = update_valid_q;
  assign failed_o = failed_q;
  assign failed_query_o = failed_query_q;
  assign learnt_o = learnt_q;

  // The packet is used in part.
  logic unused;
  assign unused = ^rx_i;
endmodule
