"""A table of one's own: who bought what, by age and income; a policy learns whom to offer what."""

import csv
import tempfile
from pathlib import Path

import numpy as np
from reluctant import Experiment

rng = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "mine.csv"
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "income", "bought"])
        for _ in range(400):
            age, income = rng.uniform(18, 80), rng.uniform(10, 90)
            rows.writerow([round(age), round(income), "tea" if age > 50 else "coffee" if income > 40 else "water"])

    world = {"kind": "table", "file": str(table), "class": "bought", "numbers": "standard"}
    policies = ["neural-linucb", "uniform"]
    results = Experiment([world], policies=policies, rounds=400, trials=2).run(progress=False)

mistakes = dict(zip(*(results.summary()[column] for column in ("policy", "mean"))))
print(mistakes)
assert mistakes["neural-linucb"] < 0.5 * mistakes["uniform"]
