"""What came out of an experiment: frames, a figure, a report."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure


class Results:
    """The finished trials of an experiment, in an order that does not depend on who finished first.

    The column ``panel`` of its tables holds the label of the environment, as it does in the files of a report.
    """

    def __init__(self, core: _core.Results) -> None:
        self._core = core

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Results:
        """The results in a folder that ``Experiment.run(out=...)`` or the command line wrote."""
        return cls(_core.read_results(os.fspath(folder)))

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self._core.name

    @property
    def title(self) -> str:
        """The experiment's title."""
        return self._core.title

    @property
    def environments(self) -> dict[str, str]:
        """The title of each environment by its label."""
        return dict(self._core.environments)

    @property
    def panels(self) -> dict[str, str]:
        """The same as ``environments``: a figure has a panel for each."""
        return self.environments

    def summary(self) -> pd.DataFrame:
        """One row an environment and policy: final regret, its 95 % interval, median, quantiles, what was tuned."""
        return _pandas(_columns(list(self._summary_rows())))

    def curves(self) -> pd.DataFrame:
        """One row an environment, policy and round: statistics of the cumulative regret over trials."""
        return _pandas(self._core.curves())

    def rounds(self) -> pd.DataFrame:
        """One row an environment, policy, trial and round: every trial's cumulative regret as it grew."""
        return _pandas(self._core.rounds())

    def trials(self) -> pd.DataFrame:
        """One row a trial: its final regret, and whether it still grows linearly."""
        return _pandas(self._core.trials())

    def to_arrow(self, what: str = "curves") -> pa.Table:
        """``curves``, ``rounds``, ``trials`` or ``summary`` as a table of Arrow."""
        import pyarrow as pa

        return pa.table(self.to_columns(what))

    def to_polars(self, what: str = "curves") -> pl.DataFrame:
        """``curves``, ``rounds``, ``trials`` or ``summary`` as a frame of polars."""
        import polars as pl

        return pl.DataFrame(self.to_columns(what))

    def to_dict(self) -> dict[str, Any]:
        """Everything that ``summary.json`` holds, paired differences and slopes among it."""
        summary: dict[str, Any] = json.loads(self._core.render("summary.json") or b"{}")
        return summary

    def table(self) -> str:
        """The table that the command line prints."""
        return self._core.table()

    def write(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the report (HTML, figures, CSV, JSON) into a folder and returns the paths."""
        return [os.fspath(path) for path in self._core.write(os.fspath(folder))]

    def plot(self, **options: Any) -> Figure:
        """Cumulative regret, drawn as the paper's figure; the options are those of :func:`reluctant.plot.regret`."""
        from .plot import regret

        return regret(self, **options)

    def to_columns(self, what: str = "curves") -> dict[str, Any]:
        """``curves``, ``rounds``, ``trials`` or ``summary`` as plain columns, which need no library but numpy."""
        if what == "curves":
            return self._core.curves()
        if what == "rounds":
            return self._core.rounds()
        if what == "trials":
            return self._core.trials()
        if what == "summary":
            return _columns(list(self._summary_rows()))
        raise ValueError(f"there are no '{what}'; known are curves, rounds, trials, summary")

    def _summary_rows(self) -> Iterator[dict[str, Any]]:
        for environment in self.to_dict()["experiments"]:
            for policy in environment["policies"]:
                regret = policy["regret"]
                yield {
                    "panel": environment["name"],
                    "policy": policy["name"],
                    "kind": policy["policy"],
                    "trials": policy["trials"],
                    "rounds": policy["rounds"],
                    "mean": regret["mean"],
                    "lo95": regret["ci95"][0],
                    "hi95": regret["ci95"][1],
                    "median": regret["median"],
                    "q10": regret["q10"],
                    "q90": regret["q90"],
                    "linear_share": regret["linear_share"],
                    "microseconds_per_round": policy["microseconds_per_round"],
                    "tuned": ", ".join(f"{name} = {value}" for name, value in policy["tuned"].items()),
                }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Results) and self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Results({self.name!r})\n{self.table()}"

    def _repr_html_(self) -> str:
        svg = (self._core.render("regret.svg") or b"").decode()
        rows = "".join(_html_row(row) for row in self._summary_rows())
        names = ("environment", "policy", "regret ± 95 %", "median", "linear", "tuned")
        head = "".join(f"<th>{name}</th>" for name in names)
        return (
            f"<div><h4>{html.escape(self.title)}</h4><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f'<div style="max-width: 60em">{svg}</div></div>'
        )


def _html_row(row: dict[str, Any]) -> str:
    half = "" if row["hi95"] is None else f" ± {row['hi95'] - row['mean']:.1f}"
    cells = [
        html.escape(row["panel"]),
        html.escape(row["policy"]),
        f"{row['mean']:,.1f}{half}",
        f"{row['median']:,.1f}",
        f"{100 * row['linear_share']:.0f} %",
        html.escape(row["tuned"]),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}


def _pandas(columns: dict[str, Any]) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as cause:
        raise ImportError("frames need pandas: pip install pandas, or use to_arrow, to_polars or to_dict") from cause
    return pd.DataFrame(columns)
