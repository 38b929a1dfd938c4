# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of count_tests.py on logs as the tools write them."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import count_tests
from count_tests import Count, count_step

CARGO_OK = """\
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.52s
     Running unittests src/lib.rs (target/debug/deps/spfe_ring-0123456789abcdef)

running 3 tests
test batch::tests::reserve ... ok
test ring::tests::wraps ... ok
test ring::tests::slow ... ignored, takes an hour

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests spfe_ring

running 1 test
test src/lib.rs - (line 5) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.21s
"""

CARGO_FAILED_AND_DIED = """\
running 2 tests
test good ... ok
test bad ... FAILED

failures:

---- bad stdout ----
thread 'bad' panicked at tests/a.rs:3:5:
the inner run said "test result: ok. 9 passed; 0 failed; 0 ignored;"

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: test failed, to rerun pass `-p a --test a`
     Running tests/b.rs (target/debug/deps/b-0123456789abcdef)

running 2 tests
error: test failed, to rerun pass `-p a --test b`

Caused by:
  process didn't exit successfully: `target/debug/deps/b-0123456789abcdef` (signal: 6, SIGABRT)
error: 2 targets failed:
    `-p a --test a`
    `-p a --test b`
"""

CARGO_DOES_NOT_COMPILE = """\
error[E0425]: cannot find value `x` in this scope
error: could not compile `a` (lib test) due to 1 previous error
"""

CARGO_CONFORMANCE = """\
running 3 tests
test thread::a_packet_arrives_whole      ... ok
test daemon::a_device_is_killed          ... ignored (needs processes)
test thread::a_device_is_killed          ... ignored (needs processes)
test thread::a_deadline_passes           ... ignored (needs virtual time)

test result: ok. 1 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""

UNITTEST_OK = """\
test_a (test_x.X.test_a)
What it is. ... ok
test_b (test_x.X.test_b) ... skipped 'no perl here'
----------------------------------------------------------------------
Ran 4 tests in 0.012s

OK (skipped=1)
"""

UNITTEST_FAILED = """\
======================================================================
FAIL: test_a (test_x.X.test_a)
----------------------------------------------------------------------
Ran 6 tests in 0.001s

FAILED (failures=1, errors=2, skipped=1, expected failures=1)
"""

UNITTEST_NONE = """\
----------------------------------------------------------------------
Ran 0 tests in 0.000s

NO TESTS RAN
"""

TAP = """\
starting
ok sends a packet
ok 2 - receives a packet
ok needs a kernel module # SKIP not root
not ok closes
  okay, this line is none
1..4
"""

# As bats prints subtests that a test forwards.
TAP_SUBTESTS = """\
1..4
    ok boots
    ok prints a line # skip no console
ok 1 guest
    ok boots
    not ok prints a line
not ok 2 guest that fails
    ok boots
not ok 3 guest that ends badly
ok 4 host # skip set SPFE_X to a path
"""
TAP_SKIPS = """\
ok one
ok 2 network # skip no TAP devices here
ok 3 peers # skip set SPFE_PEER_PATH to the folders of the peers
"""


class CountStep(unittest.TestCase):
    """What one step counts for."""

    def test_check(self):
        self.assertEqual(count_step("check", 0, ""), Count(1, 0, 0))
        self.assertEqual(count_step("check", 1, "ok"), Count(0, 1, 0))

    def test_cargo(self):
        ignored = ("ring::tests::slow: takes an hour",)
        self.assertEqual(count_step("cargo", 0, CARGO_OK), Count(3, 0, 1, ignored))
        self.assertEqual(count_step("cargo", 101, CARGO_FAILED_AND_DIED), Count(1, 2, 0))
        self.assertEqual(count_step("cargo", 101, CARGO_DOES_NOT_COMPILE), Count(0, 1, 0))

    def test_cargo_that_ends_badly_after_good_results(self):
        self.assertEqual(count_step("cargo", 124, CARGO_OK)[:3], (3, 1, 1))

    def test_cargo_with_conformance_cases_that_need_more(self):
        skipped = ("2 tests: needs processes", "thread::a_deadline_passes: needs virtual time")
        self.assertEqual(count_step("cargo", 0, CARGO_CONFORMANCE), Count(1, 0, 3, skipped))

    def test_cargo_that_ran_no_test(self):
        empty = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
        self.assertEqual(count_step("cargo", 0, empty), Count(0, 1, 0))
        self.assertEqual(count_step("cargo", 0, ""), Count(0, 1, 0))

    def test_unittest(self):
        skipped = ("test_b: no perl here",)
        self.assertEqual(count_step("unittest", 0, UNITTEST_OK), Count(3, 0, 1, skipped))
        unknown = ("1 tests: no reason given",)
        self.assertEqual(count_step("unittest", 1, UNITTEST_FAILED), Count(2, 3, 1, unknown))
        twice = Count(6, 0, 2, 2 * skipped)
        self.assertEqual(count_step("unittest", 0, UNITTEST_OK + UNITTEST_OK), twice)

    def test_unittest_that_ran_nothing(self):
        self.assertEqual(count_step("unittest", 5, UNITTEST_NONE), Count(0, 1, 0))
        self.assertEqual(count_step("unittest", 1, "ModuleNotFoundError: x"), Count(0, 1, 0))

    def test_unittest_with_more_failures_than_tests(self):
        log = "Ran 1 test in 0.001s\n\nFAILED (failures=3)\n"
        self.assertEqual(count_step("unittest", 1, log), Count(0, 3, 0))

    def test_unittest_of_this_interpreter(self):
        class Inner(unittest.TestCase):
            """One test of each outcome."""

            def test_good(self):
                pass

            def test_bad(self):
                self.fail()

            def test_error(self):
                raise KeyError

            @unittest.skip("on purpose")
            def test_skipped(self):
                pass

            @unittest.skip("it's late")
            def test_skipped_too(self):
                """Has a docstring."""

            @unittest.expectedFailure
            def test_expected(self):
                self.fail()

            @unittest.expectedFailure
            def test_unexpected(self):
                pass

        log = io.StringIO()
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)
        unittest.TextTestRunner(stream=log, verbosity=2).run(suite)
        count = count_step("unittest", 1, log.getvalue())
        skipped = ("test_skipped: on purpose", "test_skipped_too: it's late")
        self.assertEqual(count, Count(2, 3, 2, skipped))

    def test_tap(self):
        count = Count(2, 1, 1, ("needs a kernel module: not root",))
        self.assertEqual(count_step("tap", 1, TAP), count)
        self.assertEqual(count_step("tap", 0, TAP), count)

    def test_tap_with_subtests(self):
        count = count_step("tap", 1, TAP_SUBTESTS)
        self.assertEqual(count[:3], (3, 2, 2))
        self.assertEqual(
            count.reasons, ("prints a line: no console", "host: set SPFE_X to a path")
        )

    def test_tap_that_may_not_skip(self):
        skipped = (
            "network: no TAP devices here",
            "peers: set SPFE_PEER_PATH to the folders of the peers",
        )
        self.assertEqual(count_step("tap", 0, TAP_SKIPS), Count(1, 0, 2, skipped))
        self.assertEqual(count_step("tap", 0, TAP_SKIPS, True), Count(1, 1, 1, skipped))

    def test_tap_that_dies(self):
        self.assertEqual(count_step("tap", 139, "ok one\n"), Count(1, 1, 0))
        self.assertEqual(count_step("tap", 1, "command not found\n"), Count(0, 1, 0))
        self.assertEqual(count_step("tap", 0, ""), Count(0, 1, 0))

    def test_tap_that_only_skips(self):
        count = count_step("tap", 0, "ok all # skip no daemon here\n")
        self.assertEqual(count, Count(0, 0, 1, ("all: no daemon here",)))
        count = count_step("tap", 0, "ok all # skip\n")
        self.assertEqual(count, Count(0, 0, 1, ("all: no reason given",)))


class Main(unittest.TestCase):
    """The command line."""

    def run_main(self, *arguments):
        """Returns exit code and standard output."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = count_tests.main(list(arguments))
        return code, out.getvalue()

    def run_total(self, text):
        """Returns exit code and output of `total` on a table with this text."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "table")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return self.run_main("total", path)

    def test_total(self):
        found = self.run_total("3 0 1 a\n2 0 0 b\n")
        self.assertEqual(found, (0, "5 passed, 0 failed, 1 skipped\n"))
        found = self.run_total("3 0 1 a\n\n2 4 0 b c\n")
        self.assertEqual(found, (1, "5 passed, 4 failed, 1 skipped\n"))

    def test_nothing_ran(self):
        self.assertEqual(self.run_total(""), (1, "0 passed, 0 failed, 0 skipped\n"))
        self.assertEqual(self.run_total("0 0 7 a\n"), (1, "0 passed, 0 failed, 7 skipped\n"))

    def test_step(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "log")
            with open(path, "wb") as file:
                file.write(b"\xff not text\nok one\n")
            self.assertEqual(self.run_main("step", "tap", "0", path), (0, "1 0 0\n"))
            with open(path, "w", encoding="utf-8") as file:
                file.write("ok one\nok 2 two # skip no disk\n")
            found = (0, "1 0 1\ntwo: no disk\n")
            self.assertEqual(self.run_main("step", "tap", "0", path), found)
            found = (0, "1 1 0\ntwo: no disk\n")
            self.assertEqual(self.run_main("step", "--strict", "tap", "0", path), found)

    def test_usage(self):
        self.assertEqual(self.run_main()[0], 2)
        self.assertEqual(self.run_main("step", "junit", "0", "/dev/null")[0], 2)


if __name__ == "__main__":
    unittest.main()
