# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of modules.py."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import modules


class Workspace(unittest.TestCase):
    """Makes crates in a temporary folder."""

    def crate(self, name="one", **files):
        """A crate whose src/ has these files; `a__b` is the module a::b."""
        source = self.folder / "crates" / name / "src"
        for module, text in files.items():
            file = source / (module.replace("__", "/") + ".rs")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return modules.Crate(source.parent)

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def cycles(self, crate):
        return [["::".join(module) for module in group]
                for group in modules.components(crate.edges())]

    def names(self, *crates):
        with contextlib.redirect_stdout(io.StringIO()):
            return modules.report_names(crates)


class Cycles(Workspace):
    def test_two_modules_that_use_each_other(self):
        crate = self.crate(lib="mod a; mod b;", a="use crate::b::B;", b="use crate::a::A;")
        self.assertEqual(self.cycles(crate), [["a", "b"]])

    def test_one_direction_is_no_cycle(self):
        crate = self.crate(lib="mod a; mod b;", a="use crate::b::B;", b="")
        self.assertEqual(self.cycles(crate), [])

    def test_a_cycle_of_three(self):
        crate = self.crate(lib="", a="use crate::{b::{B, C}, x};", b="fn f() { crate::c::g() }",
                           c="use super::a;")
        self.assertEqual(self.cycles(crate), [["a", "b", "c"]])

    def test_re_exports_are_followed(self):
        crate = self.crate(lib="mod a; mod b; pub use b::Thing as Other;",
                           a="use crate::Other;", b="use crate::a::A;")
        self.assertEqual(self.cycles(crate), [["a", "b"]])

    def test_submodules_count_for_their_parent(self):
        crate = self.crate(lib="", a="", a__deep="use crate::b::B;", b="use crate::a::A;")
        self.assertEqual(self.cycles(crate), [["a", "b"]])

    def test_a_child_may_use_its_parent(self):
        crate = self.crate(lib="", a="mod b; use b::B;", a__b="use super::A;")
        self.assertEqual(self.cycles(crate), [])

    def test_files_of_tests_do_not_count(self):
        crate = self.crate(lib="mod a; mod b;", a="use crate::b::B;\n#[cfg(test)]\nmod tests;",
                           b="", b__tests="use crate::a::A;")
        self.assertEqual(self.cycles(crate), [])

    def test_comments_strings_and_tests_do_not_count(self):
        crate = self.crate(
            lib="", a="use crate::b::B;",
            b='// use crate::a::A;\n/// [`crate::a`]\nconst T: &str = "crate::a::A";\n'
              "#[cfg(test)]\nmod tests { use crate::a::A; }\n")
        self.assertEqual(self.cycles(crate), [])


class Names(Workspace):
    def test_a_name_in_two_crates(self):
        self.assertEqual(self.names(self.crate("one", lib="pub struct Config;"),
                                    self.crate("two", lib="pub enum Config {}")), 1)

    def test_private_and_common_names_may_repeat(self):
        text = "pub(crate) struct Config; pub struct Error;"
        self.assertEqual(self.names(self.crate("one", lib=text), self.crate("two", lib=text)), 0)


if __name__ == "__main__":
    unittest.main()
