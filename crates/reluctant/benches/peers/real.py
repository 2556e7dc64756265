"""Disjoint LinUCB on a real table, by accuracy and by time: reluctant beside every library
that plays it. Called by peers.py.

Shuttle (data/README.md): 10,000 rows in a random order, nine numbers scaled to length 1, seven classes as seven
actions, reward 1 for the right class. Everybody sees the same rows in the same order, with alpha = 1 and a ridge
penalty of 1 where these can be set.
"""

import csv
import gzip
import json
import subprocess
import time

import numpy as np

ROUNDS = 10_000
SETTINGS = {"alpha": 1.0, "lambda": 1.0}


def table(root):
    """Contexts and classes in the order in which they are played."""
    with gzip.open(root / "data" / "shuttle.csv.gz", "rt", newline="") as file:
        rows = list(csv.reader(file))[1:]
    names = sorted({row[-1] for row in rows})
    contexts = np.array([row[:-1] for row in rows], dtype=float)
    classes = np.array([names.index(row[-1]) for row in rows])
    order = np.random.default_rng(1).permutation(len(rows))[:ROUNDS]
    contexts = contexts[order]
    return contexts / np.linalg.norm(contexts, axis=1, keepdims=True), classes[order], len(names)


class ContextualBandits:
    def __init__(self, dim, actions):
        from contextualbandits.online import LinUCB

        self.policy = LinUCB(
            nchoices=actions, alpha=1.0, lambda_=1.0, fit_intercept=False, method="sm", njobs=1, random_state=1
        )

    def select(self, x):
        return int(self.policy.predict(x[None])[0])

    def update(self, x, action, reward):
        self.policy.partial_fit(x[None], np.array([action]), np.array([reward]))


class Mabwiser:
    def __init__(self, dim, actions):
        from mabwiser.mab import MAB, LearningPolicy

        self.policy = MAB(list(range(actions)), LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0), n_jobs=1)
        # It must be fitted before it predicts: to zeros, from which it learns nothing.
        self.policy.fit(list(range(actions)), [0.0] * actions, np.zeros((actions, dim)))

    def select(self, x):
        return int(self.policy.predict(x[None]))

    def update(self, x, action, reward):
        self.policy.partial_fit([action], [reward], x[None])


class River:
    def __init__(self, dim, actions):
        from river import bandit

        self.policy, self.ids = bandit.LinUCBDisjoint(seed=1), list(range(actions))

    def select(self, x):
        self.context = dict(enumerate(x))
        return self.policy.pull(self.ids, context=self.context)

    def update(self, x, action, reward):
        self.policy.update(action, self.context, reward)


class Coba:
    def __init__(self, dim, actions):
        from coba.learners import LinUCBLearner

        # Products of context and one-hot action: a regression an action, in one matrix of (Kp)^2 numbers.
        self.policy = LinUCBLearner(alpha=1.0, features=["ax"], seed=1)
        self.actions = [tuple(float(i == j) for j in range(actions)) for i in range(actions)]

    def select(self, x):
        self.context = tuple(x.tolist())
        chosen, self.probability = self.policy.predict(self.context, self.actions)[:2]
        return self.actions.index(tuple(chosen))

    def update(self, x, action, reward):
        self.policy.learn(self.context, self.actions[action], reward, self.probability)


class VowpalWabbit:
    def __init__(self, dim, actions):
        from vowpalwabbit import Workspace

        # Without the range of costs it thinks that nothing can be better than 0, a cost of 0 being no reward here.
        costs = "--cb_min_cost -1 --cb_max_cost 0"
        self.policy = Workspace(f"--cb_explore_adf --regcbopt {costs} --cb_type mtr -q ca --noconstant --quiet")
        self.actions, self.rng = actions, np.random.default_rng(1)

    def examples(self, x, chosen=None, reward=0.0):
        shared = "shared |c " + " ".join(f"{j}:{v:.6g}" for j, v in enumerate(x))
        labels = [f"0:{-reward}:1.0 " if a == chosen else "" for a in range(self.actions)]
        return [shared] + [f"{label}|a {a}" for a, label in enumerate(labels)]

    def select(self, x):
        # It predicts probabilities, to be drawn from.
        probabilities = np.array(self.policy.predict(self.examples(x)))
        return int(self.rng.choice(self.actions, p=probabilities / probabilities.sum()))

    def update(self, x, action, reward):
        self.policy.learn(self.examples(x, action, reward))


CONTENDERS = [
    ("contextualbandits", "contextualbandits", ContextualBandits, ""),
    ("mabwiser", "mabwiser", Mabwiser, ""),
    ("river", "river", River, ""),
    ("coba", "coba", Coba, "one matrix of (Kp)² numbers"),
    ("vowpalwabbit (RegCB)", "vowpalwabbit", VowpalWabbit, "has no LinUCB: RegCB on products of context and action"),
]


def reluctant(program, folder, contexts, classes, actions):
    """The library's own side: mistakes, and microseconds a round."""
    contexts.astype("<f8").tofile(folder / "contexts.f64")
    classes.astype("<f8").tofile(folder / "classes.f64")
    spec = {"policy": "oful", "settings": SETTINGS, "dim": contexts.shape[1], "actions": actions}
    (folder / "table.json").write_text(json.dumps(spec))
    row = json.loads(subprocess.run([program, str(folder)], check=True, capture_output=True, text=True).stdout)
    return row["mistakes"], row["microseconds"]


def peer(maker, contexts, classes, actions):
    """Mistakes, and microseconds a round."""
    policy, mistakes, times = maker(contexts.shape[1], actions), 0, []
    for x, right in zip(contexts, classes):
        start = time.perf_counter()
        action = policy.select(x)
        policy.update(x, action, float(action == right))
        times.append(time.perf_counter() - start)
        mistakes += int(action != right)
    return mistakes, 1e6 * float(np.median(times))
