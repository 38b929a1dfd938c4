#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the tests of a test run from the logs of its steps.

    count_tests.py step [--strict] KIND EXIT_CODE LOG
                                         prints "PASSED FAILED SKIPPED" of one step; after that a
                                         line "NAME: REASON" for each skipped test
    count_tests.py total TABLE           adds up such counts, the first three words of each line;
                                         prints "N passed, N failed, N skipped"

KIND says how to read the log:

    check      the step is one test; its exit code is its result
    cargo      cargo test: the "test result:" line of each test program
    unittest   Python's unittest: "Ran N tests" and the line after it
    tap        "ok N NAME" and "not ok N NAME", as bats prints them; "ok NAME # skip REASON" is a
               skipped test. Lines indented by four blanks are subtests of the next test. They count
               instead of it, unless it fails and none of them does.

With --strict a skipped test counts as failed, except where its reason begins with "set NAME": then
the user has to name something, and a machine cannot. The lines of skipped tests remain.

A step that fails without naming a failed test counts as one failure. So does a step that should
have run tests and ran none. `total` exits with 1 if a test failed or none passed.
"""

import re
import sys
from typing import NamedTuple

CARGO_RESULT = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M
)
CARGO_BAD_TARGETS = re.compile(r"^error: (\d+) targets? failed:", re.M)
# The test harness of Rust writes "ignored, REASON", libtest-mimic "ignored (REASON)".
CARGO_IGNORED = re.compile(r"^test (\S+) .*\.\.\. ignored(?:, (.*)| \((.*)\))?$", re.M)
UNITTEST_RAN = re.compile(
    r"^Ran (\d+) tests? in .*\n\s*(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?", re.M
)
# The first line of a docstring, if there is one, stands on a line of its own.
UNITTEST_SKIPPED = re.compile(r"^(\w+) \(\S+\)(?:\n.*)?? \.\.\. skipped ['\"](.*)['\"]$", re.M)
TAP_LINE = re.compile(r"^(    )?(not )?ok\b(.*)$", re.M)
TAP_SKIP = re.compile(r"#\s*skip(?:ped)?\b:?\s*(.*)", re.I)
TAP_NUMBER = re.compile(r"^\s*\d*\s*(?:-\s+)?")
USER_SETS = re.compile(r"set [A-Z][A-Z0-9_]+\b")
NO_REASON = "no reason given"


class Count(NamedTuple):
    """Tests that passed, failed and were skipped, and "NAME: REASON" of the skipped ones."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: tuple = ()

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(self, other)))


def count_cargo(text):
    """Adds up all test programs. A program that died without a result line is one failure."""
    results = [Count(*map(int, numbers)) for numbers in CARGO_RESULT.findall(text)]
    with_failures = sum(1 for result in results if result.failed)
    bad_targets = sum(int(number) for number in CARGO_BAD_TARGETS.findall(text))
    died = max(0, bad_targets - with_failures)
    total = sum(results, Count(failed=died))
    ignored = [(name, comma or brackets or NO_REASON)
               for name, comma, brackets in CARGO_IGNORED.findall(text)]
    missing = explained(ignored, total.skipped)[len(ignored):]
    return total._replace(reasons=(*grouped(ignored), *missing))


def count_unittest(text):
    """Adds up all runs. A test with failing sub-tests may report more than one failure."""
    total = Count()
    for ran, detail in UNITTEST_RAN.findall(text):
        named = {key: int(number) for key, number in re.findall(r"([a-z ]+)=(\d+)", detail)}
        named = {key.strip(): number for key, number in named.items()}
        failed = sum(named.get(key, 0) for key in ("failures", "errors", "unexpected successes"))
        skipped = named.get("skipped", 0)
        total += Count(max(0, int(ran) - failed - skipped), failed, skipped)
    reasons = [f"{name}: {reason}" for name, reason in UNITTEST_SKIPPED.findall(text)]
    return total._replace(reasons=explained(reasons, total.skipped))


def grouped(skips):
    """One line for each reason: the test's name, or the number of tests that share it."""
    names = {}
    for name, reason in skips:
        names.setdefault(reason, []).append(name)
    return [f"{tests[0] if len(tests) == 1 else f'{len(tests)} tests'}: {reason}"
            for reason, tests in names.items()]


def explained(reasons, skipped):
    """A reason for each skipped test; those that the log does not name share one line."""
    missing = skipped - len(reasons)
    return tuple(reasons) + ((f"{missing} tests: {NO_REASON}",) if missing > 0 else ())


def tap_result(bad, rest):
    """The count of one line of TAP."""
    if bad:
        return Count(failed=1)
    skip = TAP_SKIP.search(rest)
    if not skip:
        return Count(passed=1)
    name = TAP_NUMBER.sub("", rest[:skip.start()]).strip()
    return Count(skipped=1, reasons=(f"{name}: {skip[1] or NO_REASON}",))


def count_tap(text):
    """Counts the lines "ok" and "not ok", and subtests in place of the test they belong to."""
    total, subtests = Count(), Count()
    for indent, bad, rest in TAP_LINE.findall(text):
        result = tap_result(bad, rest)
        if indent:
            subtests += result
            continue
        known = subtests != Count() and not (bad and not subtests.failed)
        total += subtests if known else subtests + result
        subtests = Count()
    return total + subtests


READERS = {"cargo": count_cargo, "unittest": count_unittest, "tap": count_tap}


def count_step(kind, exit_code, text, strict=False):
    """Count of one step, from its kind, exit code and log."""
    if kind == "check":
        return Count(passed=1) if exit_code == 0 else Count(failed=1)
    total = READERS[kind](text)
    died = exit_code != 0 and total.failed == 0
    silent = total == Count()
    if died or silent:
        return total._replace(failed=1)
    return no_skips(total) if strict else total


def no_skips(total):
    """The count if only tests for which the user has to set something may be skipped."""
    allowed = sum(1 for line in total.reasons if USER_SETS.match(line.partition(": ")[2]))
    return total._replace(failed=total.failed + total.skipped - allowed, skipped=allowed)


def count_total(lines):
    """Sum of the counts that `step` printed."""
    return sum((Count(*map(int, line.split()[:3])) for line in lines if line.strip()), Count())


def main(arguments):
    """Command line; returns the exit code."""
    strict = "--strict" in arguments
    match [argument for argument in arguments if argument != "--strict"]:
        case ["step", kind, exit_code, log] if kind == "check" or kind in READERS:
            with open(log, encoding="utf-8", errors="replace") as file:
                count = count_step(kind, int(exit_code), file.read(), strict)
            print(*count[:3])
            for reason in count.reasons:
                print(reason)
            return 0
        case ["total", table]:
            with open(table, encoding="utf-8") as file:
                total = count_total(file)
            print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
            return 1 if total.failed or not total.passed else 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
