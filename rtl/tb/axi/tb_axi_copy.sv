// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Writes random ranges of a memory with spfe_axi_write and reads random ranges with spfe_axi_read.
/// The memory answers late, in any order and with beats of several bursts mixed. One of its pages
/// answers with an error. Every burst must stay in its 4 KiB, and no byte beside a range changes.
module tb_axi_copy
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Bytes in a beat.
  parameter int unsigned Bytes = 16,
  /// Largest burst in bytes.
  parameter int unsigned BurstBytes = 256,
  /// Bursts under way.
  parameter int unsigned Bursts = 8,
  /// Check bits of the reorder buffer.
  parameter int unsigned Protect = 0,
  /// Transfers in each direction.
  parameter int unsigned Transfers = 1500
);
  localparam int unsigned Size = 8 * 4096;
  // Accesses to this page are answered with SLVERR.
  localparam int unsigned BadPage = 5;
  localparam int unsigned LongMost = 3 * 4096;
  localparam int unsigned Hang = 20000;
  localparam int unsigned IdWidth = $clog2(Bursts);
  localparam int unsigned PlaceWidth = $clog2(Bytes);

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  int unsigned still = 0;
  // Share of cycles in which each party is active, in percent.
  int unsigned give = 50;
  int unsigned take = 50;
  int unsigned bus = 50;
  int unsigned answer = 50;

  initial begin
    run = chosen(Name);
    for (int i = 0; i < Size; i++) begin
      mem[i] = 8'($urandom);
      model[i] = mem[i];
    end
    if (run) #200 rst = 1'b0;
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  /* verilator lint_off BLKSEQ */  // Queues and arrays of the bench belong to one process each.
  typedef struct {
    int unsigned addr;
    int unsigned len;
    bit bad;
  } range_t;

  // The memory, and what it should hold.
  byte unsigned mem[Size];
  byte unsigned model[Size];

  function automatic range_t any_range();
    range_t range;
    case ($urandom_range(3))
      0: range.len = $urandom_range(3 * Bytes, 1);
      1: range.len = $urandom_range(2 * BurstBytes + 3, 1);
      2: range.len = Bytes * $urandom_range(8, 1);
      default: range.len = $urandom_range(LongMost, 1);
    endcase
    range.addr = $urandom_range(Size - range.len);
    if (chance(20)) range.addr &= ~(Bytes - 1);
    range.bad = range.addr / 4096 <= BadPage && (range.addr + range.len - 1) / 4096 >= BadPage;
    return range;
  endfunction

  // Writer.
  logic [63:0] wr_addr;
  logic [31:0] wr_len;
  logic wr_valid = 1'b0;
  logic wr_ready;
  logic [Bytes-1:0][7:0] wr_data;
  logic wr_data_valid = 1'b0;
  logic wr_data_ready;
  logic wr_done;
  logic wr_error;
  range_t wr_data_of[$];
  range_t wr_answer_of[$];
  int unsigned wr_at = 0;
  int unsigned wr_started = 0;
  int unsigned wr_finished = 0;

  // Reader.
  logic [63:0] rd_addr;
  logic [31:0] rd_len;
  logic rd_valid = 1'b0;
  logic rd_ready;
  logic [Bytes-1:0][7:0] rd_data;
  logic [PlaceWidth-1:0] rd_end;
  logic rd_last;
  logic rd_error;
  logic rd_data_valid;
  logic rd_data_ready = 1'b0;
  range_t rd_of[$];
  int unsigned rd_at = 0;
  int unsigned rd_started = 0;
  int unsigned rd_finished = 0;

  // One batch of transfers writes, then one reads.
  localparam int unsigned Batch = 5;
  bit reading = 1'b0;

  function automatic byte unsigned pattern(int unsigned place, int unsigned round);
    return 8'(place * 7 + place / 251 + round * 13);
  endfunction

  always @(posedge clk) begin
    if (chance(1)) begin
      give <= activity();
      take <= activity();
      bus <= activity();
      answer <= activity();
    end
    still <= still + 1;
    if (still == Hang) $fatal(1, "nothing happens after %0d writes, %0d reads", wr_finished, rd_finished);
    if (!rst) begin
      // Commands. What a write stores depends on its place and its number only.
      if (!wr_valid || wr_ready) begin
        wr_valid <= 1'b0;
        if (!reading && wr_started < Transfers && wr_started - wr_finished < Batch && chance(give)) begin
          range_t range;
          range = any_range();
          wr_valid <= 1'b1;
          wr_addr <= 64'(range.addr);
          wr_len <= range.len;
          wr_data_of.push_back(range);
          wr_answer_of.push_back(range);
          for (int unsigned i = range.addr; i < range.addr + range.len; i++)
            if (i / 4096 != BadPage) model[i] = pattern(i - range.addr, range.len);
          wr_started <= wr_started + 1;
          if ((wr_started + 1) % Batch == 0) reading <= 1'b1;
        end
      end
      if (!wr_data_valid || wr_data_ready) begin
        wr_data_valid <= 1'b0;
        if (wr_data_of.size() != 0 && chance(give)) begin
          wr_data_valid <= 1'b1;
          for (int unsigned i = 0; i < Bytes; i++)
            wr_data[i] <= pattern(wr_at + i, wr_data_of[0].len);
          if (wr_at + Bytes >= wr_data_of[0].len) begin
            void'(wr_data_of.pop_front());
            wr_at = 0;
          end else wr_at += Bytes;
        end
      end
      if (wr_done) begin
        range_t range;
        if (wr_answer_of.size() == 0) $fatal(1, "an answer too many");
        range = wr_answer_of.pop_front();
        if (wr_error != range.bad) $fatal(1, "write %0d of %0d bytes at %h: error %b", wr_finished,
                                          range.len, range.addr, wr_error);
        wr_finished <= wr_finished + 1;
        still <= 0;
      end
      if (!rd_valid || rd_ready) begin
        rd_valid <= 1'b0;
        if (reading && wr_finished == wr_started && rd_started < wr_started && chance(give)) begin
          range_t range;
          if (rd_started % Batch == 0)
            for (int i = 0; i < Size; i++)
              if (mem[i] != model[i])
                $fatal(1, "byte %h is %h instead of %h", i, mem[i], model[i]);
          range = any_range();
          rd_valid <= 1'b1;
          rd_addr <= 64'(range.addr);
          rd_len <= range.len;
          rd_of.push_back(range);
          rd_started <= rd_started + 1;
        end
      end
      rd_data_ready <= chance(take);
      if (rd_data_valid && rd_data_ready) begin
        range_t range;
        int unsigned most;
        if (rd_of.size() == 0) $fatal(1, "data that nobody asked for");
        range = rd_of[0];
        most = range.len - rd_at < Bytes ? range.len - rd_at : Bytes;
        for (int unsigned i = 0; i < most; i++) begin
          int unsigned place;
          place = range.addr + rd_at + i;
          if (place / 4096 != BadPage && rd_data[i] != mem[place])
            $fatal(1, "read %0d: byte %h is %h instead of %h", rd_finished, place, rd_data[i], mem[place]);
        end
        rd_at = rd_at + most;
        if (rd_last != (rd_at == range.len)) $fatal(1, "last is %b at byte %0d of %0d", rd_last, rd_at, range.len);
        still <= 0;
        if (rd_last) begin
          if (32'(rd_end) != most - 1) $fatal(1, "the end is %0d instead of %0d", rd_end, most - 1);
          if (rd_error != range.bad) $fatal(1, "read of %0d bytes at %h: error %b", range.len, range.addr, rd_error);
          void'(rd_of.pop_front());
          rd_at = 0;
          rd_finished <= rd_finished + 1;
          if (rd_finished + 1 == wr_started) reading <= 1'b0;
          if (rd_finished + 1 == Transfers) passed(Name, 2 * Transfers);
        end
      end
    end
  end

  // The bus.
  logic [63:0] aw_addr;
  logic [IdWidth-1:0] aw_id;
  logic [7:0] aw_len;
  logic aw_valid;
  logic aw_ready = 1'b0;
  logic [Bytes-1:0][7:0] w_data;
  logic [Bytes-1:0] w_strb;
  logic w_last;
  logic w_valid;
  logic w_ready = 1'b0;
  logic [IdWidth-1:0] b_id;
  logic [1:0] b_resp;
  logic b_valid = 1'b0;
  logic b_ready;
  logic [63:0] ar_addr;
  logic [IdWidth-1:0] ar_id;
  logic [7:0] ar_len;
  logic ar_valid;
  logic ar_ready = 1'b0;
  logic [Bytes-1:0][7:0] r_data;
  logic [IdWidth-1:0] r_id;
  logic [1:0] r_resp;
  logic r_last;
  logic r_valid = 1'b0;
  logic r_ready;

  typedef struct {
    int unsigned addr;
    int unsigned beats;
    bit [IdWidth-1:0] id;
  } burst_t;
  burst_t writes[$];
  burst_t written[$];
  burst_t reads[$];
  int unsigned w_beat = 0;

  function automatic burst_t burst(logic [63:0] addr, logic [7:0] len, bit [IdWidth-1:0] id);
    burst_t one;
    one.addr = 32'(addr);
    one.beats = 32'(len) + 1;
    one.id = id;
    if (addr % 64'(Bytes) != 0) $fatal(1, "a burst begins at %h", addr);
    if ((one.addr + one.beats * Bytes - 1) / 4096 != one.addr / 4096)
      $fatal(1, "a burst of %0d beats at %h crosses 4 KiB", one.beats, addr);
    if (one.beats * Bytes > BurstBytes) $fatal(1, "a burst of %0d beats", one.beats);
    return one;
  endfunction

  always @(posedge clk) begin
    aw_ready <= chance(bus);
    ar_ready <= chance(bus);
    w_ready <= chance(bus);
    if (aw_valid && aw_ready) begin
      for (int i = 0; i < written.size(); i++)
        if (written[i].id == aw_id) $fatal(1, "ID %0d is in use", aw_id);
      writes.push_back(burst(aw_addr, aw_len, aw_id));
    end
    if (w_valid && w_ready) begin
      if (writes.size() == 0) $fatal(1, "data before the address");
      for (int unsigned i = 0; i < Bytes; i++)
        if (w_strb[i] && writes[0].addr / 4096 != BadPage)
          mem[writes[0].addr+w_beat*Bytes+i] = w_data[i];
      if (w_last != (w_beat + 1 == writes[0].beats)) $fatal(1, "last is %b at beat %0d", w_last, w_beat);
      w_beat = w_beat + 1;
      if (w_last) begin
        written.push_back(writes.pop_front());
        w_beat = 0;
      end
    end
    if (!b_valid || b_ready) begin
      b_valid <= 1'b0;
      if (written.size() != 0 && chance(answer)) begin
        int unsigned which;
        which = $urandom_range(written.size() - 1);
        b_valid <= 1'b1;
        b_id <= written[which].id;
        b_resp <= written[which].addr / 4096 == BadPage ? 2'b10 : 2'b00;
        written.delete(which);
      end
    end
    if (ar_valid && ar_ready) begin
      for (int i = 0; i < reads.size(); i++)
        if (reads[i].id == ar_id) $fatal(1, "ID %0d is in use", ar_id);
      reads.push_back(burst(ar_addr, ar_len, ar_id));
    end
    if (!r_valid || r_ready) begin
      r_valid <= 1'b0;
      if (reads.size() != 0 && chance(answer)) begin
        int unsigned which;
        which = $urandom_range(reads.size() - 1);
        r_valid <= 1'b1;
        r_id <= reads[which].id;
        r_resp <= reads[which].addr / 4096 == BadPage ? 2'b10 : 2'b00;
        r_last <= reads[which].beats == 1;
        for (int unsigned i = 0; i < Bytes; i++) r_data[i] <= mem[reads[which].addr+i];
        reads[which].addr = reads[which].addr + Bytes;
        reads[which].beats = reads[which].beats - 1;
        if (reads[which].beats == 0) reads.delete(which);
      end
    end
  end

  spfe_axi_write #(.Bytes(Bytes), .BurstBytes(BurstBytes), .Bursts(Bursts)) i_write (
    .clk_i(clk), .rst_i(rst),
    .cmd_addr_i(wr_addr), .cmd_len_i(wr_len), .cmd_valid_i(wr_valid), .cmd_ready_o(wr_ready),
    .data_i(wr_data), .valid_i(wr_data_valid), .ready_o(wr_data_ready),
    .done_o(wr_done), .done_error_o(wr_error),
    .aw_addr_o(aw_addr), .aw_id_o(aw_id), .aw_len_o(aw_len),
    .aw_valid_o(aw_valid), .aw_ready_i(aw_ready),
    .w_data_o(w_data), .w_strb_o(w_strb), .w_last_o(w_last), .w_valid_o(w_valid), .w_ready_i(w_ready),
    .b_id_i(b_id), .b_resp_i(b_resp), .b_valid_i(b_valid), .b_ready_o(b_ready)
  );

  spfe_axi_read #(
    .Bytes(Bytes), .BurstBytes(BurstBytes), .Bursts(Bursts), .Protect(Protect)
  ) i_read (
    .clk_i(clk), .rst_i(rst),
    .cmd_addr_i(rd_addr), .cmd_len_i(rd_len), .cmd_valid_i(rd_valid), .cmd_ready_o(rd_ready),
    .data_o(rd_data), .end_o(rd_end), .last_o(rd_last), .error_o(rd_error),
    .valid_o(rd_data_valid), .ready_i(rd_data_ready),
    .ar_addr_o(ar_addr), .ar_id_o(ar_id), .ar_len_o(ar_len),
    .ar_valid_o(ar_valid), .ar_ready_i(ar_ready),
    .r_data_i(r_data), .r_id_i(r_id), .r_resp_i(r_resp), .r_last_i(r_last),
    .r_valid_i(r_valid), .r_ready_o(r_ready)
  );

  // An offered address, word or answer stays as it is until it is taken.
  spfe_check_stream #(.Width(72 + IdWidth)) i_check_aw (
    .clk_i(clk), .rst_i(rst), .valid_i(aw_valid), .ready_i(aw_ready),
    .data_i({aw_addr, aw_len, aw_id})
  );
  spfe_check_stream #(.Width(72 + IdWidth)) i_check_ar (
    .clk_i(clk), .rst_i(rst), .valid_i(ar_valid), .ready_i(ar_ready),
    .data_i({ar_addr, ar_len, ar_id})
  );
  spfe_check_stream #(.Width(9 * Bytes + 1)) i_check_w (
    .clk_i(clk), .rst_i(rst), .valid_i(w_valid), .ready_i(w_ready),
    .data_i({w_data, w_strb, w_last})
  );
endmodule
