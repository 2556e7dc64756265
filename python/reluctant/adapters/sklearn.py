"""A policy as a scikit-learn regressor that learns as data comes: ``partial_fit``.

>>> import numpy as np
>>> from reluctant.adapters.sklearn import OnlineRegressor
>>> X = np.random.default_rng(0).normal(size=(200, 2))
>>> model = OnlineRegressor("oful").partial_fit(X, X @ [1.0, 2.0])
>>> bool(model.score(X, X @ [1.0, 2.0]) > 0.99)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._masks import refuse_masked
from ..policies import CLASSES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class OnlineRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What a policy predicts, for those who choose by themselves.

    Parameters
    ----------
    kind : str
        The policy's name in the registry.
    params : dict, optional
        Its parameters.
    seed : int
        All randomness comes from it.

    Attributes
    ----------
    policy_ : Policy
        The policy, made when the first data show their dimension.
    """

    def __init__(self, kind: str = "oful", params: dict[str, Any] | None = None, seed: int = 0) -> None:
        self.kind = kind
        self.params = params
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike) -> OnlineRegressor:
        """Forgets everything and learns from these rows, in order."""
        if hasattr(self, "policy_"):
            del self.policy_
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> OnlineRegressor:
        """Learns from rows of ``X`` and their rewards ``y``, in order."""
        refuse_masked(X=X, y=y)
        first = not hasattr(self, "policy_")
        rows, rewards = validate_data(self, X, y, reset=first, y_numeric=True, dtype=np.float64)
        if first:
            if self.kind not in CLASSES:
                raise ValueError(f"unknown policy '{self.kind}'; known are {', '.join(CLASSES)}")
            self.policy_ = CLASSES[self.kind](rows.shape[1], seed=self.seed, **(self.params or {}))
        self.policy_.update_batch(rows, np.asarray(rewards, dtype=np.float64))
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The predicted mean reward of every row."""
        return self._scores(X)[0]

    def predict_upper(self, X: ArrayLike) -> NDArray[np.float64]:
        """The optimistic value of every row: mean plus width."""
        mean, width = self._scores(X)
        return mean + width

    def _scores(self, X: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        check_is_fitted(self, "policy_")
        refuse_masked(X=X)
        return self.policy_.scores(validate_data(self, X, reset=False, dtype=np.float64))
