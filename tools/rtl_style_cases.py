# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of tools/rtl_style.py, which `tools/rtl.sh lint` runs: they need its Python packages."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rtl_style  # noqa: E402


class Style(unittest.TestCase):
    HEAD = """// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A module.
module m (
  input logic clk_i,
  /// Word from the source.
  input logic data_i,
  input logic valid_i,
  output logic ready_o%s
);
"""

    def found(self, body, port=""):
        return rtl_style.findings(self.HEAD % port + body + "endmodule\n", "m")

    def test_ports(self):
        self.assertEqual(self.found(""), [])
        self.assertEqual(self.found("", ",\n  /// Count = 3 words.\n  output logic a_o"), [])
        self.assertEqual(self.found("", ",\n  output logic a_o"), ["a_o has no comment ///"])
        self.assertEqual(self.found("", ",\n  input logic cmd_valid_i"), ["cmd_valid_i has no comment ///"])

    def test_instances(self):
        self.assertEqual(self.found("  sub #(\n    .A(1)\n  ) i_a (\n    .clk_i\n  );\n"), [])
        self.assertEqual(self.found("  sub a (\n    .clk_i\n  );\n"),
                         ["instance a; its name must begin with i_"])

    def test_registers(self):
        def block(*lines):
            return "\n".join(["  always_ff @(posedge clk_i) begin", *(f"    {one}" for one in lines), "  end", ""])

        self.assertEqual(self.found(block("if (data_i <= a) a_q.x[3] <= 1'b0;")), [])
        self.assertEqual(self.found(block("if (data_i) a <= 1'b0;")),
                         ["line 12: register a; its name must end in _q"])
        self.assertEqual(self.found(block("", "if (data_i) begin", "  ready_o <= 1'b0;", "end")),
                         ["line 14: register ready_o; its name must end in _q"])
        self.assertEqual(self.found(block(*["a_q <= b;"] * 58)), [])
        self.assertEqual(self.found(block(*["a_q <= b;"] * 59)),
                         ["line 11: always_ff of 61 lines; at most 60 are allowed"])

    def test_size(self):
        self.assertEqual(self.found(f"  // {'x' * 96}\n"), ["line 11: 101 columns; at most 100 are allowed"])
        limit = rtl_style.LINES_MAX
        self.assertEqual(self.found("\n" * (limit - 11)), [])
        self.assertEqual(self.found("\n" * (limit - 10)),
                         [f"{limit + 1} lines; at most {limit} are allowed"])


if __name__ == "__main__":
    unittest.main()
