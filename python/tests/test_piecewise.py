"""Networks of the whole family from Python: values, activations, derivatives, the estimator, the best action."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from reluctant import PiecewiseNet, ReluNet, fit_piecewise, geometry, kink_error

RNG = np.random.default_rng(5)
NEURONS, SIGNS, BIASES = RNG.normal(size=(4, 3)), [1.0, -1.0, 1.0, -1.0], RNG.uniform(-0.5, 0.5, size=4)
POINTS = RNG.normal(size=(200, 3))


def network() -> PiecewiseNet:
    return PiecewiseNet(NEURONS, SIGNS, biases=BIASES, linear=[0.5, -1.0, 2.0], constant=0.7)


def test_values_and_patterns_are_those_of_the_formula() -> None:
    net, inputs = network(), POINTS @ NEURONS.T + BIASES
    assert np.allclose(net(POINTS), 0.7 + POINTS @ [0.5, -1.0, 2.0] + np.maximum(inputs, 0.0) @ SIGNS)
    assert (net.pattern(POINTS) == (inputs >= 0.0)).all()
    assert (len(net), net.dim, net.constant) == (4, 3, 0.7)
    assert np.allclose(net.flipped(2)(POINTS), net(POINTS))
    assert net.flipped(2) != net and net.flipped(2).neurons[2].tolist() == (-NEURONS[2]).tolist()
    assert pickle.loads(pickle.dumps(net)) == net
    assert repr(net) == "PiecewiseNet(4 neurons in dimension 3)"


@pytest.mark.parametrize(
    ("activation", "g"),
    [
        ("relu", lambda z: np.maximum(z, 0.0)),
        ("leaky", lambda z: np.where(z > 0.0, z, 0.3 * z)),
        ("absolute", np.abs),
        ("hard-tanh", lambda z: np.clip(z, -1.0, 1.0)),
        (([0.0, 1.0], [0.5, 2.0, -1.0]), lambda z: np.where(z < 0.0, 0.5 * z, np.where(z < 1.0, 2.0 * z, 3.0 - z))),
    ],
)
def test_activations_are_what_they_are_called(activation, g) -> None:
    net = PiecewiseNet.with_activation(ReluNet(NEURONS, SIGNS), activation, biases=BIASES, slope=0.3)
    assert np.allclose(net(POINTS), g(POINTS @ NEURONS.T + BIASES) @ SIGNS)


def test_gradients_are_finite_differences() -> None:
    net, step = network(), 1e-6
    parts = np.concatenate([[net.constant], net.linear, np.column_stack([net.neurons, net.biases]).ravel()])

    def value(flat: np.ndarray) -> np.ndarray:
        hinges = flat[4:].reshape(4, 4)
        return PiecewiseNet(hinges[:, :3], SIGNS, biases=hinges[:, 3], linear=flat[1:4], constant=flat[0])(POINTS)

    moved = np.eye(len(parts)) * step
    slopes = np.column_stack([(value(parts + move) - value(parts - move)) / (2 * step) for move in moved])
    assert np.allclose(net.gradient(POINTS), slopes, atol=1e-6)


def test_the_estimator_finds_the_kinks() -> None:
    truth = network()
    found = fit_piecewise(POINTS, truth(POINTS), neurons=4, restarts=100, agree=10)
    assert found.loss < 1e-18 and kink_error(found.net, truth) < 1e-6
    without = fit_piecewise(POINTS, ReluNet(NEURONS, SIGNS)(POINTS), neurons=4, biases=False, affine=False)
    assert without.loss < 1e-18 and not without.net.biases.any() and not without.net.linear.any()


def test_the_best_action_is_at_least_as_good_as_any_other() -> None:
    net, sphere = network(), POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    best = geometry.best_action(net)
    assert best.exact and best.f_star >= net(sphere).max() and net([best.x_star])[0] == pytest.approx(best.f_star)


def test_what_is_wrong_is_said() -> None:
    net = ReluNet(NEURONS)
    with pytest.raises(ValueError, match="slope = 1 is out of range: a number at least 0 and less than 1"):
        PiecewiseNet.with_activation(net, "leaky", slope=1.0)
    with pytest.raises(ValueError, match="kinks = 1, 0 is out of range: increasing numbers"):
        PiecewiseNet.with_activation(net, ([1.0, 0.0], [0.0, 1.0, 0.0]))
    with pytest.raises(ValueError, match="kinks = none is out of range: at least one kink"):
        PiecewiseNet.with_activation(net, ([], [1.0]))
    with pytest.raises(ValueError, match="one of relu, leaky, absolute, hard-tanh, or a pair"):
        PiecewiseNet.with_activation(net, "tanh")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the list of biases has dimension 2, but dimension 4 is needed"):
        PiecewiseNet(NEURONS, biases=[0.0, 1.0])
    with pytest.raises(ValueError, match="i = 4 is out of range"):
        network().flipped(4)
    with pytest.raises(ValueError, match="an action has dimension 4, but dimension 3 is needed"):
        network()(np.ones((2, 4)))
    with pytest.raises(ValueError, match="2 or 3 for the whole sphere with biases"):
        geometry.best_action(PiecewiseNet(np.eye(4), biases=[0.1, 0.0, 0.0, 0.0]))
    with pytest.raises(TypeError, match="net must be a ReluNet or a PiecewiseNet, not str"):
        geometry.best_action("network")  # type: ignore[arg-type]
