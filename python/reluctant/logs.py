"""Logs: what was on offer, what was chosen with which probability, what came of it, and what others would have earned.

>>> import numpy as np
>>> import reluctant
>>> rng = np.random.default_rng(0)
>>> rounds = []
>>> for _ in range(400):
...     x = rng.normal(size=2)
...     chosen = str(rng.choice(["left", "right"]))
...     reward = float((x[0] > 0) == (chosen == "right"))
...     rounds.append(
...         {"context": x, "actions": ["left", "right"], "chosen": chosen, "propensity": 0.5, "reward": reward}
...     )
>>> evaluation = reluctant.evaluate(rounds, "oful:features=constant")
>>> bool(evaluation.value > 0.9)
True

A log is the path of a file (JSON lines or CSV, see ``docs/logs.md``), an iterable of rounds as above, a frame of pandas
or polars whose columns are those of the CSV form, or the ``bandit_feedback`` of the Open Bandit Pipeline.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import _core

__all__ = ["Evaluation", "choose", "evaluate", "read_log", "to_bandit_feedback", "write_log"]

MODEL = "oful:features=constant"
TRIED = ("uniform", "oful", MODEL, "lin-ts:features=constant", "gp-ucb:budget=100", "epsilon-greedy:belief=linear")


@dataclass(frozen=True)
class Evaluation:
    """What a policy would have earned on a log.

    ``value`` and ``interval`` are the estimate to trust, ``None`` where the log cannot tell; ``sentences`` say what is
    known and what is not; ``details`` holds all estimates, their intervals, and the weights.
    """

    policy: str
    value: float | None
    interval: tuple[float, float] | None
    sentences: tuple[str, ...]
    details: dict[str, Any]
    table: str
    svg: str

    def __str__(self) -> str:
        return self.table

    def _repr_svg_(self) -> str:
        return self.svg


def evaluate(
    log: Any,
    policy: str | _core.Policy,
    *,
    model: str | None = MODEL,
    folds: int | None = None,
    draws: int = 1000,
    seed: int = 1,
    replay: bool = True,
    out: str | os.PathLike[str] | None = None,
) -> Evaluation:
    """What a policy would have earned on a log, with intervals, and what the log cannot tell.

    Parameters
    ----------
    log
        A path, rounds, a frame, or ``bandit_feedback``.
    policy : str or Policy
        A policy of the registry with its settings, such as ``"oful:lambda=0.1"``, which learns from the log; or a
        policy as it is, which learns nothing more.
    model : str, optional
        The policy whose belief predicts rewards; ``None`` for weights alone.
    folds : int, optional
        What is learnt from the log is used on the part of so many that was left out. By default 5, or 2 for large logs.
    draws : int
        Choices made to find the probabilities of a policy that does not know them.
    seed : int
        Names all randomness.
    replay : bool
        Whether a policy that learns is also replayed.
    out : path, optional
        A folder for the report: a page, a figure, and tables.
    """
    found, _ = _evaluate(log, [policy], model=model, folds=folds, draws=draws, seed=seed, replay=replay, out=out)
    return found[0]


def choose(
    log: Any,
    policies: Iterable[str | _core.Policy] = TRIED,
    *,
    model: str | None = MODEL,
    folds: int | None = None,
    draws: int = 1000,
    seed: int = 1,
    replay: bool = True,
    out: str | os.PathLike[str] | None = None,
) -> tuple[list[Evaluation], str]:
    """Tries policies on a log: what is known of each, and a table that ranks them. Parameters as of `evaluate`."""
    return _evaluate(log, list(policies), model=model, folds=folds, draws=draws, seed=seed, replay=replay, out=out)


def _evaluate(log: Any, policies: Iterable[str | _core.Policy], **options: Any) -> tuple[list[Evaluation], str]:
    for name, least in (("folds", 2), ("draws", 1), ("seed", 0)):
        if options[name] is not None and options[name] < least:
            raise ValueError(f"{name} = {options[name]} is out of range: a whole number, at least {least}")
    targets: list[tuple[str, str | None]] = [
        (p, None) if isinstance(p, str) else (p.name, p.to_json()) for p in policies
    ]
    if isinstance(log, (str, os.PathLike)):
        shown, ranked = _core.evaluate_log(os.fspath(log), targets, **options)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log.jsonl"
            write_log(path, log)
            try:
                shown, ranked = _core.evaluate_log(path, targets, **options)
            except ValueError as error:
                # Line n of the file, which nobody knows of, is round n.
                said = re.sub(rf"{re.escape(str(path))}:(?=\d)", "round ", str(error))
                raise ValueError(said.replace(str(path), "the log")) from None
    return [_made(*one) for one in shown], ranked


def _made(text: str, table: str, svg: str) -> Evaluation:
    details = json.loads(text)
    best = details["verdict"]["recommended"]
    return Evaluation(
        policy=details["policy"],
        value=best and best["value"],
        interval=best and (best["interval"][0], best["interval"][1]),
        sentences=tuple(details["verdict"]["sentences"]),
        details=details,
        table=table,
        svg=svg,
    )


def write_log(path: str | os.PathLike[str], log: Any) -> None:
    """Writes rounds, a frame or ``bandit_feedback`` as a log of JSON lines."""
    with open(path, "w", encoding="utf-8") as file:
        for number, entry in enumerate(_rounds(log), 1):
            line = {"event": str(number), **{key: _plain(value) for key, value in entry.items() if value is not None}}
            try:
                file.write(json.dumps(line, allow_nan=False) + "\n")
            except ValueError:
                raise ValueError(
                    f"round {number}: every number must be finite; leave out a reward that has not come yet"
                ) from None


def read_log(path: str | os.PathLike[str], into: Literal["rounds", "pandas", "polars"] = "rounds") -> Any:
    """A log as rounds, or as a frame of pandas or polars.

    Late rewards stand with their rounds; ``None`` (in a frame: missing) where one never came. A frame has the columns
    of the CSV form, so rounds with arms are given as rounds only. What is given back can be evaluated or written again.

    Parameters
    ----------
    path
        JSON lines, or CSV if its name ends in ``.csv``; gzipped or not.
    into : str
        ``"rounds"`` for a list of dictionaries, ``"pandas"`` or ``"polars"`` for a frame.
    """
    if into not in ("rounds", "pandas", "polars"):
        raise ValueError(f"into = {into!r} is out of range: rounds, pandas or polars")
    rounds: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(_lines(path), 1):
        event = str(line.get("event", f"line {number}"))
        if "chosen" in line or "point" in line:
            rounds[event] = {"reward": None, **line}
        elif event in rounds:
            rounds[event]["reward"] = line.get("reward")
    made = list(rounds.values())
    if into == "rounds":
        return made
    flat = [_flat(number, entry) for number, entry in enumerate(made, 1)]
    if into == "pandas":
        import pandas

        return pandas.DataFrame(flat)
    import polars

    return polars.DataFrame(flat, infer_schema_length=None)


def _lines(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The lines of a file as dictionaries, without what is empty; a torn last line is dropped."""
    name = os.fspath(path)
    plain = name[: -len(".gz")] if name.endswith(".gz") else name
    opener: Any = gzip.open if plain != name else open
    with opener(name, "rt", encoding="utf-8") as file:
        if plain.endswith(".csv"):
            for record in csv.DictReader(file):
                given = {key: value for key, value in record.items() if value not in ("", None)}
                row = {key: _number(key, value) for key, value in given.items()}
                yield _from_record(row) if "chosen" in row else row
            return
        actions: Any = None
        for text in file:
            if not text.strip():
                continue
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                if text.endswith("\n"):
                    raise
                return
            if "context" in line:
                actions = line.setdefault("actions", actions)
            yield line


def _number(key: str, text: str) -> Any:
    is_number = key in ("propensity", "propensity_error", "reward") or (key[:1] == "x" and key[1:].isdigit())
    return float(text) if is_number else text


def _flat(number: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """A round as a row of a frame."""
    if not isinstance(entry.get("context"), list) or "features" in entry:
        raise ValueError(f"round {number}: a frame holds contexts of numbers and actions without features")
    rest = {key: value for key, value in entry.items() if key not in ("context", "actions")}
    named = {f"x{i}": float(x) for i, x in enumerate(entry["context"], 1)}
    return {**rest, "actions": "|".join(map(str, entry["actions"])), **named}


def _rounds(log: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(log, Mapping) and {"action", "pscore"} <= log.keys():
        return _from_bandit_feedback(log)
    if hasattr(log, "to_dicts"):  # polars
        return map(_from_record, log.to_dicts())
    if hasattr(log, "to_dict") and hasattr(log, "columns"):  # pandas
        return map(_from_record, log.to_dict("records"))
    if isinstance(log, Mapping) or not isinstance(log, Iterable):
        raise TypeError(f"a log is a path, rounds, a frame, or bandit_feedback, not {type(log).__name__}")
    return log


def _from_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a frame: the context in x1, x2, …, the names on offer with bars between them."""
    entry = {key: value for key, value in record.items() if not (key[:1] == "x" and key[1:].isdigit())}
    entry["context"] = [record[f"x{i}"] for i in range(1, len(record) + 1) if f"x{i}" in record]
    if isinstance(entry.get("actions"), str):
        entry["actions"] = entry["actions"].split("|")
    # In a frame NaN is how a missing value looks.
    return {key: value for key, value in entry.items() if not (isinstance(value, float) and value != value)}


def _from_bandit_feedback(feedback: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    import numpy as np

    actions = [str(action) for action in range(int(feedback["n_actions"]))]
    rounds = len(feedback["action"])
    context = feedback.get("context")
    context = np.ones((rounds, 1)) if context is None else np.asarray(context, dtype=float)
    for i in range(rounds):
        yield {
            "context": context[i],
            "actions": actions,
            "chosen": str(int(feedback["action"][i])),
            "propensity": feedback["pscore"][i],
            "reward": feedback["reward"][i],
        }


def to_bandit_feedback(log: Any) -> dict[str, Any]:
    """A log with the same actions in every round as ``bandit_feedback`` of the Open Bandit Pipeline.

    Parameters
    ----------
    log
        A path, rounds, or a frame.
    """
    import numpy as np

    rounds = read_log(log) if isinstance(log, (str, os.PathLike)) else list(_rounds(log))
    names = list(rounds[0].get("actions") or []) if rounds else []
    for number, entry in enumerate(rounds, 1):
        complete = entry.get("propensity") is not None and entry.get("reward") is not None
        if list(entry.get("actions") or []) != names or not names or not complete:
            raise ValueError(
                f"round {number}: bandit_feedback needs the same actions, a propensity and a reward in every round"
            )
    return {
        "n_rounds": len(rounds),
        "n_actions": len(names),
        "context": np.array([entry["context"] for entry in rounds], dtype=float),
        "action": np.array([names.index(entry["chosen"]) for entry in rounds], dtype=int),
        "reward": np.array([entry["reward"] for entry in rounds], dtype=float),
        "pscore": np.array([entry["propensity"] for entry in rounds], dtype=float),
        "position": np.zeros(len(rounds), dtype=int),
    }


def _plain(value: Any) -> Any:
    """Arrays and their numbers as lists and numbers of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value
