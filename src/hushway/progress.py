"""How work that takes a while tells where it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
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


@contextmanager
def watched(
    progress: ShareProgress | None, share: Callable[[], float | None], every_s: float
) -> Iterator[None]:
    """Passes on how far work is, while it is done; nothing as long as that is None."""
    if progress is None:
        yield
        return
    done = Event()

    def watch() -> None:
        while not done.wait(every_s):
            if (so_far := share()) is not None:
                progress(so_far)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
