"""From samples to medians, ratios and tables."""

from statistics import median

NEAR_FACTOR = 1.6
MIN_NEAR = 3
TITLES = {"group": "Groups (throughput), Gbit/s", "single": "One outstanding, Gbit/s",
          "latency": "Latency one way, ns (p50; fi shm: mean)"}


def is_near(sample, line_min):
    """Both brackets of a sample within NEAR_FACTOR of the shortest line time of the run."""
    return max(sample["before_ns"], sample["after_ns"]) <= NEAR_FACTOR * line_min


def summarise(samples, test, line_min, wanted):
    """Median and best over the near samples, or over all (flagged) if too few are near."""
    near = [s["value"] for s in samples if is_near(s, line_min)]
    flagged = len(near) < min(MIN_NEAR, wanted)
    values = [s["value"] for s in samples] if flagged else near
    if not values:
        return None
    best = min(values) if test == "latency" else max(values)
    return {"median": median(values), "best": best, "used": len(values),
            "taken": len(samples), "near": len(near), "flagged": flagged}


def ratio(over, under):
    """Quotient of two summaries' medians; None if one is missing."""
    if not over or not under or not under["median"]:
        return None
    return {"ratio": over["median"] / under["median"],
            "flagged": over["flagged"] or under["flagged"]}


def best_of(cells, test, size, kinds, programs):
    """Name and summary of the best program of these kinds, (None, None) without one."""
    rows = [(p.name, cells.get((p.name, test, size))) for p in programs
            if p.test == test and p.kind in kinds]
    rows = [row for row in rows if row[1]]
    if not rows:
        return None, None
    pick = min if test == "latency" else max
    return pick(rows, key=lambda row: row[1]["median"])


def ratios(cells, programs, size, line, copies):
    """Everything compared at one size: name -> ratio; `line` and `copies` are medians."""
    out = {}
    ours = {t: best_of(cells, t, size, ("ours",), programs)[1] for t in TITLES}
    peer_name, peer = best_of(cells, "group", size, ("peer", "kernel"), programs)
    out["group / best two-sided"] = (ratio(ours["group"], peer), peer_name)
    out["group / ucx put"] = (ratio(ours["group"], cells.get(("ucx put", "group", size))), None)
    single = cells.get(("ucx tag -O 1", "single", size))
    out["single / ucx tag -O 1"] = (ratio(ours["single"], single), None)
    out["latency / ucx am"] = (
        ratio(ours["latency"], cells.get(("ucx am", "latency", size))), None)
    out["latency / line"] = (
        ratio(ours["latency"], {"median": line, "flagged": False}), None)
    for mode, columns in (("inline", ("hot_gbps", "ring_gbps")),
                          ("coop", ("ring_two_cores_gbps",))):
        for column in columns:
            limit = copies.get(size, {}).get(column)
            under = {"median": limit, "flagged": False} if limit else None
            label = column.removesuffix("_gbps").replace("_", " ")
            out[f"{mode} group / memcpy {label}"] = (
                ratio(cells.get((f"spfe {mode}", "group", size)), under), None)
    return {name: found | {"peer": peer} for name, (found, peer) in out.items() if found}


def size_name(size):
    return f"{size // 1024} KB" if size >= 1024 and size % 1024 == 0 else f"{size} B"


def number(value, flagged=False):
    text = f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
    return text + ("*" if flagged else "")


def grid(head, rows):
    """Text table, right-aligned."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths)) for row in [head, *rows])


def tables(cells, programs, sizes, compared, line, copies):
    """The whole report as text; * marks values with too few near samples."""
    parts = []
    for test, title in TITLES.items():
        names = [p.name for p in programs if p.test == test]
        if not names:
            continue
        rows = []
        for size in sizes:
            found = [cells.get((name, test, size)) for name in names]
            rows.append([size_name(size)] + [
                f"{number(c['median'], c['flagged'])} ({number(c['best'])})" if c else "-"
                for c in found])
        parts.append(f"{title}: median (best)\n" + grid(["size", *names], rows))
    if copies:
        rows = [[size_name(s)] + [number(copies[s][c]) for c in (
            "hot_gbps", "ring_gbps", "ring_two_cores_gbps")] for s in sizes if s in copies]
        parts.append("memcpy limit, Gbit/s (same run)\n" + grid(
            ["size", "hot 1 core", "ring 1 core", "ring 2 cores"], rows))
    names = list(dict.fromkeys(name for size in sizes for name in compared[size]))
    if names:
        rows = []
        for name in names:
            row = [name]
            for found in (compared[size].get(name) for size in sizes):
                peer = f" {found['peer']}" if found and found["peer"] else ""
                row.append(number(found["ratio"], found["flagged"]) + peer if found else "-")
            rows.append(row)
        parts.append("Ratios, ours to theirs (latency: less is better)\n" + grid(
            ["", *map(size_name, sizes)], rows))
    parts.append(f"cache line one way: {line:.0f} ns median over the run")
    return "\n\n".join(parts)
