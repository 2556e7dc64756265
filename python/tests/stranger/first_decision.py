"""Install and a first decision: three arms, one choice, one reward."""

from reluctant import Plausible

policy = Plausible(dim=2)
choice = policy.select([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.8]])
policy.update(choice, 0.7)
print("chose", choice.index, "and has seen", policy.rounds, "reward")
assert policy.rounds == 1
