"""Computes medians and ratios from samples, and formats tables."""

from statistics import median

NEAR_FACTOR = 1.6
MIN_NEAR = 3
TITLES = {"group": "Groups (throughput), Gbit/s",
          "ring": "Groups from 1 MiB into 4 MiB of buffers, Gbit/s", "single": "One outstanding, Gbit/s",
          "tagged": "Tagged messages through libfabric, Gbit/s",
          "latency": "Latency one way, ns (p50; fi shm: mean)",
          "rdma": "RDMA in groups, completions at the initiator, Gbit/s",
          "rdma one": "RDMA, one operation outstanding, Gbit/s",
          "rdma latency": "RDMA, half a round trip of writes, ns (p50)"}
LIMITS = {"reused_gbps": "one chunk", "hot_gbps": "hot", "ring_gbps": "ring",
          "ring_two_cores_gbps": "ring, 2 cores"}


def is_time(test):
    """Whether the values of a table are times, so that less is better."""
    return test.endswith("latency")


def is_near(sample, line_min):
    """Whether both line times of a sample are within NEAR_FACTOR of the shortest of the run."""
    return max(sample["before_ns"], sample["after_ns"]) <= NEAR_FACTOR * line_min


def summarise(samples, test, line_min):
    """Median and best of the near samples, or of all samples (flagged) if too few are near."""
    near = [s["value"] for s in samples if is_near(s, line_min)]
    values = near if len(near) >= MIN_NEAR else [s["value"] for s in samples]
    if not values:
        return None
    return {"median": median(values), "best": (min if is_time(test) else max)(values),
            "used": len(values), "near": len(near), "flagged": len(near) < MIN_NEAR}


def ratio(over, under, peer=None):
    """Ratio of the medians of two summaries, or of a summary and a number."""
    if not over or not under:
        return None
    if not isinstance(under, dict):
        under = {"median": under, "flagged": False}
    return {"ratio": over["median"] / under["median"], "peer": peer,
            "flagged": over["flagged"] or under["flagged"]}


def best_of(cells, test, size, kinds, programs):
    """Finds name and summary of the best program of these kinds, or (None, None)."""
    rows = [(p.name, cells.get((p.name, test, size))) for p in programs
            if p.test == test and p.kind in kinds]
    pick = min if is_time(test) else max
    return pick((row for row in rows if row[1]), key=lambda row: row[1]["median"],
                default=(None, None))


def ratios(cells, programs, size, line, copies):
    """Computes all ratios of a size by name. `line` and `copies` are medians."""
    ours = {test: best_of(cells, test, size, ("ours",), programs)[1] for test in TITLES}
    name, peer = best_of(cells, "group", size, ("peer", "kernel"), programs)
    out = {
        "group / best two-sided": ratio(ours["group"], peer, name),
        "group / ucx put": ratio(ours["group"], cells.get(("ucx put", "group", size))),
        "single / ucx tag -O 1": ratio(ours["single"], cells.get(("ucx tag -O 1", "single", size))),
        "tagged / fi shm": ratio(ours["tagged"], cells.get(("fi shm", "tagged", size))),
        "latency / ucx am": ratio(ours["latency"], cells.get(("ucx am", "latency", size))),
        "latency / line": ratio(ours["latency"], line)}
    for test in ("rdma", "rdma one"):
        for mine, theirs in (("write", "put"), ("read", "get")):
            out[f"{test} {mine} / ucx {theirs}"] = ratio(
                cells.get((f"spfe {mine}", test, size)), cells.get((f"ucx {theirs}", test, size)))
    out["rdma latency / ucx put"] = ratio(cells.get(("spfe latency", "rdma latency", size)),
                                          cells.get(("ucx put", "rdma latency", size)))
    # Compare each with a copy over the same amount of memory.
    for mode, test, limit in (("inline", "group", "hot_gbps"), ("inline", "ring", "ring_gbps"),
                              ("coop", "ring", "ring_gbps"), ("coop", "ring", "ring_two_cores_gbps")):
        out[f"{mode} {test} / memcpy {LIMITS[limit]}"] = ratio(
            cells.get((f"spfe {mode}", test, size)), copies.get(size, {}).get(limit))
    # Bare rings, with one copying end and with two.
    for mode, limit in (("inline", "one"), ("coop", "both"), ("auto", "both")):
        for test in ("group", "ring"):
            out[f"{mode} {test} / limit {limit}"] = ratio(
                cells.get((f"spfe {mode}", test, size)), cells.get((f"limit {limit}", test, size)))
    return {label: found for label, found in out.items() if found}


def size_name(size):
    return f"{size // 1024} KB" if size >= 1024 and size % 1024 == 0 else f"{size} B"


def number(value, flagged=False):
    text = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
    return text + "*" * flagged


def grid(title, head, rows):
    """Formats a right-aligned text table."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    text = ["  ".join(c.rjust(w) for c, w in zip(line, widths)) for line in [head, *rows]]
    return "\n".join([title, *text])


def tables(cells, programs, sizes, compared, copies):
    """Formats the report. * marks values with too few near samples."""
    parts = []
    for test, title in TITLES.items():
        names = [p.name for p in programs if p.test == test]
        rows = [[size_name(size)] + [
            f"{number(c['median'], c['flagged'])} ({number(c['best'])})" if c else "-"
            for c in (cells.get((name, test, size)) for name in names)] for size in sizes]
        parts += [grid(f"{title}: median (best)", ["size", *names], rows)] if names else []
    rows = [[size_name(s)] + [number(copies[s][c]) for c in LIMITS] for s in sizes if s in copies]
    parts.append(grid("memcpy, Gbit/s (same run)", ["size", *LIMITS.values()], rows))
    rows = []
    for label in dict.fromkeys(label for size in sizes for label in compared[size]):
        found = [compared[size].get(label) for size in sizes]
        rows.append([label] + [
            number(f["ratio"], f["flagged"]) + (f" {f['peer']}" if f["peer"] else "") if f else "-"
            for f in found])
    if rows:
        head = ["", *map(size_name, sizes)]
        parts.append(grid("Ratios, ours to theirs (latency: less is better)", head, rows))
    return "\n\n".join(parts)
