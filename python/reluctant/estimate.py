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
from ._core import PiecewiseNet, ReluNet, kink_error

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


__all__ = ["Fit", "Matching", "PiecewiseFit", "fit", "fit_piecewise", "kink_error", "match_neurons"]


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


class PiecewiseFit(NamedTuple):
    """An empirical-risk minimiser of the whole family."""

    net: PiecewiseNet
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


def fit_piecewise(
    actions: ArrayLike,
    rewards: ArrayLike,
    neurons: int,
    *,
    biases: bool = True,
    affine: bool = True,
    restarts: int = 16,
    agree: int = 3,
    iterations: int = 300,
    seed: int = 0,
) -> PiecewiseFit:
    """Fits an affine function and ReLUs of any length and sign to rows of actions with their rewards.

    ``biases=False`` lets every kink go through the origin, ``affine=False`` leaves the affine part out. With it a
    neuron is known up to its sign, so compare by :func:`kink_error`. Where a poor minimum will not do, make more
    starts: ``restarts=400, agree=40``.

    >>> import numpy as np
    >>> from reluctant import fit_piecewise
    >>> actions = np.random.default_rng(0).uniform(-1, 1, size=(100, 2))
    >>> found = fit_piecewise(actions, 2 + np.maximum(0, actions[:, 0] - 0.3), neurons=1)
    >>> bool(np.isclose(-found.net.biases[0] / found.net.neurons[0, 0], 0.3))
    True
    """
    options: dict[str, Any] = {"restarts": restarts, "agree": agree, "iterations": iterations, "seed": seed}
    return PiecewiseFit(*_core.fit_piecewise(actions, rewards, neurons, biases=biases, affine=affine, **options))
