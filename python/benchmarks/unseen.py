"""Tables that were not looked at when anything in the library was chosen, from other people's packages.

    pip install reluctant scikit-learn plotnine scipy
    python python/benchmarks/unseen.py [SHUFFLES]

Breast cancer (569 rows, 2 classes) and wine (178 rows, 3 classes) are scikit-learn's, the cut of diamonds (5 classes,
the first 5,000 rows of a shuffle) is plotnine's. As in experiments/real/defaults.toml nothing is tuned or told, numbers
come as they are, and regret counts mistakes. Prints Markdown.
"""

import argparse
import tempfile
from pathlib import Path

import pandas as pd
from plotnine.data import diamonds
from real_tables import half_width, number
from reluctant import Experiment
from sklearn.datasets import load_breast_cancer, load_wine

POLICIES = ["plausible", "neural-linucb", "ofu-relu-plus", "nn-ucb", "neural-linear", "neural-ucb", "gp-ucb"]
ROUNDS = {"breast cancer": 569, "wine": 178, "diamonds": 5000}
SEED = 77


def tables() -> dict[str, pd.DataFrame]:
    """The tables, classes in the last column."""
    found = {}
    for name, load in (("breast cancer", load_breast_cancer), ("wine", load_wine)):
        data = load(as_frame=True)
        found[name] = data.data.assign(kind=[data.target_names[target] for target in data.target])
    classes_last = diamonds.drop(columns="cut").assign(cut=diamonds.cut)
    found["diamonds"] = classes_last.sample(12_000, random_state=SEED)
    return found


def play(table: pd.DataFrame, rounds: int, shuffles: int) -> pd.DataFrame:
    """The mistakes of every policy in every shuffle."""
    policies = [*POLICIES, {"kind": "lin-ts", "features": "constant"}]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.to_csv(file, index=False)
        environment = {"kind": "table", "file": str(file), "numbers": "raw"}
        experiment = Experiment(environment, policies=policies, rounds=rounds, trials=shuffles, seed=SEED)
        return experiment.run(progress=False).trials()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shuffles", type=int, nargs="?", default=20, help="shuffles of every table")
    told = parser.parse_args()
    if told.shuffles < 2:
        parser.error(f"{told.shuffles} shuffles are too few: an interval needs at least 2")
    columns = {}
    for name, table in tables().items():
        by_policy = play(table, ROUNDS[name], told.shuffles).groupby("policy", sort=False).regret
        columns[name] = {
            policy: f"{number(mistakes.mean())} ± {number(half_width(mistakes))}" for policy, mistakes in by_policy
        }
    print("| | " + " | ".join(columns) + " |\n" + "| --- " * (len(columns) + 1) + "|")
    for policy in next(iter(columns.values())):
        print(f"| `{policy}` | " + " | ".join(column[policy] for column in columns.values()) + " |")


if __name__ == "__main__":
    main()
