#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts what a test run did, from the logs of its steps.

    count_tests.py step KIND EXIT_CODE LOG     prints "PASSED FAILED SKIPPED" of one step
    count_tests.py total TABLE                 adds up such lines; prints "N passed, N failed"

KIND says how the log reads:

    check      the step is one test; its exit code is its result
    cargo      cargo test: the "test result:" line of every test program
    unittest   Python's unittest: "Ran N tests" and the line after it
    tap        lines "ok NAME" and "not ok NAME"; "ok NAME # SKIP reason" is a skip

A step that fails without saying which test failed counts as one failure, and so does a step that
should have run tests and ran none: silence is not success. `total` exits with 1 if anything failed
or nothing passed.
"""

import re
import sys
from typing import NamedTuple

CARGO_RESULT = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M
)
CARGO_BAD_TARGETS = re.compile(r"^error: (\d+) targets? failed:", re.M)
UNITTEST_RAN = re.compile(
    r"^Ran (\d+) tests? in .*\n\s*(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?", re.M
)
TAP_LINE = re.compile(r"^(not )?ok\b(.*)$", re.M)
TAP_SKIP = re.compile(r"#\s*skip", re.I)


class Count(NamedTuple):
    """Tests that passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(self, other)))


def count_cargo(text):
    """Adds up every test program; a program that died without a result line is one failure."""
    results = [Count(*map(int, numbers)) for numbers in CARGO_RESULT.findall(text)]
    with_failures = sum(1 for result in results if result.failed)
    bad_targets = sum(int(number) for number in CARGO_BAD_TARGETS.findall(text))
    died = max(0, bad_targets - with_failures)
    return sum(results, Count(failed=died))


def count_unittest(text):
    """Adds up every run; a test with failing sub-tests can report more than one failure."""
    total = Count()
    for ran, detail in UNITTEST_RAN.findall(text):
        named = {key: int(number) for key, number in re.findall(r"([a-z ]+)=(\d+)", detail)}
        named = {key.strip(): number for key, number in named.items()}
        failed = sum(named.get(key, 0) for key in ("failures", "errors", "unexpected successes"))
        skipped = named.get("skipped", 0)
        total += Count(max(0, int(ran) - failed - skipped), failed, skipped)
    return total


def count_tap(text):
    """Counts the lines "ok" and "not ok"."""
    total = Count()
    for bad, rest in TAP_LINE.findall(text):
        if bad:
            total += Count(failed=1)
        elif TAP_SKIP.search(rest):
            total += Count(skipped=1)
        else:
            total += Count(passed=1)
    return total


READERS = {"cargo": count_cargo, "unittest": count_unittest, "tap": count_tap}


def count_step(kind, exit_code, text):
    """Count of one step, from its kind, exit code and log."""
    if kind == "check":
        return Count(passed=1) if exit_code == 0 else Count(failed=1)
    total = READERS[kind](text)
    died = exit_code != 0 and total.failed == 0
    silent = total == Count()
    return total._replace(failed=1) if died or silent else total


def count_total(lines):
    """Sum of the lines that `step` printed."""
    return sum((Count(*map(int, line.split()[:3])) for line in lines if line.strip()), Count())


def main(arguments):
    """Command line; returns the exit code."""
    match arguments:
        case ["step", kind, exit_code, log] if kind == "check" or kind in READERS:
            with open(log, encoding="utf-8", errors="replace") as file:
                print(*count_step(kind, int(exit_code), file.read()))
            return 0
        case ["total", table]:
            with open(table, encoding="utf-8") as file:
                total = count_total(file)
            print(f"{total.passed} passed, {total.failed} failed")
            return 1 if total.failed or not total.passed else 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
