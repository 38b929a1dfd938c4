# SPDX-License-Identifier: MIT OR Apache-2.0
"""Plots what bit errors do to a SpaceFibre link: simulations of one scenario at many error rates.

    python fault_campaign.py [--points 5] [--seeds 2] [--out campaign.svg]

Each point is the mean of simulations with different seeds. The link sends damaged data again, so the
data rate falls and the latency rises, but no packet is lost.
"""

import argparse
import statistics
import sys
from typing import Any

import spfe

SCENARIO = """
title = "Bit errors on a saturated link"
duration = "400us"
node = [{{ name = "camera" }}, {{ name = "memory" }}]

[[link]]
name = "cable"
ends = ["camera", "memory"]
rate = "2.5G"
cable = "5m"

[[flow]]
name = "images"
from = "camera"
to = "memory"
size = 1024
start = "50us"

[[fault]]
what = "bit-errors"
link = "cable"
rate = {rate:e}
from = "50us"
"""


def measure(rate: float, seeds: int) -> dict[str, float]:
    """Means over simulations at one error rate."""
    runs: list[dict[str, float]] = []
    for seed in range(1, seeds + 1):
        results = spfe.Scenario(SCENARIO.format(rate=rate)).run(seed=seed)
        flow: Any = results.flows[0]
        runs.append({
            "gbps": flow.goodput_bps * 1e-9,
            "lost": sum(drop.packets for drop in flow.dropped) + flow.truncated.packets,
            "retries": sum(end.get("Retry", 0) for end in results.links[0].counters),
        })
    return {key: statistics.fmean(run[key] for run in runs) for key in runs[0]}


def plot(path: str, rates: list[float], points: list[dict[str, float]]) -> None:
    """Data rate over error rate."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    axes.semilogx(rates, [point["gbps"] for point in points], marker="o")
    axes.set(xlabel="bit error rate", ylabel="data rate, Gbit/s", ylim=(0, None),
             title="SpaceFibre link of 2.5 Gbit/s with bit errors")
    axes.grid(alpha=0.3)
    figure.savefig(path)


def main() -> None:
    """Simulates, prints a table, plots."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=5, help="number of error rates")
    parser.add_argument("--seeds", type=int, default=2, help="simulations at each rate")
    parser.add_argument("--out", default="campaign.svg", help="file of the plot")
    options = parser.parse_args()
    rates = [10 ** (-7 + 2 * index / max(options.points - 1, 1)) for index in range(options.points)]
    points = []
    for rate in rates:
        points.append(point := measure(rate, options.seeds))
        print(f"{rate:.1e}  {point['gbps']:.3f} Gbit/s  {point['lost']:.0f} lost", flush=True)
    try:
        plot(options.out, rates, points)
    except ImportError:
        sys.exit("no plot: matplotlib is not installed (pip install matplotlib)")
    print(f"plot written to {options.out}")


if __name__ == "__main__":
    main()
