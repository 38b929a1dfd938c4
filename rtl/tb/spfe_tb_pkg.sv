// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What all block tests share. A test program holds several benches and runs the one that +bench=NAME
/// names, with the random numbers of +seed=N; +list prints their names.
package spfe_tb_pkg;
  /// Whether this bench is to run; seeds the random numbers if so.
  function automatic bit chosen(string name);
    string wanted;
    int    seed;
    if ($test$plusargs("list")) $display("bench %s", name);
    if (!$value$plusargs("bench=%s", wanted) || wanted != name) return 1'b0;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    void'($urandom(seed));
    return 1'b1;
  endfunction

  /// True in this many of a hundred calls.
  function automatic bit chance(int unsigned percent);
    return $urandom_range(99) < percent;
  endfunction

  /// How often a side of a stream is active, in percent: never waits, hardly ever, or between.
  function automatic int unsigned activity();
    case ($urandom_range(3))
      0: return 100;
      1: return 90;
      2: return 50;
      default: return 10;
    endcase
  endfunction

  /// Ends a bench that did what it had to do; one that ends otherwise has failed.
  function automatic void passed(string name, int unsigned checks);
    $display("passed %s: %0d checks", name, checks);
    $finish;
  endfunction
endpackage
