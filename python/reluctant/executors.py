"""Trials on any executor: the parent plans and keeps, workers only play.

A trial is a pure function of its key, so it does not matter who plays it, nor how often: the
results are the same to the byte.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import Any, TypeVar

from . import _core
from .progress import Notify

J = TypeVar("J")

RETRIES = 3
"""How often a trial is handed in again after its worker was lost."""


OwnOf = Callable[[str, str], Any]
"""What is written in Python and a worker needs for a trial, by the labels of its environment and its policy."""


def play(store: _core.Store, executor: Executor, notify: Notify, own: OwnOf) -> None:
    """Plays the trials that ``store`` misses: all of the tuning first, as it decides what is reported."""

    def call(job: tuple[str, str, str]) -> tuple[Any, ...]:
        environment, policy, trial = job
        needed = own(environment, policy)
        return (_core.run_trial, trial, _core.__version__, *([] if needed is None else [needed]))

    for stage, shown in (("tuning", "tuning"), ("reported", "trials")):
        total, waiting = store.waiting(stage)
        notify("begin", shown, total, total - len(waiting))
        for (environment, policy, trial), line in _results(executor, waiting, call):
            store.accept(trial, line)
            notify("finished", environment, policy)
        notify("end")


def _results(executor: Executor, jobs: list[J], call: Callable[[J], tuple[Any, ...]]) -> Iterator[tuple[J, str]]:
    """Each job with the result of its call, as they come; a job whose worker was lost is handed in again."""

    def submit(job: J) -> Future[str]:
        try:
            return executor.submit(*call(job))
        except BrokenExecutor as cause:
            raise RuntimeError(
                "the executor has lost its workers and takes no more trials; make a new one and run again: "
                "with out=..., the trials that had finished are kept"
            ) from cause

    pending: dict[Future[str], tuple[J, int]] = {submit(job): (job, 0) for job in jobs}
    try:
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                job, tries = pending.pop(future)
                try:
                    line = future.result()
                except Exception as cause:
                    if "pickle" in str(cause) and isinstance(cause, (pickle.PicklingError, AttributeError, TypeError)):
                        raise TypeError(
                            f"an environment or a policy of your own cannot travel to the workers ({cause}): "
                            "define its class or function at the top of a module that they can import"
                        ) from cause
                    if not _is_loss(cause) or tries == RETRIES:
                        raise
                    pending[submit(job)] = (job, tries + 1)
                else:
                    yield job, line
    finally:
        # After an error, Ctrl-C among them, nobody waits for the rest.
        for future in pending:
            future.cancel()


def _is_loss(cause: BaseException) -> bool:
    """Whether a worker was lost: what libraries raise then has names, but no class in common."""
    lost = {"KilledWorker", "CommClosedError", "FutureCancelledError", "WorkerCrashedError"}
    names = {cls.__name__ for cls in type(cause).__mro__}
    return isinstance(cause, (BrokenExecutor, CancelledError, ConnectionError)) or bool(names & lost)


class PoolExecutor(Executor):
    """An executor out of anything with ``apply_async``: ``multiprocessing.Pool``, ``ray.util.multiprocessing.Pool``."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hands in a call."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self._pool.apply_async(fn, args, kwargs, callback=future.set_result, error_callback=future.set_exception)
        return future
