# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests of performance.py on made-up results."""

import unittest

import performance


def row(scenario, size, group=1, **more):
    """A row of results.json."""
    return {"scenario": scenario, "size_bytes": size, "group": group, "rate_gbps": 20.0,
            "worst_gbps": 19.0, "host_cpu_pct": 5.0, "worst_host_cpu_pct": 5.0,
            "device_cpu_pct": None, "wakes_per_s": 2600.0, "link_limit_gbps": 25.0, **more}


class Performance(unittest.TestCase):
    def test_published_figures_stand_beside_published_scenarios_only(self):
        paper = {"rate_gbps": 22.01, "cpu_pct_of_4_cores": 0.5}
        table = performance.aligned([row("send-group", 8192, 128, paper=paper)])
        title, unit, line = table.splitlines()
        self.assertEqual(title.count("Paper"), 3)
        self.assertEqual(line.split(), ["8", "KB", "128", "20.00", "(19.00)", "80.0", "22.01", "5.0",
                                        "-", "-", "2.0", "-", "2600", "-", "2624"])
        self.assertEqual(unit.split()[0], "Gbit/s")
        self.assertNotIn("Paper", performance.aligned([row("send-group-ahead", 8192, 128)]))

    def test_latency_is_shown_with_and_without_the_link(self):
        ns = {"mean": 1500.0, "p50": 1400.0, "p99": 2000.0, "p999": 3000.0, "max": 9000.0}
        line = performance.aligned([row("latency-loop", 64, latency_ns=ns, link_minimum_ns=500.0)])
        self.assertEqual(line.splitlines()[2].split()[-3:], ["0.50", "1.00", "8.50"])
        parts = performance.sections([row("broadcast-idle", 8), row("timecode-data", 1)])
        self.assertEqual([len(rows) for rows in parts.values()], [2])

    def test_a_part_of_the_page_is_replaced(self):
        page = "a\n<!-- figures x -->\nold\n<!-- end of figures -->\nb"
        self.assertEqual(performance.replaced(page, "x", "new"),
                         "a\n<!-- figures x -->\nnew\n<!-- end of figures -->\nb")
        with self.assertRaises(SystemExit):
            performance.replaced(page, "y", "new")

    def test_the_page_has_a_place_for_every_part(self):
        page = performance.PAGE.read_text(encoding="utf-8")
        for name in performance.PARTS:
            performance.replaced(page, name, "")


if __name__ == "__main__":
    unittest.main()
