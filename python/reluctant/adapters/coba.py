"""A learner for coba's experiments.

>>> import coba as cb
>>> from reluctant import Oful
>>> from reluctant.adapters.coba import CobaLearner
>>> environment = cb.Environments.from_linear_synthetic(
...     200, n_actions=3, n_context_features=2, n_action_features=0, seed=1
... )
>>> result = cb.Experiment(environment, CobaLearner(Oful(dim=2, features="constant"))).run(quiet=True)
>>> len(result.interactions)
200
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from coba.primitives import Learner

from ..policies import Policy
from ._features import in_context, is_one_hot, label, outer


class CobaLearner(Learner):  # type: ignore[misc]
    """A policy as a learner of coba.

    Parameters
    ----------
    policy : Policy
        Its dimension is that of the context where actions are labels, and that of the features otherwise.
    features : callable, optional
        ``features(context, action)`` returns the vector that the policy sees. By default, actions that are labels, a
        text or a number each, are named actions in their context (a constant where there is none); so are one-hot
        actions if the policy has the dimension of the context. Other actions are vectors: themselves, or all products
        with the context where there is one.
    """

    def __init__(self, policy: Policy, features: Callable[[Any, Any], Any] | None = None) -> None:
        self._policy, self._features = policy, features

    @property
    def params(self) -> Mapping[str, Any]:
        """What coba's table of learners shows."""
        return {"family": type(self._policy).__name__, "seed": self._policy.seed, **self._policy.given}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float | None]:
        """The chosen action and its probability; ``None`` where that is not known, as with Thompson sampling."""
        if self._has_names(context, actions[0]):
            choice = self._policy.select(in_context(context), actions=[_name(action) for action in actions])
        else:
            features = self._features or outer
            choice = self._policy.select(np.stack([features(context, action) for action in actions]))
        assert choice.index is not None
        return actions[choice.index], choice.propensity

    def learn(self, context: Any, action: Any, reward: float, probability: float | None, **kwargs: Any) -> None:
        """Learns that the action was rewarded."""
        if self._has_names(context, action):
            self._policy.update_batch([in_context(context)], [reward], actions=[_name(action)])
        else:
            self._policy.update_batch([(self._features or outer)(context, action)], [reward])

    def _has_names(self, context: Any, action: Any) -> bool:
        if self._features is not None:
            return False
        return label(action) is not None or (is_one_hot(action) and self._policy.dim == len(in_context(context)))


def _name(action: Any) -> str:
    return label(action) or str(action)
