"""The one way in which functions here are compiled, so that their types survive."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba import njit

from hushway.numerics.code_folder import code_folder, edited_since_start

P = ParamSpec("P")
R = TypeVar("R")

_CONFIG: Any = numba.config
_ONE_AT_A_TIME = Lock()


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles a function at its first call and keeps the machine code on disk.

    Floating point stays as written: reordering sums would break double-double arithmetic.
    """
    return cast("Callable[P, R]", _compiled(function, nogil=False))


def compiled_for_threads(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles a function likewise, for use by several threads at once.

    While it runs it does not hold Python's lock, so it must not share what it writes to.
    """
    return cast("Callable[P, R]", _compiled(function, nogil=True))


def _compiled(function: Callable[..., Any], *, nogil: bool) -> Any:
    """Compiles a function; its machine code is kept only where it cannot outlive its sources.

    Numba compares the file of the function with that of the kept code, but not the files of what
    the function calls, which is in the same code. So every state of the sources has its own folder.
    """
    if not _CONFIG.DISABLE_JIT:
        with _ONE_AT_A_TIME:
            folder = code_folder()
            # Asked last: what was not edited until now is what the digest was made of.
            if folder is not None and not edited_since_start():
                kept = _kept(folder, function, nogil=nogil)
                if kept is not None:
                    return kept
    return njit(nogil=nogil, error_model="numpy")(function)


def _kept(folder: Path, function: Callable[..., Any], *, nogil: bool) -> Any | None:
    """Compiles a function with a folder for its code; None if numba does not take the folder."""
    theirs, _CONFIG.CACHE_DIR = _CONFIG.CACHE_DIR, str(folder)
    try:
        code = njit(cache=True, nogil=nogil, error_model="numpy")(function)
    except RuntimeError:
        return None
    finally:
        _CONFIG.CACHE_DIR = theirs
    # Where it cannot write, numba would go on to folders that know nothing of other files.
    where = code.stats.cache_path
    return code if where is not None and Path(where).parent == folder else None
