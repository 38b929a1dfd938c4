"""Readers for the output of the programs compared. Rates in Gbit/s (10^9), times in ns.

All raise ValueError (or KeyError) if the output does not have the expected form.
"""

import json
import re

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def ucx(text, size):
    """The last result row of ucx_perftest, plain, `-f` or `-v` (CSV).

    A row ends in: iterations, 50 % time, mean, overall (us), bandwidth twice
    (MiB/s, too coarse for small messages and not used), messages/s twice.
    """
    for line in reversed(text.splitlines()):
        fields = line.replace(",", " ").split()[-8:]
        if len(fields) == 8 and all(map(NUMBER.fullmatch, fields)) and float(fields[7]) > 0:
            per_s = float(fields[7])
            return {"rate_gbps": per_s * size * 8 / 1e9, "per_op_ns": 1e9 / per_s,
                    "latency_ns": float(fields[1]) * 1e3, "mean_ns": float(fields[3]) * 1e3}
    raise ValueError("no result row of ucx_perftest")


def fi_pingpong(text, _size):
    """The result row of fi_pingpong; `usec/xfer` is half of a round trip, mean only."""
    rows = [line.split() for line in text.splitlines()]
    for header, row in zip(rows, rows[1:]):
        if "usec/xfer" in header and len(row) == len(header):
            ns = float(row[header.index("usec/xfer")]) * 1e3
            if ns > 0:
                return {"latency_ns": ns, "mean_ns": ns, "per_op_ns": 2 * ns}
    raise ValueError("no result row of fi_pingpong")


def spfe(text, size):
    """`spfe perf rate|latency --json`, `spfe-ipc --json`: the first result of that size."""
    for result in json.loads(text)["results"]:
        if result.get("size_bytes") == size and (latency := result.get("latency_ns")):
            return {"latency_ns": latency["p50"], "mean_ns": latency["mean"]}
        if result.get("size_bytes") == size and result.get("rate_gbps"):
            return {"rate_gbps": result["rate_gbps"]}
    raise ValueError("spfe: no result of that size")


def calibration(text):
    """`spfe-probe --json`, with the memcpy limits by chunk size as `copies`."""
    report = json.loads(text)
    return report | {"copies": {row["chunk_bytes"]: row for row in report["copies"]}}
