"""scikit-learn estimators for one-layer ReLU networks: one that is fitted, and all that are plausible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._core import PlausibleNetworks
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


class PlausibleRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A mean and a spread from all models that the data leave plausible: what the policy ``plausible`` believes.

    A linear function, networks of up to sixteen ReLUs and networks of infinitely many (a Gaussian process) are compared
    by evidence, and the one that explains the data best predicts. Nothing need be told. Rows are learned one after the
    other, so :meth:`partial_fit` goes on where :meth:`fit` ended.

    The columns of ``X`` are centred and brought to size 1, and so are the targets, by the first rows that come.

    Parameters
    ----------
    n_neurons : int or None, default None
        The number of ReLUs, if it is known: then only networks of about as many ReLUs, of any signs and lengths, and a
        linear function are considered.
    sigma : float or None, default None
        The standard deviation of the noise of a target, as a first guess that residuals correct; None: it is found.
    n_networks : int, default 32
        How many networks are kept; four times as many while there are few rows.
    budget : int, default 2000
        Rows kept for refits; of more, those that are nearly the same become one.
    random_state : int, RandomState or None, default 0
        Where the networks come from.

    Attributes
    ----------
    belief_ : PlausibleNetworks
        What is believed, in the units of the centred data.
    model_ : str
        The model that predicts, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from reluctant import PlausibleRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = np.abs(X[:, 0]) - np.maximum(0, X[:, 1] - 0.5)
    >>> model = PlausibleRegressor().fit(X[:150], y[:150])
    >>> mean, spread = model.predict(X[150:], return_std=True)
    >>> bool(np.mean((mean - y[150:]) ** 2) < 0.1 * np.var(y))
    True
    """

    def __init__(
        self,
        n_neurons: int | None = None,
        *,
        sigma: float | None = None,
        n_networks: int = 32,
        budget: int = 2000,
        random_state: Any = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.sigma = sigma
        self.n_networks = n_networks
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> PlausibleRegressor:
        """Forgets everything and learns from these rows, in order."""
        if hasattr(self, "belief_"):
            del self.belief_
        return self.partial_fit(X, y)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> PlausibleRegressor:
        """Learns from rows of ``X`` and their targets ``y``, in order."""
        refuse_masked(X=X, y=y)
        first = not hasattr(self, "belief_")
        rows, targets = validate_data(self, X, y, reset=first, y_numeric=True, dtype=np.float64)
        targets = np.asarray(targets, dtype=np.float64)
        if first:
            self._columns = _Columns.measured(rows, centred=True)
            self._level = float(np.mean(targets))
            self._height = _size(targets - self._level)
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            # A belief is about vectors of at least two numbers.
            dim = max(2, int(np.count_nonzero(self._columns.used)))
            # In units of the data nothing says that neurons have length 1. Who tells nothing lets evidence decide.
            self.belief_ = PlausibleNetworks(
                dim,
                self.n_neurons,
                sigma=None if self.sigma is None else float(self.sigma) / self._height,
                signs=None if self.n_neurons is None else "free",
                networks=self.n_networks,
                budget=self.budget,
                seed=seed,
            )
        self.belief_.learn(self._inputs(rows), (targets - self._level) / self._height)
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean at every row of ``X``, and how unsure it is if ``return_std``: without the noise of a target."""
        inputs = self._asked(X)
        mean, spread = self.belief_.predict(inputs)
        mean = self._level + self._height * mean
        return (mean, self._height * spread) if return_std else mean

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Any = 0) -> NDArray[np.float64]:
        """Functions drawn from what is believed, a column each, at every row of ``X``."""
        inputs = self._asked(X)
        seeds = check_random_state(random_state).randint(2**31 - 1, size=n_samples)
        drawn = [self.belief_.draw(inputs, seed=int(seed)) for seed in seeds]
        return self._level + self._height * np.stack(drawn, axis=1)

    @property
    def model_(self) -> str:
        check_is_fitted(self, "belief_")
        return self.belief_.model

    def _asked(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self, "belief_")
        refuse_masked(X=X)
        return self._inputs(validate_data(self, X, reset=False, dtype=np.float64))

    def _inputs(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows in units that suit the belief: about as long as 1."""
        used = self._columns.used
        inputs = (rows[:, used] - self._columns.centre[used]) / self._columns.size[used]
        inputs /= np.sqrt(max(1, inputs.shape[1]))
        return np.hstack([inputs, np.zeros((len(rows), max(0, 2 - inputs.shape[1])))])


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
