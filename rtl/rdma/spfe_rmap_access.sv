// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Carries out the accesses of a target of RMAP: between a store and memory, or a few bytes that
/// are read, changed and written. An access to one address is an access of one byte for each byte,
/// one after the other, so that a FIFO behind the address sees all of them in their order.
module spfe_rmap_access
  import spfe_rdma_pkg::*;
  import spfe_rmap_pkg::*;
#(
  /// Bits of an address of a store, which is in units of 16 bytes.
  parameter int unsigned AddrWidth = 8
) (
  input logic clk_i,
  input logic rst_i,

  /// Access.
  input rmap_access_t access_i,
  input logic access_valid_i,
  /// The one before it is done.
  output logic access_ready_o,
  /// For one cycle: it is done.
  output logic done_o,
  /// Memory or store reported an error; with done_o.
  output logic error_o,

  /// Reads a store.
  output logic re_o,
  /// Which store, and the address in it; with re_o.
  output logic [AddrWidth:0] raddr_o,
  /// Its bytes, a cycle after re_o, until the next read.
  input logic [15:0][7:0] rdata_i,
  /// They are wrong; with rdata_i, for one cycle.
  input logic rfailed_i,
  /// Writes a store.
  output logic we_o,
  /// Which store, and the address in it; with we_o.
  output logic [AddrWidth:0] waddr_o,
  /// The bytes; with we_o.
  output logic [15:0][7:0] wdata_o,

  /// Transfers of memory.
  output memory_ask_t memory_o,
  /// Their data and ends.
  input memory_answer_t memory_i
);
  typedef enum logic [3:0] {
    Rest,
    Read,
    Change,
    ChangeData,
    Ask,
    Load,
    Loaded,
    Byte,
    ByteData,
    Finish,
    Done
  } state_e;

  state_e state_q;
  rmap_access_t access_q;
  logic error_q, late_q;
  // Transfers that were asked for, bytes of one address that came, those that are left to write.
  logic [16:0] asked_q, got_q, left_q, transfers;
  logic [AddrWidth-1:0] at_q;
  logic [15:0][7:0] beat_q, beat;
  logic [3:0][7:0] changed;
  logic under_way_q;
  logic gives, reads_last;

  assign transfers = access_q.fixed ? access_q.bytes : 17'd1;
  assign reads_last = memory_i.rd_valid && memory_i.rd_last && got_q + 17'd1 == transfers;

  always_comb begin
    beat = memory_i.rd_data;
    if (access_q.fixed) begin
      beat = beat_q;
      beat[got_q[3:0]] = memory_i.rd_data[0];
    end
    for (int unsigned i = 0; i < 4; i++)
    changed[i] = (access_q.data[i] & access_q.mask[i]) | (beat_q[i] & ~access_q.mask[i]);
  end

  assign we_o = state_q == Read && memory_i.rd_valid;
  assign waddr_o = {access_q.bank, access_q.fixed ? AddrWidth'(got_q >> 4) : at_q};
  assign wdata_o = beat;
  assign re_o = state_q == Load;
  assign raddr_o = {access_q.bank, at_q};

  always_comb begin
    memory_o = '0;
    memory_o.rd_addr = access_q.addr;
    memory_o.rd_len = access_q.fixed ? 32'd1 : 32'(access_q.bytes);
    memory_o.rd_ask = state_q == Read && asked_q != transfers && asked_q == got_q;
    memory_o.wr_addr = access_q.addr;
    memory_o.wr_len = access_q.fixed ? 32'd1 : 32'(access_q.bytes);
    memory_o.wr_ask = state_q inside {Change, Ask} || (state_q == Byte && !under_way_q);
    memory_o.wr_data = rdata_i;
    if (state_q == ChangeData) memory_o.wr_data = 128'(changed);
    if (state_q == ByteData) memory_o.wr_data = 128'(rdata_i[4'(access_q.bytes-left_q)]);
    memory_o.wr_valid = state_q inside {ChangeData, Loaded, ByteData};
  end
  assign gives = memory_o.wr_valid && memory_i.wr_data_ready;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest:
      if (access_valid_i) begin
        if (access_i.kind != AccessWrite) state_q <= Read;
        else state_q <= access_i.fixed ? Load : Ask;
      end
      Read:
      if (reads_last) begin
        if (access_q.kind == AccessModify && !error_q && !memory_i.rd_error) state_q <= Change;
        else state_q <= Done;
      end
      Change: if (memory_i.wr_ready) state_q <= ChangeData;
      ChangeData: if (gives) state_q <= Finish;
      Ask: if (memory_i.wr_ready) state_q <= Load;
      Load: state_q <= access_q.fixed ? Byte : Loaded;
      Loaded: if (gives) state_q <= left_q <= 17'd16 ? Finish : Load;
      Byte: if (memory_o.wr_ask && memory_i.wr_ready) state_q <= ByteData;
      ByteData:
      if (gives) begin
        if (left_q == 17'd1) state_q <= Finish;
        else state_q <= 4'(access_q.bytes - left_q) == 4'd15 ? Load : Byte;
      end
      Finish: if (!under_way_q) state_q <= Done;
      default: state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == Rest) begin
      access_q <= access_i;
      left_q <= access_i.bytes;
      {asked_q, got_q, at_q, error_q} <= '0;
    end
    if (memory_o.rd_ask && memory_i.rd_ready) asked_q <= asked_q + 17'd1;
    if (we_o) begin
      beat_q <= beat;
      at_q <= at_q + 1'b1;
      if (memory_i.rd_last) got_q <= got_q + 17'd1;
      if (memory_i.rd_last && memory_i.rd_error) error_q <= 1'b1;
    end
    if (re_o) at_q <= at_q + 1'b1;
    if (gives && state_q == Loaded) left_q <= left_q - 17'd16;
    if (gives && state_q == ByteData) left_q <= left_q - 17'd1;
    if (memory_i.wr_done && memory_i.wr_error && state_q != Rest) error_q <= 1'b1;
    late_q <= re_o;
    if (rfailed_i && late_q) error_q <= 1'b1;
    if (memory_i.wr_done) under_way_q <= 1'b0;
    if (memory_o.wr_ask && memory_i.wr_ready) under_way_q <= 1'b1;
    if (rst_i) under_way_q <= 1'b0;
  end

  assign access_ready_o = state_q == Rest;
  assign done_o = state_q == Done;
  assign error_o = error_q;
endmodule
