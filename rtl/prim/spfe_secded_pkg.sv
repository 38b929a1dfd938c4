// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Extended Hamming code: corrects one wrong bit in a word and detects two. The bits of a code word
/// have the positions 1, 2, 3 ...; check bit n has position 2^n, and the data bits have the others
/// in ascending order. The last check bit is the parity of all.
package spfe_secded_pkg;
  /// Number of check bits for so many data bits, the parity included.
  function automatic int unsigned check_bits(int unsigned width);
    int unsigned bits;
    bits = 2;
    while ((1 << bits) < width + bits + 1) bits++;
    return bits + 1;
  endfunction

  /// Position of a data bit in the code word.
  function automatic int unsigned position(int unsigned data_bit);
    int unsigned place;
    // The check bits at 1 and 2 lie before all data bits; each other one moves those behind it.
    place = data_bit + 3;
    for (int unsigned check = 4; check <= place; check <<= 1) place++;
    return place;
  endfunction
endpackage
