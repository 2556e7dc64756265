"""Times reluctant beside other libraries on the same arms, in one run, and writes docs/benchmarks.md. Run by ./bench.

Every contender is asked the same: choose one of 1,000 arms, see its reward, learn. What is timed is choosing and
learning, the check of the arms included, not drawing them. Contenders take turns, several times over, on one core; the
least of a contender's times counts, because whatever else the machine does only ever adds.
"""

import json
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
from contenders import ARMS, CONTENDERS

warnings.filterwarnings("ignore")

SETS = 200
TURNS = 3
# A machine that others use is slow for seconds at a time; what is quick must not be judged by such seconds.
QUICK_TURNS = 12
PATIENCE = 4.0  # seconds a turn


# ---- the cases, and their data --------------------------------------------------------------------------------------

CASES = [
    dict(
        name="ofu-relu-2-3",
        policy="ofu-relu",
        settings=dict(neurons=3, sigma=0.1),
        dim=2,
        neurons=3,
        rounds=1000,
        start=21,
        floor=True,
    ),
    dict(
        name="ofu-relu-2-10",
        policy="ofu-relu",
        settings=dict(neurons=10, sigma=0.1),
        dim=2,
        neurons=10,
        rounds=1000,
        start=21,
        floor=True,
    ),
    dict(name="oful-20", policy="oful", settings=dict(sigma=0.1), dim=20, neurons=0, rounds=1000, start=1, floor=False),
    dict(
        name="neural-ucb-2",
        policy="neural-ucb",
        settings=dict(preset="F", nu=0.1),
        dim=2,
        neurons=3,
        rounds=40,
        start=1,
        floor=False,
    ),
    dict(
        name="neural-ucb-2-long",
        policy="neural-ucb",
        settings=dict(preset="F", nu=0.1),
        dim=2,
        neurons=3,
        rounds=1000,
        start=1,
        floor=False,
    ),
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
        specs = [
            {key: spec[key] for key in keys} | {"count": ARMS, "from": spec["start"], "linear": spec["neurons"] == 0}
            for spec in CASES
        ]
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
                print(
                    f"turn {turn + 1}: {case}: {label}: {nice(1e6 * seconds)}, reluctant {nice(ours[case])}",
                    file=sys.stderr,
                    flush=True,
                )
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
        "Written by `./bench`. One round: choose one of 1,000 arms, see its reward, learn. Everybody meets the same",
        "arms and the same noise in the same run, in turn, on one core; times are medians over rounds, the least of",
        f"{TURNS} turns, and of {QUICK_TURNS} for reluctant, the floor and numpy, which are quick and close to each",
        "other. Times depend on the machine, ratios hardly do. reluctant is timed from Rust, libraries from Python, as",
        "their users call them, with their documentation's way to choose and to learn.",
        "",
        f"Machine: {machine()}. Python {platform.python_version()}.",
        "",
        "![Time of a round on a logarithmic scale: reluctant, numpy by hand and other libraries](benchmarks.svg)",
    ]
    for case, title in TITLES.items():
        rows = sorted((t, label) for (c, label), t in theirs.items() if c == case)
        notes = {label: note for c, label, _, _, note in CONTENDERS if c == case}
        packages = {label: package for c, label, package, _, _ in CONTENDERS if c == case}
        lines += [
            "",
            f"## {title}",
            "",
            "| | a round | times reluctant's | rounds | what differs in the work |",
            "| --- | --- | --- | --- | --- |",
        ]
        if floors.get(case):
            lines.append(
                f"| floor | {nice(floors[case])} | {floors[case] / ours[case]:.2f} | | one pass over the arms with "
                "nothing but the k activations and one d×d quadratic form, written out |"
            )
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
            lines += [
                "",
                "Over 1,000 rounds, with up to 1,000 training steps in each, a round of reluctant's takes "
                f"{nice(ours['neural-ucb-2-long'])}.",
            ]
    best = real_rows[0][2]
    lines += ["", "## Disjoint LinUCB on a real table", ""]
    lines += [
        f"Shuttle ([data](../data/README.md)): {real.ROUNDS:,} rows in one random order, p = 9 numbers of unit length,",
        "K = 7 classes as named actions, α = 1 and λ = 1, one core. A round with all actions: select, update.",
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
    lines += [f"- {name}: {reason}" for name, reason in missing.items()] or [
        "None: contextualbandits, mabwiser, vowpalwabbit, river, coba, calvera and banditlab all did."
    ]
    (docs / "benchmarks.md").write_text("\n".join(lines) + "\n")


def chart(path, ours, theirs):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "reluctant"
    import matplotlib.pyplot as plt

    heights = [1 + sum(c == case for c, _ in theirs) for case in TITLES]
    figure, axes = plt.subplots(
        len(TITLES), 1, figsize=(9, 0.34 * sum(heights) + 3.2), sharex=True, height_ratios=heights, layout="constrained"
    )
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
