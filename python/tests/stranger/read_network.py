"""Read the fitted network: which neurons explain the rewards that a policy has seen."""

import numpy as np
from reluctant import Plausible

rng = np.random.default_rng(0)
arms = rng.normal(size=(200, 2))
policy = Plausible(dim=2, neurons=2, sigma=0.05)
for _ in range(60):
    choice = policy.select(arms[rng.choice(200, 20)])
    reward = max(0.0, choice.action @ [1.0, 0.0]) + max(0.0, choice.action @ [-0.6, 0.8])
    policy.update(choice, reward + 0.05 * rng.normal())

weight, net = max(policy.network(), key=lambda one: one[0])
print(net.neurons.round(2), "added with the signs", net.signs, "and the weight", round(weight, 2))
print(policy.explain([1.0, 0.0]).why)
found = sorted(net.neurons.tolist())
assert np.allclose(found, [[-0.6, 0.8], [1.0, 0.0]], atol=0.1), found
