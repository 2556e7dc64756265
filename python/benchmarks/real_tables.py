"""The tables and the figure of docs/real-data.md, from the results of the experiments in experiments/real.

    pip install reluctant pandas scipy matplotlib
    reluctant run experiments/real/defaults.toml     # and unit.toml, tuned.toml
    python python/benchmarks/real_tables.py results/defaults
    python python/benchmarks/real_tables.py results/defaults --figure docs/real-data.png --floors floors.json

Prints Markdown. Of several folders, such as one of rivals and one of a policy that has changed since, a policy's
results are those of the last folder that has it. Ranks are taken in every shuffle of every set and averaged over the
sets; their interval is over the shuffles. Floors are what python/benchmarks/trees.py writes: the share of mistakes that
trees make when they are told every label.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from reluctant import Results
from scipy.stats import t as student

SHOWN = ["neural-linucb", "plausible", "neural-ucb", "neural-ts", "gp-ucb", "lin-ts", "uniform"]
"""The policies in the figure, where all would hide each other."""


def half_width(values: pd.Series) -> float:
    """Half of a 95 % interval around the mean."""
    count = len(values)
    return float(student.ppf(0.975, count - 1) * values.std() / np.sqrt(count)) if count > 1 else float("nan")


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def ranks(trials: pd.DataFrame) -> pd.DataFrame:
    """The mean rank of each policy with its interval: ranks within a shuffle of a set, ties shared."""
    wide = trials.pivot_table(index=["panel", "trial"], columns="policy", values="regret")
    by_shuffle = wide.rank(axis=1).groupby("trial").mean()
    return pd.DataFrame({"mean": by_shuffle.mean(), "half": by_shuffle.apply(half_width)})


def last_of_each(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all frames; of a policy those of the last frame that has it."""
    seen: set[str] = set()
    kept = []
    for frame in reversed(frames):
        kept.append(frame[~frame.policy.isin(seen)])
        seen |= set(frame.policy)
    return pd.concat(kept, ignore_index=True)


def table(trials: pd.DataFrame, summary: pd.DataFrame) -> str:
    """A row a policy, best rank first: mistakes in every set, times the best, rank, worst trial, cost."""
    mean = summary.pivot(index="policy", columns="panel", values="mean")[summary.panel.unique()]
    half = summary.assign(half=(summary.hi95 - summary.lo95) / 2).pivot(index="policy", columns="panel", values="half")
    ratio = np.exp(np.log(mean / mean.min()).mean(axis=1))
    by_set = trials.groupby(["policy", "panel"]).regret
    spread = (by_set.max() / by_set.median()).unstack().max(axis=1)
    cost = summary.groupby("policy").microseconds_per_round
    rank = ranks(trials)
    head = ["", *mean.columns, "by the best, geometric mean", "mean rank", "worst by median shuffle", "µs a round"]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for policy in rank.sort_values("mean").index:
        cells = []
        for panel in mean.columns:
            shown = f"{number(mean.loc[policy, panel])} ± {number(half.loc[policy, panel])}"
            cells.append(f"**{shown}**" if mean.loc[policy, panel] == mean[panel].min() else shown)
        cells.append(f"{ratio[policy]:.2f}")
        cells.append(f"{rank.loc[policy, 'mean']:.2f} ± {rank.loc[policy, 'half']:.2f}")
        cells.append(f"{spread[policy]:.2f}")
        cells.append(f"{number(cost.min()[policy])} – {number(cost.max()[policy])}")
        lines.append(f"| `{policy}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def chosen(summary: pd.DataFrame) -> str:
    """The values that tuning chose, a row a policy; empty if nothing was tuned."""
    tuned = summary[summary.tuned != ""]
    if tuned.empty:
        return ""
    wide = tuned.pivot(index="policy", columns="panel", values="tuned")[summary.panel.unique()]
    lines = ["| | " + " | ".join(wide.columns) + " |", "| " + " | ".join(["---"] * (len(wide.columns) + 1)) + " |"]
    lines += [f"| `{policy}` | " + " | ".join(row) + " |" for policy, row in wide.iterrows()]
    return "\n".join(lines)


def figure(curves: pd.DataFrame, floors: dict[str, float], path: Path) -> None:
    """Mistakes over rounds, a panel a set, with the floor as a dashed line."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = list(curves.panel.unique())
    shape, axes = pyplot.subplots(2, 3, figsize=(11, 6.4), layout="constrained")
    for axis, panel in zip(axes.flat, panels, strict=False):
        here = curves[curves.panel == panel]
        for policy in SHOWN:
            curve = here[here.policy == policy]
            (line,) = axis.plot(curve["round"], curve["mean"], label=policy, linewidth=1.6)
            axis.fill_between(curve["round"], curve.lo95, curve.hi95, color=line.get_color(), alpha=0.2, linewidth=0)
        rounds = np.arange(1, here["round"].max() + 1)
        if panel in floors:
            axis.plot(rounds, floors[panel] * rounds, "k--", linewidth=1, label="trees, told every label")
        axis.set(title=panel, xlabel="round", ylabel="mistakes", xscale="log", yscale="log")
        axis.set(xlim=(10, None), ylim=(1, None))
    for axis in list(axes.flat)[len(panels) :]:
        axis.axis("off")
        handles, labels = axes.flat[0].get_legend_handles_labels()
        axis.legend(handles, labels, loc="center", frameon=False)
    shape.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="the results of one or more runs")
    parser.add_argument("--figure", type=Path, help="where to draw mistakes over rounds")
    parser.add_argument("--floors", type=Path, help="the floors that trees.py wrote")
    told = parser.parse_args()
    runs = [Results.read(folder) for folder in told.folders]
    summary = last_of_each([run.summary() for run in runs])
    print(table(last_of_each([run.trials() for run in runs]), summary))
    if tuned := chosen(summary):
        print("\nWhat tuning chose:\n\n" + tuned)
    if told.figure:
        floors = json.loads(told.floors.read_text()) if told.floors else {}
        figure(last_of_each([run.curves() for run in runs]), floors, told.figure)


if __name__ == "__main__":
    main()
