"""Where an error that was not foreseen happened, in a private folder of the user.

Privacy:
    What an error says may quote a row, and so may values of variables. Names of classes, functions
    and files of code, and numbers of lines, are all that is kept.
"""

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from hushway.numerics.folders import hold_private, user_folders
from hushway.version import __version__

# A report needs the last one; a script that fails every minute must not fill the disk.
MOST_NOTES = 20
# An endless descent repeats itself.
_MOST_FRAMES = 100


def keep_details(error: BaseException) -> Path | None:
    """Writes where an error happened to a new file that only this user can read.

    Beyond the last 20 files older ones are removed.

    Privacy:
        Written are names of classes, functions and files of code, and numbers of lines. What an
        error says is left out, and so are values: they may be a row's.

    Returns:
        The file; None if it cannot be written.
    """
    text = "\n".join([*_circumstances(), *_lines(error)]) + "\n"
    for folder in user_folders("XDG_STATE_HOME", "~/.local/state"):
        try:
            return _written(folder / "errors", text)
        except OSError:
            continue
    return None


def _written(folder: Path, text: str) -> Path:
    held = hold_private(folder)
    try:
        moment = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
        handle, name = tempfile.mkstemp(  # mode 0600
            prefix=f"hushway-error-{moment}-", suffix=".txt", dir=folder
        )
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        _remove_older(folder)
    finally:
        os.close(held)
    return Path(name)


def _remove_older(folder: Path) -> None:
    # Names begin with the moment, so the order of names is that of time.
    for note in sorted(folder.glob("hushway-error-*.txt"))[:-MOST_NOTES]:
        note.unlink(missing_ok=True)


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
