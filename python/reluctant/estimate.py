"""The empirical-risk minimiser, and matching an estimate with the truth.

>>> import numpy as np
>>> from reluctant import ReluNet, fit, match_neurons
>>> truth = ReluNet.random(dim=3, neurons=2, seed=1)
>>> actions = np.random.default_rng(0).normal(size=(60, 3))
>>> found = fit(actions, truth(actions), neurons=2)
>>> match_neurons(found.net, truth).worst < 1e-6
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _core
from ._core import ReluNet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Fit(NamedTuple):
    """An empirical-risk minimiser."""

    net: ReluNet
    """The network."""
    loss: float
    """Its mean squared error."""
    restarts: int
    """How many starts were made."""
    agreed: int
    """How many of them reached this loss."""
    iterations: int
    """Iterations, over all starts."""


class Matching(NamedTuple):
    """The bijection between two sets of neurons whose worst error is least."""

    permutation: NDArray[np.int64]
    """True neuron i is estimated by neuron ``permutation[i]``."""
    flipped: NDArray[np.bool_]
    """Whether it is met by the negative of its estimate."""
    errors: NDArray[np.float64]
    """Its error."""
    worst: float
    """The greatest error."""


def fit(
    actions: ArrayLike,
    rewards: ArrayLike,
    neurons: int,
    *,
    signs: Literal["ones", "free"] = "ones",
    restarts: int = 16,
    agree: int = 3,
    iterations: int = 300,
    seed: int = 0,
    slope: float = 0.0,
) -> Fit:
    """Fits a one-layer ReLU network to rows of actions with their rewards.

    ``signs="ones"`` fits the paper's model, unit neurons with a second layer of ones; ``"free"``
    neurons of any length with signs ±1.
    A ``slope`` above 0 fits leaky units with that slope for negative inputs.
    """
    options: dict[str, Any] = {"restarts": restarts, "agree": agree, "iterations": iterations}
    options |= {"seed": seed, "slope": slope}
    return Fit(*_core.fit(actions, rewards, neurons, signs=signs, **options))


def match_neurons(estimate: ReluNet, truth: ReluNet, *, signs: Literal["strict", "free"] = "strict") -> Matching:
    """Matches the neurons of an estimate with those of the truth so that the worst error is least.

    ``signs="free"`` lets a neuron be met by its negative, as in the paper's Theorem 3.2.
    """
    return Matching(*_core.match_neurons(estimate, truth, signs=signs))
