"""The library's policies in coba's own worlds, beside coba's own learners and Vowpal Wabbit's: python coba_suite.py.

    pip install reluctant coba vowpalwabbit

Four kinds of synthetic rewards that coba makes (linear, by neighbours, by kernels, by a random network), five actions,
five context features, 2,000 rounds, ten worlds of each kind. Everybody has its defaults. Prints mean rewards, with 95 %
intervals over the worlds, and milliseconds a round.
"""

import time
from collections.abc import Callable
from typing import Any

import coba as cb
import numpy as np
from reluctant import GpUcb, NeuralLinucb, NeuralUcb, Oful, Plausible
from reluctant.adapters.coba import CobaLearner
from scipy.stats import t as student

ROUNDS, WORLDS, ACTIONS, FEATURES = 2_000, 10, 5, 5

KINDS = {
    "linear": cb.Environments.from_linear_synthetic,
    "neighbours": cb.Environments.from_neighbors_synthetic,
    "kernels": cb.Environments.from_kernel_synthetic,
    "network": cb.Environments.from_mlp_synthetic,
}

LEARNERS: dict[str, Callable[[], Any]] = {
    "reluctant `plausible`": lambda: CobaLearner(Plausible(dim=FEATURES)),
    "reluctant `neural-linucb`": lambda: CobaLearner(NeuralLinucb(dim=FEATURES)),
    "reluctant `neural-ucb`": lambda: CobaLearner(NeuralUcb(dim=FEATURES)),
    "reluctant `gp-ucb`": lambda: CobaLearner(GpUcb(dim=FEATURES)),
    "reluctant `oful` on (x, 1)": lambda: CobaLearner(Oful(dim=FEATURES, features="constant")),
    "coba LinUCB": lambda: cb.LinUCBLearner(seed=1),
    "coba LinTS": lambda: cb.LinTSLearner(seed=1),
    "Vowpal Wabbit, ε-greedy": lambda: cb.VowpalEpsilonLearner(seed=1),
    "Vowpal Wabbit, SquareCB": lambda: cb.VowpalSquarecbLearner(seed=1),
    "Vowpal Wabbit, bagging": lambda: cb.VowpalBagLearner(seed=1),
    "chance": lambda: cb.RandomLearner(),
}


def reward(kind: str, make: Callable[[], Any], seed: int) -> float:
    """The mean reward of a learner in one world."""
    world = KINDS[kind](ROUNDS, n_actions=ACTIONS, n_context_features=FEATURES, n_action_features=0, seed=seed)
    rows = cb.Experiment(world, [make()]).run(quiet=True, processes=1).interactions.to_dicts()
    return float(np.mean([row["reward"] for row in rows]))


def main() -> None:
    print("| | " + " | ".join(KINDS) + " | ms a round |\n| " + " | ".join(["---"] * (len(KINDS) + 2)) + " |")
    for name, make in LEARNERS.items():
        cells, begin = [], time.process_time()
        for kind in KINDS:
            found = [reward(kind, make, seed) for seed in range(WORLDS)]
            half = student.ppf(0.975, WORLDS - 1) * np.std(found, ddof=1) / np.sqrt(WORLDS)
            cells.append(f"{np.mean(found):.3f} ± {half:.3f}")
        cost = 1000 * (time.process_time() - begin) / (ROUNDS * WORLDS * len(KINDS))
        print(f"| {name} | " + " | ".join(cells) + f" | {cost:.2f} |", flush=True)


if __name__ == "__main__":
    main()
