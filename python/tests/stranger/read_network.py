"""Read the fitted network: which neurons explain the rewards that were seen."""

import numpy as np
from reluctant import fit

actions = np.random.default_rng(0).normal(size=(200, 2))
rewards = np.maximum(0, actions @ [1.0, 0.0]) + np.maximum(0, actions @ [-0.6, 0.8])
found = fit(actions, rewards, neurons=2)
print(found.net.neurons.round(3), found.net.signs, found.loss)
assert found.loss < 1e-9
assert sorted(found.net.neurons.round(6).tolist()) == [[-0.6, 0.8], [1.0, 0.0]]
