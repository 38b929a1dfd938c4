"""Readers for the output of the programs compared. Rates in Gbit/s (10^9), times in ns."""

import json
import re

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


class ParseError(ValueError):
    """The output does not have the expected form."""


def ucx(text, size):
    """The last result row of ucx_perftest, plain, `-f` or `-v` (CSV).

    A row ends in: iterations, 50 % time, mean, overall (us), bandwidth twice
    (MiB/s, too coarse for small messages and not used), messages/s twice.
    """
    for line in reversed(text.splitlines()):
        fields = line.replace(",", " ").split()[-8:]
        if len(fields) == 8 and all(NUMBER.fullmatch(field) for field in fields):
            _, p50, _, overall, _, _, _, per_s = map(float, fields)
            if per_s <= 0:
                break
            return {
                "rate_gbps": per_s * size * 8 / 1e9,
                "per_op_ns": 1e9 / per_s,
                "latency_ns": p50 * 1e3,
                "mean_ns": overall * 1e3,
            }
    raise ParseError("no result row of ucx_perftest")


def fi_pingpong(text, size):
    """The result row of fi_pingpong; `usec/xfer` is half of a round trip."""
    rows = [line.split() for line in text.splitlines()]
    for header, row in zip(rows, rows[1:]):
        if "usec/xfer" in header and len(row) == len(header):
            us = float(row[header.index("usec/xfer")])
            if us > 0:
                return {"latency_ns": us * 1e3, "mean_ns": us * 1e3, "per_op_ns": us * 2e3}
    raise ParseError("no result row of fi_pingpong")


def _json(text, program):
    try:
        return json.loads(text)
    except ValueError as error:
        raise ParseError(f"{program}: not JSON: {error}") from error


def spfe_ipc(text, size):
    """`spfe-ipc bw|lat --json`."""
    report = _json(text, "spfe-ipc")
    if report.get("size_bytes") != size:
        raise ParseError("spfe-ipc: another size than asked for")
    if one_way := report.get("one_way_ns"):
        return {"latency_ns": one_way["p50"], "mean_ns": one_way["mean"]}
    if "rate_gbps" in report:
        return {"rate_gbps": report["rate_gbps"]}
    raise ParseError("spfe-ipc: neither rate nor latency")


def spfe_perf(text, size):
    """`spfe perf rate|latency --json`: the first result of the size asked for."""
    for result in _json(text, "spfe perf").get("results", []):
        if result.get("size_bytes") != size:
            continue
        found = {"rate_gbps": result["rate_gbps"]} if result.get("rate_gbps") else {}
        if latency := result.get("latency_ns"):
            found |= {"latency_ns": latency["p50"], "mean_ns": latency["mean"]}
        if found:
            return found
    raise ParseError("spfe perf: no result of that size")


def line_ns(text):
    """`spfe-probe --line-only`: one number."""
    if not NUMBER.fullmatch(text.strip()):
        raise ParseError("spfe-probe: not a number")
    return float(text)


def calibration(text):
    """`spfe-probe --json`: machine facts and the memcpy limits by chunk size."""
    report = _json(text, "spfe-probe")
    try:
        return report, {row["chunk_bytes"]: row for row in report["copies"]}
    except (KeyError, TypeError) as error:
        raise ParseError("spfe-probe: no memcpy rows") from error


def version(text):
    """First thing that looks like a version number."""
    match = re.search(r"\d+\.\d+(?:\.\d+)?\w*", text)
    return match.group(0) if match else "unknown"
