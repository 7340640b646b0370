"""Where an error happened, kept for those who mend it, without a word of what it says."""

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

from hushway.version import __version__

# An endless descent repeats itself.
_MOST_FRAMES = 100


def keep_details(error: BaseException) -> Path | None:
    """Writes where an error happened to a new file that only this user can read.

    Privacy:
        Written are names of classes, functions and files of code, and numbers of lines. What an
        error says is left out, and so are values: they may be a row's.

    Returns:
        The file; None if it cannot be written.
    """
    text = "\n".join([*_circumstances(), *_lines(error)]) + "\n"
    try:
        handle, name = tempfile.mkstemp(prefix="hushway-error-", suffix=".txt")  # mode 0600
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return None
    return Path(name)


def _circumstances() -> Iterator[str]:
    yield f"hushway {__version__}, Python {platform.python_version()}, {sys.platform}"


def _lines(error: BaseException) -> Iterator[str]:
    """Yields the classes and places of an error and of those that led to it, the last one first."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield f"{type(one).__module__}.{type(one).__qualname__}"
        yield from _places(one)
        earlier = one.__cause__ or one.__context__
        if earlier is not None:
            waiting.append(earlier)
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)


def _places(error: BaseException) -> Iterator[str]:
    places = [
        f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_qualname}"
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    if len(places) <= _MOST_FRAMES:
        yield from places
        return
    half = _MOST_FRAMES // 2
    yield from places[:half]
    yield f"  {len(places) - 2 * half} more"
    yield from places[-half:]
