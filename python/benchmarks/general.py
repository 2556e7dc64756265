"""The table and the figure of docs/general.md, from the results of the experiments in experiments/general.

    pip install reluctant pandas matplotlib
    for name in plane space far deep; do reluctant run experiments/general/$name.toml; done
    python python/benchmarks/general.py results/general-* --figure docs/general.png

Prints Markdown: the mean and the median regret of every policy in every setting, and `plausible` beside the best of the
others.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from reluctant import Results

OURS = "plausible"
NO_RIVALS = ["uniform", "oracle"]
SHOWN = [OURS, "GP-UCB, automatic kernel", "GP-UCB, tuned kernel", "GP-UCB, fitted kernel", "OFUL on monomials"]
"""The policies in the figure, where all would hide each other."""


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def table(summary: pd.DataFrame, trials: pd.DataFrame) -> str:
    """A row a setting: ours, the best rival by the mean, the best by the median, and the ratios."""
    head = [
        "",
        f"`{OURS}`",
        "median",
        "linear",
        "best rival by the mean",
        "best rival by the median",
        "ratio",
        "of medians",
    ]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |"]
    ratios = []
    for panel in summary.panel.unique():
        here = summary[summary.panel == panel].set_index("policy")
        here["median"] = trials[trials.panel == panel].groupby("policy").regret.median()
        linear = trials[(trials.panel == panel) & (trials.policy == OURS)].linear.mean()
        rivals = here.drop(index=[OURS, *NO_RIVALS])
        best, middle = rivals["mean"].idxmin(), rivals["median"].idxmin()
        ours = here.loc[OURS]
        ratios.append((ours["mean"] / rivals.loc[best, "mean"], ours["median"] / rivals.loc[middle, "median"]))
        cells = [
            f"{number(ours['mean'])} ± {number((ours.hi95 - ours.lo95) / 2)}",
            number(ours["median"]),
            f"{100 * linear:.0f} %",
            f"{number(rivals.loc[best, 'mean'])}, {best}",
            f"{number(rivals.loc[middle, 'median'])}, {middle}",
            f"{ratios[-1][0]:.2f}",
            f"{ratios[-1][1]:.2f}",
        ]
        lines.append(f"| {panel} | " + " | ".join(cells) + " |")
    mean = np.exp(np.mean(np.log(ratios), axis=0))
    lines.append(f"| geometric mean | | | | | | {mean[0]:.2f} | {mean[1]:.2f} |")
    return "\n".join(lines)


def everybody(summary: pd.DataFrame) -> str:
    """A row a policy, a column a setting: mean regret. The last column is the geometric mean over settings, by ours."""
    mean = summary.pivot(index="policy", columns="panel", values="mean")[summary.panel.unique()].drop(index="oracle")
    ratio = np.exp(np.log(mean / mean.loc[OURS]).mean(axis=1))
    lines = ["| | " + " | ".join(mean.columns) + f" | by `{OURS}` |", "| --- " * (len(mean.columns) + 2) + "|"]
    for policy in ratio.sort_values().index:
        cells = [number(value) for value in mean.loc[policy]]
        lines.append(f"| {policy} | " + " | ".join(cells) + f" | {ratio[policy]:.2f} |")
    return "\n".join(lines)


def figure(curves: pd.DataFrame, path: Path) -> None:
    """Mean regret over rounds with its 95 % interval, a panel a setting."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = list(curves.panel.unique())
    shape, axes = pyplot.subplots(3, 4, figsize=(13, 8.4), layout="constrained")
    for axis, panel in zip(axes.flat, panels, strict=False):
        here = curves[curves.panel == panel]
        for policy in SHOWN:
            curve = here[here.policy == policy]
            (line,) = axis.plot(curve["round"], curve["mean"], label=policy, linewidth=1.6)
            axis.fill_between(curve["round"], curve.lo95, curve.hi95, color=line.get_color(), alpha=0.2, linewidth=0)
        axis.set_title(panel, fontsize=9)
        axis.set(xlabel="round", ylabel="regret", ylim=(0, 1.6 * here[here.policy == OURS].hi95.max()))
    for axis in list(axes.flat)[len(panels) :]:
        axis.axis("off")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    axes.flat[len(panels)].legend(handles, labels, loc="center", frameon=False)
    shape.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="the results of runs")
    parser.add_argument("--figure", type=Path, help="where to draw regret over rounds")
    told = parser.parse_args()
    results = [Results.read(folder) for folder in told.folders]
    summary = pd.concat([result.summary() for result in results])
    print(table(summary, pd.concat([result.trials() for result in results])))
    print("\nEverybody's mean regret:\n\n" + everybody(summary))
    if told.figure:
        figure(pd.concat([result.curves() for result in results]), told.figure)


if __name__ == "__main__":
    main()
