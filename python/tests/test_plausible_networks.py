"""What `plausible` believes, without a bandit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from reluctant import PlausibleNetworks, PlausibleRegressor, ReluNet


def world(count: int = 80) -> tuple[Any, Any]:
    """Rows of the plane and the values of three neurons."""
    X = np.random.default_rng(1).normal(size=(count, 2))
    return X, ReluNet.random(2, 3, seed=4)(X)


def test_it_finds_the_networks_of_the_paper_and_knows_where_it_is_unsure() -> None:
    X, y = world()
    belief = PlausibleNetworks(2, signs="ones")
    assert belief.networks == [] and belief.seen == 0
    belief.learn(X[:60], y[:60])
    assert belief.seen == 60 and "networks" in belief.model
    mean, spread = belief.predict(X[60:])
    assert np.max(np.abs(mean - y[60:])) < 0.05
    assert np.all(spread >= 0) and np.all(spread < 0.2)
    weights = [weight for weight, _ in belief.networks]
    assert sum(weights) == pytest.approx(1.0)
    values = np.stack([net(X[60:]) for _, net in belief.networks])
    assert np.allclose(np.average(values, axis=0, weights=weights), mean)


def test_a_drawn_function_is_named_by_its_seed_and_is_one_of_the_networks() -> None:
    X, y = world()
    belief = PlausibleNetworks(2)
    belief.learn(X[:20], y[:20] + 0.3 * np.random.default_rng(2).normal(size=20))
    drawn = belief.draw(X, seed=7)
    assert np.array_equal(drawn, belief.draw(X, seed=7))
    assert not np.array_equal(drawn, belief.draw(X, seed=8))
    if "networks" in belief.model:
        assert any(np.allclose(net(X), drawn) for _, net in belief.networks)


def test_it_goes_on_to_the_bit_after_it_was_saved() -> None:
    X, y = world()
    belief = PlausibleNetworks(2, seed=3)
    belief.learn(X[:30], y[:30])
    again = pickle.loads(pickle.dumps(belief))
    for one in (belief, again):
        one.learn(X[30:], y[30:])
    assert np.array_equal(belief.predict(X)[0], again.predict(X)[0])
    with pytest.raises(ValueError, match="snapshot|saved|state"):
        PlausibleNetworks.from_bytes(b"{}")


@pytest.mark.parametrize("y", [lambda X: 3.0 + X @ [1.0, -2.0], lambda X: np.sin(2 * X[:, 0]) - X[:, 1] ** 2])
def test_whatever_made_the_data_the_regressor_predicts_it(y: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) * [1e3, 1e-3] + [5e3, 0.0]
    unit = (X - [5e3, 0.0]) / [1e3, 1e-3]
    targets = 1e6 * y(unit)
    model = PlausibleRegressor().fit(X[:200], targets[:200])
    mean, spread = model.predict(X[200:], return_std=True)
    assert model.score(X[200:], targets[200:]) > 0.9, model.model_
    assert np.all(spread >= 0)
    assert model.sample_y(X[:5], n_samples=3).shape == (5, 3)


def test_intervals_cover_what_they_should() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    truth = np.abs(X[:, 0]) - np.maximum(0.0, X[:, 1] - 0.5)
    model = PlausibleRegressor().fit(X[:200], truth[:200] + 0.2 * rng.normal(size=200))
    mean, spread = model.predict(X[200:], return_std=True)
    covered = np.mean(np.abs(mean - truth[200:]) < 2 * spread)
    assert 0.75 < covered <= 1.0


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: PlausibleNetworks(1), "dim"),
        (lambda: PlausibleNetworks(2, signs="some"), "signs"),
        (lambda: PlausibleNetworks(2, networks=1), "networks"),
        (lambda: PlausibleNetworks(2, budget=1), "budget"),
        (lambda: PlausibleNetworks(2, sigma=-1.0), "sigma"),
        (lambda: PlausibleNetworks(2).learn([[1.0, 2.0]], [1.0, 2.0]), "1|2"),
        (lambda: PlausibleNetworks(2).learn([[1.0, 2.0]], [np.nan]), "y"),
        (lambda: PlausibleNetworks(2).predict([[1.0, 2.0, 3.0]]), "3"),
        (lambda: PlausibleNetworks(2).predict(np.zeros((0, 2))), "row|arm"),
    ],
)
def test_what_is_wrong_is_said(wrong: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        wrong()
