"""Contexts with named actions: every policy of the registry, names that come and go, and what is saved."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SAMPLES, circle
from reluctant import Choice, LinTs, Oful, OfuRelu, OfuReluPlus, Policy, Uniform

each = pytest.mark.parametrize(("cls", "settings"), SAMPLES)
WEIGHTS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [-1.0, 0.5], "d": [0.7, 0.7]}
FEATURES = {name: np.array([*weights, 1.0]) for name, weights in WEIGHTS.items()}


def game(policy: Policy, rounds: int, seed: int = 1, features: bool = False) -> list[str]:
    """Plays rounds in which "a" is retired and "d" is new half-way, and returns the names that were chosen."""
    rng, chosen = np.random.default_rng(seed), []
    for t in range(rounds):
        names = ["a", "b", "c"] if t < rounds // 2 else ["b", "c", "d"]
        context = rng.normal(size=2)
        choice = policy.select(context, actions={name: FEATURES[name] for name in names} if features else names)
        assert choice.name == names[choice.index or 0] and np.array_equal(choice.action, context)
        assert (choice.features is not None) == features
        policy.update(choice, float(context @ WEIGHTS[choice.name]) + 0.1 * rng.normal())
        chosen.append(choice.name)
    return chosen


@each
@pytest.mark.parametrize("features", [False, True], ids=["names", "features"])
def test_every_policy_plays_contexts_and_goes_on_to_the_bit(
    cls: Any, settings: dict[str, Any], features: bool, tmp_path: Path
) -> None:
    policy = cls(2, seed=5, **settings)
    # A name that is new is tried; where actions have features, what they tell may be enough.
    assert "d" in game(policy, 40, features=features) or features
    policy.save(tmp_path / "policy.json")
    others = [cls.load(tmp_path / "policy.json"), pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)]
    expected = game(policy, 12, seed=2, features=features)
    for other in others:
        assert game(other, 12, seed=2, features=features) == expected
        assert other.to_json() == policy.to_json()
    actions: Any = FEATURES if features else list(FEATURES)
    means, widths = policy.scores([0.3, -0.2], actions=actions)
    assert means.shape == widths.shape == (4,) and np.isfinite(means).all() and (widths >= 0).all()
    one: Any = {"b": FEATURES["b"]} if features else "b"
    thought = policy.explain([0.3, -0.2], action=one)
    # One row is summed in another order than many.
    assert thought.mean == pytest.approx(means[1], rel=1e-12) and thought.spread >= 0
    choice = copy.copy(policy).select([0.3, -0.2], actions=actions)
    assert policy.explain(choice).mean == pytest.approx(means[choice.index], rel=1e-12)


@each
def test_a_batch_of_contexts_is_the_same_as_one_after_the_other(cls: Any, settings: dict[str, Any]) -> None:
    single, batch, listed = (cls(2, **settings) for _ in range(3))
    contexts, names = circle(12), ["a", "b", "c"] * 4
    rewards = np.linspace(-1, 1, 12)
    for policy in (single, batch, listed):
        policy.select_index([1.0, 0.0], actions=["a", "b"])
    for context, name, reward in zip(contexts, names, rewards):
        single.update(context, reward, action=name)
    batch.update_batch(contexts, rewards, actions=names)
    listed.update_batch([Choice(0, context, 0.0, 0.0, name=name) for context, name in zip(contexts, names)], rewards)
    assert single.to_json() == batch.to_json() == listed.to_json()
    expected = [single.select_index(context, actions=["b", "x"]) for context in contexts[:4]]
    assert batch.select_batch(contexts[:4], actions=["b", "x"]).tolist() == expected
    assert listed.select_batch(contexts[:4], actions=[["b", "x"]] * 4).tolist() == expected
    assert single.rounds == batch.rounds == listed.rounds == 5


def test_a_model_for_each_name_learns_what_is_best() -> None:
    policy = Oful(2)
    game(policy, 200)
    for context, best in (([1.0, 0.0], "d"), ([0.0, 1.0], "b"), ([-1.0, 0.0], "c")):
        assert policy.select(context, actions=["b", "c", "d"]).name == best
    # Whoever was retired is remembered, whoever is new is unknown: wide, and why.
    means, widths = policy.scores([1.0, 0.0], actions=["a", "new"])
    assert means[0] > 0.8 and means[1] == 0.0 and widths[1] > 5 * widths[0]
    assert policy.explain([1.0, 0.0], action="new").why == "the action 'new' has not been rewarded yet"
    assert set(json.loads(policy.to_json())["snapshot"]["state"]["actions"]) == {"a", "b", "c", "d"}


def test_joined_in_two_ways() -> None:
    """A reward that is a product of context and feature is linear in the products alone."""
    right = {}
    for join in ("concatenate", "products"):
        policy, rng, good = Oful(2, join=join, sigma=0.05), np.random.default_rng(0), 0
        assert policy.params["join"] == join and f"join='{join}'" in repr(policy)
        for t in range(150):
            context = rng.normal(size=2)
            choice = policy.select(context, actions={"up": [1.0], "down": [-1.0]})
            assert choice.features is not None
            policy.update(choice, context[0] * choice.features[0])
            good += t >= 50 and context[0] * choice.features[0] > 0
        right[join] = good / 100
    assert right["products"] > 0.95 and right["concatenate"] < 0.7


def test_a_choice_is_accepted_wherever_its_action_is() -> None:
    a, b, arms = Oful(2), Oful(2), circle(10)
    choice, other = a.select(arms), b.select(arms)
    a.update(choice, 0.5)
    b.update(other.action, 0.5)
    assert a.to_json() == b.to_json()
    a.update_batch([choice, choice], [0.1, 0.2])
    b.update_batch([choice.action, choice.action], [0.1, 0.2])
    assert a.to_json() == b.to_json() and a.explain(choice).mean == b.explain(choice.action).mean
    # The old keywords are those of vectors.
    a.update(action=choice.action, reward=0.3)
    b.update(choice, reward=0.3)
    a.update_batch(actions=arms, rewards=np.ones(10))
    b.update_batch(arms, np.ones(10))
    assert a.to_json() == b.to_json() and a.explain(action=arms[0]).mean == a.explain(arms[0]).mean


def test_sets_of_arms_may_differ_in_size() -> None:
    a, b = Uniform(2, seed=3), Uniform(2, seed=3)
    sets = [circle(count) for count in (1, 7, 3, 20)]
    assert a.select_batch(sets).tolist() == [b.select_index(arms) for arms in sets]
    assert a.select_batch(tuple(sets)).shape == (4,)
    before = a.to_json()
    for wrong in ([circle(3), np.zeros((0, 2))], [circle(3), circle(3, dim=5)], [circle(3), [[1.0, np.nan]]]):
        with pytest.raises(ValueError):
            a.select_batch(wrong)
    assert a.to_json() == before


def test_a_choice_with_a_name_shows_and_pickles_it() -> None:
    choice = Oful(2).select([1.0, 0.5], actions={"left": [1.0, 2.0], "right": [0.0, 1.0]})
    assert repr(choice).startswith("Choice(index=0, name='left', action=[1.0, 0.5], mean=")
    again = pickle.loads(pickle.dumps(choice))
    assert repr(again) == repr(choice) and again.features.tolist() == [1.0, 2.0]
    assert Oful(2).select(circle(3)).name is None


def seen(**used: Any) -> Policy:
    policy = OfuRelu(2, neurons=2)
    policy.select(**used)
    return policy


ROWS, NAMES = {"arms": circle(3)}, {"arms": [1.0, 0.0], "actions": ["a", "b"]}
JOINED = {"arms": [1.0, 0.0], "actions": {"a": [1.0], "b": [2.0]}}


@pytest.mark.parametrize(
    ("before", "call", "kind", "sentence"),
    [
        (
            ROWS,
            lambda p: p.select(**NAMES),
            ValueError,
            "has chosen among arms or learnt from them, and takes no contexts any more",
        ),
        (
            ROWS,
            lambda p: p.update([1.0, 0.0], 1.0, action="a"),
            ValueError,
            "takes no contexts any more: make another one",
        ),
        (ROWS, lambda p: p.explain([1.0, 0.0], action="a"), ValueError, "takes no contexts any more: make another one"),
        (
            NAMES,
            lambda p: p.select(**ROWS),
            ValueError,
            "give a context and the names of actions, or make another one for arms",
        ),
        (NAMES, lambda p: p.select("sphere"), ValueError, "has chosen in contexts"),
        (NAMES, lambda p: p.update([1.0, 0.0], 1.0), ValueError, "has chosen in contexts"),
        (NAMES, lambda p: p.scores(circle(3)), ValueError, "has chosen in contexts"),
        (NAMES, lambda p: p.select(**JOINED), ValueError, "have no features so far: give their names alone"),
        (JOINED, lambda p: p.select(**NAMES), ValueError, "the actions of this policy have features: give a mapping"),
        (
            JOINED,
            lambda p: p.select([1.0, 0.0], {"a": [1.0, 2.0]}),
            ValueError,
            "action features has dimension 2, but dimension 1",
        ),
        (
            JOINED,
            lambda p: p.update([1.0, 0.0], 1.0, action={"a": [1.0, 2.0]}),
            ValueError,
            "has dimension 2, but dimension 1",
        ),
        (
            NAMES,
            lambda p: p.select([1.0], actions=["a"]),
            ValueError,
            "the context has dimension 1, but dimension 2 is needed",
        ),
        (NAMES, lambda p: p.select([1.0, 0.0], actions=["a", "a"]), ValueError, "the action 'a' is offered twice"),
        (NAMES, lambda p: p.select([1.0, 0.0], actions=[]), ValueError, "no arms"),
        (NAMES, lambda p: p.select([1.0, 0.0], actions="ab"), TypeError, "not the text 'ab'"),
        (NAMES, lambda p: p.select([1.0, 0.0], actions=[0, 1]), TypeError, "the name of an action must be text, not 0"),
        (
            NAMES,
            lambda p: p.select([1.0, 0.0], actions=7),
            TypeError,
            "a list of names or a mapping of names to features, not int",
        ),
        (NAMES, lambda p: p.select([1.0, np.nan], actions=["a"]), ValueError, "coordinate 2 of the context is NaN"),
        (NAMES, lambda p: p.select(circle(3), actions=["a"]), ValueError, "context must be an array with 1 axis"),
        (
            JOINED,
            lambda p: p.select([1.0, 0.0], actions={"a": [1.0], "b": []}),
            ValueError,
            "must have the same length",
        ),
        (JOINED, lambda p: p.select([1.0, 0.0], actions={"a": [np.nan]}), ValueError, "a feature of an action is NaN"),
        (NAMES, lambda p: p.update([1.0, 0.0], np.nan, action="a"), ValueError, "the reward is NaN"),
        (NAMES, lambda p: p.update([1.0, np.nan], 0.0, action="a"), ValueError, "of the context is NaN"),
        (NAMES, lambda p: p.update([1.0, 0.0], 0.0, action=3), TypeError, "action must be the name of the action"),
        (NAMES, lambda p: p.update([1.0, 0.0], action="a"), TypeError, "reward must be a number"),
        (NAMES, lambda p: p.update(action="a", reward=0.5), TypeError, "a named action goes with its context"),
        (NAMES, lambda p: p.update(reward=0.5), TypeError, "the action is missing"),
        (NAMES, lambda p: p.update(p.select(**NAMES), 1.0, action="a"), TypeError, "a Choice knows its action"),
        (
            NAMES,
            lambda p: p.update_batch(circle(2), [1.0, 2.0], actions=["a"]),
            ValueError,
            "as many actions as contexts, not 1 for 2",
        ),
        (
            NAMES,
            lambda p: p.update_batch(circle(2), [1.0], actions=["a", "b"]),
            ValueError,
            "as many rewards as actions",
        ),
        (
            NAMES,
            lambda p: p.select_batch(circle(2), actions=[["a"]]),
            ValueError,
            "as many lists of actions as contexts, not 1 for 2",
        ),
        (NAMES, lambda p: p.select_batch(circle(2), actions=[["a"], ["b", "b"]]), ValueError, "offered twice"),
    ],
)
def test_each_mistake_has_its_sentence_and_changes_nothing(before: Any, call: Any, kind: Any, sentence: str) -> None:
    policy = seen(**before)
    rounds, state = policy.rounds, json.loads(policy.to_json())["snapshot"]
    with pytest.raises(kind) as caught:
        call(policy)
    assert sentence in str(caught.value)
    assert json.loads(policy.to_json())["snapshot"] == state
    assert policy.rounds == rounds or "Choice knows" in sentence


def test_until_it_is_used_it_may_become_either() -> None:
    policy = Oful(2)
    fresh = policy.to_json()
    with pytest.raises(ValueError):
        policy.select([1.0, 0.0, 0.0], actions=["a"])
    with pytest.raises(ValueError):
        policy.select_batch(circle(2), actions=[["a"], ["b", "b"]])
    policy.scores([1.0, 0.0], actions=["a"])
    policy.scores([1.0, 0.0], actions={"a": [1.0]})
    policy.explain([1.0, 0.0], action="a")
    assert policy.to_json() == fresh
    for other in (policy, pickle.loads(pickle.dumps(policy)), Policy.from_json(fresh)):
        assert copy.copy(other).select([1.0, 0.0], actions=["a"]).name == "a"
        assert copy.copy(other).select(circle(3)).index is not None
    policy.update_batch(circle(2), [1.0, 2.0], actions=["a", "b"])
    with pytest.raises(ValueError, match="has chosen in contexts or learnt from them"):
        policy.update_batch(circle(2), [1.0, 2.0])


def test_thompson_sampling_has_no_propensity_in_contexts_either() -> None:
    assert LinTs(2).select([1.0, 0.0], actions=["a", "b"]).propensity is None
    assert Uniform(2).select([1.0, 0.0], actions=["a", "b"]).propensity == 0.5


def test_who_must_be_told_more_only_among_arms_can_be_made_for_contexts() -> None:
    policy = OfuReluPlus(2)
    assert policy.select([1.0, 0.0], actions=["a", "b"]).name in ("a", "b")
    policy.update([1.0, 0.0], 1.0, action="a")
    with pytest.raises(ValueError, match="neurons"):
        OfuReluPlus(2).select(circle(3))
    with pytest.raises(ValueError, match="neurons"):
        OfuReluPlus(2).update_batch(circle(3), [1.0, 0.0, 1.0])
    assert OfuReluPlus(2, neurons=3).select(circle(3)).index is not None
