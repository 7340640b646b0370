"""Processes that end at a given moment of their work on files and databases.

A moment lies before and after every call that changes something outside the process: files made,
written, flushed, renamed and removed, statements and commits of a database. The work is done in a
forked child, so that hundreds of endings take seconds; it must not have started threads.
"""

import builtins
import io
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any

from sqlalchemy.engine.default import DefaultDialect

_CALLS: tuple[tuple[Any, str], ...] = (
    (os, "mkdir"),
    (os, "open"),
    (os, "rename"),
    (os, "replace"),
    (os, "rmdir"),
    (os, "unlink"),
    (os, "fsync"),
    (os, "utime"),
    (io, "open"),
    (builtins, "open"),
    (DefaultDialect, "do_execute"),
    (DefaultDialect, "do_commit"),
)

FINISHED, FAILED, INTERRUPTED = 0, 3, 4


class Clock:
    """Counts moments, and ends the process at one of them."""

    def __init__(self, last: int, ending: signal.Signals) -> None:
        self.now = 0
        self._last = last
        self._ending = ending

    def tick(self) -> None:
        """Lets a moment pass."""
        self.now += 1
        if self.now == self._last:
            os.kill(os.getpid(), self._ending)

    def watch(self) -> None:
        """Lets a moment pass before and after each of the calls from now on."""
        for owner, name in _CALLS:
            setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **options: Any) -> Any:
            self.tick()
            answer = call(*args, **options)
            self.tick()
            return answer

        return watched


def ended(work: Callable[[Clock], object], last: int, ending: signal.Signals) -> int:
    """Does work in a child that is ended at a moment; returns how it ended.

    Args:
        work: Is given the clock, and starts watching when it likes.
        last: The moment, from 1.
        ending: The signal.

    Returns:
        The number of a signal, negative; or one of FINISHED, FAILED and INTERRUPTED.
    """
    child = os.fork()
    if child == 0:
        _be_the_child(work, Clock(last, ending))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _be_the_child(work: Callable[[Clock], object], clock: Clock) -> None:
    code = FAILED
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        work(clock)
        code = FINISHED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException:  # noqa: BLE001  whatever it is, the child must not go on with the tests
        traceback.print_exc()
    finally:
        os._exit(code)
