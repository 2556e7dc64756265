"""Which policy to begin with on a box of two numbers whose reward bends away from the centre: python box.py.

300 arms in [0, 1]², the same in every round, 100 rounds, noise 0.1, nothing tuned or told. The mean reward is that of
two doses: the first saturates, and more than 1 in all does harm. Prints the table of docs/choose.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from reluctant import GpUcb, Oful, Plausible, Policy, Uniform

Array = NDArray[np.float64]

ROUNDS, SIGMA = 100, 0.1


def reward(x: Array) -> Array:
    """Mean rewards of arms, a row each; the best is 1.5, at (0.5, 0.5)."""
    harm = np.maximum(0, x[:, 0] + x[:, 1] - 1)
    return np.minimum(2 * x[:, 0], 1) + x[:, 1] - 3 * harm


def scaled(x: Array) -> Array:
    """Numbers from -1 to 1, and a constant."""
    return np.column_stack([2 * x - 1, np.ones(len(x))])


POLICIES: dict[str, tuple[Callable[[int], Policy], Callable[[Array], Array]]] = {
    "`plausible`, free signs, on scaled x and a constant": (
        lambda seed: Plausible(3, signs="free", seed=seed),
        scaled,
    ),
    "`gp-ucb`, on x": (lambda seed: GpUcb(2, seed=seed), lambda x: x),
    "`oful` on monomials": (lambda seed: Oful(2, features="monomials", degree=4, seed=seed), lambda x: 2 * x - 1),
    "`plausible`, free signs, on x": (lambda seed: Plausible(2, signs="free", seed=seed), lambda x: x),
    "`oful` on (x, 1)": (lambda seed: Oful(2, features="constant", seed=seed), lambda x: x),
    "`uniform`": (lambda seed: Uniform(2, seed=seed), lambda x: x),
}


def regret(make: Callable[[int], Policy], features: Callable[[Array], Array], seed: int) -> float:
    """What one trial loses."""
    rng = np.random.default_rng(seed)
    arms, policy = rng.uniform(size=(300, 2)), make(seed)
    means, offered, lost = reward(arms), features(arms), 0.0
    for _ in range(ROUNDS):
        choice = policy.select(offered)
        lost += means.max() - means[choice.index]
        policy.update(choice, means[choice.index] + SIGMA * rng.normal())
    return lost


def main(trials: int) -> None:
    """Prints mean and standard error of every policy."""
    print("| | mean regret ± standard error | worst trial |\n| --- | --- | --- |")
    for label, (make, features) in POLICIES.items():
        start = time.process_time()
        lost = [regret(make, features, seed) for seed in range(trials)]
        error = np.std(lost, ddof=1) / np.sqrt(trials)
        print(f"| {label} | {np.mean(lost):.1f} ± {error:.1f} | {max(lost):.1f} |", flush=True)
        print(f"{(time.process_time() - start) / trials / ROUNDS * 1e3:.2f} ms a round", file=sys.stderr)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
