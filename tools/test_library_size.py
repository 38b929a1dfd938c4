# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of library_size.py on made-up messages of cargo."""

import json
import unittest
from pathlib import Path

import library_size

ROOT = Path("/tree")


def artifact(name, folder, kind="lib"):
    return json.dumps({
        "reason": "compiler-artifact",
        "manifest_path": f"{folder}/{name}/Cargo.toml",
        "target": {"kind": [kind]},
        "filenames": [f"/target/deps/lib{name.replace('-', '_')}-1a2b.rmeta"],
    })


class LibrarySize(unittest.TestCase):
    def test_only_libraries_of_the_workspace_count(self):
        messages = [
            artifact("spfe-ring", "/tree/crates"),
            artifact("libc", "/registry"),
            artifact("spfe-host", "/tree/crates", "bin"),
            json.dumps({"reason": "build-finished", "success": True}),
        ]
        found = list(library_size.libraries(messages, ROOT))
        self.assertEqual(found, [("spfe-ring", Path("/target/deps/spfe_ring-1a2b.d"))])

    def test_each_source_file_counts_once(self):
        text = "target/x.d: a/lib.rs a/b.rs\n\ntarget/x.rmeta: a/lib.rs a/b.rs\n\na/lib.rs:\n# env\n"
        self.assertEqual(library_size.sources(text), {"a/lib.rs", "a/b.rs"})

    def test_size_and_crates_are_limited(self):
        sizes = {"spfe": 90, "spfe-ring": 10}
        self.assertEqual(list(library_size.problems(sizes, 100)), [])
        self.assertIn("100 lines", next(library_size.problems(sizes, 99)))
        self.assertIn("spfe-sim", next(library_size.problems({"spfe-sim": 1}, 99)))


if __name__ == "__main__":
    unittest.main()
