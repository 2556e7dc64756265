"""Environments of one's own: a round (:class:`Round`), and a function with arms as an environment (:class:`Function`).

An environment is any object with ``dim`` and ``round(t, rng)``; an experiment takes it beside the built-in ones.

>>> import numpy as np
>>> from reluctant import Experiment, Round
>>> class Steps:
...     dim, facts = 2, {"sigma": 0.1}
...
...     def round(self, t, rng):
...         arms = rng.normal(size=(20, 2))
...         return Round(arms=arms, means=np.sign(arms[:, 0]), noise=0.1 * rng.normal())
>>> results = Experiment(environments=Steps(), policies="oful", rounds=50, trials=2).run(progress=False)
>>> results.trials()["panel"].unique().tolist()
['Steps']
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Round:
    """What an environment gives for a round: what is on offer, the mean reward of each action, and the noise.

    Parameters
    ----------
    arms : array of one row an arm
        What is on offer, or ``context`` and ``actions`` instead.
    means : array of one number an action
        The mean rewards, hidden from policies.
    noise : number, array of one number an action, or "bernoulli"
        What is added to the mean reward of the chosen action; with "bernoulli" the mean is the probability of a reward
        of 1.
    context : array, optional
        The numbers that all actions of this round share.
    actions : list of names, optional
        The actions on offer in the context.
    action_features : array of one row an action, optional
        Features of the actions, in the order of their names.
    """

    arms: ArrayLike | None = None
    means: ArrayLike | None = None
    noise: ArrayLike | str = 0.0
    context: ArrayLike | None = None
    actions: Sequence[str] | None = None
    action_features: ArrayLike | None = None


class Function:
    """A function of the arm as an environment.

    Parameters
    ----------
    mean : callable
        ``mean(x)`` returns the mean reward of an arm ``x``, an array of ``dim`` numbers.
    arms : array of one row an arm, or int
        The same arms in every round; or how many are drawn from the unit sphere for each round, in dimension ``dim``.
    sigma : float
        The standard deviation of the noise, which is normal.
    dim : int, optional
        The dimension of an arm, needed where ``arms`` is a count.
    at_once : bool
        Whether ``mean`` takes all arms as one array, a row each, and returns all of their means: much faster with
        numpy.

    Examples
    --------
    >>> from reluctant import Experiment, Function
    >>> bump = Function(lambda x: max(0.0, x[0]), arms=30, dim=3)
    >>> Experiment(environments=bump, policies="oful", rounds=20, trials=2).run(progress=False).environments
    {'Function': 'Function'}
    """

    def __init__(
        self,
        mean: Callable[[Any], Any],
        arms: ArrayLike | int,
        sigma: float = 0.1,
        *,
        dim: int | None = None,
        at_once: bool = False,
    ) -> None:
        import numpy as np

        from ._masks import refuse_masked

        if not callable(mean):
            raise TypeError(f"mean must be a function of an arm, not {type(mean).__name__}")
        if not sigma >= 0:
            raise ValueError(f"sigma = {sigma} is out of range: a number that is not negative")
        self.mean, self.sigma, self.at_once = mean, float(sigma), at_once
        self._arms: NDArray[np.float64] | None = None
        self._means: NDArray[np.float64] | None = None
        if hasattr(arms, "__index__") and np.ndim(arms) == 0:
            self._count = operator.index(arms)  # type: ignore[arg-type]
            if self._count < 1:
                raise ValueError(f"arms = {self._count} is out of range: at least 1")
            if dim is None:
                raise TypeError("dim is missing: where arms is a count, the dimension of the sphere must be given")
            self.dim = operator.index(dim)
        else:
            refuse_masked(arms=arms)
            self._arms = np.array(arms, dtype=np.float64)
            if self._arms.ndim != 2:
                raise ValueError(f"arms must be an array with 2 axes (arms, coordinates), not {self._arms.ndim}")
            if dim is not None and dim != self._arms.shape[1]:
                raise ValueError(f"dim = {dim} does not fit arms of dimension {self._arms.shape[1]}")
            self.dim, self._count = self._arms.shape[1], len(self._arms)

    @property
    def facts(self) -> dict[str, float]:
        """The noise, for policies that ask for it."""
        return {"sigma": self.sigma} if self.sigma > 0 else {}

    def round(self, t: int, rng: np.random.Generator) -> Round:
        """Arms, their mean rewards, and one normal number of noise."""
        import numpy as np

        if self._arms is None:
            arms = rng.normal(size=(self._count, self.dim))
            arms /= np.linalg.norm(arms, axis=1, keepdims=True)
            means = self._of(arms)
        else:
            if self._means is None:
                self._means = self._of(self._arms)
            arms, means = self._arms, self._means
        return Round(arms=arms, means=means, noise=self.sigma * rng.normal())

    def _of(self, arms: NDArray[np.float64]) -> NDArray[np.float64]:
        import numpy as np

        values = self.mean(arms) if self.at_once else [self.mean(x) for x in arms]
        means = np.asarray(values, dtype=np.float64)
        return means if means.ndim == 1 else means.reshape(len(means), -1).squeeze(axis=1)

    def __getstate__(self) -> Mapping[str, Any]:
        # What can be computed is no part of what it is.
        return {**self.__dict__, "_means": None}
