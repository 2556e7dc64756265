"""A policy of one's own, beside a built-in one on the same rounds: ε-greedy on ridge regression."""

import numpy as np
from reluctant import Experiment


class Greedy:
    def __init__(self, dim, seed, epsilon=0.1):
        self.rng, self.epsilon = np.random.default_rng(seed), epsilon
        self.moment, self.sum = 0.01 * np.eye(dim), np.zeros(dim)

    def select(self, arms):
        if self.rng.random() < self.epsilon:
            return self.rng.integers(len(arms))
        return np.argmax(arms @ np.linalg.solve(self.moment, self.sum))

    def update(self, action, reward):
        self.moment += np.outer(action, action)
        self.sum += reward * action


mine = {"label": "greedy", "policy": Greedy, "epsilon": [0.05, 0.2]}
results = Experiment(policies=[mine, "oful", "uniform"], rounds=100, trials=3, tuning_trials=2).run(progress=False)
regret = dict(zip(*(results.summary()[column] for column in ("policy", "mean"))))
print(regret)
assert regret["greedy"] < regret["uniform"]
