"""Requests to end (Ctrl-C, SIGTERM): that one came, and what the command had spent by then.

A process runs one command at a time, so there is one state. Libraries may turn the interruption
into an error of their own; whoever speaks in the end asks here whether it was one.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

NOTHING_SPENT = "Nothing was spent."
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class _Command:
    interrupted: bool = False
    standing: str = NOTHING_SPENT


_command = _Command()


def take_signals() -> None:
    """Lets Ctrl-C and a request to end interrupt the command that begins now."""
    _command.interrupted = False
    _command.standing = NOTHING_SPENT
    signal.signal(signal.SIGTERM, interrupt)
    # A job in the background of a shell ignores Ctrl-C, and goes on doing so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Handles SIGTERM like Ctrl-C, so that everything is cleaned up first."""
    _command.interrupted = True
    raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignores further signals while the closing message is printed."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def was_interrupted() -> bool:
    """Whether the command was asked to end."""
    return _command.interrupted


def standing() -> str:
    """Returns what the command has spent so far, and what lies where, as a sentence."""
    return _command.standing


def stands(sentence: str) -> None:
    """Keeps what the command has spent so far, for whoever must say so if it is interrupted."""
    _command.standing = sentence


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
