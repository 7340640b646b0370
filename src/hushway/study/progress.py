"""How studies say where they are."""

from typing import Protocol


class Progress(Protocol):
    """Told what is being run and, if known, how much of it is done (0 to 1)."""

    def __call__(self, step: str, share: float | None = None, /) -> None:
        """Takes note of a step."""
        ...
