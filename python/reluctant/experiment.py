"""Experiments: environments × policies × trials, in memory or in a folder, on this machine or
on whatever executor there is.

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

import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from . import _core, executors
from .own import OwnEnvironment, OwnPolicy, is_environment, name_of
from .policies import CLASSES, Policy
from .progress import Notify, choose
from .results import Results

Table = Mapping[str, Any]


class Experiment:
    """Environments × policies × trials.

    Parameters
    ----------
    environments : str, mapping, environment, callable, or a list of them
        The name of an environment, or its ``kind`` and parameters, as a ``[[environment]]`` of a TOML file; ``label``
        and ``title`` name it in tables and figures. Or an environment of one's own: an object with ``round(t, rng)``,
        or a class or function without arguments that makes one for every trial; ``{"label": ..., "environment": mine}``
        gives it a name.
    policies : str, mapping, policy, callable, or a list of them
        The name of a policy; its ``kind`` and parameters, where a list of values is a grid that is tuned on seeds of
        its own; or a policy of one's own: a callable ``make(dim, seed)`` that returns an object with ``select(arms)``
        and ``update(action, reward)``, or such an object, of which every trial gets a copy. ``{"label": ..., "policy":
        mine}`` gives it a name; what else is in it are keyword arguments of ``make``, and lists are grids. A class of
        this package, such as ``Oful``, stands for the policy it is made from.
    rounds, trials, seed, tuning_trials : int
        The rounds of a trial, the reported trials, the seed of all randomness, the tuning trials
        of each candidate of a grid.
    name, title : str
        For files and for readers.
    """

    def __init__(
        self,
        environments: Any = "relu-sphere",
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
        own = _Own()
        played_in = [own.environment(environment) for environment in _as_list(environments)]
        contenders = [own.policy(policy) for policy in map(_registered, _as_list(policies))]
        text = _toml(head, {"trials": tuning_trials}, played_in, contenders)
        own.check_labels(contenders)
        self._core = _core.Experiment(text, own=(list(own.environments.values()), list(own.policies.values())))
        self._own, self._text = own, text
        if own:
            written = [
                [table for table in tables if table["kind"] not in own.kinds] for tables in (played_in, contenders)
            ]
            self._text = own.sentence + _toml(head, {"trials": tuning_trials}, *written)

    @classmethod
    def from_toml(cls, source: str | os.PathLike[str]) -> Experiment:
        """Reads a TOML file, or the text of one."""
        is_text = isinstance(source, str) and "\n" in source
        text = str(source) if is_text else Path(source).read_text(encoding="utf-8")
        experiment = cls.__new__(cls)
        experiment._core = _core.Experiment(text, "experiment.toml" if is_text else os.fspath(source))
        experiment._own, experiment._text = _Own(), text
        return experiment

    def to_toml(self) -> str:
        """The experiment as a TOML file that the command line runs as well.

        Environments and policies of one's own are not in it, which its first line says; an experiment of nothing else
        cannot be written down.
        """
        for what, ours, known in (
            ("a policy", self._own.policies, self._core.contenders),
            ("an environment", self._own.environments, self._core.environments),
        ):
            if len(ours) == len(known):
                raise ValueError(
                    f"an experiment needs {what} that TOML can name, "
                    f"and all of this one's are written in Python: {', '.join(ours)}"
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
            Where trials are played instead: a process pool, ``dask_client.get_executor()``, an ``MPIPoolExecutor``. The
            results are the same to the byte. A trial whose worker is lost is handed in again.
        out : path, optional
            A folder that keeps every trial as it finishes, and the report at the end. A run that was
            interrupted goes on from there. Trials of environments and policies of one's own are played again
            once their code has changed.
        fresh : bool
            Start over even if the folder holds trials.
        """
        notify, threads = choose(progress), _as_threads(threads)
        store = _core.Store(self._core, None if out is None else os.fspath(out), fresh=fresh)
        if executor is None:
            store.run(threads, notify)
        else:
            executors.play(store, executor, notify, self._own.of)
        results = Results(store.results())
        if out is not None:
            results.write(out)
        return results

    def __repr__(self) -> str:
        labels = ", ".join(self._core.contenders)
        return (
            f"Experiment({self.name!r}: {labels}; {self._core.trials} trials in {', '.join(self._core.environments)})"
        )


class _Own:
    """The environments and policies of an experiment that are written in Python, by their labels."""

    def __init__(self) -> None:
        self.environments: dict[str, OwnEnvironment] = {}
        self.policies: dict[str, OwnPolicy] = {}
        self.kinds: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def environment(self, given: Any) -> Table:
        """The table of an environment."""
        if isinstance(given, str):
            return {"kind": given}
        if isinstance(given, Mapping) and "environment" not in given:
            return given
        table = dict(given) if isinstance(given, Mapping) else {"environment": given}
        mine = table.pop("environment")
        unknown = sorted(set(table) - {"label", "title", "rounds"})
        if unknown:
            raise TypeError(f"an environment of one's own has a label, a title and rounds, not '{unknown[0]}'")
        label = table.get("label") or name_of(mine)
        kind = self._kind(name_of(mine), _core.environments())
        self._add("environments", self.environments, label, OwnEnvironment(kind, mine))
        return {"kind": kind, "title": label, **table, "label": label}

    def policy(self, given: Any) -> Table:
        """The table of a policy."""
        if isinstance(given, str):
            return {"kind": given}
        if isinstance(given, Mapping) and "policy" not in given:
            return given
        table = dict(given) if isinstance(given, Mapping) else {"policy": given}
        mine = table.pop("policy")
        label = table.pop("label", None) or name_of(mine)
        if "kind" in table:
            raise TypeError(f"a policy of one's own has no kind, which {label} is given: it is what it is")
        kind = self._kind(name_of(mine), _core.policies())
        policy = OwnPolicy(kind, mine, table)
        self._add("policies", self.policies, label, policy)
        return {"kind": kind, "label": label, **table}

    def _kind(self, name: str, known: list[dict[str, Any]]) -> str:
        taken = self.kinds | {row["name"] for row in known}
        kind = next(kind for kind in (name, *(f"{name}-{number}" for number in range(2, 10**6))) if kind not in taken)
        self.kinds.add(kind)
        return kind

    def _add(self, what: str, ours: dict[str, Any], label: str, thing: Any) -> None:
        if label in ours:
            raise ValueError(f"two {what} have the label '{label}': give each its own")
        ours[label] = thing

    def check_labels(self, contenders: list[Table]) -> None:
        """Refuses a policy of one's own whose label another one has."""
        labels = [table.get("label", table.get("kind")) for table in contenders]
        twice = [label for label in self.policies if labels.count(label) > 1]
        if twice:
            raise ValueError(f"two policies have the label '{twice[0]}': give each its own")

    def of(self, environment: str, policy: str) -> tuple[list[OwnEnvironment], list[OwnPolicy]] | None:
        """What a worker needs to play a trial; nothing if environment and policy are built in."""
        if environment not in self.environments and policy not in self.policies:
            return None
        environments = [self.environments[environment]] if environment in self.environments else []
        return environments, [self.policies[policy]] if policy in self.policies else []

    @property
    def sentence(self) -> str:
        """What TOML does not hold."""
        counts = {"environment": len(self.environments), "policy": len(self.policies)}
        plural = {"environment": "environments", "policy": "policies"}
        parts = [f"{count} {what if count == 1 else plural[what]}" for what, count in counts.items() if count]
        return f"# Without {' and '.join(parts)} written in Python, which TOML cannot name.\n"


def _registered(policy: Any) -> Any:
    """A class of this package as the policy of the registry from which it was made; anything else as it is."""
    table = dict(policy) if isinstance(policy, Mapping) else {"policy": policy}
    given = table.pop("policy", None)
    kind = next((kind for kind, cls in CLASSES.items() if cls is given), None)
    if kind is None:
        return policy
    return {"kind": kind, "label": table.pop("label", None) or CLASSES[kind].__name__, **table}


def _as_list(given: Any) -> list[Any]:
    one = isinstance(given, (str, Mapping, Policy)) or is_environment(given)
    many = isinstance(given, Iterable) and not one
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


def _toml(head: Table, tuning: Table, environments: Sequence[Table], contenders: Sequence[Table]) -> str:
    lines = _entries(head) + ["", "[tuning]", *_entries(tuning)]
    for name, tables in (("environment", environments), ("policy", contenders)):
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
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_value(name, item) for item in value)}]"
    raise TypeError(f"{name} must be a number, a word, true/false or a list of them, not {type(value).__name__}")
