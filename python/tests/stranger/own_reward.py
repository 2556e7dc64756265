"""A reward function of one's own: two doses of which the first saturates and too much in all does harm."""

import numpy as np
from reluctant import Experiment, Function


def effect(x):
    return min(2 * x[0], 1.0) + x[1] - 3 * max(0.0, x[0] + x[1] - 1)


doses = np.random.default_rng(0).uniform(size=(200, 2))
world = {"label": "doses", "environment": Function(effect, arms=doses, sigma=0.1)}
results = Experiment(world, policies=["gp-ucb", "uniform"], rounds=60, trials=3).run(progress=False)
regret = dict(zip(*(results.summary()[column] for column in ("policy", "mean"))))
print(regret)
assert regret["gp-ucb"] < 0.6 * regret["uniform"]
