# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of compliance.py on small trees and pages."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compliance
from compliance import Checker, cells_of, declares, has_test, rows_of

SOURCE = """\
pub const LIMIT: u8 = 3;
pub struct Lane {
    pub words: u32,
    hidden: u32,
}
pub enum State {
    Wait,
    Sent { count: u8 },
    Code = 7,
}
impl<const L: usize> Port<L> {
    pub(super) fn step(&mut self) {
        let local = Wake;
    }
}
"""

TESTS = """\
fn helper() {}

/// A test.
#[test]
// with a remark
#[should_panic(expected = "x")]
fn passes() {}

proptest! {
    #[test]
    fn any_words(words in 0..3u8) {}
}
"""

HEADER = "| Clause | Requirement | Where | Test | Status |\n| --- | --- | --- | --- | --- |\n"
CHOICES = (
    "| Id | Clause | Question | Choice | Parameter | Test |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
)
NOT_BUILT = "| Id | Clause | What | Instead |\n| --- | --- | --- | --- |\n"
GOOD = "| 5.1 | Words | `link/lane.rs:Lane` | `link/lane.rs:passes` | kept |\n"


class Page(unittest.TestCase):
    """Pages against a tree with one crate."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        for path, text in (
            ("crates/link/src/lane.rs", SOURCE),
            ("crates/link/src/unit/tests.rs", TESTS),
            ("crates/link/tests/lane.rs", TESTS),
            ("vectors/words.json", "{}"),
            ("rtl/sim/tests/a.rs", TESTS),
        ):
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def problems(self, page):
        """The errors of a page, except those of its summary."""
        checker = Checker(self.root)
        checker.page(page)
        return [text for text in checker.problems if "does not say" not in text]

    def row(self, where="`link/lane.rs:Lane`", test="no test", status="kept"):
        """The errors of one requirement that follows a good one."""
        row = f"| 5.2 | More | {where} | {test} | {status} |\n"
        return self.problems(HEADER + GOOD + row)

    def test_good_rows(self):
        self.assertEqual(self.row(), [])
        self.assertEqual(self.row(where="`link/lane.rs`"), [])
        self.assertEqual(self.row(where="`link/lane.rs:Lane, Port::step, LIMIT`"), [])
        self.assertEqual(self.row(test="`link/lane.rs:passes, any_words`"), [])
        self.assertEqual(self.row(test="`crates/link/src/unit/tests.rs:passes`"), [])
        self.assertEqual(self.row(test="`vectors/words.json`"), [])

    def core(self, cell):
        """The errors of a requirement with this cell in the column of the core."""
        header = HEADER.replace(" |\n", " | Core |\n", 1).replace(" --- |\n", " --- | --- |\n")
        return self.problems(header + GOOD.replace("kept |", f"kept | {cell} |"))

    def test_column_of_the_core(self):
        for cell in ("not built", "no test", "`link/lane.rs:passes`", "`rtl/sim/tests/a.rs:passes`"):
            self.assertEqual(self.core(cell), [], cell)
        self.assertEqual(
            self.core("`link/lane.rs:helper`"), ["3: crates/link/tests/lane.rs: no test helper"]
        )
        self.assertEqual(
            self.core("-"), ["3: Core: '-', not a test, not built or no test"]
        )

    def test_files_and_names_that_do_not_exist(self):
        self.assertEqual(
            self.row(where="`link/none.rs:Lane`"), ["4: crates/link/src/none.rs: no such file"]
        )
        self.assertEqual(
            self.row(where="`link/lane.rs:Lane, Rope::step`"),
            ["4: crates/link/src/lane.rs: no item Rope::step"],
        )
        self.assertEqual(
            self.row(test="`link/lane.rs:passes, helper`"),
            ["4: crates/link/tests/lane.rs: no test helper"],
        )
        self.assertEqual(
            self.row(test="`vectors/none.json`"), ["4: vectors/none.json: no such file"]
        )

    def test_forms_that_are_none(self):
        self.assertEqual(len(self.row(where="`lane`")), 1)
        self.assertEqual(len(self.row(where="`link/lane.rs:`")), 1)
        self.assertEqual(self.row(where="somewhere"), ["4: Where: no reference"])

    def test_a_test_or_the_words_that_there_is_none(self):
        wrong = ["4: Test: references, or the words no test"]
        self.assertEqual(self.row(test="later"), wrong)
        self.assertEqual(self.row(test="`link/lane.rs:passes`, no test"), wrong)

    def test_status(self):
        choices = CHOICES + "| C1 | 5.1 | Q | A | `link/lane.rs:Lane::words` | no test |\n"
        not_built = NOT_BUILT + "| N1 | 5.1 | W | I |\n"
        rest = "\n" + choices + "\n" + not_built

        def problems(where, status):
            row = f"| 5.2 | More | {where} | {'-' if where == '-' else 'no test'} | {status} |\n"
            return self.problems(HEADER + GOOD + row + rest)

        source = "`link/lane.rs:Lane`"
        self.assertEqual(problems(source, "choice C1"), [])
        self.assertEqual(problems(source, "deviation C1"), [])
        self.assertEqual(problems("-", "not built N1"), [])
        self.assertEqual(problems(source, "choice C1, C2"), ["4: Status: there is no C2"])
        self.assertEqual(problems("-", "not built N2"), ["4: Status: there is no N2"])
        self.assertEqual(problems(source, "not built N1"), ["4: not built: Where and Test are -"])
        for status in ("choice", "Kept", "not built", "choice N1"):
            self.assertEqual(len(problems(source, status)), 1, status)

    def test_choices(self):
        def problems(row):
            return self.problems(HEADER + GOOD + "\n" + CHOICES + row)

        self.assertEqual(problems("| C1 | 5.1 | Q | A | none | no test |\n"), [])
        self.assertEqual(
            problems("| C1 | 5.1 | Q | A | `link/lane.rs:Lane::none` | no test |\n"),
            ["7: crates/link/src/lane.rs: no item Lane::none"],
        )
        self.assertEqual(
            problems("| C1 | 5.1 | Q | A | what | no test |\n"),
            ["7: Parameter: a reference, or none"],
        )
        again = "| C1 | 5.1 | Q | A | none | no test |\n"
        self.assertEqual(problems(again + again), ["8: Id: C1 a second time"])
        self.assertEqual(len(problems("| X | 5.1 | Q | A | none | no test |\n")), 1)

    def test_tables_that_are_not_whole(self):
        self.assertEqual(len(self.problems(HEADER + GOOD + "| 5.2 | More | kept |\n")), 1)
        self.assertEqual(len(self.row(where=" ")), 1)
        other = "\n| A | B |\n| - | - |\n| 1 | 2 |\n"
        self.assertEqual(len(self.problems(HEADER + GOOD + other)), 1)
        self.assertEqual(len(self.problems("nothing")), 1)

    def test_the_sum_is_checked(self):
        page = HEADER + GOOD + "| 5.2 | More | `link/lane.rs` | no test | kept |\n"
        total = (
            "2 requirements: 2 kept, 0 by a choice, 0 with a deviation, 0 not built; "
            "1 without a test."
        )
        checker = Checker(self.root)
        self.assertEqual(str(checker.page(page)), total)
        self.assertEqual(checker.problems, [f"1: the page does not say: {total}"])
        checker = Checker(self.root)
        checker.page(page + "\n" + total.replace("kept, ", "kept,\n"))
        self.assertEqual(checker.problems, [])


class Parts(unittest.TestCase):
    """Parts of the checker."""

    def test_cells(self):
        self.assertEqual(cells_of(r"| a | b \| c |  |"), ["a", r"b \| c", ""])

    def test_rows(self):
        rows = rows_of("text\n| A | B |\n|---|:-:|\n| 1 | 2 |\nmore\n| C |\n| - |\n| 3 |\n")
        seen = [(row.line, row.columns, row.cells) for row in rows]
        self.assertEqual(
            seen, [(4, ("A", "B"), {"A": "1", "B": "2"}), (8, ("C",), {"C": "3"})]
        )

    def test_declares(self):
        for name in ("LIMIT", "Lane", "words", "State", "Wait", "Sent", "Code", "Port", "step"):
            self.assertTrue(declares(SOURCE, name), name)
        for name in ("local", "Wake", "Lan", "hidden", "self", "count"):
            self.assertFalse(declares(SOURCE, name), name)

    def test_has_test(self):
        self.assertTrue(has_test(TESTS, "passes"))
        self.assertTrue(has_test(TESTS, "any_words"))
        cases = "cases! {\n    wraps: [Message],\n}\nfn other() {}\n"
        self.assertTrue(has_test(cases, "wraps"))
        self.assertFalse(has_test(cases, "other"))
        for name in ("helper", "pass", "words"):
            self.assertFalse(has_test(TESTS, name), name)


class Main(unittest.TestCase):
    """The command line."""

    def run_main(self, *arguments):
        """Returns exit code and standard output."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = compliance.main(list(arguments))
        return code, out.getvalue()

    def test_a_wrong_page_is_told_line_by_line(self):
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory) / "page.md"
            row = "| 5.2 | More | `no-crate/lane.rs` | no test | kept |\n"
            page.write_text(HEADER + row, encoding="utf-8")
            code, out = self.run_main(str(page))
        self.assertEqual((code, out), (1, "page.md:3: crates/no-crate/src/lane.rs: no such file\n"))

    def test_usage(self):
        self.assertEqual(self.run_main("--help")[0], 2)
        self.assertEqual(self.run_main("a", "b")[0], 2)
        self.assertEqual(self.run_main("/nowhere/page.md")[0], 2)


if __name__ == "__main__":
    unittest.main()
