"""The policies, one class a row of the registry: a policy that the Rust core gains appears here by itself.

>>> import numpy as np
>>> from reluctant import OfuRelu
>>> policy = OfuRelu(dim=2, neurons=3, explore=20, seed=1)
>>> arms = np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.8]])
>>> choice = policy.select(arms)
>>> policy.update(choice, reward=0.7)
>>> policy
OfuRelu(dim=2, seed=1, neurons=3, explore=20)
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from . import _core

P = TypeVar("P", bound="Policy")


class Policy(_core.Policy):
    """What every policy can do: choose, learn, predict, be saved. Make one of its subclasses."""

    __slots__ = ()

    kind: ClassVar[str] = ""
    """The policy's name in experiments and on the command line."""
    on_sphere: ClassVar[bool] = False
    """Whether it also chooses from the whole unit sphere: ``select("sphere")``."""

    def __new__(cls: type[P], dim: int, *, seed: int = 0, **params: Any) -> P:
        if not cls.kind:
            raise TypeError(f"make one of its subclasses: {', '.join(__all__[1:])}")
        return super().__new__(cls, cls.kind, dim, seed, params)

    @classmethod
    def from_json(cls: type[P], text: str) -> P:
        """The policy that ``to_json`` wrote: it goes on to the bit."""
        kind = _core.saved_kind(text)
        target = cls if cls.kind == kind else CLASSES[kind]
        if not issubclass(target, cls):
            raise ValueError(f"this saved policy is of class {target.__name__}, not {cls.__name__}")
        return _core.Policy.__new__(target, kind, 1, 0, {}, saved=text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the whole state to a file of JSON, which is either the old one or the new one, never a part."""
        part = Path(path).with_name(f"{Path(path).name}.part")
        part.write_text(self.to_json(), encoding="utf-8")
        os.replace(part, path)

    @classmethod
    def load(cls: type[P], path: str | os.PathLike[str]) -> P:
        """Reads what ``save`` wrote. ``Policy.load`` reads any policy, a subclass only its own."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{os.fspath(path)} is not a saved policy: it is not text") from None
        return cls.from_json(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.to_json()), getattr(self, "__dict__", None) or None

    def __repr__(self) -> str:
        given = {"dim": self.dim, "seed": self.seed, **self.given}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _restore(cls: type[P], text: str) -> P:
    return cls.from_json(text)


def class_name(kind: str) -> str:
    """``ofu-relu`` becomes ``OfuRelu``."""
    return "".join(part.capitalize() for part in kind.split("-"))


def _signature(row: Mapping[str, Any]) -> inspect.Signature:
    word, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("cls", word), inspect.Parameter("dim", word)]
    parameters.append(inspect.Parameter("seed", keyword, default=0))
    for param in row["params"]:
        default = inspect.Parameter.empty if param["required"] else param["default"]
        parameters.append(inspect.Parameter(param["keyword"], keyword, default=default))
    return inspect.Signature(parameters)


def _documentation(row: Mapping[str, Any]) -> str:
    lines = [row["summary"][:1].upper() + row["summary"][1:] + ".", "", row["citation"] + "."]
    lines += ["", "Parameters", "----------", "dim : int", "    The dimension of an action, or of a context."]
    lines += ["seed : int, default 0", "    All randomness comes from it."]
    for param in row["params"]:
        default = "required" if param["required"] else f"default {param['default_text']}"
        lines += [f"{param['keyword']} : {param['type']}, {default}", f"    {param['doc']}: {param['allowed']}."]
    return "\n".join(lines)


def _make(row: Mapping[str, Any]) -> type[Policy]:
    name = class_name(row["name"])

    # What the signature does not offer is taken in all the same, to say what to write instead.
    def new(cls: type[P], dim: int, *unnamed: Any, seed: int = 0, **params: Any) -> P:
        if unnamed:
            raise TypeError(f"seed and parameters are keyword-only: {name}({dim!r}, seed={unnamed[0]!r})")
        return Policy.__new__(cls, dim, seed=seed, **params)

    new.__name__, new.__qualname__ = "__new__", f"{name}.__new__"
    new.__signature__ = _signature(row)  # type: ignore[attr-defined]
    body = {
        "__new__": new,
        "__slots__": (),
        "__module__": __name__,
        "__doc__": _documentation(row),
        "kind": row["name"],
        "on_sphere": row["sphere"],
    }
    return type(name, (Policy,), body)


CLASSES: dict[str, type[Policy]] = {row["name"]: _make(row) for row in _core.policies()}
"""Every policy by its name in the registry."""

globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["Policy", *(cls.__name__ for cls in CLASSES.values())]
