# Made from the registry by `python -m reluctant._stubs`; not to be edited.

import os
from typing import ClassVar, Final, Literal

from typing_extensions import Self

from . import _core

class Policy(_core.Policy):
    kind: ClassVar[str]
    on_sphere: ClassVar[bool]
    def __new__(cls, dim: int, *, seed: int = 0, **params: float | str | None) -> Self: ...
    @classmethod
    def from_json(cls, text: str) -> Self: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self: ...

CLASSES: Final[dict[str, type[Policy]]]

def class_name(kind: str) -> str: ...

class Uniform(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class Oracle(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class EpsilonGreedy(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        epsilon: float | None = 0.3,
        power: float | None = 0.5,
        belief: Literal["network", "linear", "gp"] | None = "network",
        lambda_: float | Literal["auto"] | None = None,
        features: Literal["raw", "constant", "monomials"] | None = "raw",
        degree: int | None = 2,
        sigma: float | None = 0.1,
        kernel: Literal["rbf", "matern32", "matern52", "relu", "relu-gate", "relu-ntk", "auto"] | None = "rbf",
        length: float | Literal["auto"] | None = None,
        variance: float | Literal["auto"] | None = None,
        budget: int | None = 200,
        discount: float | None = 1.0,
        width: int | None = 64,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class SquareCb(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        gamma: float | None = 30.0,
        belief: Literal["network", "linear", "gp"] | None = "network",
        lambda_: float | Literal["auto"] | None = None,
        features: Literal["raw", "constant", "monomials"] | None = "raw",
        degree: int | None = 2,
        sigma: float | None = 0.1,
        kernel: Literal["rbf", "matern32", "matern52", "relu", "relu-gate", "relu-ntk", "auto"] | None = "rbf",
        length: float | Literal["auto"] | None = None,
        variance: float | Literal["auto"] | None = None,
        budget: int | None = 200,
        discount: float | None = 1.0,
        width: int | None = 64,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class Oful(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        lambda_: float | None = 0.01,
        sigma: float | None = 0.1,
        delta: float | None = 0.01,
        norm_bound: float | None = 1.0,
        features: Literal["raw", "constant", "monomials"] | None = "raw",
        degree: int | None = 2,
        discount: float | None = 1.0,
        alpha: float | Literal["auto"] | None = None,
        log_det: Literal["ratio", "twice"] | None = "ratio",
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class LinTs(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        lambda_: float | None = 0.01,
        sigma: float | None = 0.1,
        scale: float | None = 1.0,
        features: Literal["raw", "constant", "monomials"] | None = "raw",
        degree: int | None = 2,
        discount: float | None = 1.0,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class GpUcb(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        beta: float | None = 2.0,
        sigma: float | Literal["auto"] | None = None,
        kernel: Literal["rbf", "matern32", "matern52", "relu", "relu-gate", "relu-ntk", "auto"] | None = "rbf",
        depth: int | None = 1,
        bias: bool | None = True,
        length: float | Literal["auto"] | None = None,
        variance: float | Literal["auto"] | None = None,
        leeway: float | Literal["auto"] | None = None,
        budget: int | None = 200,
        discount: float | None = 1.0,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class GpTs(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        scale: float | None = 1.0,
        sigma: float | Literal["auto"] | None = None,
        kernel: Literal["rbf", "matern32", "matern52", "relu", "relu-gate", "relu-ntk", "auto"] | None = "rbf",
        depth: int | None = 1,
        bias: bool | None = True,
        length: float | Literal["auto"] | None = None,
        variance: float | Literal["auto"] | None = None,
        leeway: float | Literal["auto"] | None = None,
        budget: int | None = 200,
        discount: float | None = 1.0,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class OfuRelu(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        neurons: int,
        explore: int | None = 20,
        lambda_: float | None = 0.01,
        sigma: float | None = 0.1,
        delta: float | None = 0.01,
        nu: float | None = 0.0,
        signs: Literal["ones", "free"] | None = "ones",
        slope: float | None = 0.0,
        biases: bool | None = False,
        restarts: int | None = 16,
        profile: Literal["paper", "authors"] | None = "paper",
        fit: Literal["lm", "adam"] | Literal["auto"] | None = None,
        norm_bound: float | Literal["auto"] | None = None,
        radius_sigma: float | Literal["auto"] | None = None,
        log_det: Literal["ratio", "twice"] | Literal["auto"] | None = None,
        drop_last: bool | Literal["auto"] | None = None,
        late_radius: bool | Literal["auto"] | None = None,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
    ) -> Self: ...

class OfuReluPlus(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        neurons: int | Literal["auto"] | None = None,
        lambda_: float | None = 0.01,
        sigma: float | None = 0.1,
        delta: float | None = 0.01,
        nu0: float | None = 0.1,
        first_batch: int | None = 100,
        a: float | None = 2.0,
        b: float | None = 1.0218971486541166,
        schedule: Literal["scaled", "literal"] | None = "scaled",
        explore: int | None = 20,
        alpha0: float | None = 0.5,
        norm_bound: float | Literal["auto"] | None = None,
        radius: Literal["measured", "theorem"] | None = "measured",
        signs: Literal["ones", "free"] | None = "ones",
        slope: float | None = 0.0,
        biases: bool | None = False,
        restarts: int | None = 16,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
    ) -> Self: ...

class NeuralUcb(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        preset: Literal["F", "T", "TW"] | None = "F",
        neurons: int | Literal["auto"] | None = None,
        width: int | Literal["auto"] | None = None,
        update: Literal["authors", "zhou"] | None = "authors",
        matrix: Literal["diagonal", "full"] | None = "diagonal",
        lambda_: float | Literal["auto"] | None = None,
        nu: float | Literal["auto"] | None = None,
        gamma: float | None = 0.1,
        steps: int | Literal["auto"] | None = None,
        rate: float | Literal["auto"] | None = None,
        batch: int | None = 1,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class NnUcb(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        beta: float | None = 1.0,
        width: int | None = 64,
        lambda_: float | Literal["auto"] | None = None,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        sigma: float | Literal["auto"] | None = None,
        kernel: Literal["rbf", "matern32", "matern52", "relu", "relu-gate", "relu-ntk", "auto"] | None = "relu-ntk",
        depth: int | None = 1,
        bias: bool | None = True,
        length: float | Literal["auto"] | None = None,
        variance: float | Literal["auto"] | None = None,
        leeway: float | Literal["auto"] | None = None,
        budget: int | None = 200,
        discount: float | None = 1.0,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class NeuralTs(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        preset: Literal["F", "T", "TW"] | None = "F",
        neurons: int | Literal["auto"] | None = None,
        width: int | Literal["auto"] | None = None,
        update: Literal["authors", "zhou"] | None = "authors",
        matrix: Literal["diagonal", "full"] | None = "diagonal",
        lambda_: float | Literal["auto"] | None = None,
        nu: float | Literal["auto"] | None = None,
        gamma: float | None = 0.1,
        steps: int | Literal["auto"] | None = None,
        rate: float | Literal["auto"] | None = None,
        batch: int | None = 1,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class NeuralLinear(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        width: int | None = 64,
        scale: float | None = 1.0,
        lambda_: float | None = 1.0,
        a0: float | None = 1.0,
        b0: float | None = 0.1,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class NeuralLinucb(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        members: int | None = 2,
        width: int | None = 64,
        alpha: float | None = 1.0,
        lambda_: float | Literal["auto"] | None = None,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class Ensemble(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        members: int | None = 10,
        width: int | None = 64,
        scale: float | None = 1.0,
        prior: float | None = 0.3,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class LmcTs(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        steps: int | None = 1,
        step: float | None = 0.5,
        temperature: float | None = 0.3,
        width: int | None = 64,
        growth: float | None = 0.15,
        epochs: float | None = 10.0,
        rate: float | None = 0.005,
        decay: float | None = 0.1,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

class Plausible(Policy):
    def __new__(
        cls,
        dim: int,
        *,
        seed: int = 0,
        neurons: int | Literal["auto"] | None = None,
        sigma: float | Literal["auto"] | None = None,
        signs: Literal["ones", "free"] | Literal["auto"] | None = None,
        biases: bool | Literal["auto"] | None = None,
        networks: int | None = 32,
        mode: Literal["optimism", "sampling"] | None = "optimism",
        optimism: float | None = 1.5,
        budget: int | None = 2000,
        lambda_: float | None = 1.0,
        radius: Literal["measured", "theorem"] | None = "measured",
        delta: float | None = 0.01,
        join: Literal["concatenate", "products"] | None = "concatenate",
        chance: float | None = 0.0,
        explore: float | None = 0.0,
    ) -> Self: ...

__all__ = [
    "Policy",
    "Uniform",
    "Oracle",
    "EpsilonGreedy",
    "SquareCb",
    "Oful",
    "LinTs",
    "GpUcb",
    "GpTs",
    "OfuRelu",
    "OfuReluPlus",
    "NeuralUcb",
    "NnUcb",
    "NeuralTs",
    "NeuralLinear",
    "NeuralLinucb",
    "Ensemble",
    "LmcTs",
    "Plausible",
]
