"""A sweep on a real Dask cluster that loses a worker."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from conftest import small_settings
from reluctant import Experiment

distributed = pytest.importorskip("distributed")


def test_a_killed_worker_loses_nothing_and_plays_nothing_twice(tmp_path: Path) -> None:
    # Long enough that most trials are still to come when the worker dies.
    experiment = Experiment(**small_settings(rounds=400, trials=20))
    expected = experiment.run(progress=False)
    killed: list[int] = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        assert len(set(workers.values())) == 2

        def kill(*event: Any) -> None:
            if event[0] == "finished" and not killed:
                killed.append(next(iter(workers.values())))
                os.kill(killed[0], signal.SIGKILL)

        results = experiment.run(progress=kill, executor=client.get_executor(), out=tmp_path)
        client.wait_for_workers(2)
        assert killed[0] not in client.run(os.getpid).values()
    for file in ("curves.csv", "trials.csv"):
        assert results._core.render(file) == expected._core.render(file)
    ids = [json.loads(line)["id"] for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert len(ids) == len(set(ids)) == 2 * (2 * 8 + 2 * 20)
