"""From what other libraries call a context and an action to the vector that a policy sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def outer(context: Any, action: Any) -> NDArray[np.float64]:
    """The action without a context; with one, every product of a coordinate of the action and one of the context."""
    import numpy as np

    from .._masks import refuse_masked

    refuse_masked(context=context, action=action)
    vector = np.atleast_1d(np.asarray(action, dtype=np.float64))
    if context is None:
        return vector
    return np.outer(vector, np.atleast_1d(np.asarray(context, dtype=np.float64))).ravel()
