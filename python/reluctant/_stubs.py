"""Writes ``policies.pyi``, the types of the classes that are made from the registry.

Called by ``python -m reluctant._stubs [--check]``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _core
from .policies import class_name

PATH = Path(__file__).with_name("policies.pyi")

HEAD = """# Made from the registry by `python -m reluctant._stubs`; not to be edited.

import os
from typing import ClassVar, Final, Literal

from typing_extensions import Self

from . import _core

class Policy(_core.Policy):
    kind: ClassVar[str]
    on_sphere: ClassVar[bool]
    def __new__(cls, dim: int, *, seed: int = 0, **params: float | str | None) -> Self: ...
    @classmethod
    def from_json(cls, text: str) -> Self: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self: ...

CLASSES: Final[dict[str, type[Policy]]]

def class_name(kind: str) -> str: ...
"""


def stub() -> str:
    """The whole file."""
    rows = _core.policies()
    names = ["Policy", *(class_name(row["name"]) for row in rows)]
    listed = "".join(f'    "{name}",\n' for name in names)
    return HEAD + "".join(_class(row) for row in rows) + f"\n__all__ = [\n{listed}]\n"


def _class(row: Mapping[str, Any]) -> str:
    lines = [
        "",
        f"class {class_name(row['name'])}(Policy):",
        "    def __new__(",
        "        cls,",
        "        dim: int,",
        "        *,",
    ]
    lines.append("        seed: int = 0,")
    lines += [f"        {_parameter(param)}," for param in row["params"]]
    return "\n".join([*lines, "    ) -> Self: ...", ""])


def _parameter(param: Mapping[str, Any]) -> str:
    kind = f"Literal[{', '.join(map(_quote, param['words']))}]" if param["words"] else param["type"]
    if param["required"]:
        return f"{param['keyword']}: {kind}"
    if param["default"] is None:
        return f'{param["keyword"]}: {kind} | Literal["auto"] | None = None'
    default = _quote(param["default"]) if isinstance(param["default"], str) else repr(param["default"])
    return f"{param['keyword']}: {kind} | None = {default}"


def _quote(word: str) -> str:
    return f'"{word}"'


def main(arguments: list[str]) -> int:
    """Writes the file, or with ``--check`` says whether it is up to date."""
    if arguments == ["--check"]:
        if PATH.read_text(encoding="utf-8") == stub():
            return 0
        print(f"{PATH.name} does not fit the registry: run python -m reluctant._stubs", file=sys.stderr)
        return 1
    PATH.write_text(stub(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
