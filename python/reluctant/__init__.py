"""Bandits whose rewards have ReLU structure: a Rust core with numpy in and out.

>>> import numpy as np
>>> from reluctant import OfuRelu
>>> rng = np.random.default_rng(0)
>>> policy = OfuRelu(dim=2, neurons=3, explore=20)
>>> for _ in range(100):
...     arms = rng.normal(size=(50, 2))
...     arms /= np.linalg.norm(arms, axis=1, keepdims=True)
...     choice = policy.select(arms)
...     policy.update(choice.action, reward=max(0.0, choice.action[0]) + 0.1 * rng.normal())
>>> bool(choice.action[0] > 0.9)
True

Policies are classes (:class:`OfuRelu`, :class:`Oful`, …), experiments are run by :class:`Experiment`, networks are
fitted by :func:`fit` and :class:`ReluRegressor`, all that are plausible by :class:`PlausibleRegressor`, logs are judged
by :func:`evaluate`. ``reluctant.adapters`` speaks to other libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import geometry, policies, theory
from ._core import Choice, Explanation, PiecewiseNet, PlausibleNetworks, ReluNet, __version__, environments
from .environment import Function, Round
from .estimate import Fit, Matching, PiecewiseFit, fit, fit_piecewise, kink_error, match_neurons
from .executors import PoolExecutor
from .experiment import Experiment
from .logs import Evaluation, choose, evaluate, read_log, to_bandit_feedback, write_log
from .policies import *
from .results import Results

if TYPE_CHECKING:
    from .regressor import PlausibleRegressor as PlausibleRegressor
    from .regressor import ReluRegressor as ReluRegressor

# Without the regressors, which are there for those who have scikit-learn: `from reluctant import *` must not need it.
__all__ = [
    "Choice",
    "Evaluation",
    "Experiment",
    "Explanation",
    "Fit",
    "Function",
    "Matching",
    "PiecewiseFit",
    "PiecewiseNet",
    "PlausibleNetworks",
    "PoolExecutor",
    "ReluNet",
    "Results",
    "Round",
    "__version__",
    "choose",
    "environments",
    "evaluate",
    "fit",
    "fit_piecewise",
    "geometry",
    "kink_error",
    "match_neurons",
    "read_log",
    "theory",
    "to_bandit_feedback",
    "write_log",
    *policies.__all__,
]

_REGRESSORS = ("PlausibleRegressor", "ReluRegressor")


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import: only who asks for an estimator waits for it.
    if name in _REGRESSORS:
        try:
            from . import regressor
        except ImportError as cause:
            raise ImportError(f"{name} needs scikit-learn 1.6 or later: pip install scikit-learn") from cause
        return getattr(regressor, name)
    raise AttributeError(f"module 'reluctant' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_REGRESSORS])
