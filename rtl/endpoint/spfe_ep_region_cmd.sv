// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Enables and disables regions: checks the entry, finds room for its pages and copies them, and
/// writes the region table. Owns the register KEY of all regions. A region ends only when no access
/// that the engines have translated is under way.
module spfe_ep_region_cmd
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Page addresses, as of spfe_ep_regions.
  parameter int unsigned Pages = 1024,
  /// Cycles within which accesses end.
  parameter int unsigned Patience = StopCycles,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Regions; follows from Shape.
  localparam int unsigned Regions = 32'(Shape.regions),
  /// Bits of an index; follows from Shape.
  localparam int unsigned Width = $clog2(Regions),
  /// Bits of the number of a page; follows from Pages.
  localparam int unsigned PageWidth = $clog2(Pages)
) (
  input logic clk_i,
  input logic rst_i,

  /// Command: OpEnable, OpDisable, or OpForce, which also takes a region that is disabled or used.
  input op_e op_i,
  /// The region; with op_i.
  input logic [31:0] index_i,
  /// Stays until done_o.
  input logic valid_i,
  /// For one cycle.
  output logic done_o,
  /// Result; with done_o.
  output status_e status_o,

  /// Is the region in use by rings, lines or areas? As of spfe_ep_queues.
  output logic scan_valid_o,
  /// For one cycle: the answer.
  input logic scan_done_i,
  /// With scan_done_i.
  input logic scan_used_i,

  /// Access to the register memory, as of spfe_ep_regs.
  output word_access_t access_o,
  output logic access_valid_o,
  input logic access_ready_i,
  /// Word read.
  input logic [31:0] access_data_i,

  /// Entry of the region table, as of spfe_ep_regions.
  output region_t region_o,
  /// Its index.
  output logic [Width-1:0] region_index_o,
  /// Writes it.
  output logic region_we_o,
  /// Page address.
  output logic [63:12] page_o,
  /// Its number.
  output logic [PageWidth-1:0] page_index_o,
  /// Writes it.
  output logic page_we_o,

  /// Let no access be under way that was translated before.
  output logic fence_valid_o,
  input logic fence_ready_i,

  /// Page list to read, with 16 bytes in a beat.
  output list_ask_t list_o,
  /// Two page addresses; an error of the bus with the last ones.
  input list_answer_t list_i,
  /// The table was cleared after reset, and commands are taken.
  output logic ready_o,
  /// The memory reported an error.
  output logic failed_o
);
  localparam int unsigned Base = (block_at(Shape, BLOCK_TYPE_REGION) + REGION_BLOCK_SIZE) / 4;
  localparam int unsigned EntryWords = (REGION_BLOCK_OPTIONS - REGION_BLOCK_BASE_LO) / 4 + 1;

  typedef enum logic [4:0] {
    Clear,
    Rest,
    Look,
    Fetch,
    Take,
    Judge,
    Room,
    RoomLook,
    AskList,
    List,
    Enable,
    ShowKey,
    Scan,
    Revoke,
    Fence,
    Remove,
    Finish
  } state_e;

  /// What the table of pages needs to know of a region.
  typedef struct packed {
    logic enabled;
    logic [3:0] generation;
    logic [16:0] first;  // its first page
    logic [16:0] count;  // its pages
  } note_t;

  /// The words of a region entry.
  typedef struct packed {
    logic [31:0] options;
    logic [31:0] levels;
    logic [31:0] page_list;
    logic [31:0] domain;
    logic [31:0] rights;
    logic [63:0] bytes;
    logic [63:0] base;
  } entry_t;

  state_e state_q;
  logic [Width-1:0] index_q, look_q;
  logic [3:0] word_q, generation_q, generation;
  logic [EntryWords-1:0][31:0] words_q;
  entry_t entry;
  note_t note, write_note;
  logic [16:0] first_q, count_q, written_q;
  logic [31:0] wait_q;
  status_e status_q, check;
  logic list_data_ready, high_q, wrong_q, overlaps, no_room, misplaced, exists;
  logic unused_corrected;

  assign entry = entry_t'(words_q);
  assign exists = index_i < 32'(Regions);
  assign done_o = state_q == Finish;
  assign status_o = status_q;
  assign ready_o = state_q != Clear;
  assign scan_valid_o = state_q == Scan;
  assign fence_valid_o = state_q == Fence;
  assign list_o = '{
      addr: entry.base,
      len: {12'd0, count_q, 3'd0},
      valid: state_q == AskList,
      data_ready: list_data_ready
    };

  // Pages of the region, rounded up, and what is wrong with the entry.
  logic [63:0] up, pages;
  logic [4:0] log2;
  logic [64:0] past;
  logic listed, whole, nothing;
  assign log2 = entry.page_list[4:0];
  assign listed = entry.page_list != '0;
  assign whole = entry.options == REGION_OPTIONS_LOCAL_DMA;
  assign nothing = {entry.base, entry.bytes, entry.page_list, entry.levels} == '0
      && (entry.rights & (ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE)) == '0;
  assign up = entry.bytes + ((64'd1 << log2) - 64'd1);
  assign pages = up >> log2;
  assign past = {1'b0, entry.base} + {1'b0, entry.bytes};
  always_comb begin
    check = STATUS_OK;
    if (entry.domain >= 32'd1 << DomainBits) check = STATUS_BAD_FIELD;
    else if (whole)
      check = !nothing ? STATUS_BAD_FIELD : entry.domain != '0 ? STATUS_ACCESS_DENIED : STATUS_OK;
    else if (entry.bytes == '0 || entry.options != '0) check = STATUS_BAD_FIELD;
    else if (!listed && (entry.levels != '0 || entry.base[11:0] != '0)) check = STATUS_BAD_FIELD;
    else if (listed && (entry.page_list < PAGE_LOG2_MIN || entry.page_list > PAGE_LOG2_MAX
        || entry.levels > 32'd1 || entry.base[2:0] != '0))
      check = STATUS_BAD_FIELD;
    else if (entry.bytes > 64'd1 << OFFSET_BITS) check = STATUS_OUT_OF_BOUNDS;
    else if (!listed && past > 65'h1_0000_0000_0000_0000) check = STATUS_OUT_OF_BOUNDS;
    else if (listed && pages > 64'(Pages)) check = STATUS_NO_RESOURCES;
  end

  // A key is never 0.
  assign generation = generation_q + 4'd1 == '0 && index_q == '0 ? 4'd1 : generation_q + 4'd1;

  always_comb begin
    write_note = '{enabled: 1'b0, generation: generation_q, first: '0, count: '0};
    if (state_q == Clear) write_note.generation = '0;
    if (state_q == Enable)
      write_note = '{enabled: 1'b1, generation: generation, first: first_q, count: count_q};
  end
  spfe_ram_safe #(
    .Width($bits(note_t)),
    .Depth(Regions),
    .Block(Regions > 64),
    .Protect(Protect)
  ) i_notes (
    .clk_i,
    .we_i(state_q inside {Clear, Enable, Remove} && !rst_i),
    .addr_i(index_q),
    .data_i(write_note),
    .rclk_i(clk_i),
    .re_i(state_q inside {Rest, Room}),
    .raddr_i(state_q == Rest ? index_i[Width-1:0] : look_q),
    .data_o(note),
    .corrected_o(unused_corrected),
    .failed_o
  );
  // The pages of another region are in the way.
  assign overlaps = note.enabled && first_q < note.first + note.count
      && note.first < first_q + count_q;

  assign no_room = first_q + count_q > 17'(Pages);

  assign region_index_o = index_q;
  assign region_we_o = state_q inside {Clear, Enable, Revoke} && !rst_i;
  always_comb begin
    region_o = '0;
    if (state_q == Enable) begin
      region_o = '{
        enabled: 1'b1,
        generation: generation,
        domain: entry.domain[DomainBits-1:0],
        rights: {entry.rights[8], entry.rights[2:0]},
        bytes: whole ? SizeBits'(1) << OFFSET_BITS : entry.bytes[SizeBits-1:0],
        base: entry.base[63:12],
        page_log2: log2,
        first_page: first_q[15:0],
        whole: whole
      };
    end
  end

  // Two page addresses in a beat, one of which is written in a cycle.
  logic [63:0] page;
  assign page = high_q ? list_i.data[127:64] : list_i.data[63:0];
  assign misplaced = (page & ((64'd1 << log2) - 64'd1)) != '0;
  assign page_o = page[63:12];
  assign page_index_o = PageWidth'(first_q + written_q);
  assign page_we_o = state_q == List && list_i.data_valid && written_q != count_q;
  assign list_data_ready = state_q == List && (high_q || written_q + 17'd1 >= count_q);

  always_comb begin
    access_o = '{write: state_q != Fetch, addr: '0, data: '0};
    access_o.addr = 16'(Base) + 16'(index_q) * 16'(REGION_BLOCK_STRIDE / 4);
    if (state_q == Fetch)
      access_o.addr = access_o.addr + 16'(REGION_BLOCK_BASE_LO / 4) + 16'(word_q);
    if (state_q == ShowKey) access_o.data = {16'd0, generation_q, 12'(index_q)};
  end
  assign access_valid_o = state_q inside {Fetch, ShowKey, Remove};

  // States.
  state_e next;
  logic list_wrong;
  assign list_wrong = wrong_q || misplaced;
  always_comb begin
    next = state_q;
    unique case (state_q)
      Clear: if (32'(index_q) == Regions - 1) next = Rest;
      Rest: if (valid_i) next = exists ? Look : Finish;
      Look: begin
        next = Finish;
        if (op_i == OpEnable && !note.enabled) next = Fetch;
        if (op_i != OpEnable && note.enabled) next = op_i == OpForce ? Revoke : Scan;
      end
      Fetch: if (access_ready_i) next = Take;
      Take: next = 32'(word_q) == EntryWords - 1 ? Judge : Fetch;
      Judge: next = check != STATUS_OK ? Finish : listed ? Room : Enable;
      // The first pages that no region has.
      Room: next = RoomLook;
      RoomLook: begin
        next = overlaps || 32'(look_q) != Regions - 1 ? Room : AskList;
        if (no_room) next = Finish;
      end
      AskList: if (list_i.ready) next = List;
      List:
      if (list_i.data_valid && list_data_ready && list_i.last)
        next = list_i.error || list_wrong ? Finish : Enable;
      Enable: next = ShowKey;
      ShowKey: if (access_ready_i) next = Finish;
      Scan: if (scan_done_i) next = scan_used_i ? Finish : Revoke;
      Revoke: next = Fence;
      Fence: begin
        if (wait_q == Patience) next = Finish;
        if (fence_ready_i) next = Remove;
      end
      Remove: if (access_ready_i) next = Finish;
      default: next = Rest;
    endcase
  end

  // Results.
  status_e result;
  always_comb begin
    result = status_q;
    unique case (state_q)
      Rest: result = exists ? STATUS_OK : STATUS_NOT_FOUND;
      Look:
      if (op_i == OpEnable && note.enabled) result = STATUS_BUSY;
      else if (op_i == OpDisable && !note.enabled) result = STATUS_BAD_REGION;
      Judge: result = check;
      RoomLook: if (no_room) result = STATUS_NO_RESOURCES;
      List:
      if (list_i.data_valid && list_i.last && list_data_ready) begin
        if (list_i.error) result = STATUS_OUT_OF_BOUNDS;
        else if (list_wrong) result = STATUS_BAD_FIELD;
      end
      Scan: if (scan_used_i) result = STATUS_BUSY;
      Fence: if (next == Finish) result = STATUS_BUSY;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    state_q <= next;
    status_q <= result;
    unique case (state_q)
      Clear: index_q <= index_q + 1'b1;
      Rest: begin
        index_q <= index_i[Width-1:0];
        {word_q, high_q, wrong_q, first_q, count_q, written_q, wait_q} <= '0;
      end
      Look: generation_q <= note.generation;
      Take: begin
        words_q[word_q] <= access_data_i;
        word_q <= word_q + 4'd1;
      end
      Judge: begin
        count_q <= listed ? 17'(pages) : '0;
        look_q <= '0;
      end
      RoomLook: begin
        look_q <= overlaps ? '0 : look_q + 1'b1;
        if (overlaps) first_q <= note.first + note.count;
      end
      List:
      if (list_i.data_valid) begin
        high_q <= !list_data_ready;
        written_q <= written_q + 17'd1;
        if (misplaced) wrong_q <= 1'b1;
      end
      Enable: generation_q <= generation;
      Fence: wait_q <= wait_q + 32'd1;
      default: ;
    endcase
    if (rst_i) begin
      state_q <= Clear;
      index_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{entry, pages, note.generation, index_i};
endmodule
