"""Environments and policies of one's own: beside the built-in ones, on every executor, tuned, kept, reported."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reluctant import Experiment, Function, Oful, Results, Round
from reluctant._fingerprint import fingerprint
from test_experiment import lines, same


class Bowl:
    """Arms whose mean rewards are a smooth function of them; the truth is another one in every trial."""

    dim, facts = 3, {"sigma": 0.1, "neurons": 3}

    def __init__(self, truth: Any = None, arms: int = 12) -> None:
        self.truth, self.arms = truth, arms

    def start(self, rng: np.random.Generator) -> Bowl:
        return Bowl(rng.normal(size=3), self.arms)

    def round(self, t: int, rng: np.random.Generator) -> Round:
        arms = rng.normal(size=(self.arms, 3))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        return Round(arms=arms, means=np.maximum(0, arms @ self.truth), noise=0.1 * rng.normal())


class Shop:
    """Contexts with named actions, of which one is retired and one is new half-way."""

    dim, rounds = 2, 1000
    weights = {"bread": [1.0, 0.0], "milk": [0.0, 1.0], "salt": [0.2, 0.3], "tea": [0.7, 0.7]}

    def round(self, t: int, rng: np.random.Generator) -> dict[str, Any]:
        actions = ["bread", "milk", "salt"] if t < 40 else ["milk", "salt", "tea"]
        context = rng.random(2)
        means = [float(context @ self.weights[name]) / 2 for name in actions]
        return {"context": context, "actions": actions, "means": means, "noise": "bernoulli"}


class Items(Shop):
    """The same with features of the actions."""

    action_dim = 2

    def round(self, t: int, rng: np.random.Generator) -> dict[str, Any]:
        round = super().round(t, rng)
        features = np.array([self.weights[name] for name in round["actions"]])
        return {**round, "action_features": features, "noise": 0.1 * rng.normal(size=3)}


def first(x: Any) -> float:
    """A mean reward."""
    return float(x[0])


class Named:
    """A policy of one's own for rows and contexts: what was best on the whole, or a random one."""

    def __init__(self, dim: int, seed: int, epsilon: float = 0.1) -> None:
        self.rng, self.epsilon = np.random.default_rng(seed), epsilon
        self.sums: dict[Any, tuple[float, int]] = {}

    def select(self, offer: Any, actions: Any = None) -> Any:
        names = list(range(len(offer))) if actions is None else list(actions)
        if self.rng.random() < self.epsilon:
            return int(self.rng.integers(len(names)))
        best = max(names, key=lambda name: self.sums.get(name, (1.0, 1))[0] / self.sums.get(name, (1.0, 1))[1])
        return best if actions is None or self.rng.random() < 0.5 else list(names).index(best)

    def update(self, chosen: Any, reward: float) -> None:
        name = getattr(chosen, "name", None)
        if name is not None:
            assert chosen.action.shape == (2,) and chosen.index is None
            total, count = self.sums.get(name, (0.0, 0))
            self.sums[name] = (total + reward, count + 1)


def everything() -> Experiment:
    return Experiment(
        environments=[
            {"kind": "relu-sphere", "label": "built in", "neurons": 2, "arms": 10},
            {"label": "bowl", "environment": Bowl()},
            {"label": "shop", "environment": Shop, "rounds": 80},
            Items,
            {"label": "line", "environment": Function(first, arms=np.eye(4), sigma=0.2)},
        ],
        policies=[
            {"kind": "oful", "lambda_": [0.01, 1.0]},
            {"label": "mine", "policy": Named, "epsilon": [0.05, 0.5]},
            {"label": "own OFUL", "policy": Oful, "lambda_": 0.01},
            "oracle",
        ],
        rounds=40,
        trials=3,
        tuning_trials=2,
        seed=7,
    )


@pytest.fixture(scope="module")
def reference() -> Results:
    return everything().run(progress=False, threads=1)


def test_everything_plays_everywhere_with_the_same_bytes(reference: Results, tmp_path: Path) -> None:
    trials = reference.trials()
    assert len(trials) == 5 * 4 * 3 and trials["regret"].notna().all()
    assert (trials[trials["policy"] == "oracle"]["regret"] == 0).all()
    assert reference.summary()["tuned"].str.contains("epsilon = ").sum() == 5
    assert same(everything().run(progress=False, threads=2), reference)
    experiment = everything()
    experiment.run(progress=False, out=tmp_path / "here")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert same(experiment.run(progress=False, executor=processes, out=tmp_path / "there"), reference)
    assert lines(tmp_path / "here") == lines(tmp_path / "there")
    with ThreadPoolExecutor(2) as threads:
        assert same(everything().run(progress=False, executor=threads), reference)


def test_dask_plays_them_too(reference: Results) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        assert same(everything().run(progress=False, executor=client.get_executor()), reference)


class Stop(Exception):
    """Raised by a test's progress."""


def test_a_run_goes_on_and_its_folder_is_read_without_the_classes(reference: Results, tmp_path: Path) -> None:
    heard: list[Any] = []

    def interrupt(*event: Any) -> None:
        heard.append(event)
        if sum(event[0] == "finished" for event in heard) == 30:
            raise Stop

    with pytest.raises(Stop):
        everything().run(progress=interrupt, out=tmp_path, threads=1)
    kept = len(lines(tmp_path))
    assert kept >= 30
    heard.clear()
    assert same(everything().run(progress=lambda *event: heard.append(event), out=tmp_path), reference)
    assert heard[0] == ("begin", "tuning", 40, min(kept, 40))
    assert same(Results.read(tmp_path), reference)
    assert "mine" in (tmp_path / "report.html").read_text()
    heard.clear()
    everything().run(progress=lambda *event: heard.append(event), out=tmp_path)
    assert not [event for event in heard if event[0] == "finished"]
    command = os.environ.get("RELUCTANT_CLI")
    if command:
        done = subprocess.run([command, "report", str(tmp_path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_what_has_changed_is_played_again_and_nothing_else(tmp_path: Path) -> None:
    def played(policy: Any, environment: Any) -> list[tuple[str, str]]:
        heard: list[tuple[str, str]] = []
        experiment = Experiment(
            ["linear-sphere", {"label": "mine", "environment": environment}],
            ["oful", {"label": "own", "policy": policy}],
            rounds=5,
            trials=1,
        )
        results = experiment.run(
            progress=lambda *event: heard.append(event[1:]) if event[0] == "finished" else None, out=tmp_path
        )
        assert same(Results.read(tmp_path), results)
        return sorted(heard)

    cells = [(environment, policy) for environment in ("a", "mine") for policy in ("oful", "own")]
    assert played(Named, Bowl()) == cells
    assert played(Named, Bowl()) == []
    assert played(Named, Bowl(arms=7)) == [("mine", "oful"), ("mine", "own")]
    changed = type("Named", (Named,), {"select": Named.select})
    assert played(changed, Bowl(arms=7)) == [("a", "own"), ("mine", "own")]
    # What cannot be identified matches nothing, not even itself.
    unknown = Bowl()
    unknown.handle = open(os.devnull)  # type: ignore[attr-defined]  # noqa: SIM115
    with unknown.handle:  # type: ignore[attr-defined]
        assert fingerprint(unknown) != fingerprint(unknown)


def test_a_fingerprint_sees_code_and_state() -> None:
    def adder(by: float) -> Any:
        return lambda x: x[0] + by

    pair = [lambda x: x[0], lambda x: x[1]]
    things = [
        Bowl(),
        Bowl(arms=7),
        Bowl,
        Shop,
        Items,
        Named,
        first,
        adder(1),
        adder(2),
        *pair,
        Function(first, arms=np.eye(2)),
    ]
    prints = [fingerprint(thing) for thing in things]
    assert len(set(prints)) == len(prints)
    assert prints == [fingerprint(thing) for thing in things]
    assert fingerprint(Function(first, arms=np.eye(2), sigma=0.2)) != prints[-1]
    used = Function(first, arms=np.eye(2))
    used.round(1, np.random.default_rng(0))
    assert fingerprint(used) == prints[-1]


def test_rounds_are_functions_of_seed_trial_and_t() -> None:
    seen: list[tuple[int, float]] = []

    class Watch:
        dim = 1

        def round(self, t: int, rng: np.random.Generator) -> Any:
            draw = rng.random()
            seen.append((t, draw))
            return [[draw], [0.5]], [draw, 0.5]

    def numbers(seed: int) -> set[tuple[int, float]]:
        seen.clear()
        Experiment(lambda: _Tuples(Watch()), "uniform", rounds=6, trials=3, seed=seed).run(progress=False)
        return set(seen)

    # Six rounds of three trials, and round 1 of the trial that is made to look at it.
    assert numbers(1) == numbers(1) and len(numbers(1)) == 6 * 3 + 1
    assert not {draw for t, draw in numbers(1) if t > 1} & {draw for t, draw in numbers(2) if t > 1}


class _Tuples:
    """Makes tuples out of an environment's lists."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def round(self, t: int, rng: np.random.Generator) -> Any:
        return tuple(self.inner.round(t, rng))


class Bad(Bowl):
    """Breaks the contract in round 3 of trial 1, in a way of its own."""

    def __init__(self, how: Any, at: int = 3) -> None:
        self.how, self.at, self.truth, self.arms = how, at, np.ones(3), 12

    def start(self, rng: np.random.Generator) -> Bad:
        return self

    def round(self, t: int, rng: np.random.Generator) -> Any:
        good = super().round(t, rng)
        return self.how(good) if t == self.at else good


def offered_twice(_: Round) -> Any:
    return {"context": [1.0, 2.0, 3.0], "actions": ["a", "a"], "means": [0.0, 1.0]}


FAULTS = [
    (lambda r: {"arms": r.arms, "means": np.full(12, np.nan)}, "the list of mean rewards is NaN"),
    (
        lambda r: (r.arms, np.asarray(r.means)[:5]),
        "the list of mean rewards has dimension 5, but dimension 12 is needed",
    ),
    (lambda r: (r.arms, r.means, np.zeros(5)), "the list of noise has dimension 5, but dimension 12 is needed"),
    (lambda r: (r.arms, r.means, float("inf")), "the noise is inf"),
    (lambda r: (np.full((12, 3), np.nan), r.means), "coordinate 1 of arm 1 is NaN"),
    (lambda r: (np.zeros((12, 2)), r.means), "the set of arms has dimension 2, but dimension 3 is needed"),
    (lambda r: (np.zeros(12), r.means), "arms must be an array with 2 axes (arms, coordinates), not 1"),
    (lambda r: (np.zeros((0, 3)), []), "no arms: a round must offer at least one arm"),
    (lambda r: (r.arms, ["a"] * 12), "means must hold real numbers, not dtype <U1"),
    (lambda r: (r.arms, r.means, "gauss"), "noise must be numbers or 'bernoulli', not the text 'gauss'"),
    (lambda r: (r.arms, np.full(12, 1.5), "bernoulli"), "a mean of 1.5 is no probability"),
    (lambda r: r.arms, "round must return a Round, a dictionary or a tuple (arms, means, noise), not ndarray"),
    (lambda r: (r.arms,), "a tuple must be (arms, means) or (arms, means, noise), not 1 things"),
    (lambda r: {"arm": r.arms}, "it has no 'arm'; known are arms, means, noise, context, actions, action_features"),
    (lambda r: Round(means=r.means), "it must offer arms or a context with actions, not neither"),
    (lambda r: Round(arms=r.arms), "it must tell the mean rewards of what it offers"),
    (lambda r: {"context": [1.0] * 3, "means": [1.0]}, "a context goes with actions, a list of their names"),
    (lambda r: {"context": [1.0] * 3, "actions": [1], "means": [1.0]}, "the name of an action must be text, not 1"),
    (
        lambda r: {"context": [1.0] * 3, "actions": ["a"], "means": [1.0]},
        "it offers a context, though round 1 offers arms",
    ),
]


@pytest.mark.parametrize(("how", "sentence"), FAULTS, ids=[sentence for _, sentence in FAULTS])
def test_a_broken_round_is_named_in_one_sentence_and_nothing_is_lost(how: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as early:
        Experiment(Bad(how, at=1), "oful") if "though round 1" not in sentence else raise_value(sentence)
    assert sentence in str(early.value) and "\n" not in str(early.value)
    experiment = Experiment(["linear-sphere", {"label": "bad", "environment": Bad(how)}], "oful", rounds=5, trials=1)
    with pytest.raises(RuntimeError) as late:
        experiment.run(progress=False, out=tmp_path, threads=1)
    assert str(late.value).startswith("trial 0 in bad failed: round 3 of Bad: ") and sentence in str(late.value)
    assert len(lines(tmp_path)) == 1
    with ThreadPoolExecutor(1) as executor, pytest.raises(RuntimeError) as elsewhere:
        experiment.run(progress=False, executor=executor)
    assert f"round 3 of Bad: {sentence}" in str(elsewhere.value)


def raise_value(sentence: str) -> None:
    raise ValueError(sentence)


class Contexts(Shop):
    """Breaks the contract of contexts in round 2."""

    def __init__(self, **wrong: Any) -> None:
        self.wrong = wrong

    def round(self, t: int, rng: np.random.Generator) -> dict[str, Any]:
        return {**super().round(t, rng), **(self.wrong if t == 2 else {})}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"actions": ["a", "b", "a"]}, "the action 'a' is offered twice: every action has a name of its own"),
        ({"context": [1.0, 2.0, 3.0]}, "the context has dimension 3, but dimension 2 is needed"),
        ({"context": [1.0, np.inf]}, "coordinate 2 of the context is inf"),
        ({"actions": []}, "no arms: a round must offer at least one arm"),
        ({"action_features": np.eye(3)}, "its action features have dimension 3, but dimension 0 is needed"),
        ({"actions": "abc"}, "a context goes with actions, a list of their names"),
    ],
)
def test_a_broken_context_is_named(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        Experiment(Contexts(**wrong), "oful", rounds=5, trials=1).run(progress=False)
    assert sentence in str(caught.value)


class Counting(Bowl):
    """Depends on how often it was asked."""

    def __init__(self, limit: int = 0) -> None:
        super().__init__(np.ones(3))
        self.asked, self.limit = 0, limit

    start = None  # type: ignore[assignment]

    def round(self, t: int, rng: np.random.Generator) -> Round:
        self.asked += 1
        good = super().round(t, rng)
        return good if t < self.limit else Round(good.arms, np.asarray(good.means) + self.asked)


def test_rounds_that_are_others_when_asked_again_are_found() -> None:
    sentence = "it is another one when it is asked for again.*take all randomness from rng"
    with pytest.raises(ValueError, match=f"round 1 of Counting: {sentence}"):
        Experiment(Counting(), "oful")
    experiment = Experiment(Counting(limit=6), "oful", rounds=20, trials=1)
    with pytest.raises(RuntimeError, match=f"round 8 of Counting: {sentence}"):
        experiment.run(progress=False)


class Mine(Exception):
    """An exception of the user's own."""


def fail(_: Any) -> Any:
    raise Mine("what I say")


def test_an_exception_of_ones_own_is_raised_again_with_the_trial_named(tmp_path: Path) -> None:
    experiment = Experiment(["linear-sphere", Bad(fail)], "oful", rounds=5, trials=1)
    with pytest.raises(Mine, match="what I say") as caught:
        experiment.run(progress=False, threads=1, out=tmp_path)
    assert caught.value.__notes__ == ["in round 3 of trial 0 in Bad"]
    assert len(lines(tmp_path)) == 1
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(Mine) as far,
    ):
        experiment.run(progress=False, executor=pool)
    assert "in round 3 of trial 0 in Bad" in far.value.__notes__
    with pytest.raises(Mine):
        Experiment(Bad(fail, at=1), "oful")


def test_what_cannot_travel_is_refused_with_a_sentence() -> None:
    experiment = Experiment(Function(lambda x: x[0], arms=np.eye(2)), "oful", rounds=5, trials=1)
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(
            TypeError, match="cannot travel to the workers .*: define its class or function at the top of a module"
        ),
    ):
        experiment.run(progress=False, executor=pool)


class Short(Shop):
    rounds = 10


@pytest.mark.parametrize(
    ("given", "kind", "sentence"),
    [
        (Short, ValueError, "Short has 10 rounds, and 1000 are to be played"),
        (first, TypeError, "reluctant.Function(mean, arms=...) for a function of the mean reward"),
        (7, TypeError, "7 is no environment: give the name of one"),
        (dict, TypeError, "dict must be or return an object with round(t, rng), not dict"),
        ({"environment": Shop, "arms": 7}, TypeError, "has a label, a title and rounds, not 'arms'"),
        ([Shop, Shop], ValueError, "two environments have the label 'Shop': give each its own"),
        ({"environment": Shop, "label": ""}, None, ""),
    ],
)
def test_what_is_no_environment_is_refused(given: Any, kind: Any, sentence: str) -> None:
    if kind is None:
        assert Experiment(given, "oful", rounds=5)._core.environments == ["Shop"]
        return
    with pytest.raises(kind) as caught:
        Experiment(given, "oful")
    assert sentence in str(caught.value)


def test_two_of_a_class_are_two_environments() -> None:
    given = [{"label": "few", "environment": Bowl(arms=3)}, {"label": "many", "environment": Bowl(arms=30)}]
    table = Experiment(given, ["oful", Named], rounds=20, trials=2).run(progress=False).trials()
    assert table.groupby("panel")["regret"].mean().is_unique and set(table["panel"]) == {"few", "many"}


def test_toml_says_what_it_does_not_hold() -> None:
    text = everything().to_toml()
    assert text.startswith("# Without 4 environments and 1 policy written in Python, which TOML cannot name.\n")
    assert Experiment.from_toml(text)._core.environments == ["built in"]
    with pytest.raises(ValueError, match="all of this one's are written in Python: Shop"):
        Experiment(Shop, "oful", rounds=5).to_toml()


def test_facts_are_told_to_who_asks() -> None:
    results = Experiment(Bowl(), ["ofu-relu"], rounds=10, trials=1).run(progress=False)
    [policy] = results.to_dict()["experiments"][0]["policies"]
    assert policy["params"]["neurons"] == 3 and policy["params"]["sigma"] == 0.1


@pytest.mark.parametrize(
    ("make", "kind", "sentence"),
    [
        (lambda: Function(3, arms=4, dim=2), TypeError, "mean must be a function of an arm, not int"),
        (lambda: Function(first, arms=0, dim=2), ValueError, "arms = 0 is out of range"),
        (lambda: Function(first, arms=4), TypeError, "dim is missing"),
        (lambda: Function(first, arms=[1.0, 2.0]), ValueError, "an array with 2 axes"),
        (lambda: Function(first, arms=np.eye(2), dim=3), ValueError, "dim = 3 does not fit arms of dimension 2"),
        (lambda: Function(first, arms=np.eye(2), sigma=-1), ValueError, "sigma = -1 is out of range"),
    ],
)
def test_a_function_that_is_none(make: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        make()


def test_a_function_of_all_arms_at_once_is_the_same() -> None:
    one = Function(first, arms=20, dim=2)
    all_at_once = Function(lambda x: x[:, 0], arms=20, dim=2, at_once=True)
    a, b = (Experiment(given, "oful", rounds=30, trials=2).run(progress=False) for given in (one, all_at_once))
    assert (a.trials()["regret"] == b.trials()["regret"]).all()


def test_a_policy_of_ones_own_is_tuned(reference: Results, tmp_path: Path) -> None:
    made: list[Any] = []

    def make(dim: int, seed: int, arms: int, name: str, lambda_: float, flag: bool = False) -> Any:
        made.append((arms, name, lambda_, flag))
        return Named(dim, seed)

    policy = {"policy": make, "arms": [2, -3], "name": "x", "lambda_": 1, "flag": True, "label": "mine"}
    results = Experiment(Shop, policy, rounds=5, trials=1, tuning_trials=1).run(progress=False)
    assert {repr(row) for row in made} == {"(2, 'x', 1, True)", "(-3, 'x', 1, True)"}
    assert results.summary()["tuned"][0].startswith("arms = ")
    with pytest.raises(TypeError, match="the values of name must be of one type, not count and text"):
        Experiment(Shop, {"policy": make, "name": ["a", 1]}, rounds=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        Experiment(Shop, {"policy": Named, "other": 1}, rounds=5)
    with pytest.raises(TypeError, match="must return an object with select"):
        Experiment(Shop, lambda dim, seed: None, rounds=5)


class Astray(Named):
    def select(self, offer: Any, actions: Any = None) -> Any:
        return "sugar"


def test_a_name_that_is_not_on_offer_is_refused() -> None:
    with pytest.raises(ValueError, match="select chose the action 'sugar', but on offer are bread, milk, salt"):
        Experiment(Shop, Astray, rounds=5, trials=1).run(progress=False)


def test_a_made_policy_of_the_package_plays_contexts_as_its_own_kind_does() -> None:
    for environment in (Shop, Items):
        table = (
            Experiment(environment, [{"label": "own", "policy": Oful(2)}, "oful"], rounds=60, trials=2)
            .run(progress=False)
            .trials()
        )
        regret = table.pivot(index="trial", columns="policy", values="regret")
        assert (regret["own"] == regret["oful"]).all()


def test_the_report_names_them(reference: Results) -> None:
    summary = json.dumps(reference.to_dict())
    assert '"Named"' in summary and '"Bowl"' in summary
