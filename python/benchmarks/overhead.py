"""What Python costs on top of Rust: a choice, an experiment, the import.

    python python/benchmarks/overhead.py [COMMAND]

COMMAND is the command line's program, target/release/reluctant by default; the package must be built in release, too.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import reluctant

ROOT = Path(__file__).parents[2]

EXPERIMENT = """
name = "overhead"
rounds = 1000
trials = 50

[[environment]]
kind = "relu-sphere"
neurons = 3

[[policy]]
kind = "ofu-relu"

[[policy]]
kind = "oful"
"""


def microseconds(works: list[Callable[[], object]], calls: int) -> list[float]:
    """The processor time of each work a call: the least of many rounds in turn.

    Whatever else the machine does only adds to it.
    """
    least = [float("inf")] * len(works)
    for _ in range(200):
        for i, work in enumerate(works):
            start = time.thread_time()
            work()
            least[i] = min(least[i], 1e6 * (time.thread_time() - start) / calls)
    return least


def choosing() -> None:
    """One call a choice against one call for many: what differs is the way from Python to Rust and back."""
    rng, many = np.random.default_rng(0), 200
    sets = rng.normal(size=(many, 1000, 2))
    sets /= np.linalg.norm(sets, axis=2, keepdims=True)
    policies = [reluctant.Oful(2), reluctant.OfuRelu(2, neurons=3), reluctant.OfuRelu(2, neurons=10)]
    for policy in policies:
        for t in range(60):
            choice = policy.select(sets[t])
            policy.update(choice.action, np.maximum(0, choice.action).sum() + 0.1 * rng.normal())
        works: list[Callable[[], object]] = [
            lambda: policy.select_batch(sets),
            lambda: [policy.select_index(arms) for arms in sets],
            lambda: [policy.select(arms) for arms in sets],
        ]
        rust, index, full = microseconds(works, many)
        print(f"{policy!r}, 1,000 × 2 arms")
        print(f"  in Rust {rust:.2f} µs; select_index +{index - rust:.2f} µs; select +{full - rust:.2f} µs")


class NumpyOful:
    """Optimism for linear rewards, written with numpy as one would: what `Oful` is measured against."""

    def __init__(self, dim: int, lambda_: float = 0.01, sigma: float = 0.1, delta: float = 0.01) -> None:
        self.lambda_, self.sigma, self.delta = lambda_, sigma, delta
        self.inverse, self.sum, self.log_det = np.eye(dim) / lambda_, np.zeros(dim), 0.0

    def select_index(self, arms: np.ndarray) -> int:
        if not np.isfinite(arms).all():
            raise ValueError("every number must be finite")
        radius = self.sigma * np.sqrt(self.log_det - 2 * np.log(self.delta)) + np.sqrt(self.lambda_)
        widths = np.sqrt(np.einsum("ij,ij->i", arms @ self.inverse, arms))
        return int(np.argmax(arms @ (self.inverse @ self.sum) + radius * widths))

    def update(self, x: np.ndarray, reward: float) -> None:
        ax = self.inverse @ x
        gain = 1.0 + x @ ax
        self.inverse -= np.outer(ax, ax) / gain
        self.sum += reward * x
        self.log_det += np.log(gain)


def against_numpy() -> None:
    """A choice among 1,000 × 20 fresh arms, check and call included, by numpy and by `Oful` in turn."""
    rng, many = np.random.default_rng(0), 20
    sets = rng.normal(size=(many, 1000, 20))
    sets /= np.linalg.norm(sets, axis=2, keepdims=True)
    ours, theirs = reluctant.Oful(20), NumpyOful(20)
    for t in range(200):
        arms = sets[t % many]
        for policy in (ours, theirs):
            x = arms[policy.select_index(arms)]
            policy.update(x, x[0] + 0.1 * rng.normal())
    works: list[Callable[[], object]] = [
        lambda: [theirs.select_index(arms) for arms in sets],
        lambda: [ours.select_index(arms) for arms in sets],
        lambda: ours.select_batch(sets),
    ]
    numpy, index, rust = microseconds(works, many)
    print(
        f"1,000 × 20 arms: numpy {numpy:.1f} µs; Oful {index:.1f} µs, {numpy / index:.1f} times as fast; "
        f"in Rust {rust:.1f} µs"
    )


def processor(who: int) -> float:
    """Seconds of processor time, which other work on the machine does not add to."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def experiments(command: Path) -> None:
    """50 trials of two policies, report included, by the command line and by Python in turn."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "overhead.toml"
        spec.write_text(EXPERIMENT)
        for number in range(7):
            run = [str(command), "run", str(spec), "--out", f"{folder}/command-{number}", "--threads", "1"]
            before = processor(resource.RUSAGE_CHILDREN)
            subprocess.run(run, check=True, capture_output=True)
            theirs.append(processor(resource.RUSAGE_CHILDREN) - before)
            before = processor(resource.RUSAGE_SELF)
            experiment = reluctant.Experiment.from_toml(spec)
            experiment.run(progress=False, threads=1, out=f"{folder}/python-{number}")
            ours.append(processor(resource.RUSAGE_SELF) - before)
    a, b = statistics.median(theirs), statistics.median(ours)
    print(f"50 trials: command line {a:.3f} s, Python {b:.3f} s of processor time ({100 * (b / a - 1):+.1f} %)")


def importing() -> None:
    """The package alone, without what it can use: processor time of a fresh interpreter beyond that of an empty one."""

    def least(program: str) -> float:
        times = []
        for _ in range(10):
            before = processor(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", program], check=True)
            times.append(processor(resource.RUSAGE_CHILDREN) - before)
        return min(times)

    print(f"import reluctant: {1000 * (least('import reluctant') - least('pass')):.0f} ms")


if __name__ == "__main__":
    choosing()
    against_numpy()
    importing()
    command = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "release" / "reluctant"
    if command.exists():
        experiments(command)
    else:
        print(f"{command} is not there: build it with cargo build --release")
