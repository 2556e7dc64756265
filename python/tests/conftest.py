"""What several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from reluctant import Experiment, Policy, _core
from reluctant.policies import CLASSES

SAMPLES = [
    pytest.param(CLASSES[row["name"]], settings, id=f"{row['name']}-{number}")
    for row in _core.policies()
    for number, settings in enumerate(row["samples"])
    if row["name"] != "oracle"
]
"""Every policy of the registry but the oracle, in each configuration on which the core tests it."""


def circle(count: int, dim: int = 2, seed: int = 0) -> NDArray[np.float64]:
    """Unit vectors."""
    arms = np.random.default_rng(seed).normal(size=(count, dim))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True)


def play(policy: Policy, rounds: int, seed: int = 1) -> list[int]:
    """Plays rounds of 20 arms whose rewards are a sum of two ReLUs, and returns the choices."""
    rng = np.random.default_rng(seed)
    chosen = []
    for _ in range(rounds):
        arms = circle(20, policy.dim, int(rng.integers(2**31)))
        index = policy.select_index(arms)
        policy.update(arms[index], np.maximum(0, arms[index]).sum() + 0.1 * rng.normal())
        chosen.append(index)
    return chosen


@pytest.fixture
def small() -> Experiment:
    """A tuned and an untuned policy in two environments: 52 trials that take no time."""
    return Experiment(**small_settings())


def small_settings(**changes: Any) -> dict[str, Any]:
    """The small experiment's settings."""
    settings: dict[str, Any] = {
        "environments": [
            {"kind": "relu-sphere", "label": "small", "neurons": 2, "arms": 20},
            {"kind": "linear-sphere", "label": "line", "arms": 20},
        ],
        "policies": [
            {"kind": "oful", "label": "OFUL", "lambda_": [0.01, 1.0]},
            {"kind": "ofu-relu", "label": "OFU-ReLU", "neurons": 2, "explore": 15},
        ],
        "rounds": 60,
        "trials": 5,
        "tuning_trials": 8,
        "seed": 3,
    }
    return {**settings, **changes}
