"""Policies for river's bandits: ``pull`` and ``update``.

>>> from reluctant import Oful
>>> from reluctant.adapters.river import RiverPolicy
>>> policy = RiverPolicy(Oful(dim=2), arms={"left": [1.0, 0.0], "right": [0.0, 1.0]})
>>> for _ in range(20):
...     arm = policy.pull(["left", "right"])
...     policy.update(arm, float(arm == "right"))
>>> policy.pull(["left", "right"])
'right'

In a context, arms need nothing but their names:

>>> from reluctant.adapters.river import RiverContextualPolicy
>>> contextual = RiverContextualPolicy(Oful(dim=2))
>>> arm = contextual.pull(["left", "right"], {"hour": 0.5, "rain": 1.0})
>>> contextual.update(arm, {"hour": 0.5, "rain": 1.0}, 1.0)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from river.bandit.base import ContextualPolicy as _ContextualPolicy
from river.bandit.base import Policy as _Policy

from ..policies import Policy
from ._features import reals


def _arms(arms: Mapping[Any, Any], arm_ids: list[Any]) -> Any:
    unknown = [arm_id for arm_id in arm_ids if arm_id not in arms]
    if unknown:
        raise ValueError(f"unknown arm {unknown[0]!r}; known are {', '.join(map(repr, arms))}")
    return np.array([arms[arm_id] for arm_id in arm_ids], dtype=np.float64)


class RiverPolicy(_Policy):  # type: ignore[misc]
    """A policy over arms that have names, and vectors if these are given.

    Parameters
    ----------
    policy : Policy
        Copied, so that river's clones start afresh.
    arms : mapping, optional
        The vector of each arm. Without it an arm is known by its name alone, and the policy is of dimension 1.
    reward_obj, reward_scaler, burn_in
        As in river.
    """

    def __init__(
        self,
        policy: Policy,
        arms: Mapping[Any, Any] | None = None,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.policy, self.arms = policy, arms
        self._learner = copy.deepcopy(policy)

    def _pull(self, arm_ids: list[Any]) -> Any:
        if self.arms is None:
            return arm_ids[self._learner.select_index([1.0], actions=[str(arm_id) for arm_id in arm_ids])]
        return arm_ids[self._learner.select_index(_arms(self.arms, arm_ids))]

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Learns that an arm was rewarded."""
        reward = _scaled(self, reward_args[0])
        if self.arms is None:
            self._learner.update_batch([[1.0]], [reward], actions=[str(arm_id)])
        else:
            self._learner.update_batch(_arms(self.arms, [arm_id]), [reward])
        super().update(arm_id, *reward_args, **reward_kwargs)


class RiverContextualPolicy(_ContextualPolicy):  # type: ignore[misc]
    """A policy over arms and contexts.

    Parameters
    ----------
    policy : Policy
        Copied, so that river's clones start afresh. Its dimension is the number of the context's entries, or that of
        the features.
    features : callable, optional
        ``features(arm_id, context)`` returns the vector that the policy sees. By default arms are named actions in the
        context, whose numbers are taken in the order of their names.
    reward_obj, reward_scaler, burn_in
        As in river.
    """

    def __init__(
        self,
        policy: Policy,
        features: Callable[[Any, Any], Any] | None = None,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
    ) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self.policy, self.features = policy, features
        self._learner = copy.deepcopy(policy)
        self._keys: list[Any] | None = None

    def _pull(self, arm_ids: list[Any], context: Any) -> Any:
        if self.features is None:
            return arm_ids[
                self._learner.select_index(self._vector(context), actions=[str(arm_id) for arm_id in arm_ids])
            ]
        return arm_ids[self._learner.select_index(np.stack([self.features(arm_id, context) for arm_id in arm_ids]))]

    def update(self, arm_id: Any, context: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Learns that an arm was rewarded in a context."""
        reward = _scaled(self, reward_args[0])
        if self.features is None:
            self._learner.update_batch([self._vector(context)], [reward], actions=[str(arm_id)])
        else:
            self._learner.update_batch([self.features(arm_id, context)], [reward])
        super().update(arm_id, context, *reward_args, **reward_kwargs)

    def _vector(self, context: Any) -> Any:
        """The numbers of a context, always in the same order."""
        if not isinstance(context, Mapping):
            return reals("context", [1.0] if context is None else context)
        if self._keys is None:
            self._keys = sorted(context)
        if sorted(context) != self._keys:
            known = ", ".join(map(str, self._keys))
            raise ValueError(
                f"a context must always have the same entries, {known}, not {', '.join(map(str, sorted(context)))}"
            )
        return reals("context", [context[key] for key in self._keys])


def _scaled(policy: Any, reward: float) -> float:
    """The reward as river's own statistics see it."""
    if policy.reward_scaler is None:
        return float(reward)
    return float(policy.reward_scaler.func(reward))
