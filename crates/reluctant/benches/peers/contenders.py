"""Who is timed beside reluctant: LinUCB and OFU-ReLU by hand in numpy, and the libraries. Called by peers.py."""

import logging

import numpy as np

ARMS = 1000

# ---- by hand, in numpy ----------------------------------------------------------------------------------------------


class Ridge:
    def __init__(self, size, precision, covariance, scale, delta=0.01, sigma=0.1):
        self.inverse, self.moment, self.weights = covariance.copy(), np.zeros(size), np.zeros(size)
        self.log_det, self.scale, self.sigma, self.delta = 0.0, scale, sigma, delta

    def best(self, features):
        radius = self.sigma * np.sqrt(self.log_det - 2 * np.log(self.delta)) + self.scale
        squared = np.einsum("ij,ij->i", features @ self.inverse, features)
        return int(np.argmax(features @ self.weights + radius * np.sqrt(squared)))

    def learn(self, x, y):
        gain = self.inverse @ x
        squared = x @ gain
        self.inverse -= np.outer(gain, gain / (1 + squared))
        self.moment += y * x
        self.weights = self.inverse @ self.moment
        self.log_det += np.log1p(squared)


class NumpyOful:
    """Ridge regression with its confidence set, the inverse kept by Sherman-Morrison."""

    def __init__(self, case, lam=0.01):
        eye = np.eye(case.dim)
        self.ridge = Ridge(case.dim, lam * eye, eye / lam, np.sqrt(lam))

    def select(self, arms):
        return self.ridge.best(arms)

    def update(self, arms, chosen, reward):
        self.ridge.learn(arms[chosen], reward)


class NumpyOfuRelu:
    """The linear regime of OFU-ReLU with the paper's features, all arms at once. Its activations are those of the true
    network: it is spared the fit."""

    def __init__(self, case, lam=0.01):
        self.theta = case.theta
        k, d = case.theta.shape
        eye = np.eye(2 * k * d)
        self.ridge = Ridge(2 * k * d, lam * eye, eye / lam, np.sqrt(5 * lam * k))

    def features(self, arms):
        active = (arms @ self.theta.T >= 0).astype(float)
        both = np.concatenate([active, 0.5 - active], axis=1)
        return (both[:, :, None] * arms[:, None, :]).reshape(len(arms), -1)

    def select(self, arms):
        return self.ridge.best(self.features(arms))

    def update(self, arms, chosen, reward):
        self.ridge.learn(self.features(arms[chosen : chosen + 1])[0], reward)


class NumpyOfuReluCompact(NumpyOfuRelu):
    """The same with reluctant's own shorter features (x, 1_1 x, ..., 1_k x)."""

    def __init__(self, case, lam=0.01):
        self.theta = case.theta
        k, d = case.theta.shape
        blocks = np.block([[np.full((1, 1), k / 4), np.full((1, k), -0.5)], [np.full((k, 1), -0.5), 2 * np.eye(k)]])
        covariance = np.kron(blocks, np.eye(d)) / lam
        self.ridge = Ridge(len(covariance), None, covariance, np.sqrt(5 * lam * k))

    def features(self, arms):
        active = (arms @ self.theta.T >= 0).astype(float)
        return np.concatenate([arms, (active[:, :, None] * arms[:, None, :]).reshape(len(arms), -1)], axis=1)


# ---- the libraries --------------------------------------------------------------------------------------------------


class ContextualBandits:
    def __init__(self, case):
        from contextualbandits.online import LinUCB

        self.policy = LinUCB(
            nchoices=ARMS, alpha=1.0, lambda_=1.0, fit_intercept=False, method="sm", njobs=1, random_state=1
        )

    def select(self, arms):
        return int(self.policy.predict(arms[:1])[0])

    def update(self, arms, chosen, reward):
        # Its rewards are 0 or 1.
        self.policy.partial_fit(arms[:1], np.array([chosen]), np.array([float(reward > 0)]))


class Mabwiser:
    def __init__(self, case):
        from mabwiser.mab import MAB, LearningPolicy

        self.policy = MAB(list(range(ARMS)), LearningPolicy.LinUCB(alpha=1.0, l2_lambda=1.0), n_jobs=1)
        # It must see each arm once before it predicts.
        self.policy.fit(list(range(ARMS)), [0.0] * ARMS, case.arms[0])

    def select(self, arms):
        return int(self.policy.predict(arms[:1]))

    def update(self, arms, chosen, reward):
        self.policy.partial_fit([chosen], [reward], arms[:1])


class River:
    def __init__(self, case):
        from river import bandit

        self.policy = bandit.LinUCBDisjoint(seed=1)
        self.ids = list(range(ARMS))

    def select(self, arms):
        self.context = dict(enumerate(arms[0]))
        return self.policy.pull(self.ids, context=self.context)

    def update(self, arms, chosen, reward):
        self.policy.update(chosen, self.context, reward)


class VowpalWabbit:
    def __init__(self, case):
        from vowpalwabbit import Workspace

        self.policy = Workspace("--cb_explore_adf --regcbopt --mellowness 0.01 --quiet --cb_type mtr")

    def examples(self, arms, chosen=None, reward=0.0):
        lines = ["shared |"]
        for i, arm in enumerate(arms):
            label = f"0:{-reward}:1.0 " if i == chosen else ""
            lines.append(label + "|a " + " ".join(f"{j}:{x:.6g}" for j, x in enumerate(arm)))
        return lines

    def select(self, arms):
        return int(np.argmax(self.policy.predict(self.examples(arms))))

    def update(self, arms, chosen, reward):
        self.policy.learn(self.examples(arms, chosen, reward))


class BanditLab:
    def __init__(self, case):
        from mab_framework import OnlineRidgeRegression
        from mab_framework.algorithms.linear.linucb import LinUCBAlgorithm

        self.policy = LinUCBAlgorithm(n_arms=ARMS, model=OnlineRidgeRegression(feature_dim=case.dim, l2_reg=1.0))

    def select(self, arms):
        return self.policy.select_arm(arms)

    def update(self, arms, chosen, reward):
        self.policy.update([dict(action=chosen, reward=reward, context=arms)])


class BanditLabNeural(BanditLab):
    def __init__(self, case):
        from mab_framework.algorithms.neural.neural_ucb import NeuralUCBAlgorithm
        from mab_framework.models.neural_ucb_model import NeuralUCBModel

        model = NeuralUCBModel(feature_dim=case.dim, m=20, L=2)
        self.policy = NeuralUCBAlgorithm(n_arms=ARMS, model=model, m=20, L=2)


class Calvera:
    """One round as its README shows it: choose, record the feedback, fit with a trainer."""

    def __init__(self, case):
        import torch

        import lightning.pytorch  # noqa: F401

        for name in list(logging.root.manager.loggerDict):
            if name.startswith("lightning"):
                logging.getLogger(name).setLevel(logging.ERROR)
        torch.set_num_threads(1)
        self.torch, self.bandit = torch, self.make(case, torch)

    def make(self, case, torch):
        from calvera.bandits import LinearUCBBandit

        return LinearUCBBandit(n_features=case.dim)

    def select(self, arms):
        self.data = self.torch.as_tensor(arms, dtype=self.torch.float32)[None]
        chosen, _ = self.bandit(self.data)
        return int(chosen.argmax(dim=1))

    def update(self, arms, chosen, reward):
        import lightning as pl

        self.bandit.record_feedback(
            self.data[:, chosen : chosen + 1], self.torch.tensor([[reward]], dtype=self.torch.float32)
        )
        trainer = pl.Trainer(
            max_epochs=1,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            logger=False,
            accelerator="cpu",
        )
        trainer.fit(self.bandit)


class CalveraNeural(Calvera):
    def make(self, case, torch):
        from calvera.bandits import NeuralUCBBandit

        network = torch.nn.Sequential(
            torch.nn.Linear(case.dim, 20, bias=False), torch.nn.ReLU(), torch.nn.Linear(20, 1)
        )
        return NeuralUCBBandit(
            n_features=case.dim, network=network, exploration_rate=0.1, weight_decay=0.01, learning_rate=0.01
        )


# Case, name, package, maker, what differs in the work of a round.
CONTENDERS = [
    ("ofu-relu-2-3", "numpy, x‡", None, NumpyOfuRelu, "the paper's 2kd features; no fit; argmax over all arms"),
    ("ofu-relu-2-3", "numpy, compact", None, NumpyOfuReluCompact, "our (k+1)d features; no fit; argmax over all arms"),
    ("ofu-relu-2-10", "numpy, x‡", None, NumpyOfuRelu, "the paper's 2kd features; no fit; argmax over all arms"),
    ("ofu-relu-2-10", "numpy, compact", None, NumpyOfuReluCompact, "our (k+1)d features; no fit; argmax over all arms"),
    ("oful-20", "numpy", None, NumpyOful, "the same work"),
    (
        "oful-20",
        "contextualbandits",
        "contextualbandits",
        ContextualBandits,
        "one context a round and a regression an arm; rewards 0 or 1",
    ),
    ("oful-20", "mabwiser", "mabwiser", Mabwiser, "one context a round and a regression an arm"),
    ("oful-20", "river", "river", River, "one context a round and a regression an arm"),
    ("oful-20", "banditlab", "banditlab", BanditLab, "features of each arm, but a regression an arm"),
    (
        "oful-20",
        "calvera",
        "calvera",
        Calvera,
        "the same regression in single precision, inverted anew each round; "
        "builds a trainer a round, as its README does",
    ),
    (
        "oful-20",
        "vowpalwabbit (RegCB)",
        "vowpalwabbit",
        VowpalWabbit,
        "has no LinUCB: RegCB, optimistic, with one gradient step a round and no d×d matrix; reads arms as text",
    ),
    (
        "neural-ucb-2",
        "calvera",
        "calvera",
        CalveraNeural,
        "a diagonal matrix too, in single precision; one epoch of Adam over what it kept; builds a trainer a round",
    ),
    (
        "neural-ucb-2",
        "banditlab",
        "banditlab",
        BanditLabNeural,
        "a network and a full matrix an arm; 20 full-gradient steps",
    ),
]
