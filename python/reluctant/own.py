"""One's own environments and policies in an experiment: how they are made for a trial, and what identifies them.

The compiled half calls :meth:`OwnEnvironment.start`, :meth:`Trial.round` and :meth:`OwnPolicy.make`, wherever a trial
is played.
"""

from __future__ import annotations

import copy
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ._fingerprint import fingerprint
from .environment import Round
from .policies import Policy

if TYPE_CHECKING:
    import numpy as np

TUNING = 1 << 63
"""Tuning trials have numbers from here on."""

Parts = tuple[Any, Any, Any, Any, Any, float | None]
"""Arms or the context; the names of actions; their features; means; noise; the uniform number of a Bernoulli reward."""


class Fault(Exception):
    """A sentence that says what is wrong with a round."""


def is_environment(thing: Any) -> bool:
    """Whether it is an environment, rather than something that makes one."""
    return not isinstance(thing, type) and callable(getattr(thing, "round", None))


def name_of(thing: Any) -> str:
    """What it is called where it has no label."""
    return str(getattr(thing, "__name__", None) or type(thing).__name__)


class OwnEnvironment:
    """An environment written in Python: an object with ``round(t, rng)``, or what makes one for every trial."""

    def __init__(self, name: str, given: Any) -> None:
        if not is_environment(given):
            _check_maker(given)
        self.name, self._given, self.code = name, given, fingerprint(given)
        self._lock = threading.Lock()

    def start(self, seed: int, trial: int) -> Trial:
        """The environment of a trial."""
        given, lock = self._given, None
        where = f"at the start of trial {_number(trial)} in {self.name}"
        try:
            if not is_environment(given):
                given = given()
            if callable(getattr(given, "start", None)):
                given = (copy.deepcopy(given) if given is self._given else given).start(_generator(seed, trial))
            elif given is self._given:
                # All trials share it: one at a time.
                lock = self._lock
        except Exception as cause:
            _note(cause, where)
            raise
        if not is_environment(given):
            raise TypeError(f"{self.name} must be or return an object with round(t, rng), not {type(given).__name__}")
        return Trial(self.name, given, seed, trial, lock)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


class Trial:
    """An environment in one trial, as the compiled half sees it."""

    def __init__(self, name: str, environment: Any, seed: int, trial: int, lock: threading.Lock | None) -> None:
        self._name, self._environment, self._seed, self._trial, self._lock = name, environment, seed, trial, lock
        self.dim = _whole(name, environment, "dim")
        self.action_dim = _whole(name, environment, "action_dim")
        self.rounds = _whole(name, environment, "rounds")
        facts = getattr(environment, "facts", None)
        facts = facts() if callable(facts) else facts
        if facts is not None and not isinstance(facts, Mapping):
            raise TypeError(f"facts of {name} must be a dictionary, not {type(facts).__name__}")
        self.facts: dict[str, Any] = dict(facts or {})

    def round(self, t: int) -> Parts | str:
        """The parts of round ``t``, or a sentence that says what is wrong with it."""
        rng = _generator(self._seed, self._trial, t)
        try:
            if self._lock is None:
                answer = self._environment.round(t, rng)
            else:
                with self._lock:
                    answer = self._environment.round(t, rng)
        except Exception as cause:
            _note(cause, f"in round {t} of trial {_number(self._trial)} in {self._name}")
            raise
        try:
            return _parts(answer, rng)
        except Fault as fault:
            return str(fault)


def _number(trial: int) -> str:
    return str(trial) if trial < TUNING else f"{trial - TUNING} of the tuning"


def _note(cause: Exception, where: str) -> None:
    """The user's own exception says from now on where it was raised."""
    if hasattr(cause, "add_note"):
        cause.add_note(where)
    else:
        cause.__dict__.setdefault("__notes__", []).append(where)


def _generator(seed: int, trial: int, t: int | None = None) -> np.random.Generator:
    """The randomness of a trial, or of its round ``t``: a function of these numbers alone."""
    import numpy as np

    words = [trial >> 32, trial & 0xFFFFFFFF]
    if t is not None:
        words += [t >> 32, t & 0xFFFFFFFF]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=words)))


def _whole(name: str, environment: Any, attribute: str) -> int | None:
    value = getattr(environment, attribute, None)
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{attribute} of {name} must be a whole number, not {type(value).__name__}")
    whole = int(value.__index__())
    if whole < 0:
        raise ValueError(f"{attribute} of {name} = {whole} is out of range: at least 0")
    return whole


KEYS = list(Round.__dataclass_fields__)


def _parts(answer: Any, rng: np.random.Generator) -> Parts:
    import numpy as np

    given = _as_round(answer)
    if (given.arms is None) == (given.context is None):
        found = "neither" if given.arms is None else "both"
        raise Fault(f"it must offer arms or a context with actions, not {found}")
    if given.means is None:
        raise Fault("it must tell the mean rewards of what it offers: means is missing")
    if given.arms is not None and (given.actions is not None or given.action_features is not None):
        raise Fault("actions and action_features go with a context, not with arms")
    names = None if given.context is None else _names(given.actions)
    means = np.asarray(given.means) if not np.ma.isMaskedArray(given.means) else given.means
    if isinstance(given.noise, str):
        if given.noise != "bernoulli":
            raise Fault(f"noise must be numbers or 'bernoulli', not the text {given.noise!r}")
        outside = [mean for mean in np.ravel(means).tolist() if not 0 <= mean <= 1]
        if outside:
            raise Fault(f"a mean of {outside[0]} is no probability, which noise='bernoulli' needs: 0 to 1")
        return _offer(given), names, given.action_features, means, 0.0, float(rng.random())
    noise = given.noise if np.ndim(given.noise) else float(given.noise)  # type: ignore[arg-type]
    return _offer(given), names, given.action_features, means, noise, None


def _offer(given: Round) -> Any:
    return given.context if given.arms is None else given.arms


def _as_round(answer: Any) -> Round:
    if isinstance(answer, Round):
        return answer
    if isinstance(answer, Mapping):
        unknown = [key for key in answer if key not in KEYS]
        if unknown:
            raise Fault(f"it has no '{unknown[0]}'; known are {', '.join(KEYS)}")
        return Round(**answer)
    if isinstance(answer, tuple):
        if len(answer) not in (2, 3):
            raise Fault(f"a tuple must be (arms, means) or (arms, means, noise), not {len(answer)} things")
        return Round(*answer)
    found = type(answer).__name__
    raise Fault(f"round must return a Round, a dictionary or a tuple (arms, means, noise), not {found}")


def _names(actions: Any) -> list[str]:
    if actions is None or isinstance(actions, (str, Mapping)) or not hasattr(actions, "__iter__"):
        raise Fault("a context goes with actions, a list of their names")
    names = list(actions)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise Fault(f"the name of an action must be text, not {wrong[0]!r}")
    return names


def _check_maker(given: Any) -> None:
    """An error unless it can be called without arguments."""
    if not callable(given):
        raise TypeError(
            f"{given!r} is no environment: give the name of one, a table with its kind, "
            "or an object with dim and round(t, rng)"
        )
    try:
        inspect.signature(given).bind()
    except TypeError as cause:
        raise TypeError(
            f"{name_of(given)} needs arguments ({cause}): give an object that is made, "
            "something that makes one without arguments, "
            "or reluctant.Function(mean, arms=...) for a function of the mean reward"
        ) from None
    except ValueError:
        pass


class OwnPolicy:
    """A policy written in Python: something that makes one for every trial."""

    def __init__(self, name: str, given: Any, params: Mapping[str, Any]) -> None:
        self.name, self.code = name, fingerprint(given)
        self._values: dict[str, tuple[str, list[Any]]] = {}
        for keyword, value in params.items():
            if value is not None:
                values = list(value) if isinstance(value, (list, tuple)) else [value]
                self._values[keyword.rstrip("_")] = (keyword, [_plain(item) for item in values])
        self._make = self._maker(given)

    def _maker(self, given: Any) -> Callable[..., Any]:
        if plays(given) and not isinstance(given, type):
            if self._values:
                keyword = next(iter(self._values.values()))[0]
                raise TypeError(
                    f"{keyword} cannot be given to {self.name}, which is made already: "
                    f"give something that makes it, make(dim, seed, {keyword})"
                )
            return _Copies(given)
        if isinstance(given, type) and issubclass(given, Policy):
            return _Seeded(given)
        if callable(given):
            return given  # type: ignore[no-any-return]
        raise TypeError(f"{self.name} must have select(arms) and update(action, reward), or return such an object")

    @property
    def params(self) -> list[tuple[str, str]]:
        """The parameters and the kind of their values."""
        return [(name, _kind(keyword, values)) for name, (keyword, values) in self._values.items()]

    def make(self, dim: int, seed: int, trial: int, settings: Mapping[str, Any]) -> Any:
        """The policy of a trial; every trial has a seed of its own, the same whoever plays it."""
        own = seed + trial if trial < TUNING else (seed + trial - TUNING) ^ (1 << 31)
        made = self._make(dim, own & 0xFFFFFFFFFFFFFFFF, **dict(map(self._given, settings, settings.values())))
        if not plays(made):
            found = type(made).__name__
            raise TypeError(
                f"{self.name} must return an object with select(arms) and update(action, reward), not {found}"
            )
        return made

    def _given(self, name: str, value: Any) -> tuple[str, Any]:
        """A parameter as it was given: 3 and 3.0 are the same to an experiment."""
        keyword, values = self._values[name]
        return keyword, next((item for item in values if item == value and type(item) is not bool), value)


class _Copies:
    """Gives every trial a copy of one object."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def __call__(self, dim: int, seed: int) -> Any:
        return copy.deepcopy(self.original)


class _Seeded:
    """Makes an object of a class that extends one of this package, whose seed needs its name."""

    def __init__(self, kind: type[Policy]) -> None:
        self.kind = kind

    def __call__(self, dim: int, seed: int, **params: Any) -> Any:
        return self.kind(dim, seed=seed, **params)


def plays(thing: Any) -> bool:
    """Whether it is a policy."""
    return callable(getattr(thing, "select", None)) and callable(getattr(thing, "update", None))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _kind(name: str, values: list[Any]) -> str:
    kinds = {_kind_of(name, value) for value in values}
    if kinds == {"count", "real"}:
        return "real"
    if len(kinds) > 1:
        raise TypeError(f"the values of {name} must be of one type, not {' and '.join(sorted(kinds))}")
    return kinds.pop() if kinds else "real"


def _kind_of(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "count" if 0 <= value < 1 << 64 else "real"
    if isinstance(value, float):
        return "real"
    if isinstance(value, str):
        return "text"
    raise TypeError(f"{name} must be a number, a word, true/false or a list of them, not {type(value).__name__}")
