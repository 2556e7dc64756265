"""Trees on the real tables: forests and boosting as policies of one's own, and what a fitted model leaves as a floor.

    pip install reluctant scikit-learn lightgbm xgboost
    python python/benchmarks/trees.py [SHUFFLES] [--floors floors.json]

The tables, shuffles and rounds are those of experiments/real/defaults.toml. All policies are Thompson sampling by the
bootstrap: an action has several models, each fitted to its own resampled rewards; one of them, by chance, judges the
action in a round. Models are fitted anew when the rewards of an action have grown by a share.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
import tomllib
from lightgbm import LGBMRegressor
from numpy.typing import NDArray
from reluctant import Choice, Experiment
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_score
from xgboost import DMatrix
from xgboost import train as train_xgboost

Array = NDArray[np.float64]

SPEC = Path(__file__).parents[2] / "experiments" / "real" / "defaults.toml"
GROWTH = 0.15
"""Models are fitted anew when the rewards have grown by this share."""
FEW = 10
"""With fewer rewards an action is judged by its mean, drawn from a beta distribution."""


class Trees:
    """Thompson sampling by bootstrapped models, several for each action."""

    def __init__(self, dim: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rows: dict[str, list[Array]] = {}
        self.rewards: dict[str, list[float]] = {}
        self.models: dict[str, list[object]] = {}
        self.next: dict[str, int] = {}

    def fit(self, rows: Array, rewards: Array) -> list[object]:
        raise NotImplementedError

    def value(self, model: object, row: Array) -> float:
        raise NotImplementedError

    def draw(self, name: str, row: Array) -> float:
        models = self.models.get(name)
        if models is None:
            rewards = self.rewards.get(name, [])
            return float(self.rng.beta(1 + sum(rewards), 1 + len(rewards) - sum(rewards)))
        return self.value(models[self.rng.integers(len(models))], row)

    def select(self, context: Array, actions: list[str]) -> int:
        row = context.astype(np.float32).reshape(1, -1)
        return int(np.argmax([self.draw(name, row) for name in actions]))

    def update(self, choice: Choice, reward: float) -> None:
        name = choice.name
        rows, rewards = self.rows.setdefault(name, []), self.rewards.setdefault(name, [])
        rows.append(np.array(choice.action, np.float32))
        rewards.append(reward)
        if len(rows) >= self.next.setdefault(name, FEW):
            self.next[name] = int(np.ceil((1 + GROWTH) * len(rows)))
            self.models[name] = self.fit(np.stack(rows), np.array(rewards))


class Forest(Trees):
    """A random forest for each action; a tree of it is drawn."""

    def fit(self, rows: Array, rewards: Array) -> list[object]:
        seed = int(self.rng.integers(2**31))
        forest = RandomForestRegressor(20, min_samples_leaf=2, max_features=0.5, random_state=seed)
        return [tree.tree_ for tree in forest.fit(rows, rewards).estimators_]

    def value(self, model: object, row: Array) -> float:
        return float(model.predict(row)[0, 0])


class Boosting(Trees):
    """Five boosted models for each action, each on its own bootstrap sample; one is drawn."""

    def fit_one(self, rows: Array, rewards: Array) -> object:
        raise NotImplementedError

    def fit(self, rows: Array, rewards: Array) -> list[object]:
        samples = [self.rng.integers(len(rows), size=len(rows)) for _ in range(5)]
        return [self.fit_one(rows[sample], rewards[sample]) for sample in samples]


class LightGBM(Boosting):
    """Boosting by LightGBM."""

    def fit_one(self, rows: Array, rewards: Array) -> object:
        model = LGBMRegressor(n_estimators=50, num_leaves=15, min_child_samples=5, n_jobs=1, verbose=-1)
        return model.fit(rows, rewards).booster_

    def value(self, model: object, row: Array) -> float:
        return float(model.predict(row, num_threads=1)[0])


class XGBoost(Boosting):
    """Boosting by XGBoost, with trees of about the same size."""

    def fit_one(self, rows: Array, rewards: Array) -> object:
        settings = {"max_depth": 4, "eta": 0.1, "tree_method": "hist", "nthread": 1, "verbosity": 0}
        return train_xgboost(settings, DMatrix(rows, rewards, nthread=1), num_boost_round=50)

    def value(self, model: object, row: Array) -> float:
        return float(model.inplace_predict(row)[0])


def floor(environment: dict[str, object], rounds: int) -> float:
    """The share of mistakes, cross-validated, of the better of boosting and a forest that are told every label."""
    table = pd.read_csv(SPEC.parent / environment["file"]).sample(frac=1, random_state=0)[:rounds]
    labels = table.pop(table.columns[-1])
    rows = pd.get_dummies(table)
    models = [HistGradientBoostingClassifier(random_state=0), RandomForestClassifier(200, random_state=0)]
    return min(1 - cross_val_score(model, rows, labels, cv=5).mean() for model in models)


def floors(spec: dict[str, object]) -> dict[str, float]:
    """The floor of every table."""
    shares = {}
    for environment in spec["environment"]:
        label, rounds = environment["label"], environment.get("rounds", spec["rounds"])
        shares[label] = floor(environment, rounds)
        print(f"{label}: trees that are told every label: {shares[label] * rounds:.0f} ({100 * shares[label]:.2f} %)")
    return shares


def play(spec: dict[str, object], shuffles: int) -> None:
    """Plays all three policies on every table."""
    for environment in spec["environment"]:
        told = {name: value for name, value in environment.items() if name != "rounds"}
        told["file"] = str(SPEC.parent / environment["file"])
        of = {"forests": Forest, "LightGBM": LightGBM, "XGBoost": XGBoost}
        policies = [{"label": label, "policy": policy} for label, policy in of.items()]
        rounds = environment.get("rounds", spec["rounds"])
        experiment = Experiment(told, policies=policies, rounds=rounds, trials=shuffles, seed=spec["seed"])
        for row in experiment.run(progress=False).summary().itertuples():
            cost = row.microseconds_per_round / 1000
            interval = f"{row.lo95:.1f} to {row.hi95:.1f}"
            print(
                f"{environment['label']}, {row.policy}: {row.mean:.1f} ({interval}), {cost:.1f} ms a round", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shuffles", type=int, nargs="?", default=3, help="shuffles of every table; 0 for floors alone")
    parser.add_argument("--floors", type=Path, help="where to write the floors, as JSON")
    told = parser.parse_args()
    spec = tomllib.loads(SPEC.read_text())
    shares = floors(spec)
    if told.floors:
        told.floors.write_text(json.dumps(shares))
    if told.shuffles:
        play(spec, told.shuffles)


if __name__ == "__main__":
    main()
