"""What the command says when something went wrong, foreseen or not.

Privacy:
    The text of an error that was not foreseen may quote a row, so it is neither printed nor kept.
    Names of classes of errors, of functions and of files of code are all that is told.
"""

import errno
import os
import platform
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hushway.errors import HushwayError, Told
from hushway.version import __version__
from hushway.visible import visible


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What is said at the end.

    Attributes:
        message: What happened.
        advice: What to do next.
        notes: How things stand.
    """

    message: str
    advice: str
    notes: tuple[str, ...] = ()


INTERRUPTED = Ending(
    message="Interrupted.",
    advice="Budget that was already reserved stays spent: hushway ledger show",
)

# What the systems' loaders say.
_NOT_LOADED = ("shared object", "dlopen", "library not loaded", "dll load failed")
_SHARED_LIBRARY = re.compile(r"\blib[\w+-]+\.(?:so[.\d]*|dylib)|\b[\w+-]+\.dll\b", re.ASCII)
_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread")
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def ending_of(error: BaseException) -> Ending:
    """Returns what to say about an error that ends the command.

    Of errors that are not hushway's own only notes that hushway added are told.
    """
    if isinstance(error, HushwayError):
        notes = tuple(getattr(error, "__notes__", ()))
        return Ending(message=str(error), advice=error.advice, notes=notes)
    told = tuple(note for note in getattr(error, "__notes__", ()) if isinstance(note, Told))
    return replace(_known(error) or _unforeseen(error), notes=told)


def plainly(ending: Ending) -> None:
    """Says it without the help of any library."""
    lines = (f"Error: {ending.message}", *ending.notes, f"What to do: {ending.advice}")
    for line in lines:
        print(visible(line), file=sys.stderr)  # noqa: T201  there may be no other way


def _known(error: BaseException) -> Ending | None:
    """Returns what is said about errors whose cause lies with the machine."""
    # Only looked at, never told: it may quote a row.
    text = _text_of(error)
    if _is_out_of_memory(error, text):
        return Ending(
            message="Out of memory.",
            advice="Give the process more memory (see ulimit -v), or use the sparse form, fewer "
            "periods or coarser places.",
        )
    library = _missing_library(error, text)
    if library is not None:
        return Ending(
            message=f"A library that hushway needs cannot be loaded: {library}.",
            advice="Install it: shared libraries such as libgomp with the system's own packages, "
            "libraries of Python by installing hushway again.",
        )
    if isinstance(error, OSError) and error.errno in _DISK:
        return Ending(
            message="The disk is full, or a file has become larger than allowed.",
            advice="Make room, or name folders on another disk (in a plan: release.folder and "
            "engine.temp_folder).",
        )
    if isinstance(error, OSError) and error.errno in _FORBIDDEN:
        return Ending(
            message="The system does not allow hushway to read or write a file or folder.",
            advice="Check the permissions of the files and folders that were named; "
            f"{_details(error)}.",
        )
    if isinstance(error, RecursionError):
        return Ending(
            message="Something is nested too deeply for hushway.",
            advice=f"Look for deep nesting in the files that were named; {_details(error)}.",
        )
    return None


def _unforeseen(error: BaseException) -> Ending:
    return Ending(
        message=f"Something went wrong that hushway did not foresee: {type(error).__name__}.",
        advice=f"Report it to whoever gave you hushway; {_details(error)}.",
    )


def _is_out_of_memory(error: BaseException, text: str) -> bool:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(sign in text.casefold() for sign in _NO_MEMORY)


def _details(error: BaseException) -> str:
    kept = keep_details(error)
    if kept is None:
        return "details could not be written anywhere"
    return f"where it happened is in {kept}, which tells nothing of any row"


def _missing_library(error: BaseException, text: str) -> str | None:
    if not isinstance(error, ImportError | OSError):
        return None
    found = _SHARED_LIBRARY.search(text)
    if found is not None and any(sign in text.casefold() for sign in _NOT_LOADED):
        return found[0]
    return error.name or "one of its parts" if isinstance(error, ImportError) else None


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an error that cannot even say what it is
        return ""


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
