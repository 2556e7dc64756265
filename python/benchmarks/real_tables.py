"""The tables and the figure of docs/real-data.md, from the results of the experiments in experiments/real.

    pip install reluctant pandas scipy matplotlib
    reluctant run experiments/real/defaults.toml     # and unit.toml, tuned.toml
    python python/benchmarks/real_tables.py results/defaults --mistakes experiments/real/mistakes/defaults.csv
    python python/benchmarks/real_tables.py experiments/real/mistakes/defaults.csv
    python python/benchmarks/real_tables.py results/defaults --figure docs/real-data.png --floors floors.json

Prints Markdown. `--mistakes` keeps the mistakes of every shuffle in a small file, which can be read in the place of a
folder of results. Of several, such as a file of rivals and the results of a policy that has changed since, a policy's
results are those of the last that has it. So a table is made again without playing the rivals. Only the figure needs
folders of results for all, since its curves are not kept.

Ranks are taken in every shuffle of every set and averaged over the sets; their interval is over the shuffles. Floors
are what python/benchmarks/trees.py writes: the share of mistakes that trees make when they are told every label.
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

COLUMNS = ["policy", "set", "shuffle", "mistakes", "microseconds", "tuned"]
"""A row a policy, set and shuffle. The time of a round is the mean over shuffles; the last is what tuning chose."""


def half_width(values: pd.Series) -> float:
    """Half of a 95 % interval around the mean."""
    count = len(values)
    return float(student.ppf(0.975, count - 1) * values.std() / np.sqrt(count)) if count > 1 else float("nan")


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def read(path: Path) -> pd.DataFrame:
    """The mistakes of every shuffle, from a folder of results or from a file that was made of one."""
    if path.is_file():
        return pd.read_csv(path, keep_default_na=False)[COLUMNS]
    results = Results.read(path)
    each = results.summary()[["panel", "policy", "microseconds_per_round", "tuned"]]
    names = {"panel": "set", "trial": "shuffle", "regret": "mistakes", "microseconds_per_round": "microseconds"}
    frame = results.trials().merge(each, on=["panel", "policy"]).rename(columns=names)
    frame["mistakes"] = frame.mistakes.round().astype(int)
    frame["microseconds"] = frame.microseconds.round(1)
    return frame[COLUMNS]


def last_of_each(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all frames; of a policy those of the last frame that has it."""
    seen: set[str] = set()
    kept = []
    for frame in reversed(frames):
        kept.append(frame[~frame.policy.isin(seen)])
        seen |= set(frame.policy)
    return pd.concat(kept, ignore_index=True)


def ranks(played: pd.DataFrame) -> pd.DataFrame:
    """The mean rank of each policy with its interval: ranks within a shuffle of a set, ties shared.

    Only policies with every shuffle have one, and only they are ranked.
    """
    wide = played.pivot_table(index=["set", "shuffle"], columns="policy", values="mistakes").dropna(axis=1)
    by_shuffle = wide.rank(axis=1).groupby("shuffle").mean()
    return pd.DataFrame({"mean": by_shuffle.mean(), "half": by_shuffle.apply(half_width)})


def table(played: pd.DataFrame, with_cost: bool) -> str:
    """A row a policy, best rank first: mistakes in every set, times the best, rank, worst shuffle, cost if wanted."""
    sets = played.set.unique()
    by_set = played.groupby(["policy", "set"]).mistakes
    mean, half = (values.unstack()[sets] for values in (by_set.mean(), by_set.apply(half_width)))
    ratio = np.exp(np.log(mean / mean.min()).mean(axis=1))
    spread = (by_set.max() / by_set.median()).unstack().max(axis=1)
    cost = played.groupby("policy").microseconds
    rank = ranks(played).reindex(mean.index)
    head = ["", *sets, "by the best, geometric mean", "mean rank", "worst by median shuffle"]
    if with_cost:
        head.append("µs a round")
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    for policy in rank.sort_values("mean", na_position="first").index:
        cells = []
        for name in sets:
            shown = f"{number(mean.loc[policy, name])} ± {number(half.loc[policy, name])}"
            cells.append(f"**{shown}**" if mean.loc[policy, name] == mean[name].min() else shown)
        cells.append(f"{ratio[policy]:.2f}")
        place, off = rank.loc[policy, "mean"], rank.loc[policy, "half"]
        cells.append("–" if np.isnan(place) else f"{place:.2f} ± {off:.2f}")
        cells.append(f"{spread[policy]:.2f}")
        if with_cost:
            cells.append(f"{number(cost.min()[policy])} – {number(cost.max()[policy])}")
        lines.append(f"| `{policy}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def chosen(played: pd.DataFrame) -> str:
    """The values that tuning chose, a row a policy; empty if nothing was tuned."""
    tuned = played[played.tuned != ""].drop_duplicates(["policy", "set"])
    if tuned.empty:
        return ""
    wide = tuned.pivot(index="policy", columns="set", values="tuned")[played.set.unique()]
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
    parser.add_argument("results", type=Path, nargs="+", help="folders of results, or files that `--mistakes` wrote")
    parser.add_argument("--mistakes", type=Path, help="where to keep the mistakes of every shuffle")
    parser.add_argument("--figure", type=Path, help="where to draw mistakes over rounds")
    parser.add_argument("--floors", type=Path, help="the floors that trees.py wrote")
    parser.add_argument("--no-cost", action="store_true", help="without times, which several runs do not share")
    told = parser.parse_args()
    if missing := [str(path) for path in told.results if not path.exists()]:
        parser.error(f"there is no {missing[0]}")
    if told.figure and (files := [str(path) for path in told.results if path.is_file()]):
        parser.error(f"the figure needs folders of results, and {files[0]} has no curves")
    played = last_of_each([read(path) for path in told.results])
    print(table(played, with_cost=not told.no_cost))
    if tuned := chosen(played):
        print("\nWhat tuning chose:\n\n" + tuned)
    if told.mistakes:
        told.mistakes.parent.mkdir(parents=True, exist_ok=True)
        played.to_csv(told.mistakes, index=False, lineterminator="\n")
    if told.figure:
        floors = json.loads(told.floors.read_text()) if told.floors else {}
        curves = [Results.read(folder).curves() for folder in told.results]
        figure(last_of_each(curves), floors, told.figure)


if __name__ == "__main__":
    main()
