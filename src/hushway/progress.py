"""How work that takes a while tells where it is."""

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Told in a few words what is being done and, if known, how much of it is done (0 to 1)."""

    def __call__(self, step: str, share: float | None = None, /) -> None:
        """Takes note of a step."""
        ...


ShareProgress = Callable[[float], None]
"""Told how much of a single step is done (0 to 1)."""


def quiet(_step: str, _share: float | None = None, /) -> None:
    """Tells nobody."""
