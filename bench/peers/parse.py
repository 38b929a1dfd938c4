"""Parsers for the output of the compared programs. Rates are in Gbit/s (10^9 bit/s), times in ns.

All parsers raise ValueError (or KeyError) if the output does not have the expected form.
"""

import json
import re

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def ucx(text, size):
    """Parses the last result row of ucx_perftest, plain or with `-f` or `-v` (CSV).

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
    """Parses the result row of fi_pingpong. `usec/xfer` is the mean of half a round trip."""
    rows = [line.split() for line in text.splitlines()]
    for header, row in zip(rows, rows[1:]):
        if "usec/xfer" in header and len(row) == len(header):
            ns = float(row[header.index("usec/xfer")]) * 1e3
            if ns > 0:
                return {"latency_ns": ns, "mean_ns": ns, "per_op_ns": 2 * ns}
    raise ValueError("no result row of fi_pingpong")


def fi_rate(text, size):
    """Parses the line of fi_rate."""
    found = json.loads(text)
    if found["bytes"] != size or found["rate_gbps"] <= 0:
        raise ValueError("fi_rate: no result of that size")
    return {"rate_gbps": found["rate_gbps"]}


def spfe(text, size):
    """Finds the first result of a size in `spfe perf rate|latency|rdma --json` or `spfe-ipc --json`."""
    for result in json.loads(text)["results"]:
        found = {}
        if result.get("size_bytes") == size and (latency := result.get("latency_ns")):
            found |= {"latency_ns": latency["p50"], "mean_ns": latency["mean"]}
        if result.get("size_bytes") == size and result.get("rate_gbps"):
            found["rate_gbps"] = result["rate_gbps"]
        if found:
            return found
    raise ValueError("spfe: no result of that size")


def calibration(text):
    """Parses `spfe-probe --json`, with the memcpy rates by chunk size in `copies`."""
    report = json.loads(text)
    return report | {"copies": {row["chunk_bytes"]: row for row in report["copies"]}}
