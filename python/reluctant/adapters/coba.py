"""A learner for coba's experiments.

>>> import coba as cb
>>> from reluctant import Oful
>>> from reluctant.adapters.coba import CobaLearner
>>> world = cb.Environments.from_linear_synthetic(200, n_actions=3, n_context_features=2, n_action_features=0, seed=1)
>>> learner = CobaLearner(Oful(dim=6, features="constant"))
>>> result = cb.Experiment(world, learner).run(quiet=True)
>>> len(result.interactions)
200
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from coba.primitives import Learner

from ..policies import Policy
from ._features import outer


class CobaLearner(Learner):  # type: ignore[misc]
    """A policy as a learner of coba.

    Parameters
    ----------
    policy : Policy
        Its dimension is that of the features.
    features : callable, optional
        ``features(context, action)`` returns the vector that the policy sees. By default the action, or its products with the context
        where there is one: for one-hot actions, a model of the context for each action.
    """

    def __init__(self, policy: Policy, features: Callable[[Any, Any], Any] = outer) -> None:
        self._policy, self._features = policy, features

    @property
    def params(self) -> Mapping[str, Any]:
        """What coba's table of learners shows."""
        return {"family": type(self._policy).__name__, "seed": self._policy.seed, **self._policy.params}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float | None]:
        """The chosen action and the probability with which it was chosen; ``None`` where that is not known, as with Thompson sampling."""
        choice = self._policy.select(np.stack([self._features(context, action) for action in actions]))
        assert choice.index is not None
        return actions[choice.index], choice.propensity

    def learn(self, context: Any, action: Any, reward: float, probability: float | None, **kwargs: Any) -> None:
        """Learns that the action was rewarded."""
        self._policy.update_batch([self._features(context, action)], [reward])
