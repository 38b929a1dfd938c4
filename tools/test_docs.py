# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of docs.py, on the project's own sources."""

import unittest
from pathlib import Path

import docs


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = docs.Sources()

    def wrong(self, text):
        return docs.check_code(self.sources, text, "docs")

    def test_names_that_exist(self):
        for text in ("tools/docs.py", "docs.py", "tools/docs.py:Sources::file", "make test",
                     "Endpoint::open", "read/write", "8b/10b", "tools/{docs,modules}.py", "target/x/y.rs"):
            with self.subTest(text):
                self.assertIsNone(self.wrong(text))

    def test_names_that_do_not_exist(self):
        for text in ("tools/gone.py", "gone.rs", "tools/docs.py:Sources::gone_function",
                     "make gone-target", "Endpoint::gone_method", "spfe_gone_module",
                     "tools/{docs,gone}.py", "--gone-option"):
            with self.subTest(text):
                # The names above must not count as occurrences in the sources.
                self.sources.words -= {"gone_function", "gone_method", "spfe_gone_module",
                                       "gone_option", "gone"}
                self.assertIsNotNone(self.wrong(text))

    def test_links(self):
        document = Path(docs.ROOT / "docs" / "operations.md")
        self.assertIsNone(docs.check_link("../README.md", document))
        self.assertIsNotNone(docs.check_link("gone.md", document))
        self.assertIsNotNone(docs.check_link("../README.md#no-such-heading", document))

    def test_paragraphs(self):
        lines = ["one two", "three", "", "* a", "* b c", "| x | y z |"]
        self.assertEqual([text for _, text in docs.paragraphs(lines)],
                         ["one two three", "* a", "* b c", "x", "y z"])

    def test_code_blocks_are_not_text(self):
        lines = ["text", "", "    code", "", "    code", "text", "```", "code", "```", "text"]
        kept = [line for line in docs.text_lines(lines) if line]
        self.assertEqual(kept, ["text", "text", "text"])


if __name__ == "__main__":
    unittest.main()
