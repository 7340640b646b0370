"""What the command says when something went wrong, foreseen or not.

Privacy:
    The text of an error that was not foreseen may quote a row, so it is neither printed nor kept.
    Names of classes of errors, of functions and of files of code are all that is told.
"""

import errno
import re
import sys
from dataclasses import dataclass, replace

from hushway.crash_notes import keep_details
from hushway.errors import HushwayError, Told
from hushway.escaping import visible
from hushway.interruption import standing, was_interrupted


@dataclass(frozen=True, kw_only=True)
class ErrorMessage:
    """What is said at the end.

    Attributes:
        message: What happened.
        advice: What to do next.
        notes: How things stand.
    """

    message: str
    advice: str
    notes: tuple[str, ...] = ()


# What the systems' loaders say.
_NOT_LOADED = ("shared object", "dlopen", "library not loaded", "dll load failed")
_SHARED_LIBRARY = re.compile(r"\blib[\w+-]+\.(?:so[.\d]*|dylib)|\b[\w+-]+\.dll\b", re.ASCII)
_NO_MEMORY = ("cannot allocate memory", "failed to map segment", "can't start new thread")
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def error_message_of(error: BaseException) -> ErrorMessage:
    """Returns what to say about an error that ends the command.

    Of errors that are not hushway's own only notes that hushway added are told. After a request to
    end, an error is what a library made of it.
    """
    if was_interrupted() or isinstance(error, KeyboardInterrupt):
        return interrupted(error)
    if isinstance(error, HushwayError):
        notes = tuple(getattr(error, "__notes__", ()))
        return ErrorMessage(message=str(error), advice=error.advice, notes=notes)
    return replace(_known(error) or _unforeseen(error), notes=_told(error))


def interrupted(error: BaseException) -> ErrorMessage:
    """Returns what to say about a command that was asked to end: also what it has spent."""
    return ErrorMessage(message="Interrupted.", advice="", notes=_told(error) or (standing(),))


def print_plainly(ending: ErrorMessage) -> None:
    """Says it without the help of any library."""
    lines = (f"Error: {ending.message}", *ending.notes, f"What to do: {ending.advice}")
    for line in lines if ending.advice else lines[:-1]:
        print(visible(line), file=sys.stderr)  # noqa: T201  there may be no other way


def _told(error: BaseException) -> tuple[str, ...]:
    return tuple(note for note in getattr(error, "__notes__", ()) if isinstance(note, Told))


def _known(error: BaseException) -> ErrorMessage | None:
    """Returns what is said about errors whose cause lies with the machine."""
    # Only looked at, never told: it may quote a row.
    text = _text_of(error)
    if _is_out_of_memory(error, text):
        return ErrorMessage(
            message="Out of memory.",
            advice="Give the process more memory (see ulimit -v), or use the sparse form, fewer "
            "periods or coarser places.",
        )
    library = _missing_library(error, text)
    if library is not None:
        return ErrorMessage(
            message=f"A library that hushway needs cannot be loaded: {library}.",
            advice="Install it: shared libraries such as libgomp with the system's own packages, "
            "libraries of Python by installing hushway again.",
        )
    if isinstance(error, OSError) and error.errno in _DISK:
        return ErrorMessage(
            message="The disk is full, or a file has become larger than allowed.",
            advice="Make room, or name folders on another disk (in a plan: release.folder and "
            "engine.temp_folder).",
        )
    if isinstance(error, OSError) and error.errno in _FORBIDDEN:
        return ErrorMessage(
            message="The system does not allow hushway to read or write a file or folder.",
            advice="Check the permissions of the files and folders that were named; "
            f"{_details(error)}.",
        )
    if isinstance(error, RecursionError):
        return ErrorMessage(
            message="Something is nested too deeply for hushway.",
            advice=f"Look for deep nesting in the files that were named; {_details(error)}.",
        )
    return None


def _unforeseen(error: BaseException) -> ErrorMessage:
    return ErrorMessage(
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
