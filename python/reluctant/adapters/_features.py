"""From what other libraries call a context and an action to what a policy sees: a vector, or a context with names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def reals(what: str, value: Any) -> NDArray[np.float64]:
    """Real numbers as a vector; text is refused, even where it could be read as a number."""
    import numpy as np

    from .._masks import refuse_masked

    refuse_masked(**{what: value})
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{what} must hold real numbers, not {value!r}: say by features=... what the policy shall see of it"
        )
    return np.atleast_1d(array.astype(np.float64))


def outer(context: Any, action: Any) -> NDArray[np.float64]:
    """The action without a context; with one, every product of a coordinate of the action and one of the context."""
    import numpy as np

    vector = reals("action", action)
    if context is None:
        return vector
    return np.outer(vector, reals("context", context)).ravel()


def in_context(context: Any) -> NDArray[np.float64]:
    """The context that named actions share; a constant where there is none."""
    import numpy as np

    return np.ones(1) if context is None else np.ravel(reals("context", context))


def label(action: Any) -> str | None:
    """The name of an action that is one text or one number, such as "0" or 3; ``None`` for a vector of features."""
    if isinstance(action, str):
        return str(action)
    if hasattr(action, "__float__") and not hasattr(action, "__len__"):
        # Libraries make 1.0 of 1, and back.
        return f"{float(action):.17g}"
    return None


def is_one_hot(action: Any) -> bool:
    """Whether an action is a list of zeros with a single one: a name in disguise."""
    return isinstance(action, (tuple, list)) and sorted(action) == [0] * (len(action) - 1) + [1]
