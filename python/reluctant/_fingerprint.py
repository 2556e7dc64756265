"""What identifies code and state of one's own: a hash of sources and of everything that can be pickled.

Where it cannot be had, a token takes its place that matches nothing: what it stands for is played again rather than
mistaken.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import pickle
import types
import uuid
from typing import Any

_OURS = __name__.partition(".")[0]
_PLAIN = frozenset({_OURS, "builtins", "numpy"})
"""Packages whose names stand for what they hold."""


class _Unknown(Exception):
    """Something whose source cannot be had."""


def fingerprint(thing: Any) -> str:
    """The same for the same code and the same state, as far as both can be seen."""
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, protocol=4).dump(thing)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        # Whatever a user's object raises when it is pickled, it cannot be identified.
        return f"unknown-{uuid.uuid4().hex}"
    return hashlib.sha256(buffer.getvalue()).hexdigest()[:32]


class _Pickler(pickle.Pickler):
    """Writes functions and classes as their sources."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, types.FunctionType):
            if _is_plain(thing):
                return NotImplemented
            cells = tuple(cell.cell_contents for cell in thing.__closure__ or ())
            return _Code, (_source(thing), _bytes(thing), thing.__defaults__, thing.__kwdefaults__, cells)
        if isinstance(thing, type) and not _is_plain(thing):
            return _Code, (tuple(_source(cls) for cls in thing.__mro__ if not _is_plain(cls)),)
        return NotImplemented


class _Code:
    """Stands in a pickle for code; never made."""


def _bytes(function: types.FunctionType) -> Any:
    """What tells two functions without a name apart, which may stand on the same line."""
    if function.__name__ != "<lambda>":
        return None
    code = function.__code__
    return code.co_code, code.co_names, tuple(const for const in code.co_consts if not inspect.iscode(const))


def _is_plain(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).partition(".")[0] in _PLAIN


def _source(thing: Any) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError) as cause:
        raise _Unknown from cause
