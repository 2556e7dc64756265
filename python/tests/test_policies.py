"""Every policy of the registry as a Python class."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reluctant
from conftest import SAMPLES, circle, play
from reluctant import Experiment, Oful, OfuRelu, Oracle, Plausible, Policy, Uniform, _core
from reluctant.policies import CLASSES, class_name

each = pytest.mark.parametrize(("cls", "settings"), SAMPLES)


def test_the_registry_makes_the_classes() -> None:
    for row in _core.policies():
        cls = CLASSES[row["name"]]
        assert getattr(reluctant, class_name(row["name"])) is cls
        assert cls.__name__ in reluctant.__all__
        parameters = inspect.signature(cls).parameters
        assert list(parameters) == ["dim", "seed", *(param["keyword"] for param in row["params"])]
        assert all(param["doc"] in (cls.__doc__ or "") for param in row["params"])
        assert row["citation"] in (cls.__doc__ or "")


@each
def test_saved_loaded_copied_and_pickled_it_goes_on_to_the_bit(
    cls: Any, settings: dict[str, Any], tmp_path: Path
) -> None:
    policy = cls(2, seed=7, **settings)
    play(policy, 40)
    policy.save(tmp_path / "policy.json")
    others = [
        cls.load(tmp_path / "policy.json"),
        Policy.load(tmp_path / "policy.json"),
        pickle.loads(pickle.dumps(policy)),
        copy.copy(policy),
        copy.deepcopy(policy),
    ]
    expected = play(policy, 20, seed=2)
    for other in others:
        assert type(other) is cls and repr(other) == repr(policy)
        assert play(other, 20, seed=2) == expected
        assert other.rounds == policy.rounds == 60
        assert other.to_json() == policy.to_json()


@each
def test_an_explanation_agrees_with_scores(cls: Any, settings: dict[str, Any]) -> None:
    policy = cls(2, **settings)
    play(policy, 30)
    action = [0.6, 0.8]
    thought = policy.explain(action)
    assert thought.mean == policy.scores([action])[0][0] and thought.spread >= 0
    assert thought.exploring is policy.exploring
    assert thought.model and (thought.warning is None or thought.warning)
    assert repr(pickle.loads(pickle.dumps(thought))) == repr(thought)
    with pytest.raises(ValueError, match="dimension"):
        policy.explain([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="a coordinate of the action is NaN"):
        policy.explain([1.0, float("nan")])
    with pytest.raises(ValueError, match=r"an array with 1 axis \(coordinates\), not 2"):
        policy.explain([action])


def test_an_explanation_warns_of_rewards_that_no_network_explains() -> None:
    policy, arms = Plausible(2, neurons=3), circle(64)
    for _ in range(60):
        action = policy.select(arms).action
        policy.update(action, 50 - 30 * action[0])
    thought = policy.explain([1.0, 0.0])
    assert thought.model == "a linear function with a constant"
    assert thought.warning == "no network of the range explains the rewards"
    assert thought.why in str(thought) and thought.warning in str(thought)


@each
def test_choices_agree_with_scores_and_with_one_another(cls: Any, settings: dict[str, Any]) -> None:
    policy, arms = cls(2, **settings), circle(30)
    play(policy, 30)
    twin = copy.copy(policy)
    choice = policy.select(arms)
    assert isinstance(choice.index, int) and twin.select_index(arms) == choice.index
    assert np.array_equal(choice.action, arms[choice.index])
    means, widths = policy.scores(arms)
    assert means.shape == widths.shape == (30,)
    thompson = cls.__name__ in ("LinTs", "GpTs", "NeuralTs", "NeuralLinear", "Ensemble", "LmcTs")
    assert choice.propensity is None if thompson else choice.propensity > 0
    again = pickle.loads(pickle.dumps(choice))
    assert repr(again) == repr(choice) and again.propensity == choice.propensity


@each
def test_a_batch_is_the_same_as_one_after_the_other(cls: Any, settings: dict[str, Any]) -> None:
    single, batch = cls(2, **settings), cls(2, **settings)
    actions, rewards = circle(40), np.linspace(-1, 1, 40)
    for policy in (single, batch):
        policy.select_index(actions)
    for action, reward in zip(actions, rewards):
        single.update(action, reward)
    batch.update_batch(actions, rewards)
    assert single.to_json() == batch.to_json()
    sets = circle(60).reshape(3, 20, 2)
    assert [single.select_index(arms) for arms in sets] == batch.select_batch(sets).tolist()
    assert single.rounds == batch.rounds == 4


@each
def test_the_sphere_where_it_is_supported(cls: Any, settings: dict[str, Any]) -> None:
    policy = cls(2, **settings)
    play(policy, 40)
    if cls.on_sphere and not policy.needs_finite_arms:
        choice = policy.select("sphere")
        assert choice.index is None and np.linalg.norm(choice.action) == pytest.approx(1)
        with pytest.raises(ValueError, match="the sphere has no rows"):
            policy.select_index("sphere")
    else:
        with pytest.raises(ValueError, match="needs a finite set of arms"):
            policy.select("sphere")


def test_a_loop_in_python_is_a_trial_of_the_lab() -> None:
    """Rounds are counted from 1, as in the lab: random choices are the same, too."""
    policy, arms = Uniform(dim=2, seed=5), circle(1000)
    first = [policy.select_index(arms) for _ in range(5)]
    assert first == [Uniform(dim=2, seed=5).select_index(arms)] + first[1:] and len(set(first)) > 1


def test_the_oracle_plays_in_experiments_only() -> None:
    assert not hasattr(Oracle(2), "reveal")
    for call in (lambda: Oracle(2).select(circle(5)), lambda: Oracle(2).select([1.0, 0.0], actions=["a"])):
        with pytest.raises(
            ValueError, match="oracle reads the mean rewards of a round.*: let it play in an environment"
        ):
            call()
    experiment = Experiment({"kind": "relu-sphere", "arms": 20}, policies=Oracle, rounds=20, trials=2)
    assert (experiment.run(progress=False).trials()["regret"] == 0).all()


def test_repr_makes_the_policy_again() -> None:
    policy = OfuRelu(dim=2, neurons=3, explore=20, lambda_=0.5, seed=4)
    assert repr(policy) == "OfuRelu(dim=2, seed=4, neurons=3, explore=20, lambda_=0.5)"
    assert eval(repr(policy)).to_json() == policy.to_json()
    assert policy.given == {"neurons": 3, "explore": 20, "lambda_": 0.5}
    assert (policy.name, policy.dim, policy.seed, policy.exploring) == ("ofu-relu", 2, 4, True)


@pytest.mark.parametrize(
    ("make", "kind", "sentence"),
    [
        (
            lambda: OfuRelu(2, neurons=3, lamda=1),
            TypeError,
            "unknown parameter of ofu-relu 'lamda'; did you mean 'lambda_'?",
        ),
        (lambda: OfuRelu(2, neurons=3, explor=1), TypeError, "did you mean 'explore'?"),
        (lambda: OfuRelu(2), TypeError, "neurons of ofu-relu is missing: a whole number from 1 to 64"),
        (lambda: OfuRelu(2, neurons=0), ValueError, "neurons = 0 is out of range: a whole number from 1 to 64"),
        (lambda: OfuRelu(2, neurons="3"), TypeError, "neurons must be a whole number from 1 to 64, not the text '3'"),
        (lambda: OfuRelu(2, neurons=[3]), TypeError, "neurons must be a number, a word or true/false, not list"),
        (lambda: Oful(2, lambda_=float("nan")), ValueError, "lambda = NaN is out of range"),
        (lambda: Oful(2.5), TypeError, "dim must be a whole number, not float"),  # type: ignore[arg-type]
        (lambda: Oful(-1), ValueError, "dim = -1 is out of range: 1 to 4000"),
        (lambda: Oful(0), ValueError, "dim = 0 is out of range: 1 to 4000"),
        (lambda: Oful(2**70), ValueError, f"dim = {2**70} is out of range: 1 to 4000"),
        (lambda: Oful(2, seed=-1), ValueError, "seed = -1 is out of range: 0 to 18446744073709551615"),
        (lambda: Oful(2, 1), TypeError, "seed and parameters are keyword-only: Oful(2, seed=1)"),  # type: ignore[misc]
        (lambda: Oful(), TypeError, "missing 1 required positional argument: 'dim'"),  # type: ignore[call-arg]
        (lambda: Policy(2), TypeError, "make one of its subclasses"),
    ],
)
def test_wrong_parameters_are_refused_with_the_cores_sentence(make: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert sentence in str(caught.value)


def test_numbers_of_numpy_are_numbers() -> None:
    policy = Oful(np.int64(2), lambda_=np.float32(0.5), features=np.str_("constant"), seed=np.uint8(3))
    assert repr(policy) == "Oful(dim=2, seed=3, lambda_=0.5, features='constant')"


def saved(**changes: Any) -> str:
    return json.dumps({**json.loads(Oful(2).to_json()), **changes})


def without_its_ellipsoid() -> str:
    whole = json.loads(Oful(2).to_json())
    whole["snapshot"]["state"]["ellipsoid"]["covariance"] = []
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            saved(format=2, version="9.9.9"),
            "it has format 2 (of version 9.9.9), and this version of reluctant reads format 1",
        ),
        (saved(format=None), "it has format null"),
        ("{}", "it has no format"),
        ("nonsense", "this saved policy cannot be restored"),
        (
            saved(snapshot={"format": 3, "policy": "oful", "state": {}}),
            "it has format 3, and this version reads format 1",
        ),
        (saved(snapshot={"format": 1, "policy": "ofull", "state": {}}), "did you mean 'oful'?"),
        (saved(snapshot={"format": 1, "policy": "oful", "state": {}}), "this saved policy cannot be restored"),
        (without_its_ellipsoid(), "its ellipsoid does not have dimension 2"),
    ],
)
def test_what_another_version_saved_or_pickled_is_refused(text: str, sentence: str) -> None:
    policy = Oful(2)
    pickled = pickle.dumps(policy).replace(policy.to_json().encode(), text.encode())
    with pytest.raises(ValueError) as caught:
        Policy.from_json(text)
    assert sentence in str(caught.value) and str(caught.value).count("this saved policy cannot be restored") <= 1
    if len(text) == len(policy.to_json()):
        with pytest.raises(ValueError):
            pickle.loads(pickled)


def test_a_pickle_of_another_format_is_refused() -> None:
    policy = Oful(2)
    pickled = pickle.dumps(policy)
    assert pickle.loads(pickled).to_json() == policy.to_json()
    changed = pickled.replace(b'{"format":1,"version"', b'{"format":7,"version"')
    assert changed != pickled
    with pytest.raises(ValueError, match="it has format 7"):
        pickle.loads(changed)


def test_a_class_loads_its_own_only(tmp_path: Path) -> None:
    Oful(2).save(tmp_path / "oful.json")
    with pytest.raises(ValueError, match="this saved policy is of class Oful, not OfuRelu"):
        OfuRelu.load(tmp_path / "oful.json")
    assert [file.name for file in tmp_path.iterdir()] == ["oful.json"]


def test_what_is_no_text_is_no_policy(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(ValueError, match=r"picture\.png is not a saved policy: it is not text"):
        OfuRelu.load(tmp_path / "picture.png")


class Mine(OfuRelu):
    """A subclass keeps its class and its attributes."""


def test_subclasses_survive() -> None:
    mine = Mine(2, neurons=2)
    mine.note = "kept"  # type: ignore[attr-defined]
    other = pickle.loads(pickle.dumps(mine))
    assert type(other) is Mine and other.note == "kept"
    assert type(copy.copy(mine)) is Mine and copy.copy(mine).note == "kept"  # type: ignore[attr-defined]


def test_threads_may_share_a_policy() -> None:
    """Nothing is lost: as many rounds and observations as all threads together."""
    policy, arms = Oful(2), circle(100)

    def work() -> None:
        for _ in range(200):
            policy.update(arms[policy.select_index(arms)], 0.5)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert policy.rounds == 800
    alone = Oful(2)
    play(alone, 1)
    assert json.loads(policy.to_json())["rounds"] == 800
