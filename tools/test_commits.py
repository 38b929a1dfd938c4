# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of commits.py, on messages and in repositories made for the test."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import commits

GOOD = "ring: wake the producer once per release\n\nTwo wake-ups cost a system call each."


class Problems(unittest.TestCase):
    """What is wrong with a message."""

    def found(self, message, lines=100):
        """The problems of a message as one text."""
        return "; ".join(commits.problems(message, lines))

    def test_good(self):
        self.assertEqual(self.found(GOOD), "")
        self.assertEqual(self.found("ring: fix a comment", 30), "")
        self.assertEqual(self.found("x" * 72 + "\n\nwhy"), "")
        self.assertEqual(self.found("wipe: delete old files\n\nwhy"), "")

    def test_subject(self):
        self.assertIn("73 characters", self.found("x" * 73 + "\n\nwhy"))
        self.assertIn("empty", self.found(""))
        for subject in ("wip", "WIP: ring", "fixup! ring: x", "squash! ring: x"):
            self.assertIn("finish or squash", self.found(subject, 1))

    def test_body(self):
        self.assertIn("no body", self.found("ring: rewrite it", 31))
        self.assertIn("not blank", self.found("ring: rewrite it\nbecause"))

    def test_cleaned(self):
        text = f"{GOOD}\n\n# a comment\n{commits.SCISSORS}\ndiff --git a/x b/x\n"
        self.assertEqual(commits.cleaned(text), GOOD)

    def test_changed_lines(self):
        self.assertEqual(commits.changed_lines("3\t4\ta.c\n-\t-\tb.png\n"), 9)


class Repository(unittest.TestCase):
    """The commands, in a repository."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(directory.name)
        for name in list(os.environ):
            if name.startswith("GIT_"):
                self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Tester")
        self.git("config", "user.email", "tester@example.org")
        self.base = self.commit("start", 1)

    def git(self, *words):
        """Runs git."""
        return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout

    def commit(self, message, lines, name="file"):
        """Adds a commit that writes so many lines; returns its hash."""
        with open(name, "a", encoding="utf-8") as file:
            file.write(f"{message}\n" * lines)
        self.git("add", name)
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def run_main(self, *arguments):
        """Exit code, standard output and standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = commits.main(list(arguments))
        return code, out.getvalue(), err.getvalue()

    def test_good_history(self):
        self.commit(GOOD, 40)
        self.commit("ring: fix a comment", 2)
        code, out, _ = self.run_main("history", self.base)
        self.assertEqual((code, out[:12]), (0, "ok 2 commits"))

    def test_bad_history(self):
        self.commit("ring: rewrite it", 40)
        self.commit("wip", 1)
        code, out, _ = self.run_main("history", self.base)
        self.assertEqual((code, out.count("not ok"), out.count("\nok")), (1, 2, 0))

    def test_merge(self):
        self.git("checkout", "-q", "-b", "work")
        self.commit("work: a line", 1, "other")
        self.git("checkout", "-q", "main")
        self.commit("main: a line", 1)
        self.git("merge", "-q", "--no-ff", "-m", "Merge branch work", "work")
        code, out, _ = self.run_main("history", self.base)
        self.assertEqual(code, 1)
        self.assertIn("merge commit", out)

    def test_base_that_is_not_there(self):
        code, out, _ = self.run_main("history", "0" * 40)
        self.assertEqual(code, 0)
        self.assertIn("# skip 000000000000 is not in the history", out)

    def test_message(self):
        with open("message", "w", encoding="utf-8") as file:
            file.write("x" * 80)
        code, _, err = self.run_main("message", "message")
        self.assertEqual(code, 1)
        self.assertIn("80 characters", err)

    def test_message_of_a_large_change(self):
        with open("file", "a", encoding="utf-8") as file:
            file.write("line\n" * 50)
        self.git("add", "file")
        with open("message", "w", encoding="utf-8") as file:
            file.write("file: add lines\n")
        self.assertIn("50 lines change", self.run_main("message", "message")[2])
        with open("message", "w", encoding="utf-8") as file:
            file.write("file: add lines\n\nThe reader needs them.\n")
        self.assertEqual(self.run_main("message", "message")[0], 0)

    def test_usage(self):
        self.assertEqual(self.run_main()[0], 2)


if __name__ == "__main__":
    unittest.main()
