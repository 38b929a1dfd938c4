// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Payload from the beats of the MAC to the beats of the user.
///
/// Payload begins in the upper half of a 32-bit word, always; so each half of a user beat comes from
/// one half of the MAC beat for a whole frame, and only the time when it is taken differs.
module spfe_tcp_rx_pack #(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Width of the user stream in bits: 32, 64 or 128, not below MacWidth.
  parameter int unsigned UserWidth = 64,
  /// 1: full beats from the first one; 0: the first beat has what the first MAC beat has.
  parameter bit Packed = 1'b1,
  /// 1: the end of a segment is told with finish_i, in an empty beat if its data is gone;
  /// 0: the last beat with data is the last one.
  parameter bit Verdict = 1'b1,
  /// With Verdict: the last beat with data waits for finish_i.
  parameter bit EopMerge = 1'b0,
  /// Bits of a number of bytes of a MAC beat; follows from MacWidth.
  localparam int unsigned MacCountBits = $clog2(MacWidth / 8) + 1,
  /// Bits of a number of bytes of a user beat; follows from UserWidth.
  localparam int unsigned CountBits = $clog2(UserWidth / 8) + 1
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// First beat of a frame.
  input logic start_i,
  /// MAC beat, first byte in bits 7:0.
  input logic [MacWidth-1:0] data_i,
  /// It has payload of a segment that is delivered.
  input logic valid_i,
  /// It has payload, wanted or not; known earlier than valid_i.
  input logic data_valid_i,
  /// With valid_i: the first payload of the segment; as what follows, from registers.
  input logic first_i,
  /// With first_i: lane where it begins.
  input logic first_lane_i,
  /// With first_i: bytes of payload; two less than up to the end of a word, so they fill no beat.
  input logic [MacCountBits-1:0] first_bytes_i,
  /// Without first_i: bytes of payload.
  input logic [MacCountBits-1:0] bytes_i,
  /// The payload ends with this beat.
  input logic end_i,
  /// The segment ends: its fate is known. With the last beat of the frame, or one cycle later.
  input logic finish_i,
  /// With finish_i: forget the segment.
  input logic err_i,
  /// User beat.
  output logic valid_o,
  /// First byte in bits 7:0.
  output logic [UserWidth-1:0] data_o,
  /// Bytes in it.
  output logic [CountBits-1:0] count_o,
  /// Last of the segment.
  output logic last_o,
  /// With valid_o: nothing of it came in this cycle; from a register.
  output logic tail_o,
  /// With last_o: forget the segment.
  output logic err_o
);
  localparam int unsigned MacHalves = MacWidth / 16;
  localparam int unsigned UserHalves = UserWidth / 16;
  localparam int unsigned UserBytes = UserWidth / 8;
  localparam int unsigned HalfBits = $clog2(MacHalves);

  logic [UserHalves-1:0][15:0] store_q, source, merged;
  logic [CountBits-1:0] stored_q;  // bytes in it
  logic [HalfBits-1:0] shift_q, shift;
  logic tail_q;  // the payload has ended, and its last bytes are in the store
  logic open_q;  // a segment has begun and its last beat has not been sent
  logic finished_q, err_q;

  logic [CountBits:0] sum, total;
  logic finish, whole, over, full, emit, last;
  logic beat_emit, beat_last;  // if the payload that comes is wanted
  logic [MacHalves-1:0][15:0] mac;

  assign mac = data_i;
  assign tail_o = tail_q;
  // Nothing is in the store when a segment begins.
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
    // All payload of the segment is in this beat or before it, and fits in one.
    whole = end_i && !over;
    beat_emit = full || (!Packed && first_i);
    if (whole) beat_emit = !(Verdict && EopMerge) || finish;
    beat_last = whole && (finish || !Verdict);
    // A frame that was cut off.
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
    // Whether payload is wanted is known late: what is not wanted is stored too, as no bytes.
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
    else $error("%0d bytes are left from the segment before", stored_q);
    a_stored :
    assert (rst_i || !data_valid_i || valid_i || stored_q == '0 || !emit)
    else $error("payload that is not wanted hides %0d bytes", stored_q);
  end
`endif

  if (UserWidth < MacWidth) begin : gen_width
    $error(
      "spfe_tcp_rx_pack: UserWidth is %0d, must not be below MacWidth, %0d", UserWidth, MacWidth
    );
  end
endmodule
