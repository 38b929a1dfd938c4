# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of third_party.py."""

import tempfile
import unittest
from pathlib import Path

from third_party import linked, report


def package(name, folder="/nowhere", **more):
    """A package as in the metadata of cargo."""
    manifest = f"{folder}/Cargo.toml"
    return {"id": name, "name": name, "version": "1.0.0", "license": "MIT", "authors": [],
            "manifest_path": manifest} | more


def node(name, **kinds):
    """A dependency. The kind None means that it is linked."""
    deps = [{"pkg": to, "dep_kinds": [{"kind": kind}]} for to, kind in kinds.items()]
    return {"id": name, "deps": deps}


class Linked(unittest.TestCase):
    """Which libraries a program contains."""

    data = {
        "workspace_members": ["tool", "part", "other"],
        "packages": [package(name) for name in "tool part other near far test make".split()],
        "resolve": {"nodes": [
            node("tool", part=None, test="dev", make="build"),
            node("part", near=None),
            node("near", far=None, tool=None),
            node("other", test=None),
            node("far"), node("test"), node("make"),
        ]},
    }

    def test_all_that_is_linked_and_nothing_else(self):
        self.assertEqual(linked(self.data, ["tool"]), {"near", "far"})
        self.assertEqual(linked(self.data, ["tool", "other"]), {"near", "far", "test"})

    def test_an_unknown_program_is_an_error(self):
        with self.assertRaises(KeyError):
            linked(self.data, ["near"])


class Report(unittest.TestCase):
    """The printed report."""

    def test_each_text_once_and_nobody_forgotten(self):
        with tempfile.TemporaryDirectory() as base:
            packages = []
            for name, files in {"a": {"LICENSE-MIT": "Be kind.\n", "main.rs": "no"},
                                "b": {"LICENCE": "Be kind.", "NOTICE.md": "By B."},
                                "c": {}}.items():
                folder = Path(base, name)
                folder.mkdir()
                for file, text in files.items():
                    Path(folder, file).write_text(text, "utf-8")
                packages.append(package(name, folder, authors=["C of c"]))
            text = "\n".join(report(packages))
        self.assertEqual(text.count("Be kind."), 1)
        self.assertIn("LICENCE: the same as LICENSE-MIT of a 1.0.0", text)
        self.assertIn("By B.", text)
        self.assertNotIn("main.rs", text)
        self.assertIn("c 1.0.0: MIT", text)
        self.assertIn("It came without a notice. Authors: C of c", text)


if __name__ == "__main__":
    unittest.main()
