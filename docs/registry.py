"""Writes the reference of policies and environments, docs/reference/*.md, from the registry: python docs/registry.py.

A test compares the files with what this program would write, so that they are never out of date.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import reluctant
from reluctant.policies import CLASSES

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/registry.py from the registry. Do not edit. -->"

POLICIES = """# Policies

Every policy that the library knows, with its parameters. The names are those of TOML files, of the command
(`reluctant list`) and of Rust (`policy::build`); Python has a class for each. A parameter that Python keeps for itself
ends with an underscore there: `lambda_`. [Choose a policy](../choose.md) says which one to begin with.

In contexts with named actions every policy also has `join`: how a context x and the features a of an action become one
vector, `concatenate` for (x, a) or `products` for all products of a number of x and one of (1, a).

Every policy also has `chance`, from 0 to 1 and by default 0: the share of its choices that are left to chance, uniform
among all on offer, so that [a log](../logs.md) of them can tell of other policies. `explore` is another name for it,
but for `ofu-relu` and `ofu-relu-plus`, which have an `explore` of their own.
"""

ENVIRONMENTS = """# Environments

Every world that experiments can be run in, with its parameters, as TOML files, the command and
`Experiment(environments=...)` name them. [Your own world](../python/environments.md) says how to add one.
"""


def pages() -> dict[str, str]:
    """The pages by their file names."""
    policies = [_section(row, CLASSES[row["name"]].__name__) for row in reluctant._core.policies()]
    environments = [_section(row, None) for row in reluctant.environments()]
    return {
        "policies.md": "\n".join([NOTE, "", POLICIES, *policies]).rstrip() + "\n",
        "environments.md": "\n".join([NOTE, "", ENVIRONMENTS, *environments]).rstrip() + "\n",
    }


def _section(row: dict[str, Any], python: str | None) -> str:
    summary = f"{row['summary'][:1].upper()}{row['summary'][1:]}."
    if row.get("sphere"):
        summary += " It also chooses from the whole sphere."
    if python:
        summary += f" In Python: `{python}`."
    lines = [f"## {row['name']}", "", *_wrap(summary), "", *_wrap(f"*{row['citation']}*"), ""]
    # Every policy has these: they are told once, above.
    params = [param for param in row["params"] if not _everywhere(param)]
    if params:
        lines += ["| parameter | default | allowed | what it is |", "| --- | --- | --- | --- |"]
    for param in params:
        cells = [f"`{param['name']}`", param["default_text"], param["allowed"], param["doc"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines).rstrip() + "\n"


def _everywhere(param: dict[str, Any]) -> bool:
    return param["keyword"] in ("join", "chance") or param["doc"] == "another name of chance"


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
