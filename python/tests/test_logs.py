"""Logs: from rounds, frames and other libraries to what a policy would have earned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reluctant
from reluctant import Oful


def rounds(count: int = 300, seed: int = 0) -> list[dict[str, Any]]:
    """Rounds in which the sign of the context says which action is rewarded, chosen by a fair coin."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        x = rng.normal(size=2)
        chosen = str(rng.choice(["0", "1"]))
        reward = float((x[0] > 0) == (chosen == "1"))
        made.append({"context": x, "actions": ["0", "1"], "chosen": chosen, "propensity": 0.5, "reward": reward})
    return made


def test_all_forms_of_a_log_say_the_same(tmp_path: Path) -> None:
    log = rounds()
    path = tmp_path / "log.jsonl"
    reluctant.write_log(path, log)
    feedback = reluctant.to_bandit_feedback(path)
    assert feedback["n_rounds"] == 300 and feedback["n_actions"] == 2 and feedback["context"].shape == (300, 2)
    forms: list[Any] = [path, str(path), log, feedback, reluctant.read_log(path)]
    forms.append(pytest.importorskip("pandas").DataFrame(flat(log)))
    forms.append(pytest.importorskip("polars").DataFrame(flat(log)))
    values = {reluctant.evaluate(form, "oful:features=constant", replay=False).value for form in forms}
    assert len(values) == 1 and min(values, default=0) > 0.9


def flat(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"x1": r["context"][0], "x2": r["context"][1], "actions": "0|1"}
        | {key: r[key] for key in ("chosen", "propensity", "reward")}
        for r in log
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back(tmp_path: Path, library: Any) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(flat(rounds(50)))
    reluctant.write_log(tmp_path / "log.jsonl", frame)
    back = reluctant.read_log(tmp_path / "log.jsonl", library)
    assert isinstance(back, frames.DataFrame)
    for column in frame.columns:
        assert list(back[column]) == list(frame[column])
    assert list(back["event"]) == [str(i) for i in range(1, 51)]
    if library == "pandas":
        frame.to_csv(tmp_path / "log.csv.gz", index=False)
        from_csv = reluctant.read_log(tmp_path / "log.csv.gz", "pandas")
        assert np.allclose(from_csv["x1"], frame["x1"]) and list(from_csv["chosen"]) == list(frame["chosen"])


def test_bandit_feedback_comes_back(tmp_path: Path) -> None:
    log = rounds(40)
    feedback = reluctant.to_bandit_feedback(log)
    reluctant.write_log(tmp_path / "log.jsonl", feedback)
    again = reluctant.to_bandit_feedback(tmp_path / "log.jsonl")
    assert feedback.keys() == again.keys()
    for key in feedback:
        assert np.array_equal(feedback[key], again[key])
    with pytest.raises(ValueError, match="round 2: bandit_feedback needs the same actions, a propensity and a reward"):
        reluctant.to_bandit_feedback([log[0], {**log[1], "propensity": None}])


def test_weights_are_those_of_the_open_bandit_pipeline() -> None:
    ope = pytest.importorskip("obp.ope", exc_type=ImportError)
    feedback = reluctant.to_bandit_feedback([entry | {"propensity": 0.5} for entry in rounds(200)])
    uniform = np.full((200, 2, 1), 0.5)
    given = {key: feedback[key] for key in ("reward", "action", "pscore", "position")} | {"action_dist": uniform}
    found = reluctant.evaluate(feedback, "uniform", model=None).details["estimates"]
    ours = {estimate["name"]: estimate["value"] for estimate in found}
    theirs = {
        "ips": ope.InverseProbabilityWeighting().estimate_policy_value(**given),
        "snips": ope.SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**given),
    }
    for name, value in theirs.items():
        assert abs(ours[name] - value) < 1e-9


def test_late_rewards_stand_with_their_rounds(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    path.write_text(
        '{"event":1,"context":[0.5],"actions":["a"],"chosen":"a","propensity":1}\n'
        '{"event":2,"context":[0.7],"chosen":"a","propensity":1}\n{"event":1,"reward":3}\n{"eve'
    )
    first, second = reluctant.read_log(path)
    assert first["reward"] == 3 and second["reward"] is None and second["actions"] == ["a"]
    with pytest.raises(ValueError, match="into = 'numpy' is out of range"):
        reluctant.read_log(path, "numpy")  # type: ignore[arg-type]


def test_explore_is_another_name_of_chance() -> None:
    assert Oful(2, explore=0.25).given == Oful(2, chance=0.25).given == {"chance": 0.25}
    with pytest.raises(ValueError, match="explore and chance are two names of one parameter"):
        Oful(2, explore=0.25, chance=0.25)


def test_a_policy_is_judged_as_it_is() -> None:
    policy = Oful(2, features="constant")
    for entry in rounds(200, seed=1):
        choice = policy.select(entry["context"], actions=["0", "1"])
        policy.update(choice, reward=float((entry["context"][0] > 0) == (choice.name == "1")))
    evaluation = reluctant.evaluate(rounds(), policy)
    assert evaluation.policy == "oful" and evaluation.details["replay"] is None
    assert evaluation.value is not None and evaluation.value > 0.85
    assert "<svg" in evaluation.svg and "the log" in str(evaluation)


def test_policies_are_ranked(tmp_path: Path) -> None:
    tried = ["uniform", "oful:features=constant"]
    evaluations, table = reluctant.choose(rounds(), tried, replay=False, out=tmp_path / "report")
    assert "oful:features=constant" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert [one.policy for one in evaluations] == ["uniform", "oful:features=constant"]
    assert table.index("oful") < table.index("uniform")


def test_what_cannot_be_told_has_no_value() -> None:
    certain = [entry | {"propensity": 1.0} for entry in rounds()]
    evaluation = reluctant.evaluate(certain, "uniform")
    assert evaluation.value is None and evaluation.interval is None
    assert any("cannot tell" in sentence for sentence in evaluation.sentences)


def test_bad_logs_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^round 1: the propensity is 0, and what was chosen had a probability"):
        reluctant.evaluate([rounds(1)[0] | {"propensity": 0.0}], "oful")
    with pytest.raises(ValueError, match="round 1: every number must be finite"):
        reluctant.evaluate([rounds(1)[0] | {"reward": float("nan")}], "oful")
    with pytest.raises(TypeError, match="a log is a path, rounds, a frame, or bandit_feedback, not int"):
        reluctant.evaluate(3, "oful")
    with pytest.raises(ValueError, match="folds = 1 is out of range"):
        reluctant.evaluate(rounds(), "oful", folds=1)
    with pytest.raises(OSError, match="cannot read"):
        reluctant.evaluate(tmp_path / "none.jsonl", "oful")
    with pytest.raises(ValueError, match="unknown policy 'ofl'"):
        reluctant.evaluate(rounds(), "ofl")
