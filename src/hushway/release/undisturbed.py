"""A few steps that a signal must not come between."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Lets Ctrl-C and a request to end wait until some steps are done.

    Only the main thread hears signals; elsewhere there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []

    def wait(number: int, _frame: FrameType | None) -> None:
        waiting.append(number)

    before = {number: signal.signal(number, wait) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in waiting:
            os.kill(os.getpid(), late)
