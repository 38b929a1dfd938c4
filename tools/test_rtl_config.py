# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of rtl_config.py: what a configuration says, and what is wrong with one."""

import tempfile
import unittest
from pathlib import Path

import rtl_config

LANE = '[[port]]\nkind = "spacefibre"\nlanes = 1\nchannels = 4\n'
WIRE = '[[port]]\nkind = "spacewire"\nbit_cycles = 3\n'
REGION = '[[target.region]]\nkey = 0xabc\nsize = "64K"\n'


def read(text, name="core"):
    """The configuration of a text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"{name}.toml"
        path.write_text(text)
        return rtl_config.read(path)


class Values(unittest.TestCase):
    def test_the_tops_of_the_tree_are_those_of_their_files(self):
        self.assertTrue(rtl_config.every(write=False))

    def test_defaults(self):
        config = read(LANE)
        self.assertEqual((config.kinds, config.lanes, config.channels), (["spacefibre"], 1, 4))
        self.assertTrue(config.queues and config.protect == 0 and config.target is None)
        self.assertEqual(rtl_config.model(config), "1 1 4")
        self.assertEqual(rtl_config.device(config), "ports=1&spwports=0&lanes=1&vcs=4")

    def test_a_port_of_each_kind(self):
        config = read('core.protect = "parity"\n' + LANE + WIRE)
        self.assertEqual((config.kinds, config.bit_cycles), (["spacefibre", "spacewire"], 3))
        self.assertEqual(rtl_config.model(config), "2 1 4 wires=1")
        text = rtl_config.top(config)
        for part in (".Wires(1)", ".Protect(1)", ".WireBitCycles(3)", "wires: 8'd1"):
            self.assertIn(part, text)

    def test_a_target_with_its_table(self):
        text = "core.queues = false\n" + LANE + "[target]\nchannel = 3\nsegment = 1024\n" + REGION
        text += "[[target.region]]\nkey = 0x1abc\nsize = 100\ninitiators = [0x60, 0x61]\n"
        config = read(text)
        self.assertEqual(config.target.regions[0].bytes, 65536)
        self.assertEqual(rtl_config.model(config), "1 1 4 target")
        text = rtl_config.top(config)
        for part in ("vc: 8'd3", "segment_log2: 5'd10", "fixed: 8'd2", ".TargetTable({Region1, Region0})",
                     "listed: 1'b1", "initiators: 32'h60606160", ".HasQueues(1'b0)"):
            self.assertIn(part, text)


    def test_a_queue_pair(self):
        config = read(LANE + WIRE + "[pair]\nchannel = 2\n")
        self.assertEqual(config.pair, (0, 2))
        self.assertEqual(rtl_config.model(config), "2 1 4 wires=1 pair")
        self.assertEqual(rtl_config.device(config), "ports=1&spwports=1&lanes=1&vcs=4&pairs=1")
        text = rtl_config.top(config)
        for part in ("count: 8'd1", "vc: 8'd2", ".Pairs(Pairs)", "pairs: Pairs"):
            self.assertIn(part, text)


class Errors(unittest.TestCase):
    def wrong(self, text, *words, name="core"):
        with self.assertRaises(rtl_config.Wrong) as caught:
            read(text, name)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_ports(self):
        self.wrong("", "0 ports", "1 to 8")
        self.wrong(LANE * 9, "9 ports")
        self.wrong(WIRE + LANE, "after the SpaceFibre ports")
        self.wrong(LANE.replace("lanes = 1", "lanes = 3"), "1, 2 or 4")
        self.wrong(LANE.replace("lanes = 1", "lanes = 16"), "core.toml.port[0].lanes", "16", "1 to 4")
        self.wrong(LANE.replace("channels = 4", ""), "channels", "missing")
        self.wrong(LANE + LANE.replace("channels = 4", "channels = 5"), "[4, 5]", "share")
        self.wrong(LANE.replace("spacefibre", "ethernet"), "ethernet", "spacewire")
        self.wrong(LANE + "lane = 1\n", "port[0]", "unknown: lane")

    def test_pair(self):
        self.wrong(LANE + "[pair]\nchannel = 4\n", "core.toml.pair.channel", "0 to 3")
        self.wrong(LANE + "[pair]\nport = 1\n", "pair.port", "0 to 0")
        self.wrong(LANE + "[pair]\nqueues = 1\n", "pair", "unknown: queues")
        self.wrong(LANE + "[pair]\nchannel = 1\n[target]\nchannel = 1\n", "that of the target")
        self.wrong("core.queues = false\n" + LANE + "[target]\n[pair]\nchannel = 1\n", "core.queues")

    def test_core(self):
        self.wrong("core.regions = 1\n" + LANE, "core.toml.core.regions", "2 to 4096")
        self.wrong("core.events = true\n" + LANE, "core.events", "True")
        self.wrong('core.protect = "ecc"\n' + LANE, "none, parity, secded")
        self.wrong("core.queues = false\n" + LANE, "neither queues nor a target")
        self.wrong("[rmap]\nkey = 1\n" + LANE, "[target.rmap]")
        self.wrong("core = ", "core.toml")
        self.wrong(LANE, "module", name="My-core")

    def test_target(self):
        self.wrong(LANE + "[target]\nport = 1\n", "target.port", "0 to 0")
        self.wrong(LANE + WIRE + "[target]\nport = 1\nchannel = 1\n", "target.channel", "0 to 0")
        self.wrong(LANE + "[target]\nsegment = 3000\n", "3000", "power of two")
        self.wrong(LANE + "[target]\nnotifications = 1\n", "power of two")
        self.wrong(LANE + "[target]\n" + REGION.replace("0xabc", "0x1abc"), "number of the entry, 0")
        self.wrong(LANE + "[target]\n" + REGION.replace("64K", "64X"), "region[0].size", "64X")
        self.wrong(LANE + "[target]\n" + REGION + 'rights = "x"\n', "rights", "r, w and a")
        self.wrong(LANE + "[target]\n" + REGION + "initiators = [1, 2, 3, 4, 5]\n", "up to 4")
        self.wrong(LANE + "[target]\n" + REGION + "base = 0xffff_ffff_ffff_0001\n", "beyond 64 bits")
        self.wrong(LANE + "[target]\n[target.rmap]\nkey = 256\n", "target.rmap.key", "0 to 255")
        self.wrong(LANE + '[target.rmap]\naddressing = "flat"\n', "region, absolute")
        more = "".join(REGION.replace("0xabc", hex(index << 12)) for index in range(3))
        self.wrong(LANE + "[target]\nentries = 2\n" + more, "3 regions", "2 entries")


if __name__ == "__main__":
    unittest.main()
