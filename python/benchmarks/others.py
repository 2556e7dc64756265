"""Other people's code on the real tables, beside the library, on the same shuffles: mistakes and time a round.

    pip install reluctant scipy contextualbandits vowpalwabbit calvera
    python python/benchmarks/others.py [ROUNDS] [SHUFFLES]
    python python/benchmarks/others.py 10000 --quick --tables MAGIC Mushroom Shuttle Adult optdigits

The tables and shuffles are those of experiments/real/defaults.toml; numbers are standardised by the rows that came
before, for everybody. Vowpal Wabbit's learning rate is chosen on a shuffle of its own. calvera trains as its examples
do, and the authors' network as their paper says. What is not installed is left out and said.
"""

import argparse
import importlib.util
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tomllib
from numpy.typing import NDArray
from reluctant import Choice, Experiment

warnings.filterwarnings("ignore")

Array = NDArray[np.float64]

SPEC = Path(__file__).parents[2] / "experiments" / "real" / "defaults.toml"
RATES = (0.03, 0.1, 0.5, 2.0)
"""Vowpal Wabbit's learning rates to choose from."""


class Forests:
    """contextualbandits: bootstrapped Thompson sampling, a forest's trees as its samples, fitted in batches."""

    needs = "contextualbandits"

    def __init__(self, dim: int, seed: int) -> None:
        from contextualbandits.online import BootstrappedTS
        from sklearn.ensemble import RandomForestClassifier

        self.make = lambda count: BootstrappedTS(
            RandomForestClassifier(20, random_state=seed),
            nchoices=count,
            nsamples=5,
            random_state=seed,
            njobs_arms=1,
            njobs_samples=1,
        )
        self.rng, self.policy, self.next = np.random.default_rng(seed), None, 50
        self.rows: list[Array] = []
        self.chosen: list[int] = []
        self.rewards: list[float] = []

    def select(self, context: Array, actions: list[str]) -> int:
        self.actions = list(actions)
        if self.policy is None:
            self.drawn = int(self.rng.integers(len(actions)))
        else:
            self.drawn = int(self.policy.predict(context.reshape(1, -1))[0])
        return self.drawn

    def update(self, choice: Choice, reward: float) -> None:
        self.rows.append(np.array(choice.action))
        self.chosen.append(self.drawn)
        self.rewards.append(reward)
        if len(self.rows) >= self.next:
            self.next = int(1.25 * len(self.rows))
            self.policy = self.make(len(self.actions))
            self.policy.fit(np.stack(self.rows), np.array(self.chosen), np.array(self.rewards))


class VowpalWabbit:
    """Vowpal Wabbit: SquareCB on context and action crossed, one online step a round."""

    needs = "vowpalwabbit"
    rate = 0.5

    def __init__(self, dim: int, seed: int) -> None:
        from vowpalwabbit import Workspace

        self.policy = Workspace(f"--cb_explore_adf --squarecb --cb_type mtr -q ca -l {self.rate} --quiet")
        self.rng = np.random.default_rng(seed)

    def examples(self, x: Array, names: list[str], label: str = "", chosen: int = -1) -> list[str]:
        shared = "shared |c " + " ".join(f"{j}:{v:.6g}" for j, v in enumerate(x) if v)
        return [shared] + [f"{label if a == chosen else ''} |a {a}" for a in range(len(names))]

    def select(self, context: Array, actions: list[str]) -> int:
        self.actions = list(actions)
        found = np.array(self.policy.predict(self.examples(context, self.actions)))
        self.drawn = int(self.rng.choice(len(found), p=found / found.sum()))
        self.probability = float(found[self.drawn])
        return self.drawn

    def update(self, choice: Choice, reward: float) -> None:
        label = f"0:{-reward}:{self.probability:.6g}"
        self.policy.learn(self.examples(np.array(choice.action), self.actions, label, self.drawn))


class Calvera:
    """calvera: NeuralUCB with a diagonal matrix, one network of 64 units on context and action in blocks."""

    needs = "calvera"

    def __init__(self, dim: int, seed: int) -> None:
        import lightning.pytorch  # noqa: F401
        import torch

        for name in list(logging.root.manager.loggerDict):
            if name.startswith("lightning"):
                logging.getLogger(name).setLevel(logging.ERROR)
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.torch, self.dim, self.bandit = torch, dim, None

    def make(self, count: int) -> Any:
        from calvera.bandits.neural_ucb_bandit import NeuralUCBBandit

        wide = self.dim * count
        nn = self.torch.nn
        network = nn.Sequential(nn.Linear(wide, 64, bias=False), nn.ReLU(), nn.Linear(64, 1, bias=False))
        return NeuralUCBBandit(n_features=wide, network=network)

    def select(self, context: Array, actions: list[str]) -> int:
        count = len(actions)
        self.bandit = self.bandit or self.make(count)
        blocks = np.zeros((1, count, count * self.dim), np.float32)
        for a in range(count):
            blocks[0, a, a * self.dim : (a + 1) * self.dim] = context
        self.data = self.torch.as_tensor(blocks)
        chosen, _ = self.bandit(self.data)
        self.index = int(chosen.argmax(dim=1))
        return self.index

    def update(self, choice: Choice, reward: float) -> None:
        import lightning as pl

        paid = self.torch.tensor([[reward]], dtype=self.torch.float32)
        self.bandit.record_feedback(self.data[:, self.index : self.index + 1], paid)
        trainer = pl.Trainer(
            max_epochs=1,
            accelerator="cpu",
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            logger=False,
        )
        trainer.fit(self.bandit)


class Authors:
    """NeuralUCB as its authors published it, in torch: 100 units, a diagonal matrix, ν = 1, λ = 0.001. It is trained in
    every round by single samples at a rate of 0.01, by 1,000 of them or until the mean loss is below 0.001."""

    needs = "torch"
    width, nu, penalty, rate, steps = 100, 1.0, 0.001, 0.01, 1000
    samples = False

    def __init__(self, dim: int, seed: int) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.torch, self.dim, self.net = torch, dim, None
        self.rng = np.random.default_rng(seed)
        self.rows: list[Any] = []
        self.rewards: list[float] = []

    def start(self, count: int) -> None:
        nn = self.torch.nn
        self.net = nn.Sequential(nn.Linear(self.dim * count, self.width), nn.ReLU(), nn.Linear(self.width, 1))
        size = sum(weights.numel() for weights in self.net.parameters())
        self.matrix = self.penalty * self.torch.ones(size)

    def gradient(self, row: Any) -> tuple[float, Any]:
        self.net.zero_grad()
        value = self.net(row)
        value.backward()
        return float(value), self.torch.cat([weights.grad.flatten() for weights in self.net.parameters()])

    def select(self, context: Array, actions: list[str]) -> int:
        count = len(actions)
        if self.net is None:
            self.start(count)
        scores, self.seen = [], []
        for a in range(count):
            row = self.torch.zeros(self.dim * count)
            row[a * self.dim : (a + 1) * self.dim] = self.torch.as_tensor(np.array(context, np.float32))
            value, gradient = self.gradient(row)
            width = self.torch.sqrt(self.penalty * self.nu * (gradient * gradient / self.matrix).sum())
            scores.append(self.rng.normal(value, float(width)) if self.samples else value + float(width))
            self.seen.append((row, gradient))
        self.index = int(np.argmax(scores))
        return self.index

    def update(self, choice: Choice, reward: float) -> None:
        row, gradient = self.seen[self.index]
        self.matrix += gradient * gradient
        self.rows.append(row)
        self.rewards.append(reward)
        optimiser = self.torch.optim.SGD(self.net.parameters(), lr=self.rate, weight_decay=self.penalty)
        total, count = 0.0, 0
        while count < self.steps:
            before = total
            for i in self.rng.permutation(len(self.rows)):
                optimiser.zero_grad()
                loss = (self.net(self.rows[i]) - self.rewards[i]).square().sum()
                loss.backward()
                optimiser.step()
                total, count = total + float(loss), count + 1
                if count >= self.steps:
                    return
            if (total - before) / len(self.rows) <= 1e-3:
                return


class AuthorsThompson(Authors):
    """NeuralTS as its authors published it: the same network and training, but a score is drawn."""

    samples = True


def summary(environment: dict[str, Any], policies: list[Any], rounds: int, shuffles: int, seed: int) -> Any:
    experiment = Experiment(environment, policies=policies, rounds=rounds, trials=shuffles, seed=seed)
    return experiment.run(progress=False).summary()


def best_rate(environment: dict[str, Any], rounds: int, seed: int) -> type:
    """Vowpal Wabbit with the learning rate of fewest mistakes on a shuffle that is not reported."""
    kinds = [type(f"VowpalWabbit{rate}", (VowpalWabbit,), {"rate": rate}) for rate in RATES]
    policies = [{"label": str(kind.rate), "policy": kind} for kind in kinds]
    found = summary(environment, policies, rounds, 1, seed + 1)
    return kinds[int(found["mean"].to_numpy().argmin())]


QUICK = (Forests, VowpalWabbit)
"""What plays a whole table in minutes. The others' networks take a second for two to thirty rounds."""


def contenders(environment: dict[str, Any], rounds: int, seed: int, quick: bool) -> list[Any]:
    own: list[Any] = ["plausible", "neural-linucb", "neural-ucb", "neural-ts"]
    others: list[tuple[str, Callable[[], type]]] = [
        ("contextualbandits, forests", lambda: Forests),
        ("Vowpal Wabbit, tuned", lambda: best_rate(environment, rounds, seed)),
        ("calvera, NeuralUCB", lambda: Calvera),
        ("NeuralUCB as published", lambda: Authors),
        ("NeuralTS as published", lambda: AuthorsThompson),
    ]
    kinds = (Forests, VowpalWabbit, Calvera, Authors, AuthorsThompson)
    for (label, make), kind in zip(others, kinds, strict=True):
        if quick and kind not in QUICK:
            continue
        if importlib.util.find_spec(kind.needs) is None:
            print(f"{label}: left out, as {kind.needs} is not installed")
        else:
            own.append({"label": label, "policy": make()})
    return own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=500)
    parser.add_argument("shuffles", type=int, nargs="?", default=3)
    parser.add_argument("--tables", nargs="*", default=["MAGIC", "Shuttle"], help="labels in defaults.toml")
    parser.add_argument("--quick", action="store_true", help="leave out other people's networks")
    told = parser.parse_args()
    spec = tomllib.loads(SPEC.read_text())
    known = [table["label"] for table in spec["environment"]]
    for label in set(told.tables) - set(known):
        parser.error(f"there is no table '{label}'; there are {', '.join(known)}")
    for table in spec["environment"]:
        if table["label"] not in told.tables:
            continue
        environment = {name: value for name, value in table.items() if name != "rounds"}
        environment |= {"file": str(SPEC.parent / table["file"]), "numbers": "standard"}
        rounds = min(told.rounds, table.get("rounds", spec["rounds"]))
        policies = contenders(environment, rounds, spec["seed"], told.quick)
        print(f"{table['label']}, {rounds} rounds, {told.shuffles} shuffles")
        for row in summary(environment, policies, rounds, told.shuffles, spec["seed"]).itertuples():
            interval = f" ({row.lo95:.1f} to {row.hi95:.1f})" if told.shuffles > 1 else ""
            cost = row.microseconds_per_round / 1000
            print(f"  {row.policy}: {row.mean:.1f}{interval}, {cost:.3f} ms a round", flush=True)


if __name__ == "__main__":
    main()
