"""Masked arrays, for functions that hand arrays to a library which would read what the mask hides."""

from __future__ import annotations

from typing import Any

import numpy as np


def refuse_masked(**arrays: Any) -> None:
    """An error if one of them, or a row of a list of them, has a masked element, as from the compiled half."""
    for name, array in arrays.items():
        parts = array if isinstance(array, (list, tuple)) else [array]
        if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
            raise ValueError(f"{name} must hold no masked elements: leave them out, or fill them with numbers")
