"""A policy for the Open Bandit Pipeline: ``select_action`` and ``update_params``, all that ``obp.simulator`` asks for.

The class does not inherit from obp's, so that it can be made where that package, with its old or large dependencies, is not.

>>> import numpy as np
>>> from reluctant import Oful
>>> from reluctant.adapters.obp import ObpPolicy
>>> policy = ObpPolicy(Oful(dim=2), n_actions=2, features=lambda context, action: np.eye(2)[action])
>>> for _ in range(20):
...     action = policy.select_action(np.zeros((1, 1)))
...     policy.update_params(action=action[0], reward=float(action[0] == 1), context=np.zeros((1, 1)))
>>> policy.select_action(np.zeros((1, 1)))
array([1])
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..policies import Policy
from ._features import outer

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
        Its dimension is that of the features.
    n_actions : int
        The number of actions.
    features : callable, optional
        ``features(context, action)`` returns the vector that the policy sees; by default a model of the context for each action.
    """

    len_list = 1
    batch_size = 1

    def __init__(self, policy: Policy, n_actions: int, features: Callable[[Any, int], Any] | None = None) -> None:
        self.n_actions = n_actions
        self._features = features or one_hot(n_actions)
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
        context = np.ravel(np.asarray(context, dtype=np.float64))
        arms = np.stack([self._features(context, action) for action in range(self.n_actions)])
        return np.array([self._policy.select_index(arms)])

    def update_params(self, action: int, reward: float, context: Any = None) -> None:
        """Learns that an action was rewarded in a context."""
        context = None if context is None else np.ravel(np.asarray(context, dtype=np.float64))
        self._policy.update_batch([self._features(context, int(action))], [reward])
