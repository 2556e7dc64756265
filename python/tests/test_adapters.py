"""Each adapter against the library it speaks to."""

from __future__ import annotations

import pickle
import sys
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from reluctant import LinTs, Oful, OfuRelu
from reluctant.adapters.obp import ObpPolicy


def test_coba_runs_a_policy_beside_its_own_learners() -> None:
    cb = pytest.importorskip("coba")
    from reluctant.adapters.coba import CobaLearner

    environment = cb.Environments.from_linear_synthetic(
        300, n_actions=3, n_context_features=2, n_action_features=0, seed=1
    )
    learners = [CobaLearner(Oful(dim=6, features="constant")), cb.RandomLearner()]
    assert (
        learners[0].params["family"] == "Oful" and pickle.loads(pickle.dumps(learners[0])).params == learners[0].params
    )
    results = cb.Experiment(environment, learners).run(quiet=True)
    rewards: dict[int, float] = {}
    for row in results.interactions.to_dicts():
        rewards[row["learner_id"]] = rewards.get(row["learner_id"], 0.0) + row["reward"] / 300
    assert len(results.interactions) == 600 and rewards[0] > rewards[1] + 0.1
    thompson = CobaLearner(LinTs(dim=6))
    assert thompson.predict([1.0, 0.5], [(1, 0, 0), (0, 1, 0), (0, 0, 1)])[1] is None
    assert len(cb.Experiment(environment, thompson).run(quiet=True).interactions) == 300


def coba_rewards(cb: Any, environment: Any, *learners: Any) -> list[float]:
    """The mean reward of each learner."""
    rows = list(cb.Experiment(environment, list(learners)).run(quiet=True).interactions.to_dicts())
    return [float(np.mean([row["reward"] for row in rows if row["learner_id"] == i])) for i in range(len(learners))]


@pytest.mark.parametrize("labels", [["0", "1", "2"], ["red", "green", "blue"]], ids=["digits", "words"])
def test_cobas_labels_are_names(labels: list[str]) -> None:
    cb = pytest.importorskip("coba")
    from reluctant.adapters.coba import CobaLearner

    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(400, 2))
    # The label is the sector of the context; as a number it tells nothing about the reward.
    sectors = np.floor(3 * (np.arctan2(contexts[:, 1], contexts[:, 0]) + np.pi) / (2 * np.pi)).astype(int) % 3
    environment = cb.Environments.from_lambda(
        400,
        lambda i: contexts[i].tolist(),
        lambda i, c: labels,
        lambda i, c, a: float(a == labels[sectors[i]]),
    )
    ours, chance = coba_rewards(cb, environment, CobaLearner(Oful(dim=2, features="constant")), cb.RandomLearner())
    assert chance < 0.45 and ours > 0.75


def test_cobas_labels_without_a_context_and_in_disguise() -> None:
    cb = pytest.importorskip("coba")
    from reluctant.adapters.coba import CobaLearner

    best = cb.Environments.from_lambda(
        300, lambda i: None, lambda i, c: ["0", "1", "2"], lambda i, c, a: float(a == "1")
    )
    ours, chance = coba_rewards(cb, best, CobaLearner(Oful(dim=1)), cb.RandomLearner())
    assert ours > 0.9 and chance < 0.5
    numbered = cb.Environments.from_lambda(300, lambda i: None, lambda i, c: [0, 1, 2], lambda i, c, a: float(a == 1))
    assert coba_rewards(cb, numbered, CobaLearner(Oful(dim=1)))[0] > 0.9
    hot = cb.Environments.from_linear_synthetic(300, n_actions=3, n_context_features=2, n_action_features=0, seed=1)
    ours, chance = coba_rewards(cb, hot, CobaLearner(Oful(dim=2, features="constant")), cb.RandomLearner())
    assert ours > chance + 0.1
    with pytest.raises(TypeError, match="context must hold real numbers, not .*: say by features="):
        CobaLearner(Oful(dim=1)).predict(["3"], ["a", "b"])


ARMS = {f"arm {angle}": [np.cos(angle), np.sin(angle)] for angle in range(6)}


def test_river_evaluates_a_policy_beside_its_own() -> None:
    bandit = pytest.importorskip("river.bandit")
    gym = pytest.importorskip("gymnasium")
    from reluctant.adapters.river import RiverPolicy

    class Shop(gym.Env):  # type: ignore[misc, name-defined]
        """Six arms on the circle whose rewards are a ReLU."""

        action_space = gym.spaces.Discrete(6)
        observation_space = gym.spaces.Discrete(1)

        def reset(self, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
            super().reset(seed=seed)
            self.steps = 0
            return 0, {}

        def step(self, arm: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            reward = max(0.0, np.cos(arm - 2)) + 0.05 * self.np_random.normal()
            self.steps += 1
            return 0, reward, False, self.steps == 150, {}

    numbered = {arm: [np.cos(arm), np.sin(arm)] for arm in range(6)}
    policies = [RiverPolicy(OfuRelu(dim=2, neurons=1, explore=20), numbered), bandit.RandomPolicy(seed=1)]
    total = [0.0, 0.0]
    for row in bandit.evaluate(policies=policies, env=Shop(), n_episodes=1, seed=1):
        total[row["policy_idx"]] += row["reward"]
    assert total[0] > 1.5 * total[1]


def test_rivers_way_of_using_a_policy() -> None:
    pytest.importorskip("river")
    from reluctant.adapters.river import RiverContextualPolicy, RiverPolicy

    policy = RiverPolicy(Oful(dim=2), ARMS)
    for _ in range(30):
        arm = policy.pull(list(ARMS))
        policy.update(arm, ARMS[arm][0])
    assert policy.pull(list(ARMS)) == "arm 0" and "arm 0" in repr(policy)
    fresh = policy.clone()
    assert fresh._learner.rounds == 0 and policy._learner.rounds == 31
    for wrong in (lambda: policy.pull(["arm 7"]), lambda: fresh.update("arm 7", 1.0)):
        with pytest.raises(ValueError, match="unknown arm 'arm 7'; known are 'arm 0'"):
            wrong()
    contextual = RiverContextualPolicy(Oful(dim=2), lambda arm, context: np.eye(2)[arm] * context["sign"])
    for sign in [1.0, -1.0] * 20:
        arm = contextual.pull([0, 1], {"sign": sign})
        contextual.update(arm, {"sign": sign}, sign * (1.0 if arm == 0 else -1.0))
    assert contextual.pull([0, 1], {"sign": 1.0}) == 0 and contextual.pull([0, 1], {"sign": -1.0}) == 1


def test_rivers_arms_are_names() -> None:
    pytest.importorskip("river")
    from reluctant.adapters.river import RiverContextualPolicy, RiverPolicy

    rng = np.random.default_rng(1)
    policy, total = RiverPolicy(Oful(dim=1)), 0.0
    for _ in range(200):
        arm = policy.pull(["0", "1", "2"])
        reward = float(arm == "1") + 0.1 * rng.normal()
        policy.update(arm, reward)
        total += reward
    assert total / 200 > 0.9
    contextual, good = RiverContextualPolicy(Oful(dim=2)), 0
    for t in range(300):
        x, y = rng.normal(size=2)
        # The order of a dictionary does not matter.
        context = {"x": x, "y": y} if t % 2 else {"y": y, "x": x}
        arm = contextual.pull(["0", "1", "2"], context)
        means = {"0": x, "1": y, "2": -x - y}
        contextual.update(arm, context, means[arm])
        good += t >= 100 and means[arm] == max(means.values())
    assert good / 200 > 0.9
    assert contextual.clone()._learner.rounds == 0
    with pytest.raises(ValueError, match="a context must always have the same entries, x, y, not x"):
        contextual.pull(["0", "1"], {"x": 1.0})


def open_bandit_pipeline(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library's simulator. Its package imports PyTorch for learners that are not used here: a shell will do."""
    torch = MagicMock()
    torch.nn.Module = torch.utils.data.Dataset = object
    for name, module in {"torch": torch, "torch.nn": torch.nn, "torch.optim": torch.optim}.items():
        monkeypatch.setitem(sys.modules, name, module)
    return pytest.importorskip("obp.simulator")


@pytest.mark.parametrize("dim", [6, 2], ids=["blocks", "names"])
def test_the_open_bandit_pipeline_simulates_a_policy(monkeypatch: pytest.MonkeyPatch, dim: int) -> None:
    simulator = open_bandit_pipeline(monkeypatch)
    rng = np.random.default_rng(0)
    contexts, actions = rng.normal(size=(600, 2)), rng.integers(3, size=600)
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    policy = ObpPolicy(Oful(dim=dim), n_actions=3)
    feedback = {
        "n_rounds": 600,
        "context": contexts,
        "action": actions,
        "reward": np.einsum("ij,ij->i", weights[actions], contexts),
        "position": None,
        "pscore": np.full(600, 1 / 3),
    }
    chosen = simulator.run_bandit_simulation(feedback, policy)
    best = np.argmax(contexts @ weights.T, axis=1)
    assert chosen.shape == (600, 3, 1) and np.mean(chosen[np.arange(600), best, 0][300:]) > 0.9
    assert policy.n_trial == 600
    policy.initialize()
    assert policy.n_trial == 0 and policy.policy_name == "oful"
