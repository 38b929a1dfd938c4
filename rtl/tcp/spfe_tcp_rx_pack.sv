// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Repacks payload from MAC beats into user beats.
///
/// Payload always begins in the third byte of a 32-bit word. So each half of a user beat always
/// comes from the same half of a MAC beat within a frame, and only the cycle in which it is stored
/// differs.
module spfe_tcp_rx_pack #(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Width of the user stream in bits: 32, 64 or 128, not below MacWidth.
  parameter int unsigned UserWidth = 64,
  /// 1: the first beat is full; 0: it has the payload of the first MAC beat only.
  parameter bit Packed = 1'b1,
  /// 1: the end of a segment comes with finish_i, in an empty beat if its data has left; 0: the
  /// last beat with data is the end.
  parameter bit Verdict = 1'b1,
  /// With Verdict. 1: the last beat with data waits for finish_i.
  parameter bit EopMerge = 1'b0,
  /// Bits in a number of bytes of a MAC beat; follows from MacWidth.
  localparam int unsigned MacCountBits = $clog2(MacWidth / 8) + 1,
  /// Bits in a number of bytes of a user beat; follows from UserWidth.
  localparam int unsigned CountBits = $clog2(UserWidth / 8) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// First beat of a frame.
  input logic start_i,
  /// Data of the MAC beat, the first byte in bits 7:0.
  input logic [MacWidth-1:0] data_i,
  /// The beat has payload of a segment that goes to the user.
  input logic valid_i,
  /// The beat has payload, whether it goes to the user or not; known earlier than valid_i.
  input logic data_valid_i,
  /// With valid_i: the first payload of the segment; from a register, like the next three.
  input logic first_i,
  /// With first_i: lane in which the payload begins.
  input logic first_lane_i,
  /// With first_i: bytes of payload; at most two less than the beat has, so they fill no user beat.
  input logic [MacCountBits-1:0] first_bytes_i,
  /// Without first_i: bytes of payload.
  input logic [MacCountBits-1:0] bytes_i,
  /// The payload ends with this beat.
  input logic end_i,
  /// The verdict on the segment: with the last beat of the frame, or one cycle later.
  input logic finish_i,
  /// With finish_i: the user must discard the segment.
  input logic err_i,
  /// A user beat leaves.
  output logic valid_o,
  /// Data of the user beat, the first byte in bits 7:0.
  output logic [UserWidth-1:0] data_o,
  /// Bytes in the user beat.
  output logic [CountBits-1:0] count_o,
  /// Last beat of the segment.
  output logic last_o,
  /// With valid_o: the beat holds stored bytes only, none of this cycle; from a register.
  output logic tail_o,
  /// With last_o: the user must discard the segment.
  output logic err_o
);
  localparam int unsigned MacHalves = MacWidth / 16;
  localparam int unsigned UserHalves = UserWidth / 16;
  localparam int unsigned UserBytes = UserWidth / 8;
  localparam int unsigned HalfBits = $clog2(MacHalves);

  logic [UserHalves-1:0][15:0] store_q, source, merged;
  logic [CountBits-1:0] stored_q;  // bytes in store_q
  logic [HalfBits-1:0] shift_q, shift;
  logic tail_q;  // the payload has ended, and its last bytes are in the store
  logic open_q;  // a segment has begun, and its last beat has not left
  logic finished_q, err_q;

  logic [CountBits:0] sum, total;
  logic finish, whole, over, full, emit, last;
  logic beat_emit, beat_last;  // values for a beat with valid_i
  logic [MacHalves-1:0][15:0] mac;

  assign mac = data_i;
  assign tail_o = tail_q;
  // The store is empty when a segment begins.
  assign sum = (CountBits + 1)'(stored_q) + (CountBits + 1)'(bytes_i);
  assign total = first_i ? (CountBits + 1)'(first_bytes_i) : sum;
  assign over = !first_i && sum > (CountBits + 1)'(UserBytes);
  assign full = !first_i && sum >= (CountBits + 1)'(UserBytes);
  assign finish = finish_i && (valid_i || (open_q && !finished_q)) && Verdict;
  assign err_o = last && (finished_q ? err_q : err_i) && Verdict;

  always_comb begin
    shift = Packed ? shift_q : '0;
    if (first_i) shift = HalfBits'({first_lane_i, 1'b1});
    for (int unsigned k = 0; k < UserHalves; k++) begin
      source[k] = mac[HalfBits'(k)+shift];
      merged[k] = (CountBits)'(2 * k) < stored_q ? store_q[k] : source[k];
    end
  end

  always_comb begin
    // The payload ends with this beat, and all that is left fits in one user beat.
    whole = end_i && !over;
    beat_emit = full || (!Packed && first_i);
    if (whole) beat_emit = !(Verdict && EopMerge) || finish;
    beat_last = whole && (finish || !Verdict);
    // The frame was cut off.
    if (finish && !end_i) begin
      beat_emit = 1'b1;
      beat_last = 1'b1;
    end
    emit = 1'b0;
    last = 1'b0;
    if (valid_i) begin
      emit = beat_emit;
      last = beat_last;
    end else if (tail_q) begin
      emit = !(Verdict && EopMerge) || finish || finished_q;
      last = finish || finished_q || !Verdict;
    end else if (finish) begin
      emit = 1'b1;
      last = 1'b1;
    end
  end

  always_comb begin
    valid_o = emit;
    last_o = last;
    data_o = data_valid_i ? merged : store_q;
    count_o = '0;
    if (valid_i) count_o = over ? CountBits'(UserBytes) : total[CountBits-1:0];
    else if (tail_q) count_o = stored_q;
  end

  always_ff @(posedge clk_i) begin
    // valid_i comes late in the cycle, so unwanted payload is stored too; stored_q does not count
    // it.
    if (data_valid_i) begin
      if (first_i) shift_q <= shift;
      store_q <= beat_emit ? source : merged;
    end
    if (valid_i) begin
      open_q <= 1'b1;
      stored_q <= total[CountBits-1:0];
      if (emit) stored_q <= over ? CountBits'(total - (CountBits + 1)'(UserBytes)) : '0;
      tail_q <= end_i && !(whole && emit);
    end else if (tail_q && emit) begin
      tail_q <= 1'b0;
      stored_q <= '0;
    end
    if (finish) begin
      finished_q <= 1'b1;
      err_q <= err_i;
    end
    if (rst_i || (emit && last) || (!Verdict && start_i)) begin
      open_q <= 1'b0;
      tail_q <= 1'b0;
      stored_q <= '0;
      finished_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_first :
    assert (rst_i || !valid_i || !first_i || stored_q == '0)
    else $error("%0d bytes are left from the last segment", stored_q);
    a_stored :
    assert (rst_i || !data_valid_i || valid_i || stored_q == '0 || !emit)
    else $error("unwanted payload overwrites %0d stored bytes", stored_q);
  end
`endif

  if (UserWidth < MacWidth) begin : gen_width
    $error(
      "spfe_tcp_rx_pack: UserWidth is %0d, must not be below MacWidth, %0d", UserWidth, MacWidth
    );
  end
endmodule
