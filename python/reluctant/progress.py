"""Bars that show how far a run has come: tqdm's where it is installed, a line a stage otherwise."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Protocol


class Notify(Protocol):
    """What a run calls with what happens.

    That is ``("begin", stage, total, finished)``, ``("finished", environment, policy)`` or ``("end",)``.
    """

    def __call__(self, *event: Any) -> None: ...


def silent(*event: Any) -> None:
    """Shows nothing."""


class Lines:
    """A line a stage, for logs and terminals without tqdm."""

    def __call__(self, *event: Any) -> None:
        if event[0] == "begin" and event[2] > 0:
            _, stage, total, finished = event
            kept = f", {finished} of them finished earlier" if finished else ""
            print(f"{stage}: {total} trials{kept}", file=sys.stderr)


class Bars:
    """A bar a stage, in notebooks and terminals."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._bar = tqdm, None

    def __call__(self, *event: Any) -> None:
        if event[0] == "begin" and event[2] > 0:
            _, stage, total, finished = event
            self._bar = self._tqdm(total=total, initial=finished, desc=stage, unit="trial")
        elif event[0] == "finished" and self._bar is not None:
            self._bar.set_postfix_str(f"{event[2]} ({event[1]})", refresh=False)
            self._bar.update()
        elif event[0] == "end" and self._bar is not None:
            self._bar.close()
            self._bar = None


def choose(progress: bool | Notify) -> Notify:
    """What ``run(progress=...)`` means: True for bars, False for nothing, or a function of one's own."""
    if callable(progress):
        return progress
    if not progress:
        return silent
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets tqdm warns, and draws its bar as text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return Lines()
    return Bars(tqdm)
