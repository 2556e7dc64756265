"""Every notebook runs from top to bottom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "python").glob("*.ipynb"))


def texts(notebook: Any) -> list[str]:
    """What the cells print and return, but for pictures, progress bars and the names of objects in memory."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = output.get("text", "") if output.output_type == "stream" else output.data.get("text/plain", "")
            if "image/png" not in output.get("data", {}) and output.get("name") != "stderr" and " at 0x" not in text:
                found.append(text)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_says_what_it_is_kept_with(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    kept = texts(notebook)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    assert texts(notebook) == kept, "run jupyter execute --inplace docs/python/*.ipynb"
    assert any("image/png" in o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", []))
