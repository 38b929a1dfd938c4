// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Shared by all block tests. A test program holds several benches; +bench=NAME runs one of them,
/// +seed=N seeds its random numbers, and +list prints the names.
package spfe_tb_pkg;
  /// True if this bench was selected; then it also seeds the random numbers.
  function automatic bit chosen(string name);
    string wanted;
    int seed;
    if ($test$plusargs("list")) $display("bench %s", name);
    if (!$value$plusargs("bench=%s", wanted) || wanted != name) return 1'b0;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    void'($urandom(seed));
    return 1'b1;
  endfunction

  /// True with a probability in percent.
  function automatic bit chance(int unsigned percent);
    return $urandom_range(99) < percent;
  endfunction

  /// Random share of cycles, in percent, in which one side of a stream is active.
  function automatic int unsigned activity();
    case ($urandom_range(3))
      0: return 100;
      1: return 90;
      2: return 50;
      default: return 10;
    endcase
  endfunction

  /// Ends a bench that has passed. A bench that ends in another way has failed.
  function automatic void passed(string name, int unsigned checks);
    $display("passed %s: %0d checks", name, checks);
    $finish;
  endfunction
endpackage
