"""Whatever array is given: the answer of a clean one, or a clear exception and nothing changed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from conftest import circle, play
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reluctant import Oful, OfuRelu, Policy, ReluNet, ReluRegressor, fit
from reluctant.adapters._features import outer
from reluctant.adapters.sklearn import OnlineRegressor


def policies() -> list[Policy]:
    trained = [Oful(2), OfuRelu(2, neurons=2, explore=15)]
    for policy in trained:
        play(policy, 30)
    return trained


POLICIES = policies()

NUMBERS = st.one_of(
    hnp.floating_dtypes(),
    hnp.integer_dtypes(),
    hnp.unsigned_integer_dtypes(),
    hnp.boolean_dtypes(),
    hnp.complex_number_dtypes(),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Arrays of any shape, dtype and memory: transposed, strided, read-only, misaligned, swapped, or no arrays."""
    if draw(st.booleans()):
        shape = draw(st.sampled_from([(3, 2), (1, 2), (2,), (2, 3, 2)]))
    else:
        shape = draw(SHAPES)
    array = draw(hnp.arrays(draw(NUMBERS), shape))
    change = draw(
        st.sampled_from(["none", "fortran", "strided", "readonly", "object", "list", "text", "misaligned", "swapped"])
    )
    if change == "fortran":
        return np.asfortranarray(array)
    if change == "strided":
        return np.repeat(array, 2, axis=0)[::2] if array.ndim else array
    if change == "readonly":
        array.setflags(write=False)
    if change == "object":
        return array.astype(object)
    if change == "list":
        return array.tolist()
    if change == "text":
        return array.astype(str)
    if change == "misaligned":
        raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
        view = raw[1 : 1 + array.nbytes].view(array.dtype).reshape(array.shape)
        view[...] = array
        return view
    if change == "swapped":
        return array.astype(array.dtype.newbyteorder())
    return array


CALLS = {
    "select": (("n", 2), lambda policy, array: policy.select(array).index),
    "select_index": (("n", 2), lambda policy, array: policy.select_index(array)),
    "select_batch": (("m", "n", 2), lambda policy, array: policy.select_batch(array).tolist()),
    "update": ((2,), lambda policy, array: policy.update(array, 0.5)),
    "update_batch": (("n", 2), lambda policy, array: policy.update_batch(array, np.zeros(len(array)))),
    "scores": (("n", 2), lambda policy, array: np.stack(policy.scores(array)).tolist()),
}


def is_good(array: Any, shape: tuple[Any, ...], empty: bool) -> bool:
    """Whether an array may be accepted, by rules written down here a second time."""
    try:
        plain = np.asarray(array)
    except ValueError:
        return False
    if plain.dtype.kind not in "biuf" or plain.ndim != len(shape):
        return False
    if any(wanted == 2 and found != 2 for wanted, found in zip(shape, plain.shape)):
        return False
    with np.errstate(over="ignore"):
        numbers = plain.astype(np.float64)
    return bool(np.all(np.abs(numbers) <= 1e100)) and (empty or 0 not in plain.shape)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@given(array=arrays())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_array_is_answered_or_refused(policy: Policy, call: str, array: Any) -> None:
    shape, run = CALLS[call]
    policy, clean = copy.copy(policy), copy.copy(policy)
    before = policy.to_json()
    # No sets and no observations are nothing to do; no arms are nothing to choose from.
    empty = call == "update_batch" or (call == "select_batch" and len(np.shape(array)) == 3 and np.shape(array)[0] == 0)
    if is_good(array, shape, empty):
        answer = run(policy, array)
        assert answer == run(clean, np.ascontiguousarray(np.asarray(array).astype(np.float64)))
        assert policy.to_json() == clean.to_json()
    else:
        with pytest.raises((ValueError, TypeError)) as caught:
            run(policy, array)
        assert str(caught.value)
        assert policy.to_json() == before


@pytest.mark.parametrize(
    ("arms", "kind", "sentence"),
    [
        (np.zeros((0, 2)), ValueError, "no arms: a round must offer at least one arm"),
        (np.zeros((3, 5)), ValueError, "the set of arms has dimension 5, but dimension 2 is needed"),
        (np.zeros(2), ValueError, "arms must be an array with 2 axes (arms, coordinates), not 1"),
        (np.float64(1.0), ValueError, "arms must be an array with 2 axes (arms, coordinates), not 0"),
        (np.array([[1.0, np.nan]]), ValueError, "coordinate 2 of arm 1 is NaN"),
        (np.array([[1.0, np.inf]]), ValueError, "coordinate 2 of arm 1 is inf"),
        (np.array([[1, 2]], dtype=object), TypeError, "arms must hold real numbers, not dtype object"),
        (np.array([[1j, 2]]), TypeError, "arms must hold real numbers, not dtype complex128"),
        (np.array([["a", "b"]]), TypeError, "arms must hold real numbers, not dtype <U1"),
        (None, TypeError, "arms must hold real numbers, not dtype object"),
        (np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[1, 1], [0, 0]]), ValueError, "arms must hold no masked elements"),
        ("spere", ValueError, "arms must be an array of one row an arm or 'sphere', not the text 'spere'"),
    ],
)
def test_each_mistake_has_its_sentence(arms: Any, kind: type[Exception], sentence: str) -> None:
    policy = Oful(2)
    with pytest.raises(kind) as caught:
        policy.select(arms)
    assert sentence in str(caught.value)
    assert policy.rounds == 0


def masked(shape: tuple[int, ...]) -> Any:
    """An array of ones with a masked element."""
    array = np.ma.ones(shape)
    array[(-1,) * len(shape)] = np.ma.masked
    return array


@pytest.mark.parametrize(
    "call",
    [
        lambda policy: policy.select(masked((3, 2))),
        lambda policy: policy.select(masked((3, 2)).astype(np.float32)),
        lambda policy: policy.select([np.ones(2), masked((2,))]),
        lambda policy: policy.select([[1.0, np.ma.masked]]),
        lambda policy: policy.select_index((masked((2,)),)),
        lambda policy: policy.select_batch(masked((2, 3, 2))),
        lambda policy: policy.update(masked((2,)), 0.5),
        lambda policy: policy.update_batch(masked((3, 2)), np.ones(3)),
        lambda policy: policy.update_batch(np.ones((3, 2)), masked((3,))),
        lambda policy: policy.scores(masked((3, 2))),
        lambda policy: policy.explain(masked((2,))),
        lambda _: ReluNet(masked((3, 2))),
        lambda _: ReluNet.random(2, 3)(masked((3, 2))),
        lambda _: fit(masked((3, 2)), np.ones(3), 1),
        lambda _: ReluRegressor().fit(masked((9, 2)), np.ones(9)),
        lambda _: ReluRegressor().fit(np.ones((9, 2)), masked((9,))),
        lambda _: ReluRegressor().fit([np.ones(2), masked((2,))], np.ones(2)),
        lambda _: ReluRegressor().fit(np.ones((9, 2)), np.ones(9)).predict(masked((3, 2))),
        lambda _: OnlineRegressor().partial_fit(masked((9, 2)), np.ones(9)),
        lambda _: OnlineRegressor().partial_fit(np.ones((9, 2)), np.ones(9)).predict(masked((3, 2))),
        lambda _: outer(masked((2,)), [1.0]),
    ],
)
def test_what_a_mask_hides_is_not_read(call: Any) -> None:
    policy = Oful(2)
    play(policy, 3)
    before = policy.to_json()
    with pytest.raises(ValueError, match="must hold no masked elements: leave them out, or fill them with numbers"):
        call(policy)
    assert policy.to_json() == before


def test_an_array_that_could_be_masked_but_is_not_is_read() -> None:
    arms = circle(20)
    assert Oful(2).select_index(np.ma.array(arms)) == Oful(2).select_index(arms)
    assert Oful(2).select_index(np.ma.array(arms, mask=np.zeros_like(arms))) == Oful(2).select_index(arms)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises((TypeError, ValueError)):
        Oful(2).select(endless)


@pytest.mark.parametrize("change", ["float32", "fortran", "strided", "readonly", "list"])
def test_what_is_not_in_order_is_converted(change: str) -> None:
    arms = circle(20).astype(np.float32).astype(np.float64)
    given = {
        "float32": arms.astype(np.float32),
        "fortran": np.asfortranarray(arms),
        "strided": np.repeat(arms, 2, axis=0)[::2],
        "readonly": arms.copy(),
        "list": arms.tolist(),
    }[change]
    if change == "readonly":
        given.setflags(write=False)
    policy = Oful(2)
    play(policy, 10)
    assert copy.copy(policy).select_index(given) == copy.copy(policy).select_index(arms)


@pytest.mark.parametrize(
    ("action", "reward", "kind", "sentence"),
    [
        (3, 0.5, TypeError, "action must be the vector that was chosen, such as arms[3], not its index 3"),
        ([1.0, 2.0, 3.0], 0.5, ValueError, "the action has dimension 3, but dimension 2 is needed"),
        ([1.0, np.nan], 0.5, ValueError, "a coordinate of the action is NaN"),
        ([1.0, 2.0], np.nan, ValueError, "the reward is NaN"),
        ([1.0, 2.0], "much", TypeError, "reward must be a number, not str"),
        ([1.0, 2.0], None, TypeError, "reward must be a number, not NoneType"),
    ],
)
def test_a_wrong_observation_changes_nothing(action: Any, reward: Any, kind: type[Exception], sentence: str) -> None:
    policy = Oful(2)
    before = policy.to_json()
    with pytest.raises(kind) as caught:
        policy.update(action, reward)
    assert sentence in str(caught.value)
    assert policy.to_json() == before


def test_a_bad_row_in_a_batch_changes_nothing() -> None:
    policy, actions = Oful(2), circle(5)
    actions[4, 1] = np.nan
    before = policy.to_json()
    for call in (
        lambda: policy.update_batch(actions, np.ones(5)),
        lambda: policy.update_batch(circle(5), np.ones(4)),
        lambda: policy.select_batch(np.stack([circle(5), actions])),
    ):
        with pytest.raises(ValueError):
            call()
        assert policy.to_json() == before


def test_a_reward_before_any_choice_is_refused_unless_it_comes_from_a_log() -> None:
    policy = Oful(2)
    before = policy.to_json()
    with pytest.raises(
        ValueError, match="update before select: nothing was chosen yet; update_batch learns from a log"
    ):
        policy.update([1.0, 0.0], 1.0)
    assert policy.to_json() == before
    policy.update_batch([[1.0, 0.0]], [1.0])
    assert policy.rounds == 0 and policy.scores([[1.0, 0.0]])[0][0] > 0.9
