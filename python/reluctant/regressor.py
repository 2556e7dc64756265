"""A scikit-learn estimator for one-layer ReLU networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._masks import refuse_masked
from .estimate import fit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class ReluRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares over sums of a few ReLUs: f(x) = Σᵢ sᵢ·max(0, θᵢ·x + bᵢ).

    Unlike a neural network that is trained, it is fitted: several starts of Levenberg–Marquardt, of which the best is
    kept, so that few neurons and little data are enough to recover the network that made them.

    The units of the features do not matter: neurons of any length take up whatever factor a column has, and with biases
    whatever offset, so columns are brought to size 1 (and, with biases, to mean 0) for the fit, and what is found is
    told in the units of ``X``. Without biases the origin is part of the model and columns are only scaled; with
    ``signs="ones"`` neurons have length 1 in the units of ``X``, so nothing is changed.

    Parameters
    ----------
    n_neurons : int, default 4
        The number of ReLUs, at most 64.
    signs : {"free", "ones"}, default "free"
        ``"free"``: neurons of any length, signs ±1. ``"ones"``: the model of the paper, unit
        neurons whose values are added.
    fit_intercept : bool, default True
        Whether neurons have a bias bᵢ. The paper's have none, and with ``signs="ones"`` none is fitted.
    n_restarts : int, default 16
        The most starts; fewer are made if half of them, but at least three, agree before.
    random_state : int, RandomState or None, default 0
        Where the starts come from.

    Attributes
    ----------
    neurons_ : array of shape (n_neurons, n_features)
        θ.
    biases_ : array of shape (n_neurons,)
        b, all 0 without intercept.
    signs_ : array of shape (n_neurons,)
        s.
    loss_ : float
        The mean squared error on the data it was fitted to.
    n_restarts_ : int
        How many starts were made.
    n_agreed_ : int
        How many of them reached the loss: one alone may be a poor local minimum.
    n_iter_ : int
        Iterations, over all starts.

    Examples
    --------
    >>> import numpy as np
    >>> from reluctant import ReluRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = np.maximum(0, X @ [1.0, 2.0]) - np.maximum(0, X @ [1.0, -1.0])
    >>> model = ReluRegressor(n_neurons=2, fit_intercept=False).fit(X, y)
    >>> bool(model.score(X, y) > 0.999999)
    True
    """

    def __init__(
        self,
        n_neurons: int = 4,
        *,
        signs: Literal["free", "ones"] = "free",
        fit_intercept: bool = True,
        n_restarts: int = 16,
        random_state: Any = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.signs = signs
        self.fit_intercept = fit_intercept
        self.n_restarts = n_restarts
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> ReluRegressor:
        """Fits the network to rows of ``X`` and their targets ``y``."""
        refuse_masked(X=X, y=y)
        rows, targets = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        targets = np.asarray(targets, dtype=np.float64)
        free = self.signs == "free"
        intercept = free and self.fit_intercept
        # Free networks scale with their inputs and outputs: bring both to size 1, where
        # rounding and starts are at home.
        columns = _Columns.measured(rows, centred=intercept) if free else _Columns.untouched(rows)
        height = _size(targets) if free else 1.0
        inputs = np.hstack([columns.values, np.ones((len(rows), int(intercept)))])
        if free:
            # Less than a plane is too small a space for the solver; a coordinate that is always zero changes nothing.
            inputs = np.hstack([inputs, np.zeros((len(rows), max(0, 2 - inputs.shape[1])))])
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        # In few dimensions poor minima are wide: on a line, three starts agree on a wrong one in one
        # fit of ten, eight hardly ever.
        starts = {"restarts": self.n_restarts, "agree": max(3, self.n_restarts // 2)}
        found = fit(inputs, targets / height, self.n_neurons, signs=self.signs, seed=seed, **starts)
        neurons = found.net.neurons
        used = columns.values.shape[1]
        biases = neurons[:, used] if intercept else np.zeros(len(neurons))
        self.neurons_, self.biases_ = columns.in_their_own_units(neurons[:, :used] * height, biases * height)
        self.signs_ = found.net.signs
        self.loss_ = found.loss * height * height
        self.n_restarts_, self.n_agreed_, self.n_iter_ = found.restarts, found.agreed, found.iterations
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """The network's value at every row of ``X``."""
        check_is_fitted(self)
        refuse_masked(X=X)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        values: NDArray[np.float64] = np.maximum(0.0, rows @ self.neurons_.T + self.biases_) @ self.signs_
        return values


class _Columns(NamedTuple):
    """Features in units that suit the solver, and back: ``values = (rows[:, used] - centre[used]) / size[used]``."""

    values: NDArray[np.float64]
    used: NDArray[np.bool_]
    centre: NDArray[np.float64]
    size: NDArray[np.float64]

    @classmethod
    def untouched(cls, rows: NDArray[np.float64]) -> _Columns:
        """As they are."""
        dim = rows.shape[1]
        return cls(rows, np.ones(dim, dtype=bool), np.zeros(dim), np.ones(dim))

    @classmethod
    def measured(cls, rows: NDArray[np.float64], *, centred: bool) -> _Columns:
        """Each column of size 1, from its largest number so that no square overflows; ``centred``: around its mean."""
        largest = np.max(np.abs(rows), axis=0)
        largest[largest == 0.0] = 1.0
        shares = rows / largest
        centre = np.mean(shares, axis=0) if centred else np.zeros(rows.shape[1])
        shares -= centre
        spread = np.sqrt(np.mean(shares**2, axis=0))
        # A column that never changes but by rounding tells nothing: no neuron looks at it.
        used = spread > 64 * np.finfo(np.float64).eps
        return cls(shares[:, used] / spread[used], used, largest * centre, largest * spread)

    def in_their_own_units(
        self, neurons: NDArray[np.float64], biases: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same neurons and biases for the rows that were given."""
        theirs = np.zeros((len(neurons), len(self.used)))
        theirs[:, self.used] = neurons / self.size[self.used]
        return theirs, biases - theirs @ self.centre


def _size(numbers: NDArray[np.float64]) -> float:
    """The root mean square, 1 if all are zero; from the largest, so that no square overflows."""
    largest = float(np.max(np.abs(numbers), initial=0.0))
    if largest == 0.0:
        return 1.0
    return largest * float(np.sqrt(np.mean((numbers / largest) ** 2)))
