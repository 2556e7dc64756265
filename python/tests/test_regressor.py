"""The scikit-learn estimator, and the functions it stands on."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from reluctant import (
    PlausibleRegressor,
    ReluNet,
    ReluRegressor,
    fit,
    geometry,
    match_neurons,
    theory,
)
from reluctant.adapters.sklearn import OnlineRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks([ReluRegressor(), PlausibleRegressor(n_networks=4), OnlineRegressor()])
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
def test_all_of_them_with_array_api_too() -> None:
    """One check is skipped unless an environment variable is set before scipy is imported."""
    program = (
        "from sklearn.utils.estimator_checks import check_estimator; from reluctant import ReluRegressor\n"
        "done = check_estimator(ReluRegressor(), on_skip=None)\n"
        "assert len(done) > 40 and all(check['status'] == 'passed' for check in done)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "SCIPY_ARRAY_API": "1"})


def data(dim: int, neurons: int, count: int, signs: Any = None) -> tuple[ReluNet, Any, Any]:
    truth = ReluNet(ReluNet.random(dim, neurons, seed=3).neurons, signs)
    actions = np.random.default_rng(1).normal(size=(count, dim))
    return truth, actions, truth(actions)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_networks_come_back_at_any_scale(scale: float) -> None:
    truth, X, y = data(4, 3, 80, [1.0, -1.0, 1.0])
    model = ReluRegressor(n_neurons=3, fit_intercept=False).fit(scale * X, 7 * scale * y)
    found = ReluNet(model.neurons_ / 7, model.signs_)
    assert match_neurons(found, truth).worst < 1e-6
    assert model.score(scale * X, 7 * scale * y) > 1 - 1e-9
    assert model.loss_ < 1e-9 * scale**2 and 1 <= model.n_agreed_ <= model.n_restarts_ <= 16


UNITS = {
    "as they are": (1.0, 0.0),
    "all far from zero": (1.0, 100.0),
    "one far from zero": (1.0, np.array([0.0, 0.0, 2000.0])),
    "of unequal size": (np.array([1.0, 100.0, 1e4]), 0.0),
    "both": (np.array([1e-3, 1.0, 1e4]), np.array([3.0, -50.0, 1e6])),
}


@pytest.mark.parametrize("units", UNITS)
def test_units_and_offsets_of_features_do_not_matter(units: str) -> None:
    scale, offset = UNITS[units]
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = (
        np.maximum(0, X @ [1, 1, 0])
        - np.maximum(0, X @ [0, 1, -1] + 0.3)
        + 0.01 * np.random.default_rng(1).normal(size=300)
    )
    Z = X * scale + offset
    # Two neurons, as in the truth: a third would follow the noise, and that in several ways.
    model, plain = ReluRegressor(n_neurons=2).fit(Z, y), ReluRegressor(n_neurons=2).fit(X, y)
    assert model.score(Z, y) > 0.999
    assert np.allclose(model.predict(Z), plain.predict(X), atol=1e-5)
    # What it tells of itself is in the units of the features.
    values = np.maximum(0, Z @ model.neurons_.T + model.biases_) @ model.signs_
    assert np.array_equal(values, model.predict(Z))
    assert model.loss_ == pytest.approx(np.mean((values - y) ** 2), rel=1e-6)
    by_sign, also_by_sign = np.argsort(model.signs_), np.argsort(plain.signs_)
    assert np.allclose(model.neurons_[by_sign] * scale, plain.neurons_[also_by_sign], atol=1e-3)


def test_without_biases_units_do_not_matter_but_the_origin_does() -> None:
    truth, X, y = data(3, 3, 80, [1.0, -1.0, 1.0])
    units = np.array([1.0, 100.0, 1e4])
    model = ReluRegressor(n_neurons=3, fit_intercept=False).fit(X * units, y)
    assert match_neurons(ReluNet(model.neurons_ * units, model.signs_), truth).worst < 1e-6
    assert (
        not model.biases_.any()
        and ReluRegressor(n_neurons=3, fit_intercept=False).fit(X + 5, y).score(X + 5, y) < 0.999
    )


def test_features_that_never_change_are_left_alone() -> None:
    _, X, y = data(2, 2, 80)
    for constant, settings in ((0.0, {"fit_intercept": False}), (0.0, {}), (7.0, {}), (1e9 / 3, {})):
        Z = np.c_[X, np.full(80, constant)]
        model = ReluRegressor(n_neurons=3, **settings).fit(Z, y)
        assert model.score(Z, y) > 1 - 1e-6 and not model.neurons_[:, 2].any()


def test_the_largest_numbers_do_not_overflow() -> None:
    _, X, y = data(2, 2, 60)
    Z = X / np.abs(X).max() * 1e300
    for settings in ({}, {"fit_intercept": False}):
        assert ReluRegressor(n_neurons=2, **settings).fit(Z, y).score(Z, y) > 0.999


def test_the_papers_model() -> None:
    truth, X, y = data(3, 3, 60)
    model = ReluRegressor(n_neurons=3, signs="ones").fit(X, y)
    assert np.allclose(np.linalg.norm(model.neurons_, axis=1), 1) and not model.biases_.any()
    assert match_neurons(ReluNet(model.neurons_), truth).worst < 1e-6


def test_biases_come_back() -> None:
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = np.maximum(0, 2 * X[:, 0] - 1) - np.maximum(0, -X[:, 0] - 0.5)
    model = ReluRegressor(n_neurons=2).fit(X, y)
    assert model.score(X, y) > 1 - 1e-9
    assert np.allclose(np.sort(model.biases_ / model.neurons_[:, 0]), [-0.5, 0.5], atol=1e-6)


def test_a_poor_minimum_on_a_line_is_not_agreed_on() -> None:
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = np.maximum(0, 2 * X[:, 0] - 1) - np.maximum(0, -X[:, 0] - 0.5)
    assert all(ReluRegressor(n_neurons=2, random_state=seed).fit(X, y).score(X, y) > 0.999 for seed in range(30))


def test_it_works_in_pipelines_and_searches() -> None:
    _, X, y = data(3, 2, 60)
    pipeline = make_pipeline(StandardScaler(), ReluRegressor())
    search = GridSearchCV(pipeline, {"reluregressor__n_neurons": [1, 4]}, cv=3).fit(X, y)
    assert search.best_params_ == {"reluregressor__n_neurons": 4}


@pytest.mark.parametrize(
    ("settings", "sentence"), [({"n_neurons": 0}, "neurons = 0"), ({"signs": "plus"}, "one of ones, free")]
)
def test_wrong_parameters(settings: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ReluRegressor(**settings).fit(np.eye(3), [1.0, 2.0, 3.0])


def test_networks() -> None:
    net = ReluNet([[1.0, 0.0], [0.0, 2.0]], [1.0, -1.0])
    actions = np.array([[1.0, 1.0], [-1.0, 3.0]])
    assert net(actions).tolist() == [-1.0, -6.0]
    assert net.pattern(actions).tolist() == [[True, True], [False, True]]
    assert net.gradient(actions).tolist() == [[1.0, 1.0, -1.0, -1.0], [0.0, 0.0, 1.0, -3.0]]
    assert net.x_dagger(actions)[1].tolist() == [0.0, 0.0, -1.0, 3.0]
    assert net.x_ddagger(actions).shape == (2, 8)
    assert net.in_region(actions, 1.5).tolist() == [False, False]
    assert np.allclose(np.linalg.norm(net.normalised().neurons, axis=1), 1)
    assert len(net) == 2 and net.dim == 2 and repr(net) == "ReluNet(2 neurons in dimension 2)"
    assert pickle.loads(pickle.dumps(net)) == net != ReluNet.random(2, 2)
    for wrong in ([[1.0, np.nan]], [1.0], np.zeros((0, 2)), np.zeros((65, 2))):
        with pytest.raises(ValueError):
            ReluNet(wrong)
    with pytest.raises(ValueError, match="an action has dimension 3, but dimension 2 is needed"):
        net(np.zeros((1, 3)))
    for make in (lambda: ReluNet.random(-1, 2), lambda: ReluNet.random(2**70, 2)):
        with pytest.raises(ValueError, match="is out of range: 1 to 1000000"):
            make()
    for neurons in (-1, 0, 65):
        with pytest.raises(ValueError, match=f"neurons = {neurons} is out of range: 1 to 64"):
            ReluNet.random(2, neurons)
    with pytest.raises(ValueError, match="second-layer sign = 2"):
        ReluNet([[1.0, 0.0]], [2.0])


def test_no_actions_have_no_values() -> None:
    net, none = ReluNet.random(2, 3), np.zeros((0, 2))
    assert net(none).shape == (0,) and net.in_region(none, 0.1).shape == (0,) and net.pattern(none).shape == (0, 3)
    assert net.gradient(none).shape == net.x_dagger(none).shape == (0, 6) and net.x_ddagger(none).shape == (0, 12)
    with pytest.raises(ValueError, match="an action has dimension 3, but dimension 2 is needed"):
        net(np.zeros((0, 3)))


def test_fit_and_match_refuse_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="there must be as many rewards as actions, not 2 for 1"):
        fit([[1.0, 0.0]], [1.0, 2.0], 1)
    with pytest.raises(ValueError, match="neurons = -1 is out of range: 1 to 64"):
        fit(np.eye(2), [1.0, 2.0], -1)
    with pytest.raises(ValueError, match="a fit needs at least 1 sample"):
        fit(np.zeros((0, 2)), [], 1)
    with pytest.raises(ValueError, match="a reward is NaN"):
        fit(np.eye(2), [1.0, np.nan], 1)
    with pytest.raises(ValueError, match="one of ones, free"):
        fit(np.eye(2), [1.0, 1.0], 1, signs="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one of strict, free"):
        match_neurons(ReluNet.random(2, 2), ReluNet.random(2, 2), signs="any")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has dimension 3, but dimension 2 is needed"):
        match_neurons(ReluNet.random(3, 2), ReluNet.random(2, 2))
    mirrored = ReluNet(-ReluNet.random(3, 2).neurons)
    assert match_neurons(mirrored, ReluNet.random(3, 2), signs="free").flipped.all()


def test_geometry_against_brute_force() -> None:
    net = ReluNet.random(2, 5, seed=2)
    angles = np.linspace(0, 2 * np.pi, 100_001)
    best = geometry.best_action(net)
    assert best.exact and best.f_star == pytest.approx(net(np.c_[np.cos(angles), np.sin(angles)]).max(), abs=1e-8)
    cells = geometry.cells(net)
    assert len(cells.margins) == best.cells == 10 == geometry.most_cells(2, 5)
    assert (net.pattern(cells.centres) == cells.patterns).all()
    assert len(geometry.cells(net, margin=float(np.median(cells.margins))).margins) < 10
    assert geometry.alpha0(net) == best.alpha0
    with pytest.raises(ValueError, match="cells; at most"):
        geometry.cells(ReluNet.random(20, 40))


def test_theory_says_what_the_command_says() -> None:
    statements = theory.evaluate(2, 3, 0.1, nu=0.3, horizon=1e6)
    assert statements["nu"].value == 0.3 and statements["t0"].state in {"finite", "huge"}
    assert all(statement.meaning for statement in statements.values())
    with pytest.raises(ValueError, match="dim = 1 is out of range"):
        theory.evaluate(1, 3, 0.1)
