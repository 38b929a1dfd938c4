// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Answers queries from the ARP table, one entry per cycle, and passes unknown addresses on for
/// insertion. The answer comes at most ArpEntries + 3 cycles after the query, unless the previous
/// query still waits for its insertion.
module spfe_tcp_arp_seek
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
  /// Number of entries, 2 to 256.
  parameter int unsigned ArpEntries = 32,
  /// Width of an entry number; derived.
  localparam int unsigned IndexBits = $clog2(ArpEntries)
) (
  input logic clk_i,
  input logic rst_i,
  /// Query for a MAC address; from the engine.
  input arp_query_t query_i,
  /// query_i is valid; held until the answer.
  input logic query_valid_i,
  /// Answer; mac is valid only if found. Neither found nor failed means that requests are in
  /// progress.
  output arp_answer_t answer_o,
  /// answer_o is valid; one cycle.
  output logic answer_valid_o,
  /// Entry to read; to the table.
  output logic [IndexBits-1:0] index_o,
  /// Entry index_o, in the same cycle.
  input arp_entry_t entry_i,
  /// Entries in use.
  input logic [ArpEntries-1:0] used_i,
  /// The failure of an address was reported; one cycle.
  output logic reported_o,
  /// Entry of that address.
  output logic [IndexBits-1:0] reported_index_o,
  /// insert_o is valid; held until insert_done_i.
  output logic insert_valid_o,
  /// Address to insert into the table.
  output arp_query_t insert_o,
  /// The address was inserted, or the table had no room; one cycle.
  input logic insert_done_i
);
  typedef logic [IndexBits-1:0] index_t;
  localparam index_t LastIndex = index_t'(ArpEntries - 1);

  typedef enum logic [1:0] {
    Idle,
    Seek,
    Answer,
    Insert
  } state_e;

  state_e state_q;
  arp_query_t query_q;
  arp_answer_t answer_q;
  index_t index_q;
  // Entry that was read.
  logic read_valid_q, read_last;
  index_t read_index_q;
  arp_entry_t read_q;
  // Comparison result, one cycle later, together with answer_q.
  logic hit, hit_q, last_q;
  index_t judged_index_q;

  assign read_last = read_valid_q && read_index_q == LastIndex;
  assign hit = read_valid_q && used_i[read_index_q] && read_q.ip == query_q.ip
      && read_q.vif == query_q.vif;
  assign answer_o = answer_q;
  assign answer_valid_o = state_q == Answer;
  assign index_o = index_q;
  assign reported_o = state_q == Seek && hit_q && answer_q.failed;
  assign reported_index_o = judged_index_q;
  assign insert_valid_o = state_q == Insert;
  assign insert_o = query_q;

  always_ff @(posedge clk_i) begin
    index_q <= state_q == Seek ? index_q + 1'b1 : '0;
    read_valid_q <= state_q == Seek && !read_last && !last_q;
    read_index_q <= index_q;
    read_q <= entry_i;
    unique case (state_q)
      Idle: begin
        query_q <= query_i;
        answer_q <= '0;
        hit_q <= 1'b0;
        last_q <= 1'b0;
        if (query_valid_i) state_q <= Seek;
      end
      Seek: begin
        if (hit_q || last_q) begin
          state_q <= Answer;
          read_valid_q <= 1'b0;
        end else begin
          hit_q <= hit;
          last_q <= read_last;
          judged_index_q <= read_index_q;
          answer_q.found <= hit && (read_q.state == ArpKnown || read_q.state == ArpAgain);
          answer_q.failed <= hit && read_q.state == ArpFailed;
          answer_q.mac <= read_q.mac;
        end
      end
      Answer: state_q <= hit_q ? Idle : Insert;
      Insert: if (insert_done_i) state_q <= Idle;
    endcase
    if (rst_i) begin
      state_q <= Idle;
      read_valid_q <= 1'b0;
    end
  end

  // Not every field of an entry is needed here.
  logic unused;
  assign unused = ^read_q;
endmodule
