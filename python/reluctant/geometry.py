"""The unit sphere, cut up by the hyperplanes of a network.

>>> from reluctant import ReluNet, geometry
>>> best = geometry.best_action(ReluNet([[1.0, 0.0], [0.0, 1.0]]))
>>> best.exact, round(best.f_star, 6)
(True, 1.414214)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import _core
from ._core import PiecewiseNet, ReluNet, alpha0, most_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BestAction", "Cells", "alpha0", "best_action", "cells", "most_cells"]


class BestAction(NamedTuple):
    """The best action of a network on the unit sphere."""

    x_star: NDArray[np.float64]
    """The action, a unit vector."""
    f_star: float
    """Its value."""
    nu_star: float
    """Its distance from the nearest kink: the gap of the paper."""
    alpha0: float
    """The least distance of two neurons up to sign; infinite for a single one."""
    active: list[int]
    """The neurons that are active there."""
    exact: bool
    """Whether it is the best for certain; if not, ``f_star`` is a lower bound found by ascent."""
    cells: int
    """How many cells the search went through."""


class Cells(NamedTuple):
    """The linear pieces of a network, one row each."""

    patterns: NDArray[np.bool_]
    """Which neurons are active."""
    centres: NDArray[np.float64]
    """The unit vector inside that is farthest from every kink."""
    margins: NDArray[np.float64]
    """How far that is."""


def best_action(net: ReluNet | PiecewiseNet, *, budget: int = 1 << 17) -> BestAction:
    """The best action on the sphere: exact if the network has at most ``budget`` cells, found by ascent otherwise.

    With biases or a constant it is exact in two and three dimensions, and refused in more.
    """
    return BestAction(**_core.best_action(net, budget=budget))


def cells(net: ReluNet, *, margin: float = 0.0) -> Cells:
    """The cells of a network that have a point at least ``margin`` from every kink."""
    return Cells(*_core.cells(net, margin=margin))
