"""Puts the tables of policies and environments into the guide, from the registry itself."""

from __future__ import annotations

from typing import Any

import reluctant
from reluctant.policies import CLASSES


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page."""
    policies = "\n".join(_section(CLASSES[row["name"]].__name__, row) for row in reluctant._core.policies())
    environments = "\n".join(_section(row["name"], row) for row in reluctant.environments())
    return markdown.replace("<!-- policies -->", policies).replace("<!-- environments -->", environments)


def _section(name: str, row: dict[str, Any]) -> str:
    sphere = ", also from the whole sphere" if row.get("sphere") else ""
    lines = [f"### {name}", "", f"{row['summary'][:1].upper()}{row['summary'][1:]}{sphere}. *{row['citation']}*", ""]
    if row["params"]:
        lines += ["| parameter | default | allowed | what it is |", "| --- | --- | --- | --- |"]
    for param in row["params"]:
        cells = [f"`{param['keyword']}`", param["default_text"], param["allowed"], param["doc"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])
