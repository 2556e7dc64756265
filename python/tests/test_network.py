"""What a policy has fitted can be read, its parameters are the values in use, and results travel whole."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from reluctant import Experiment, Oful, OfuRelu, Plausible, ReluNet, Results, Uniform
from reluctant.policies import CLASSES


def arms(count: int = 40, seed: int = 1) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(count, 2))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_ofu_relu_shows_the_network_that_made_the_rewards() -> None:
    truth = ReluNet([[1.0, 0.0], [-0.6, 0.8]])
    policy = OfuRelu(dim=2, neurons=2, explore=30, seed=1)
    first, last = arms(29), arms(1, seed=7)
    policy.update_batch(first, truth(first))
    assert policy.network() is None
    policy.update_batch(last, truth(last))
    found = policy.network()
    assert isinstance(found, ReluNet)
    assert np.allclose(found(arms()), truth(arms()), atol=1e-6)


def test_plausible_shows_several_networks_with_weights() -> None:
    policy = Plausible(dim=2, neurons=2, networks=8)
    assert policy.network() is None
    policy.update_batch(arms(), np.maximum(arms(), 0.0).sum(axis=1))
    networks = policy.network()
    assert sum(weight for weight, _ in networks) == pytest.approx(1.0)
    mean = sum(weight * net([[0.6, 0.8]])[0] for weight, net in networks)
    assert policy.explain([0.6, 0.8]).mean == pytest.approx(mean)


def test_linear_policies_show_weights_by_feature_and_by_action() -> None:
    policy = Oful(dim=2, features="constant", lambda_=1e-6)
    policy.update_batch(arms(), 2.0 + arms() @ [3.0, -1.0])
    assert policy.network() == pytest.approx({"x1": 3.0, "x2": -1.0, "1": 2.0}, abs=1e-4)
    policy = Oful(dim=2)
    for _ in range(5):
        policy.update(policy.select([1.0, 0.0], actions=["left", "right"]), 1.0)
    assert set(policy.network()) <= {"left", "right"}
    assert Uniform(dim=2).network() is None


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"oracle"}))
def test_every_policy_says_why_and_shows_the_parameters_in_use(name: str) -> None:
    cls = CLASSES[name]
    given = {"neurons": 2} if name in ("ofu-relu", "ofu-relu-plus") else {}
    policy = cls(dim=2, **given)
    policy.update(policy.select(arms()), 0.5)
    assert policy.explain([1.0, 0.0]).why
    assert policy.given == given
    assert set(given) < set(policy.params) or name == "uniform"
    # What is shown makes the same policy.
    assert cls(dim=2, **policy.params).params == policy.params


def test_computed_parameters_are_shown() -> None:
    policy = OfuRelu(dim=2, neurons=3, sigma=0.2)
    assert policy.params["radius_sigma"] == 0.2
    assert policy.params["norm_bound"] == pytest.approx(np.sqrt(15))


@pytest.fixture(scope="module")
def results() -> Results:
    environment = {"kind": "linear-sphere", "arms": 10}
    return Experiment(environment, policies=[Oful, Uniform], rounds=50, trials=3).run(progress=False)


def test_every_trials_curve_is_a_frame(results: Results) -> None:
    frame = results.rounds()
    assert list(frame.columns) == ["panel", "policy", "trial", "round", "regret"]
    assert len(frame) == 2 * 3 * 50
    ends = frame[frame["round"] == 50].set_index(["panel", "policy", "trial"])["regret"]
    finals = results.trials().set_index(["panel", "policy", "trial"])["regret"]
    assert (ends == finals).all()
    mean = frame.groupby(["panel", "policy", "round"], sort=False)["regret"].mean()
    assert np.allclose(mean, results.curves().set_index(["panel", "policy", "round"])["mean"])
    assert len(results.to_columns("rounds")["regret"]) == len(frame)


def test_results_pickle(results: Results) -> None:
    copy = pickle.loads(pickle.dumps(results))
    assert copy == results
    assert copy.to_dict() == results.to_dict() and copy.table() == results.table()
    with pytest.raises(ValueError, match="these are no saved results"):
        type(results._core)("{}")
