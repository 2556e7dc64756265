"""A policy for the Open Bandit Pipeline: ``select_action`` and ``update_params``, all that ``obp.simulator`` asks for.

The class does not inherit from obp's, so that it can be made where that package, with its old
or large dependencies, is not.

>>> import numpy as np
>>> from reluctant import Oful
>>> from reluctant.adapters.obp import ObpPolicy
>>> policy = ObpPolicy(Oful(dim=1), n_actions=2)
>>> for _ in range(20):
...     action = policy.select_action(np.ones((1, 1)))
...     policy.update_params(action=action[0], reward=float(action[0] == 1), context=np.ones((1, 1)))
>>> policy.select_action(np.ones((1, 1)))
array([1])
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..policies import Policy
from ._features import in_context, outer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def one_hot(n_actions: int) -> Callable[[Any, int], NDArray[np.float64]]:
    """A model of the context for each action."""
    return lambda context, action: outer(context, np.eye(n_actions)[action])


class ObpPolicy:
    """A policy over ``n_actions`` actions, for lists of length 1.

    Parameters
    ----------
    policy : Policy
        Its dimension is that of the context, or that of the features.
    n_actions : int
        The number of actions.
    features : callable, optional
        ``features(context, action)`` returns the vector that the policy sees. By default, actions are named actions in
        the context if the policy has its dimension; otherwise it must have ``n_actions`` times as many, one block an
        action.
    """

    len_list = 1
    batch_size = 1

    def __init__(self, policy: Policy, n_actions: int, features: Callable[[Any, int], Any] | None = None) -> None:
        self.n_actions = n_actions
        self._features = features
        self._fresh = copy.deepcopy(policy)
        self.initialize()

    @property
    def policy_name(self) -> str:
        """The name in results."""
        return self._fresh.name

    @property
    def policy_type(self) -> Any:
        """That it wants to see contexts: obp's word for it, where obp is."""
        try:
            from obp.policy.policy_type import PolicyType
        except ImportError:
            return "contextual"
        return PolicyType.CONTEXTUAL

    def initialize(self) -> None:
        """Forgets everything."""
        self._policy = copy.deepcopy(self._fresh)
        self.n_trial = 0

    def select_action(self, context: Any) -> NDArray[np.int64]:
        """The chosen action, as a list of one."""
        self.n_trial += 1
        x = in_context(context)
        if self._has_names(x):
            return np.array([self._policy.select_index(x, actions=[str(action) for action in range(self.n_actions)])])
        features = self._features or one_hot(self.n_actions)
        return np.array(
            [self._policy.select_index(np.stack([features(x, action) for action in range(self.n_actions)]))]
        )

    def update_params(self, action: int, reward: float, context: Any = None) -> None:
        """Learns that an action was rewarded in a context."""
        x = in_context(context)
        if self._has_names(x):
            self._policy.update_batch([x], [reward], actions=[str(int(action))])
            return
        features = self._features or one_hot(self.n_actions)
        self._policy.update_batch([features(None if context is None else x, int(action))], [reward])

    def _has_names(self, context: NDArray[np.float64]) -> bool:
        return self._features is None and self._policy.dim == len(context)
