"""Tests of parsers and evaluation: python3 -m unittest discover bench/peers"""

import json
import unittest

import parse
import programs
import report

HEAD = """\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |       overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
"""
# ucx_perftest 1.13.1, 1024 B: -f, without options, -v -f
UCX_FINAL = HEAD + (
    "                      200000      0.453     0.515     0.515     1895.72    1895.72"
    "     1941219     1941219\n")
UCX_STAGES = HEAD + (
    "[thread 0]            150000      0.300     0.400     0.400     2441.41    2441.41"
    "     2500000     2500000\n"
    "Final:                200000      0.279     0.365     0.365     2679.11    2679.11"
    "     2743410     2743410\n")
UCX_CSV = """\
iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
200000,1.063,1.083,1.083,901.66,901.66,923299,923299
"""
# fi_pingpong 1.17.0
FI = """\
bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
1k      10k     =10k     19m         0.03s    779.30       1.31       0.76
"""


class Ucx(unittest.TestCase):
    def test_final_row(self):
        found = parse.ucx(UCX_FINAL, 1024)
        self.assertAlmostEqual(found["rate_gbps"], 1941219 * 8192 / 1e9)
        self.assertAlmostEqual(found["latency_ns"], 453)
        self.assertAlmostEqual(found["mean_ns"], 515)
        # The program's own figure is in MiB/s.
        self.assertAlmostEqual(found["rate_gbps"], 1895.72 * 2**20 * 8 / 1e9, places=3)

    def test_last_stage_counts(self):
        self.assertAlmostEqual(parse.ucx(UCX_STAGES, 1)["per_op_ns"], 1e9 / 2743410)

    def test_csv(self):
        self.assertAlmostEqual(parse.ucx(UCX_CSV, 1024)["latency_ns"], 1063)

    def test_no_result(self):
        for text in ("", HEAD, "[1] UCX ERROR connect() failed: Connection refused"):
            self.assertRaises(ValueError, parse.ucx, text, 64)


class Others(unittest.TestCase):
    def test_fi_pingpong(self):
        found = parse.fi_pingpong(FI, 1024)
        self.assertAlmostEqual(found["latency_ns"], 1310)
        self.assertAlmostEqual(found["per_op_ns"], 2620)
        for text in ("", FI.splitlines()[0], "fi_getinfo: -61"):
            self.assertRaises(ValueError, parse.fi_pingpong, text, 1024)

    def test_fi_rate(self):
        text = '{"bytes": 64, "messages": 697984, "seconds": 0.502430, "rate_gbps": 0.7113}'
        self.assertEqual(parse.fi_rate(text, 64), {"rate_gbps": 0.7113})
        for other in (text.replace("64,", "65,"), text.replace("0.7113", "0"), "fi_rate: error"):
            self.assertRaises(ValueError, parse.fi_rate, other, 64)

    def test_spfe_rate(self):
        text = json.dumps({"meta": {}, "results": [
            {"scenario": "a", "size_bytes": 64, "rate_gbps": 9.0},
            {"scenario": "a", "size_bytes": 1024, "rate_gbps": 99.5, "wakes_per_s": 0}]})
        self.assertEqual(parse.spfe(text, 1024), {"rate_gbps": 99.5})
        self.assertRaises(ValueError, parse.spfe, text, 4096)

    def test_spfe_latency(self):
        text = json.dumps({"results": [{"size_bytes": 64, "rate_gbps": 1.0, "latency_ns": {
            "mean": 101.0, "p50": 99.0, "p99": 130.0, "p999": 300.0, "max": 1e4}}]})
        found = {"latency_ns": 99.0, "mean_ns": 101.0, "rate_gbps": 1.0}
        self.assertEqual(parse.spfe(text, 64), found)

    def test_spfe_ipc(self):
        text = ('{"meta":{"program":"spfe-ipc","version":"0.1.0"},"results":[{"scenario":"pipe bw",'
                '"size_bytes":64,"rate_gbps":0.547,"packets_per_s":1069300.7,"messages":324992}]}')
        self.assertEqual(parse.spfe(text, 64), {"rate_gbps": 0.547})

    def test_errors_are_no_results(self):
        for text in ("", "error: unknown command", '{"results": []}'):
            self.assertRaises(ValueError, parse.spfe, text, 64)

    def test_calibration(self):
        text = '{"facts": {}, "copies": [{"chunk_bytes": 64, "hot_gbps": 236.0}]}'
        self.assertEqual(parse.calibration(text)["copies"][64]["hot_gbps"], 236.0)


def sample(value, before, after):
    return {"value": value, "before_ns": before, "after_ns": after}


class Evaluation(unittest.TestCase):
    def test_only_near_samples_count(self):
        samples = [sample(10, 50, 60), sample(12, 80, 79), sample(14, 50, 50), sample(3, 50, 190),
                   sample(2, 200, 200)]
        found = report.summarise(samples, "group", 50)
        self.assertEqual((found["median"], found["best"], found["near"]), (12, 14, 3))
        self.assertFalse(found["flagged"])

    def test_too_few_near_samples_are_flagged(self):
        samples = [sample(10, 50, 60), sample(3, 50, 190), sample(2, 200, 200)]
        found = report.summarise(samples, "latency", 50)
        self.assertEqual((found["median"], found["best"], found["used"]), (3, 2, 3))
        self.assertTrue(found["flagged"])
        self.assertIsNone(report.summarise([], "group", 50))

    def test_ratios_and_tables(self):
        chosen = [programs.Program("spfe inline", "group", "ours", "spfe"),
                  programs.Program("ucx tag", "group", "peer", "ucx_perftest"),
                  programs.Program("pipe", "group", "kernel", "spfe-ipc"),
                  programs.Program("ucx put", "group", "put", "ucx_perftest")]
        rates = {"spfe inline": 30, "ucx tag": 10, "pipe": 2, "ucx put": 20}
        cells = {(name, "group", 64): report.summarise([sample(rate, 50, 50)] * 3, "group", 50)
                 for name, rate in rates.items()}
        chosen.append(programs.Program("spfe coop", "ring", "ours", "spfe"))
        cells["spfe coop", "ring", 64] = report.summarise([sample(90, 50, 50)] * 3, "ring", 50)
        chosen.append(programs.Program("limit both", "ring", "limit", "spfe-limit"))
        cells["limit both", "ring", 64] = report.summarise([sample(120, 50, 50)] * 3, "ring", 50)
        copies = {64: dict.fromkeys(report.LIMITS, 60.0)}
        found = report.ratios(cells, chosen, 64, 50.0, copies)
        best = found["group / best two-sided"]
        self.assertEqual((best["ratio"], best["peer"]), (3.0, "ucx tag"))
        self.assertEqual(found["group / ucx put"]["ratio"], 1.5)
        self.assertEqual(found["inline group / memcpy hot"]["ratio"], 0.5)
        self.assertEqual(found["coop ring / memcpy ring"]["ratio"], 1.5)
        self.assertEqual(found["coop ring / limit both"]["ratio"], 0.75)
        self.assertNotIn("inline group / limit one", found)
        self.assertNotIn("rdma write / ucx put", found)
        for name, rate in (("spfe write", 6), ("ucx put", 8)):
            cells[name, "rdma one", 64] = report.summarise([sample(rate, 50, 50)] * 3, "rdma one", 50)
        rdma = report.ratios(cells, chosen, 64, 50.0, copies)
        self.assertEqual(rdma["rdma one write / ucx put"]["ratio"], 0.75)
        self.assertNotIn("latency / line", found)
        text = report.tables(cells, chosen, [64], {64: found}, copies)
        self.assertIn("3.00 ucx tag", text)

    def test_missing_programs_leave_no_ratios(self):
        self.assertEqual(report.ratios({}, [], 64, 50.0, {}), {})
        self.assertIn("memcpy", report.tables({}, [], [64], {64: {}}, {}))


class Invocation(unittest.TestCase):
    def test_group_is_for_rates_only(self):
        rate = programs.ours_command("spfe", ("rate", "coop", "auto", "1M,4M"), 64, 0.3)
        self.assertEqual(rate[rate.index("--window") + 1], "1M,4M")
        self.assertEqual(rate[rate.index("--group") + 1], "auto")
        self.assertEqual(rate[rate.index("--size-max") + 1], 64)
        self.assertNotIn("--group", programs.ours_command("spfe", ("latency", "inline", None, None), 8, 1))

    def test_rdma_has_its_own_command(self):
        command = programs.rdma_command("spfe", ("read", 1, 1), 4096, 0.2)
        self.assertEqual(command[1:4], ["perf", "rdma", "read"])
        self.assertEqual(command[command.index("--under-way") + 1], 1)
        tests = {test for _, test, _, _ in programs.RDMA_TESTS}
        self.assertEqual(tests, {test for test in report.TITLES if test.startswith("rdma")})

    def test_iterations_follow_the_pilot(self):
        program = programs.Program("ucx tag", "group", "peer", "/x/ucx_perftest")
        self.assertTrue(program.needs_pilot(64))
        program.per_op_ns[64] = 100.0
        self.assertFalse(program.needs_pilot(64))


if __name__ == "__main__":
    unittest.main()
