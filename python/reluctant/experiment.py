"""Experiments: environments × policies × trials, in memory or in a folder, on this machine or on whatever executor there is.

>>> from reluctant import Experiment
>>> experiment = Experiment(
...     environments={"kind": "relu-sphere", "neurons": 3, "arms": 50},
...     policies=["oful", {"kind": "ofu-relu", "label": "OFU-ReLU", "explore": 20}],
...     rounds=100,
...     trials=2,
... )
>>> results = experiment.run(progress=False)
>>> sorted(results.trials()["policy"].unique())
['OFU-ReLU', 'oful']
"""

from __future__ import annotations

import copy
import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _core, executors
from .policies import CLASSES, Policy
from .progress import Notify, choose
from .results import Results

Table = Mapping[str, Any]


class Experiment:
    """Environments × policies × trials.

    Parameters
    ----------
    environments : str, mapping, or a list of them
        The name of an environment, or its ``kind`` and parameters, as a ``[[environment]]`` of a TOML file; ``label`` and
        ``title`` name it in tables and figures.
    policies : str, mapping, policy, callable, or a list of them
        The name of a policy; its ``kind`` and parameters, where a list of values is a grid that is tuned on seeds of its own; or a
        policy of one's own: a callable ``make(dim, seed)`` that returns an object with ``select(arms)`` and
        ``update(action, reward)``, or such an object, of which every trial gets a copy. ``{"label": ..., "policy": mine}`` gives
        it a name. A class of this package, such as ``Oful``, stands for the policy it is made from.
    rounds, trials, seed, tuning_trials : int
        The rounds of a trial, the reported trials, the seed of all randomness, the tuning trials of each candidate of a grid.
    name, title : str
        For files and for readers.
    """

    def __init__(
        self,
        environments: str | Table | Sequence[str | Table] = "relu-sphere",
        policies: Any = "ofu-relu",
        *,
        rounds: int = 1000,
        trials: int = 50,
        seed: int = 1,
        tuning_trials: int = 10,
        name: str = "experiment",
        title: str | None = None,
    ) -> None:
        head = {"name": name, "title": title, "seed": seed, "rounds": rounds, "trials": trials}
        worlds = [_as_table(world) for world in _as_list(environments)]
        contenders, own = [], []
        for place, policy in enumerate(map(_registered, _as_list(policies))):
            if _is_own(policy):
                own.append(_Own.read(place, policy))
            else:
                contenders.append(_as_table(policy))
        # An experiment of policies of one's own alone needs one of the registry's to be well formed; it is never played.
        bare = bool(own) and not contenders
        text = _toml(head, {"trials": tuning_trials}, worlds, [{"kind": "uniform"}] if bare else contenders)
        self._set(_core.Experiment(text, bare=bare), text, own)

    def _set(self, core: _core.Experiment, text: str, own: list[_Own]) -> None:
        labels = core.contenders + [policy.label for policy in own]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"two policies have the label '{twice[0]}': give each its own")
        self._core, self._text, self._own = core, text, own

    @classmethod
    def from_toml(cls, source: str | os.PathLike[str]) -> Experiment:
        """Reads a TOML file, or the text of one."""
        is_text = isinstance(source, str) and "\n" in source
        text = str(source) if is_text else Path(source).read_text(encoding="utf-8")
        experiment = cls.__new__(cls)
        experiment._set(_core.Experiment(text, "experiment.toml" if is_text else os.fspath(source)), text, [])
        return experiment

    def to_toml(self) -> str:
        """The experiment as a TOML file that the command line runs as well.

        Policies of one's own are not in it; an experiment of nothing else cannot be written down.
        """
        if not self._core.contenders:
            own = ", ".join(policy.label for policy in self._own)
            raise ValueError(
                f"an experiment needs a policy that TOML can name, and all of this one's are written in Python: {own}"
            )
        return self._text

    @property
    def name(self) -> str:
        """The name in files."""
        return self._core.name

    def run(
        self,
        *,
        progress: bool | Notify = True,
        threads: int | None = None,
        executor: Executor | None = None,
        out: str | os.PathLike[str] | None = None,
        fresh: bool = False,
    ) -> Results:
        """Plays every trial and returns the results.

        Parameters
        ----------
        progress : bool or callable
            True for a bar a stage; or a function that is told what happens.
        threads : int, optional
            How many threads play, from 1 to 1024, by default one a core. The results do not depend on it.
        executor : concurrent.futures.Executor, optional
            Where trials are played instead: a process pool, ``dask_client.get_executor()``, an ``MPIPoolExecutor``. The results are the
            same to the byte. A trial whose worker is lost is handed in again.
        out : path, optional
            A folder that keeps every trial as it finishes, and the report at the end. A run that was interrupted goes on from
            there. Trials of policies of one's own are in the report, but are played again.
        fresh : bool
            Start over even if the folder holds trials.
        """
        notify, threads = choose(progress), _as_threads(threads)
        store = _core.Store(self._core, None if out is None else os.fspath(out), fresh=fresh)
        if executor is None:
            store.run(threads, notify)
        else:
            executors.play(store, executor, notify)
        results = Results(store.results(self._play_own(executor, notify)))
        if out is not None:
            results.write(out)
        return results

    def _play_own(self, executor: Executor | None, notify: Notify) -> list[tuple[int, str, str, list[str]]]:
        jobs = [
            (policy, world, self._core.own_trials(world, policy.label)) for policy in self._own for world in self._core.worlds
        ]
        if not jobs:
            return []
        notify("begin", "own policies", sum(len(trials) for _, _, trials in jobs), 0)
        played = [
            (policy.place, world, policy.label, executors.play_own(trials, policy.make, executor, notify, world, policy.label))
            for policy, world, trials in jobs
        ]
        notify("end")
        # From the first place to the last, so that each finds its place among those before it.
        return sorted(played, key=lambda row: row[0])

    def __repr__(self) -> str:
        labels = ", ".join(self._core.contenders + [policy.label for policy in self._own])
        return f"Experiment({self.name!r}: {labels}; {self._core.trials} trials in {', '.join(self._core.worlds)})"


@dataclass(frozen=True)
class _Own:
    """A policy written in Python, at its place among the policies."""

    place: int
    label: str
    make: Callable[[int, int], Any]

    @classmethod
    def read(cls, place: int, policy: Any) -> _Own:
        label, given = None, policy
        if isinstance(policy, Mapping):
            unknown = set(policy) - {"label", "policy"}
            if unknown:
                raise TypeError(f"a policy of one's own has a label and a policy, not '{sorted(unknown)[0]}'")
            label, given = policy.get("label"), policy["policy"]
        label = label or getattr(given, "__name__", None) or type(given).__name__
        if _plays(given) and not isinstance(given, type):
            return cls(place, label, _Copies(given))
        if isinstance(given, type) and issubclass(given, Policy):
            return cls(place, label, _Seeded(given))
        if callable(given):
            return cls(place, label, given)
        raise TypeError(f"{label} must have select(arms) and update(action, reward), or return such an object")


@dataclass(frozen=True)
class _Copies:
    """Gives every trial a copy of one object."""

    original: Any

    def __call__(self, dim: int, seed: int) -> Any:
        return copy.deepcopy(self.original)


@dataclass(frozen=True)
class _Seeded:
    """Makes an object of a class that extends one of this package, whose seed needs its name."""

    kind: type[Policy]

    def __call__(self, dim: int, seed: int) -> Any:
        return self.kind(dim, seed=seed)


def _registered(policy: Any) -> Any:
    """A class of this package as the policy of the registry from which it was made; anything else as it is."""
    named = isinstance(policy, Mapping)
    given = policy.get("policy") if named and set(policy) <= {"label", "policy"} else policy
    kind = next((kind for kind, cls in CLASSES.items() if cls is given), None)
    if kind is None:
        return policy
    return {"kind": kind, "label": named and policy.get("label") or CLASSES[kind].__name__}


def _plays(thing: Any) -> bool:
    return callable(getattr(thing, "select", None)) and callable(getattr(thing, "update", None))


def _is_own(policy: Any) -> bool:
    return "policy" in policy if isinstance(policy, Mapping) else not isinstance(policy, str)


def _as_list(given: Any) -> list[Any]:
    many = isinstance(given, Iterable) and not isinstance(given, (str, Mapping, Policy))
    return list(given) if many else [given]


def _as_threads(given: int | None) -> int:
    """How many threads; 0 is one a core."""
    if given is None:
        return 0
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"threads must be a whole number, not {type(given).__name__}")
    threads = operator.index(given)
    if not 1 <= threads <= 1024:
        raise ValueError(f"threads = {threads} is out of range: 1 to 1024, or None for one a core")
    return threads


def _as_table(given: str | Table) -> Table:
    return {"kind": given} if isinstance(given, str) else given


def _toml(head: Table, tuning: Table, worlds: list[Table], contenders: list[Table]) -> str:
    lines = _entries(head) + ["", "[tuning]", *_entries(tuning)]
    for name, tables in (("environment", worlds), ("policy", contenders)):
        for table in tables:
            lines += ["", f"[[{name}]]", *_entries(table)]
    return "\n".join(lines) + "\n"


def _entries(table: Table) -> list[str]:
    # A keyword such as lambda_ is lambda in TOML.
    return [f"{_key(name)} = {_value(name, value)}" for name, value in table.items() if value is not None]


def _key(name: str) -> str:
    return json.dumps(name.rstrip("_"), ensure_ascii=False)


def _value(name: str, value: Any) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(name, item) for item in value)}]"
    raise TypeError(f"{name} must be a number, a word, true/false or a list of them, not {type(value).__name__}")
