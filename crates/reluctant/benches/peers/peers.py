"""Times reluctant beside other libraries on the same arms, in one run, and writes docs/benchmarks.md. Run by ./bench.

Every contender is asked the same: choose one of 1,000 arms, see its reward, learn. What is timed is choosing and learning, the
check of the arms included, not drawing them. Contenders take turns, several times over, on one core; the least of a contender's times counts, because whatever else the machine
does only ever adds.
"""

import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import real

warnings.filterwarnings("ignore")

ARMS = 1000
SETS = 200
TURNS = 3
# A machine that others use is slow for seconds at a time; what is quick must not be judged by such seconds.
QUICK_TURNS = 12
PATIENCE = 4.0  # seconds a turn


# ---- the cases, and their data -------------------------------------------------------------------------------------------------------

CASES = [
    dict(name="ofu-relu-2-3", policy="ofu-relu", settings=dict(neurons=3, sigma=0.1), dim=2, neurons=3, rounds=1000, start=21, floor=True),
    dict(name="ofu-relu-2-10", policy="ofu-relu", settings=dict(neurons=10, sigma=0.1), dim=2, neurons=10, rounds=1000, start=21, floor=True),
    dict(name="oful-20", policy="oful", settings=dict(sigma=0.1), dim=20, neurons=0, rounds=1000, start=1, floor=False),
    dict(name="neural-ucb-2", policy="neural-ucb", settings=dict(preset="F", nu=0.1), dim=2, neurons=3, rounds=40, start=1, floor=False),
    dict(name="neural-ucb-2-long", policy="neural-ucb", settings=dict(preset="F", nu=0.1), dim=2, neurons=3, rounds=1000, start=1, floor=False),
]


class Case:
    """The arms, the rewards and the noise of a case, as both sides see them."""

    def __init__(self, spec, folder):
        rng = np.random.default_rng(len(spec["name"]) + spec["dim"])
        self.name, self.dim, self.neurons = spec["name"], spec["dim"], spec["neurons"]
        self.arms = unit(rng.standard_normal((SETS, ARMS, self.dim)))
        self.theta = unit(rng.standard_normal((max(self.neurons, 1), self.dim)))
        self.noise = 0.1 * rng.standard_normal(4096)
        place = folder / self.name
        place.mkdir()
        for name in ("arms", "theta", "noise"):
            np.ascontiguousarray(getattr(self, name), dtype="<f8").tofile(place / f"{name}.f64")

    def reward(self, t, x):
        inputs = self.theta @ x
        mean = inputs.sum() if self.neurons == 0 else np.maximum(inputs, 0).sum()
        return float(mean + self.noise[t % len(self.noise)])


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


# ---- by hand, in numpy ---------------------------------------------------------------------------------------------------------------


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
    """The linear regime of OFU-ReLU with the paper's features, all arms at once. Its activations are those of the true network: it
    is spared the fit."""

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


# ---- the libraries -------------------------------------------------------------------------------------------------------------------


class ContextualBandits:
    def __init__(self, case):
        from contextualbandits.online import LinUCB

        self.policy = LinUCB(nchoices=ARMS, alpha=1.0, lambda_=1.0, fit_intercept=False, method="sm", njobs=1, random_state=1)

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

        self.bandit.record_feedback(self.data[:, chosen : chosen + 1], self.torch.tensor([[reward]], dtype=self.torch.float32))
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

        network = torch.nn.Sequential(torch.nn.Linear(case.dim, 20, bias=False), torch.nn.ReLU(), torch.nn.Linear(20, 1))
        return NeuralUCBBandit(n_features=case.dim, network=network, exploration_rate=0.1, weight_decay=0.01, learning_rate=0.01)


# Case, name, package, maker, what differs in the work of a round.
CONTENDERS = [
    ("ofu-relu-2-3", "numpy, x‡", None, NumpyOfuRelu, "the paper's 2kd features; no fit; argmax over all arms"),
    ("ofu-relu-2-3", "numpy, compact", None, NumpyOfuReluCompact, "our (k+1)d features; no fit; argmax over all arms"),
    ("ofu-relu-2-10", "numpy, x‡", None, NumpyOfuRelu, "the paper's 2kd features; no fit; argmax over all arms"),
    ("ofu-relu-2-10", "numpy, compact", None, NumpyOfuReluCompact, "our (k+1)d features; no fit; argmax over all arms"),
    ("oful-20", "numpy", None, NumpyOful, "the same work"),
    ("oful-20", "contextualbandits", "contextualbandits", ContextualBandits, "one context a round and a regression an arm; rewards 0 or 1"),
    ("oful-20", "mabwiser", "mabwiser", Mabwiser, "one context a round and a regression an arm"),
    ("oful-20", "river", "river", River, "one context a round and a regression an arm"),
    ("oful-20", "banditlab", "banditlab", BanditLab, "features of each arm, but a regression an arm"),
    ("oful-20", "calvera", "calvera", Calvera, "the same regression in single precision, inverted anew each round; builds a trainer a round, as its README does"),
    ("oful-20", "vowpalwabbit (RegCB)", "vowpalwabbit", VowpalWabbit, "has no LinUCB: RegCB, optimistic, with one gradient step a round and no d×d matrix; reads arms as text"),
    ("neural-ucb-2", "calvera", "calvera", CalveraNeural, "a diagonal matrix too, in single precision; one epoch of Adam over what it kept; builds a trainer a round"),
    ("neural-ucb-2", "banditlab", "banditlab", BanditLabNeural, "a network and a full matrix an arm; 20 full-gradient steps"),
]

TITLES = {
    "ofu-relu-2-3": "OFU-ReLU, d = 2, k = 3",
    "ofu-relu-2-10": "OFU-ReLU, d = 2, k = 10",
    "oful-20": "LinUCB / OFUL, d = 20",
    "neural-ucb-2": "NeuralUCB, d = 2, 20 hidden units, rounds 1 to 40",
}


def rounds_of(maker, case):
    """The least seconds that a round took, and how many rounds were played."""
    policy = maker(case)
    times = []
    begin = time.perf_counter()
    for t in range(1, 1001):
        # In the cache, as arms that were just drawn would be.
        arms = case.arms[t % SETS].copy()
        start = time.perf_counter()
        chosen = policy.select(arms)
        middle = time.perf_counter()
        reward = case.reward(t, arms[chosen])
        again = time.perf_counter()
        policy.update(arms, chosen, reward)
        times.append(middle - start + time.perf_counter() - again)
        if time.perf_counter() - begin > PATIENCE and len(times) >= 3:
            break
    # The first round of a library imports and compiles.
    return float(np.median(times[1:] if len(times) > 1 else times)), len(times)


def play_reluctant(program, folder):
    out = subprocess.run([program, str(folder)], check=True, capture_output=True, text=True).stdout
    return {row["case"]: row for row in map(json.loads, out.splitlines())}


def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def machine():
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
        flags = next((line for line in lines if line.startswith("flags")), "")
        model += ", AVX-512" if "avx512f" in flags else ", AVX2" if "avx2" in flags else ""
    except OSError:
        pass
    return f"{model}; {os.cpu_count()} cores; {platform.system()}"


def nice(microseconds):
    for limit, unit_name, scale in ((1e3, "µs", 1), (1e6, "ms", 1e3), (float("inf"), "s", 1e6)):
        if microseconds < limit:
            return f"{microseconds / scale:.3g} {unit_name}"


def ratio(x):
    return f"{x:.1f}" if x < 20 else f"{x:,.0f}"


def main():
    program, missing_file, docs = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    ours, floors, theirs, played, broken = {}, {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = {spec["name"]: Case(spec, folder) for spec in CASES}
        keys = ("name", "policy", "settings", "dim", "rounds", "floor")
        specs = [{key: spec[key] for key in keys} | {"count": ARMS, "from": spec["start"], "linear": spec["neurons"] == 0} for spec in CASES]
        (folder / "cases.json").write_text(json.dumps(specs))
        for turn in range(QUICK_TURNS):
            # Once a turn, as numpy: the least of more runs would be an advantage.
            for row in play_reluctant(program, folder).values():
                ours[row["case"]] = min(row["microseconds"], ours.get(row["case"], np.inf))
                floors[row["case"]] = min(row["floor"], floors.get(row["case"], np.inf))
            for case, label, package, maker, _ in CONTENDERS:
                if (package and not version(package)) or (case, label) in broken:
                    continue
                if package and turn >= TURNS:
                    continue
                try:
                    seconds, count = rounds_of(maker, cases[case])
                except Exception as error:  # A peer that fails is reported, not hidden.
                    broken[case, label] = f"{type(error).__name__}: {error}".splitlines()[0]
                    continue
                theirs[case, label] = min(1e6 * seconds, theirs.get((case, label), np.inf))
                played[case, label] = count
                print(f"turn {turn + 1}: {case}: {label}: {nice(1e6 * seconds)}, reluctant {nice(ours[case])}", file=sys.stderr, flush=True)
    missing = dict(line.split("\t", 1) for line in missing_file.read_text().splitlines() if "\t" in line)
    write(docs, ours, floors, theirs, played, broken, missing, on_real_data(program, docs.resolve().parent))
    chart(docs / "benchmarks.svg", ours, theirs)


def on_real_data(program, root):
    """Rows of the table of disjoint LinUCB on a real set: name, mistakes, microseconds, what differs."""
    contexts, classes, actions = real.table(root)
    with tempfile.TemporaryDirectory() as name:
        rows = [("**reluctant**", *real.reluctant(program, Path(name), contexts, classes, actions), "")]
    for label, package, maker, note in real.CONTENDERS:
        if not version(package):
            continue
        try:
            found = real.peer(maker, contexts, classes, actions)
        except Exception as error:  # A peer that fails is reported, not hidden.
            rows.append((label, None, None, f"failed: {type(error).__name__}: {error}".splitlines()[0]))
            continue
        rows.append((f"{label} {version(package)}", *found, note))
        print(f"shuttle: {label}: {found[0]} mistakes, {nice(found[1])}", file=sys.stderr, flush=True)
    return rows


def write(docs, ours, floors, theirs, played, broken, missing, real_rows):
    lines = [
        "# Benchmarks",
        "",
        "Written by `./bench`. One round: choose one of 1,000 arms, see its reward, learn. Everybody meets the same arms and the same noise in the same run, in turn, on one",
        f"core; times are medians over rounds, the least of {TURNS} turns, and of {QUICK_TURNS} for reluctant, the floor and numpy, which are quick and close to each other. Times depend on the machine, ratios hardly do. reluctant is timed from Rust, libraries from Python, as their users",
        "call them, with their documentation's way to choose and to learn.",
        "",
        f"Machine: {machine()}. Python {platform.python_version()}.",
        "",
        "![Time of a round on a logarithmic scale: reluctant, numpy by hand and other libraries](benchmarks.svg)",
    ]
    for case, title in TITLES.items():
        rows = sorted((t, label) for (c, label), t in theirs.items() if c == case)
        notes = {label: note for c, label, _, _, note in CONTENDERS if c == case}
        packages = {label: package for c, label, package, _, _ in CONTENDERS if c == case}
        lines += ["", f"## {title}", "", "| | a round | times reluctant's | rounds | what differs in the work |", "| --- | --- | --- | --- | --- |"]
        if floors.get(case):
            lines.append(f"| floor | {nice(floors[case])} | {floors[case] / ours[case]:.2f} | | one pass over the arms with nothing but the k activations and one d×d quadratic form, written out |")
        lines.append(f"| **reluctant** | **{nice(ours[case])}** | 1 | {40 if case == 'neural-ucb-2' else 1000} | |")
        for t, label in rows:
            package = packages[label]
            name = f"{label} {version(package)}" if package else label
            if package is None:
                name = f"{label} (numpy {version('numpy')})"
            lines.append(f"| {name} | {nice(t)} | {ratio(t / ours[case])} | {played[case, label]} | {notes[label]} |")
        for (c, label), reason in broken.items():
            if c == case:
                lines.append(f"| {label} | failed | | | {reason} |")
        if floors.get(case):
            lines += ["", f"reluctant takes {ours[case] / floors[case]:.1f} times the floor."]
        if case == "neural-ucb-2":
            lines += ["", f"Over 1,000 rounds, with up to 1,000 training steps in each, a round of reluctant's takes {nice(ours['neural-ucb-2-long'])}."]
    best = real_rows[0][2]
    lines += ["", "## Disjoint LinUCB on a real table", ""]
    lines += [
        f"Shuttle ([data](../data/README.md)): {real.ROUNDS:,} rows in one random order, p = 9 numbers of unit length, K = 7 classes as named actions,",
        "α = 1 and λ = 1, one core. A round with all actions, select and update together.",
        "",
        "| | mistakes | a round | times reluctant's | what differs |",
        "| --- | --- | --- | --- | --- |",
    ]
    for label, mistakes, microseconds, note in real_rows:
        if mistakes is None:
            lines.append(f"| {label} | | | | {note} |")
        else:
            lines.append(f"| {label} | {mistakes:,} | {nice(microseconds)} | {ratio(microseconds / best)} | {note} |")
    lines += ["", "## Peers that did not install", ""]
    lines += [f"- {name}: {reason}" for name, reason in missing.items()] or ["None: contextualbandits, mabwiser, vowpalwabbit, river, coba, calvera and banditlab all did."]
    (docs / "benchmarks.md").write_text("\n".join(lines) + "\n")


def chart(path, ours, theirs):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "reluctant"
    import matplotlib.pyplot as plt

    heights = [1 + sum(c == case for c, _ in theirs) for case in TITLES]
    figure, axes = plt.subplots(len(TITLES), 1, figsize=(9, 0.34 * sum(heights) + 3.2), sharex=True, height_ratios=heights, layout="constrained")
    for axis, (case, title) in zip(axes, TITLES.items()):
        rows = [(ours[case], "reluctant")] + sorted((t, label) for (c, label), t in theirs.items() if c == case)
        values = [t * 1e-6 - 1e-7 for t, _ in rows]
        axis.barh(range(len(rows)), values, left=1e-7, color=["#c0392b"] + ["#8896a5"] * (len(rows) - 1), height=0.7)
        axis.set_yticks(range(len(rows)), [label for _, label in rows])
        for i, (t, _) in enumerate(rows):
            times = "" if i == 0 else f"  ({ratio(t / ours[case])}×)"
            axis.text(t * 1e-6 * 1.15, i, nice(t) + times, va="center", fontsize=9)
        axis.set_xscale("log")
        axis.set_xlim(1e-6, 3e2)
        axis.invert_yaxis()
        axis.set_title(title, loc="left", fontsize=11)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
    axes[-1].set_xticks([1e-6, 1e-4, 1e-2, 1, 100], ["1 µs", "100 µs", "10 ms", "1 s", "100 s"])
    axes[-1].set_xlabel("time of a round (select and update, 1,000 arms, one core), logarithmic")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
