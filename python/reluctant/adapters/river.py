"""Policies for river's bandits: ``pull`` and ``update``.

>>> from reluctant import Oful
>>> from reluctant.adapters.river import RiverPolicy
>>> policy = RiverPolicy(Oful(dim=2), arms={"left": [1.0, 0.0], "right": [0.0, 1.0]})
>>> for _ in range(20):
...     arm = policy.pull(["left", "right"])
...     policy.update(arm, float(arm == "right"))
>>> policy.pull(["left", "right"])
'right'
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from river.bandit.base import ContextualPolicy as _ContextualPolicy
from river.bandit.base import Policy as _Policy

from ..policies import Policy


def _arms(arms: Mapping[Any, Any], arm_ids: list[Any]) -> Any:
    unknown = [arm_id for arm_id in arm_ids if arm_id not in arms]
    if unknown:
        raise ValueError(f"unknown arm {unknown[0]!r}; known are {', '.join(map(repr, arms))}")
    return np.array([arms[arm_id] for arm_id in arm_ids], dtype=np.float64)


class RiverPolicy(_Policy):  # type: ignore[misc]
    """A policy over arms that have names.

    Parameters
    ----------
    policy : Policy
        Copied, so that river's clones start afresh.
    arms : mapping
        The vector of each arm.
    reward_obj, reward_scaler, burn_in
        As in river.
    """

    def __init__(
        self,
        policy: Policy,
        arms: Mapping[Any, Any],
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.policy, self.arms = policy, arms
        self._learner = copy.deepcopy(policy)

    def _pull(self, arm_ids: list[Any]) -> Any:
        return arm_ids[self._learner.select_index(_arms(self.arms, arm_ids))]

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Learns that an arm was rewarded."""
        vector = _arms(self.arms, [arm_id])[0]
        self._learner.update_batch([vector], [_scaled(self, reward_args[0])])
        super().update(arm_id, *reward_args, **reward_kwargs)


class RiverContextualPolicy(_ContextualPolicy):  # type: ignore[misc]
    """A policy over arms and contexts: ``features(arm_id, context)`` returns the vector that it sees."""

    def __init__(
        self,
        policy: Policy,
        features: Callable[[Any, Any], Any],
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.policy, self.features = policy, features
        self._learner = copy.deepcopy(policy)

    def _pull(self, arm_ids: list[Any], context: Any) -> Any:
        return arm_ids[self._learner.select_index(np.stack([self.features(arm_id, context) for arm_id in arm_ids]))]

    def update(self, arm_id: Any, context: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Learns that an arm was rewarded in a context."""
        self._learner.update_batch([self.features(arm_id, context)], [_scaled(self, reward_args[0])])
        super().update(arm_id, context, *reward_args, **reward_kwargs)


def _scaled(policy: Any, reward: float) -> float:
    """The reward as river's own statistics see it."""
    if policy.reward_scaler is None:
        return float(reward)
    return float(policy.reward_scaler.func(reward))
