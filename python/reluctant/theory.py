"""What the paper's statements say for given numbers.

>>> from reluctant import theory
>>> statements = theory.evaluate(dim=2, neurons=3, sigma=0.1)
>>> round(statements["t0"].log10, 1)
43.6
"""

from __future__ import annotations

import json
from typing import NamedTuple

from . import _core


class Quantity(NamedTuple):
    """One statement, evaluated."""

    key: str
    """Its name for programs."""
    symbol: str
    """Its symbol."""
    place: str
    """Where the paper states it; "ours" where it does not."""
    label: str
    """The label of that place in the paper's source."""
    formula: str
    """The formula that was evaluated."""
    value: float | None
    """Its value, if a finite number holds it."""
    log10: float | None
    """The logarithm of its value, if that is positive and finite."""
    state: str
    """finite, huge (only the logarithm fits into a number), infinite or undefined."""
    holds: bool | None
    """Whether what the statement assumes or promises holds here."""
    meaning: str
    """What it means, in one sentence."""


def evaluate(
    dim: int,
    neurons: int,
    sigma: float,
    *,
    nu: float | None = None,
    alpha0: float | None = None,
    delta: float = 0.01,
    horizon: float = 1000.0,
    lambda_: float = 1.0,
) -> dict[str, Quantity]:
    """Every statement for these numbers, by its key.

    ``nu`` is the gap of the best action and ``alpha0`` the separation of the neurons; without them, the least
    favourable gap and the most favourable separation that a network of this size can have.
    """
    text = _core.theory(dim, neurons, sigma, nu=nu, alpha0=alpha0, delta=delta, horizon=horizon, lambda_=lambda_)
    return {row["key"]: Quantity(**row) for row in json.loads(text)}
