"""What mkdocs asks when it builds the guide: notebooks become pages, links out of the guide lead to the repository."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

LINK = re.compile(r"(\]\()(\.\./[^)\s#]*)")
NOTEBOOK = re.compile(r"(\]\([^):]*)\.ipynb\)")


def on_files(files: Any, *, config: Any, **_: Any) -> Any:
    """Every notebook becomes a page, with the outputs that are kept in it."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        stem = file.src_uri.removesuffix(".ipynb")
        page, pictures = _as_page(json.loads(Path(file.abs_src_path).read_text(encoding="utf-8")), stem)
        files.append(File.generated(config, f"{stem}.md", content=page))
        for name, content in pictures.items():
            files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Links to notebooks lead to their pages, links to files outside of the guide to the repository."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")

    def lead(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found[2]))
        if target.startswith("docs/"):
            return found[0]
        return f"{found[1]}{config['repo_url'].rstrip('/')}/tree/main/{target}"

    return LINK.sub(lead, NOTEBOOK.sub(r"\1.md)", markdown))


def _as_page(notebook: dict[str, Any], stem: str) -> tuple[str, dict[str, bytes]]:
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if output.get("name") == "stderr":
                continue
            if "image/png" in data:
                name = f"{stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![What the cell above draws]({posixpath.basename(name)})")
            elif "text/html" in data:
                parts.append("".join(data["text/html"]))
            else:
                text = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```text\n{text.rstrip()}\n```")
    parts.append(f"[This page as a notebook]({posixpath.basename(stem)}.ipynb)")
    return "\n\n".join(parts), pictures
