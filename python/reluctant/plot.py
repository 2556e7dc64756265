"""Cumulative regret drawn as the paper's figure does: a panel an environment, means with 95 % intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The same as in the figures of the command line: Okabe and Ito's colours, which the colour-blind can tell apart,
# without their yellow.
COLOURS = ("#0072b2", "#d55e00", "#008f68", "#c05f97", "#dc9200", "#3aa0dc", "#000000")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.8)),
    (0, (1.2, 1.2)),
    (0, (5, 1.5, 1.2, 1.5)),
    (0, (8, 2)),
    (0, (5, 1.2, 1.2, 1.2, 1.2, 1.2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "_", "X")

_LINES = {"mean": ("mean", "lo95", "hi95"), "median": ("median", "q10", "q90")}


class Curves(Protocol):
    """What can be drawn: ``Results``, or anything with the same two."""

    @property
    def panels(self) -> dict[str, str]:
        """The title of each panel, by the label of the environment that it shows."""

    def to_columns(self, what: str = "curves") -> dict[str, Any]:
        """Columns of numbers, one row a panel (by its environment's label), policy and round."""


def regret(
    results: Curves,
    *,
    show: str = "mean",
    log: bool = False,
    legend: bool = True,
    axes: Any = None,
) -> Figure:
    """Draws the curves of every policy, a panel an environment.

    Parameters
    ----------
    results : Results
        What to draw.
    show : {"mean", "median"}
        Means with 95 % intervals, or medians with 10–90 % quantiles.
    log : bool
        Logarithmic axes, on which a power law is a straight line.
    legend : bool
        Whether to say which curve is which.
    axes : array of Axes, optional
        Where to draw, one a panel; a new figure by default.
    """
    import numpy as np

    try:
        import matplotlib.pyplot as plt
    except ImportError as cause:
        raise ImportError("figures need matplotlib: pip install matplotlib") from cause
    if show not in _LINES:
        raise ValueError(f"show must be one of {', '.join(_LINES)}, not '{show}'")
    panels = results.panels
    own = axes is None
    if own:
        size = (4.4 * len(panels) + 0.6, 4.0)
        _, axes = plt.subplots(1, len(panels), figsize=size, squeeze=False, layout="constrained")
    flat: list[Axes] = list(np.ravel(axes))
    if len(flat) < len(panels):
        raise ValueError(f"there are {len(panels)} panels but {len(flat)} axes")
    columns = {name: np.asarray(column) for name, column in results.to_columns("curves").items()}
    labels = list(dict.fromkeys(columns["policy"].tolist()))
    for at, (panel, title) in zip(flat, panels.items()):
        for index, label in enumerate(labels):
            here = (columns["panel"] == panel) & (columns["policy"] == label)
            if here.any():
                _curve(at, index, label, {name: column[here] for name, column in columns.items()}, show, log)
        at.set_title(title, fontsize="medium")
        at.set_xlabel("round")
        _dress(at, log)
        if not log:
            # Of few trials an interval can be many times the curve: it may leave the panel, so that curves can be told
            # apart.
            here = columns["panel"] == panel
            line, _, high = (columns[name][here] for name in _LINES[show])
            at.set_ylim(0, 1.05 * min(np.nanmax(high, initial=line.max()), 2 * line.max()))
    flat[0].set_ylabel("cumulative regret")
    figure: Figure = flat[0].get_figure(root=True)  # type: ignore[assignment]
    if legend and own:
        # Below the panels, where it hides no curve.
        handles = flat[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower center", ncols=min(len(labels), 5), frameon=False, handlelength=3)
    elif legend:
        flat[0].legend(frameon=False, fontsize="small", handlelength=3)
    if own and "inline" in plt.get_backend():
        # A notebook shows the figure that a cell returns; left open, it would be shown a second time.
        plt.close(figure)
    return figure


def _curve(at: Axes, index: int, label: str, columns: dict[str, Any], show: str, log: bool) -> None:
    line, low, high = (columns[name] for name in _LINES[show])
    rounds, colour = columns["round"], COLOURS[index % 7]
    # Markers tell curves apart where colours are lost; shifted from policy to policy, so that they do not hide one
    # another.
    step = max(1, len(rounds) // 8)
    start = (index * step // 5) % step
    at.plot(
        rounds,
        line,
        color=colour,
        linestyle=DASHES[index % 6],
        linewidth=1.5,
        marker=MARKERS[index % 8],
        markevery=(start, step) if not log else (0.1 * (index % 5) / 5, 0.1),
        markersize=5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        label=label,
    )
    at.fill_between(rounds, low, high, color=colour, alpha=0.16, linewidth=0)


def _dress(at: Axes, log: bool) -> None:
    at.grid(True, color="0.92", linewidth=0.8)
    at.set_axisbelow(True)
    at.spines[["top", "right"]].set_visible(False)
    if log:
        at.set_xscale("log")
        at.set_yscale("log")
    else:
        at.set_xlim(left=0)
