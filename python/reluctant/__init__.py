"""Bandits whose rewards have ReLU structure."""

from __future__ import annotations

from ._core import Choice, __version__
from .policies import *  # noqa: F403
