"""The package as a whole: its types, its examples, its weight."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest
import reluctant
from reluctant import _stubs

ROOT = Path(__file__).parents[2]
# The page on the service needs a service: the tests of the client and of the crate run what it shows.
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if "```python" in page.read_text(encoding="utf-8") and page.stem != "serve"
]
MODULES = [name for _, name, _ in pkgutil.walk_packages(reluctant.__path__, "reluctant.")]


def test_the_stub_of_the_policies_fits_the_registry() -> None:
    assert _stubs.PATH.read_text(encoding="utf-8") == _stubs.stub(), "run python -m reluctant._stubs"


def test_the_stubs_fit_what_they_describe() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "reluctant._core", "reluctant.policies"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["reluctant", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    tried = doctest.testmod(module)
    assert tried.failed == 0


def test_examples_in_the_compiled_half_are_found() -> None:
    found = doctest.DocTestFinder(exclude_empty=True).find(reluctant._core)
    assert "reluctant._core.Policy.update" in {test.name for test in found if test.examples}


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = "{'pandas', 'matplotlib', 'sklearn', 'scipy', 'numpy', 'tqdm', 'distributed'}"
    subprocess.run([sys.executable, "-c", f"import reluctant, sys; assert not {heavy} & set(sys.modules)"], check=True)


def test_it_works_with_numpy_alone() -> None:
    """Whatever else is missing is named by who needs it."""
    program = """
import sys
for missing in ("matplotlib", "pandas", "sklearn", "tqdm", "polars", "pyarrow"):
    sys.modules[missing] = None
from reluctant import *
import reluctant
results = Experiment(policies="oful", rounds=20, trials=2).run()
assert results.to_columns("trials")["regret"].shape == (2,) and results._repr_html_()
estimator = lambda: reluctant.ReluRegressor
for needs, library in ((results.summary, "pandas"), (results.plot, "matplotlib"), (estimator, "scikit-learn")):
    try:
        needs()
    except ImportError as cause:
        assert f"pip install {library}" in str(cause), cause
    else:
        raise AssertionError(library)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "trials: 2 trials\n"


def test_everything_that_is_offered_is_there() -> None:
    assert all(getattr(reluctant, name) is not None for name in [*reluctant.__all__, *dir(reluctant)])
    with pytest.raises(AttributeError, match="has no attribute 'OfuReluu'"):
        reluctant.OfuReluu  # noqa: B018


def examples(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_readmes_example_runs_as_shown(page: str, tmp_path: Path) -> None:
    [example] = examples(ROOT / page)
    assert len(example.splitlines()) <= 11
    done = subprocess.run([sys.executable, "-c", example], check=True, capture_output=True, text=True, cwd=tmp_path)
    shown = re.search(r"# prints (.+)$", example, re.M)
    assert shown and done.stdout.strip() == shown[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_guides_examples_run_as_shown(page: Path, tmp_path: Path) -> None:
    """One page is one program, from top to bottom."""
    program = "import matplotlib; matplotlib.use('Agg')\n" + "\n".join(examples(page))
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=tmp_path)


def test_the_reference_fits_the_registry() -> None:
    spec = importlib.util.spec_from_file_location("registry", ROOT / "docs" / "registry.py")
    assert spec and spec.loader
    registry = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(registry)
    for name, text in registry.pages().items():
        assert (registry.FOLDER / name).read_text(encoding="utf-8") == text, "run python docs/registry.py"


def test_the_readme_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150 and len(text.split()) <= 1100
