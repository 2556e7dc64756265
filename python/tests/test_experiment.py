"""Experiments: the same bytes wherever they are played, and everything that results can be turned into."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
from collections import Counter
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import small_settings
from reluctant import Experiment, Oful, OfuRelu, PoolExecutor, Results, executors, progress


def same(a: Results, b: Results) -> bool:
    """Whether every curve and every trial agree to the byte."""
    return all(a._core.render(file) == b._core.render(file) for file in ("curves.csv", "trials.csv"))


def lines(folder: Path) -> list[dict[str, Any]]:
    """The lines of a folder's results in canonical order, without what a clock said."""
    text = (folder / "results.jsonl").read_text().splitlines()
    kept = [{key: value for key, value in json.loads(line).items() if "seconds" not in key} for line in text]
    return sorted(kept, key=lambda line: str(line["id"]))


class Greedy:
    """A policy of one's own: the arm nearest to the best action so far."""

    def __init__(self, dim: int, seed: int) -> None:
        self.rng, self.best, self.top = np.random.default_rng(seed), np.zeros(dim), -np.inf

    def select(self, arms: Any) -> int:
        return int(np.argmax(arms @ self.best)) if self.rng.random() > 0.1 else int(self.rng.integers(len(arms)))

    def update(self, action: Any, reward: float) -> None:
        if reward > self.top:
            self.best, self.top = action, reward


@pytest.fixture(scope="module")
def reference() -> Results:
    return Experiment(**small_settings()).run(progress=False, threads=1)


def test_threads_do_not_change_a_byte(small: Experiment, reference: Results) -> None:
    assert same(small.run(progress=False, threads=2), reference)


def test_executors_do_not_change_a_byte(small: Experiment, reference: Results, tmp_path: Path) -> None:
    small.run(progress=False, out=tmp_path / "here")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as processes:
        assert same(small.run(progress=False, executor=processes, out=tmp_path / "there"), reference)
    assert lines(tmp_path / "here") == lines(tmp_path / "there")
    with ThreadPoolExecutor(2) as threads:
        assert same(small.run(progress=False, executor=threads), reference)
    with spawn.Pool(2) as pool:
        assert same(small.run(progress=False, executor=PoolExecutor(pool)), reference)


class Unsteady(Executor):
    """Loses every trial once, and runs it when it is handed in again."""

    def __init__(self, forgiving: bool = True) -> None:
        self.seen: Counter[Any] = Counter()
        self.forgiving = forgiving

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.seen[args] += 1
        if self.seen[args] == 1 or not self.forgiving:
            future.set_exception(BrokenProcessPool("a worker was lost"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_lost_trial_is_handed_in_again(small: Experiment, reference: Results) -> None:
    executor = Unsteady()
    assert same(small.run(progress=False, executor=executor), reference)
    assert set(executor.seen.values()) == {2}
    with pytest.raises(BrokenProcessPool):
        small.run(progress=False, executor=Unsteady(forgiving=False))


def die(*_: Any) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def test_a_broken_pool_says_what_to_do(small: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors._core, "run_trial", die)
    with ProcessPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="make a new one and run again"):
        small.run(progress=False, executor=pool)


def test_a_worker_of_another_version_is_refused(small: Experiment) -> None:
    from reluctant import _core

    _, waiting = _core.Store(small._core).waiting("tuning")
    with pytest.raises(RuntimeError, match="this worker has reluctant .*, but the experiment was started with 9.9.9"):
        _core.run_trial(waiting[0][2], "9.9.9")


def test_a_result_is_taken_once_and_only_where_it_belongs(small: Experiment) -> None:
    from reluctant import _core

    store = _core.Store(small._core)
    _, waiting = store.waiting("tuning")
    line = _core.run_trial(waiting[0][2], _core.__version__)
    assert store.accept(waiting[0][2], line) is True
    assert store.accept(waiting[0][2], line) is False
    assert len(store.waiting("tuning")[1]) == len(waiting) - 1
    with pytest.raises(ValueError, match="does not fit"):
        store.accept(waiting[1][2], line)
    with pytest.raises(ValueError, match="does not fit"):
        store.accept(waiting[1][2], "{}")


class Stop(Exception):
    """Raised by a test's progress."""


def test_an_interrupted_run_goes_on(small: Experiment, reference: Results, tmp_path: Path) -> None:
    finished = 0

    def interrupt(*event: Any) -> None:
        nonlocal finished
        finished += event[0] == "finished"
        if finished == 10:
            raise Stop

    with pytest.raises(Stop):
        small.run(progress=interrupt, out=tmp_path, threads=1)
    kept = len(lines(tmp_path))
    assert kept >= 10
    heard: list[Any] = []
    assert same(small.run(progress=lambda *event: heard.append(event), out=tmp_path), reference)
    assert heard[0] == ("begin", "tuning", 32, min(kept, 32))
    assert same(Results.read(tmp_path), reference)
    assert {"report.html", "regret.png", "summary.json"} <= {path.name for path in tmp_path.iterdir()}
    with pytest.raises(
        ValueError, match=r"another experiment \(.*\); choose another folder with out=, or start over with fresh=True"
    ):
        Experiment(**small_settings(seed=4)).run(progress=False, out=tmp_path)
    Experiment(**small_settings(seed=4)).run(progress=False, out=tmp_path, fresh=True)


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**70])
def test_a_wrong_number_of_threads_is_refused_before_anything_is_lost(
    small: Experiment, threads: int, tmp_path: Path
) -> None:
    (tmp_path / "results.jsonl").write_text("precious")
    with pytest.raises(ValueError, match=f"threads = {threads} is out of range: 1 to 1024, or None for one a core"):
        small.run(progress=False, threads=threads, out=tmp_path, fresh=True)
    assert (tmp_path / "results.jsonl").read_text() == "precious"
    with pytest.raises(TypeError, match="threads must be a whole number, not float"):
        small.run(progress=False, threads=2.5)  # type: ignore[arg-type]


def test_ctrl_c_ends_a_trial_that_would_take_for_ever() -> None:
    def interrupt(*event: Any) -> None:
        if event[:2] == ("begin", "trials"):
            os.kill(os.getpid(), signal.SIGINT)

    # A shell starts what runs in the background with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Experiment(policies="oful", rounds=10**9, trials=4).run(progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)


def test_toml_text_and_file_and_keywords_are_the_same(small: Experiment, reference: Results, tmp_path: Path) -> None:
    text = small.to_toml()
    (tmp_path / "experiment.toml").write_text(text)
    assert same(Experiment.from_toml(text).run(progress=False), reference)
    assert same(Experiment.from_toml(tmp_path / "experiment.toml").run(progress=False), reference)
    assert repr(small) == "Experiment('experiment': OFUL, OFU-ReLU; 5 trials in small, line)"


def test_the_command_line_writes_the_same_bytes(small: Experiment, tmp_path: Path) -> None:
    command = os.environ.get("RELUCTANT_CLI")
    if not command:
        pytest.skip("RELUCTANT_CLI does not name the command")
    (tmp_path / "experiment.toml").write_text(small.to_toml())
    run = [command, "run", str(tmp_path / "experiment.toml"), "--out", str(tmp_path / "command")]
    subprocess.run(run, check=True, capture_output=True)
    small.run(progress=False, out=tmp_path / "python")
    for file in ("curves.csv", "trials.csv", "regret.svg"):
        assert (tmp_path / "command" / file).read_bytes() == (tmp_path / "python" / file).read_bytes()
    assert lines(tmp_path / "command") == lines(tmp_path / "python")


@pytest.mark.parametrize(
    ("changes", "kind", "sentence"),
    [
        ({"policies": "ofull"}, ValueError, "unknown policy 'ofull'; did you mean 'oful'?"),
        ({"policies": {"kind": "oful", "lamda": 1.0}}, ValueError, "did you mean 'lambda'?"),
        (
            {"policies": {"kind": "oful", "lambda_": {}}},
            TypeError,
            "lambda_ must be a number, a word, true/false or a list",
        ),
        ({"policies": []}, ValueError, "policy is missing"),
        ({"environments": "relu-spere"}, ValueError, "did you mean 'relu-sphere'?"),
        ({"rounds": 0}, ValueError, "rounds = 0 is out of range"),
        ({"policies": ["oful", "oful"]}, ValueError, "have the label 'oful'"),
        ({"policies": [Oful, {"kind": "oful", "label": "Oful"}]}, ValueError, "have the label 'Oful'"),
        ({"policies": [Oful(2), {"kind": "oful", "label": "Oful"}]}, ValueError, "two policies have the label 'Oful'"),
        ({"policies": {"policy": Oful, "lamda_": 1}}, ValueError, "did you mean 'lambda'?"),
        ({"policies": {"policy": Greedy, "kind": "oful"}}, TypeError, "a policy of one's own has no kind"),
        (
            {"policies": {"policy": Oful(2), "lambda_": 1}},
            TypeError,
            "lambda_ cannot be given to Oful, which is made already",
        ),
        ({"policies": 7}, TypeError, "must have select(arms) and update(action, reward)"),
    ],
)
def test_mistakes_are_named_before_the_first_trial(changes: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        Experiment(**small_settings(**changes))
    assert sentence in str(caught.value)


def test_policies_of_ones_own_play_beside_the_built_in_ones(reference: Results) -> None:
    plain = Oful(2, lambda_=0.01)
    policies = [
        Greedy,
        *small_settings()["policies"],
        {"label": "own OFUL", "policy": plain},
        {"kind": "oful", "lambda_": 0.01},
    ]
    experiment = Experiment(**small_settings(policies=policies))
    results = experiment.run(progress=False)
    assert list(dict.fromkeys(results.trials()["policy"])) == ["Greedy", "OFUL", "OFU-ReLU", "own OFUL", "oful"]
    regret = results.trials().pivot(index=["panel", "trial"], columns="policy", values="regret")
    # The same policy through Python and through the registry: the same arms, the same noise, the same regret.
    assert (regret["own OFUL"] == regret["oful"]).all()
    assert plain.rounds == 0
    old = reference.trials().pivot(index=["panel", "trial"], columns="policy", values="regret")
    assert (regret[["OFUL", "OFU-ReLU"]] == old[["OFUL", "OFU-ReLU"]]).all(axis=None)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert same(experiment.run(progress=False, executor=pool), results)


class Later(Oful):
    """Made from a class of the package, with something of its own."""

    def select_index(self, arms: Any) -> int:
        return super().select_index(arms)


def test_a_class_of_the_package_is_the_policy_it_was_made_from() -> None:
    environment = {"kind": "relu-sphere", "arms": 20}
    experiment = Experiment(
        environment, policies=[Oful, OfuRelu, {"label": "mine", "policy": Oful}, Later, "oful"], rounds=60, trials=2
    )
    table = experiment.run(progress=False).trials().pivot(index="trial", columns="policy", values="regret")
    assert set(table) == {"Oful", "OfuRelu", "mine", "Later", "oful"}
    assert all((table[label] == table["oful"]).all() for label in ("Oful", "mine", "Later"))
    # As it stands in the registry it is told the number of neurons, and the command line can play it.
    assert '"kind" = "ofu-relu"\n"label" = "OfuRelu"' in experiment.to_toml()
    assert "Later" not in experiment.to_toml()


def test_only_ones_own_policies_are_not_written_as_others() -> None:
    with pytest.raises(ValueError, match="all of this one's are written in Python: Greedy, Later"):
        Experiment(policies=[Greedy, Later]).to_toml()


def test_a_policy_of_ones_own_alone() -> None:
    results = Experiment(policies=Greedy, rounds=20, trials=2).run(progress=False)
    assert results.summary()["policy"].tolist() == ["Greedy"]
    sphere = Experiment({"kind": "relu-sphere", "actions": "sphere"}, policies=Oful(2), rounds=20, trials=2)
    assert sphere.run(progress=False).summary()["mean"].iloc[0] > 0


class Wrong(Greedy):
    """Chooses what is not there."""

    def select(self, arms: Any) -> Any:
        return len(arms)


class Mute(Greedy):
    """Forgets to answer."""

    def select(self, arms: Any) -> Any:
        return None


class Failing(Greedy):
    """Has a mistake of its own."""

    def update(self, action: Any, reward: float) -> None:
        raise KeyError("mine")


@pytest.mark.parametrize(
    ("policy", "kind", "sentence"),
    [
        (Wrong, IndexError, "select chose row 1000, but there are 1000 arms"),
        (Mute, TypeError, "select must return the row it chose, a whole number, not NoneType"),
        (Failing, KeyError, "mine"),
    ],
)
def test_mistakes_of_ones_own_policy_come_through(policy: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        Experiment(policies=policy, rounds=5, trials=1).run(progress=False)


def test_frames(reference: Results) -> None:
    curves, trials, summary = reference.curves(), reference.trials(), reference.summary()
    assert len(curves) == 2 * 2 * 60 and len(trials) == 2 * 2 * 5 and len(summary) == 4
    last = curves[curves["round"] == 60].set_index(["panel", "policy"])["mean"]
    mean = trials.groupby(["panel", "policy"])["regret"].mean()
    assert np.allclose(last.sort_index(), mean.sort_index())
    assert summary["tuned"].str.startswith("lambda = ").sum() == 2
    for what, frame in (("curves", curves), ("trials", trials), ("summary", summary)):
        assert reference.to_arrow(what).num_rows == reference.to_polars(what).height == len(frame)
        assert reference.to_polars(what).columns == list(frame.columns)
    with pytest.raises(ValueError, match="known are curves, rounds, trials, summary"):
        reference.to_columns("curve")
    assert reference.to_dict()["seed"] == 3
    assert "OFU-ReLU" in reference.table() and "OFU-ReLU" in repr(reference)


def test_the_figure(reference: Results) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = reference.plot()
    assert reference.panels == reference.environments
    assert [axes.get_title() for axes in figure.axes] == list(reference.environments.values())
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["OFUL", "OFU-ReLU"]
    _, axes = plt.subplots(2, 1)
    assert reference.plot(show="median", log=True, axes=axes) is axes[0].figure
    with pytest.raises(ValueError, match="there are 2 panels but 1 axes"):
        reference.plot(axes=axes[0])
    with pytest.raises(ValueError, match="show must be one of mean, median"):
        reference.plot(show="mode")
    plt.close("all")


def test_html_for_notebooks(reference: Results) -> None:
    page = reference._repr_html_()
    assert page.count("<tr>") == 5 and "<svg" in page and "OFU-ReLU" in page


def test_progress_shows_bars_or_lines(small: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    small.run(progress=True)
    assert "tuning: 100%" in capsys.readouterr().err
    small.run(progress=progress.Lines())
    assert capsys.readouterr().err == "tuning: 32 trials\ntrials: 20 trials\n"


def test_a_table_may_be_named_by_a_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("x;y\n" + "".join(f"{i % 7};{'ab'[i % 2]}\n" for i in range(30)))
    table = {"kind": "table", "file": file, "separator": "semicolon"}
    results = Experiment(table, policies=["oful"], rounds=20, trials=1).run(progress=False)
    assert len(results.trials()) == 1
