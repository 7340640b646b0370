"""Compiles functions with numba, and keeps their machine code in a folder of the user's cache."""

import hashlib
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast
from uuid import uuid4

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba import njit, types
from numpy.typing import NDArray

from hushway.numerics.folders import hold_private, move_away, user_folders
from hushway.numerics.start import STARTED_NS

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
                cached = _cached(folder, function, nogil=nogil)
                if cached is not None:
                    return cached
    return for_any_number(njit(nogil=nogil, error_model="numpy")(function))


def _cached(folder: Path, function: Callable[..., Any], *, nogil: bool) -> Any | None:
    """Compiles a function with a folder for its code; None if numba does not take the folder."""
    theirs, _CONFIG.CACHE_DIR = _CONFIG.CACHE_DIR, str(folder)
    try:
        code = for_any_number(njit(cache=True, nogil=nogil, error_model="numpy")(function))
    except RuntimeError:
        return None
    finally:
        _CONFIG.CACHE_DIR = theirs
    # Where it cannot write, numba would go on to folders that know nothing of other files.
    where = code.stats.cache_path
    return code if where is not None and Path(where).parent == folder else None


def for_any_number(code: Any) -> Any:
    """Lets compiled functions call this one with numbers as such, not as the values they have.

    Where a kernel calls `advance(0)` in a loop that goes on with other numbers, numba compiles
    `advance` and all that it calls for the type "the number 0" first, and then for all numbers.
    That was more than a quarter of what roads took to compile; what is computed is the same.
    """
    resolve = code.get_call_template
    plain: Any = types.unliteral

    def resolve_plain(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return resolve(tuple(map(plain, args)), {name: plain(kind) for name, kind in kws.items()})

    code.get_call_template = resolve_plain
    return code


_HELD: list[int] = []  # handles, open until the process ends


@cache
def code_folder() -> Path | None:
    """Returns the folder for machine code of exactly these sources, libraries and processor.

    No other process removes it while this one runs; folders not used for long are removed.
    None if no folder can be trusted. Anything unusual is logged once.
    """
    if os.name != "posix":  # pragma: no cover
        _log_no_folder("It cannot be told on this system whom a folder belongs to.")
        return None
    try:
        name = _name()
    except OSError:
        _log_no_folder("The sources of hushway cannot be read.")
        return None
    problems = []
    for parent in _parents():
        folder = parent / name
        try:
            _HELD.append(hold_private(folder))
        except OSError as problem:
            problems.append(f"Not in {folder}: {problem.strerror or problem}.")
            continue
        if problems:
            _log(f"Machine code is kept in {parent}, which may not last.", *problems)
        sweep(parent, used=name)
        return folder.resolve()
    _log_no_folder(*problems)
    return None


def _name() -> str:
    """Returns a digest of everything that machine code depends on."""
    facts = (
        digest_of_sources(),
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        sys.version,
        *_processor(),
    )
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:32]


def _processor() -> tuple[str, ...]:
    name = binding.get_default_triple(), binding.get_host_cpu_name()
    try:
        return *name, binding.get_host_cpu_features().flatten()
    except RuntimeError:  # some processors do not tell
        return name


def _parents() -> Iterator[Path]:
    """Yields the user's cache, then a folder for temporary files with the user's number."""
    for folder in user_folders("XDG_CACHE_HOME", "~/.cache"):
        yield folder / "compiled"


def _log_no_folder(*problems: str) -> None:
    _log("Machine code is kept nowhere: hushway compiles anew, which takes a while.", *problems)


def _log(*sentences: str) -> None:
    # A log and not a warning: those can be turned into errors, and this is none.
    advice = "Set XDG_CACHE_HOME to a folder that only you may write to."
    logging.getLogger(__name__).warning(" ".join([*sentences, advice]))


UNUSED_S = 30 * 24 * 3600
# A folder takes up to 20 MB, and whoever works on the sources makes a new one at every turn.
MOST_OTHERS = 20


def sweep(parent: Path, *, used: str) -> None:
    """Removes folders unused for 30 days, and all but the 20 used last.

    A folder that a process holds stays. Each is first renamed: whoever opens it meanwhile finds all
    of it or nothing. If a process is killed while it removes one, the rest is removed next time.
    """
    with suppress(OSError):
        others = [path for path in parent.iterdir() if path.name != used]
        ages = {path: time.time() - path.lstat().st_mtime for path in others}
        for place, path in enumerate(sorted(ages, key=ages.__getitem__)):
            if place >= MOST_OTHERS or ages[path] > UNUSED_S:
                _remove(path)


def _remove(path: Path) -> None:
    # Held by a living process, already gone, or on a disk without locks: not in our way.
    with suppress(OSError):
        aside = path.with_name(f"{uuid4().hex}.swept")
        if move_away(path, aside):
            shutil.rmtree(aside, ignore_errors=True)


_PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).resolve().parents[1]
_MARK = b"numerics.compiled"
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\w+(?:\.\w+)*)", re.MULTILINE)


def digest_of_sources(root: Path = _ROOT) -> str:
    """Returns a digest of all sources that compiled functions can be made of, names and bytes.

    These are the files with compiled functions and all that they import, on and on: a kernel may
    call any function and hold any constant of any of them.
    """
    sources = _read(root)
    digest = hashlib.sha256()
    for name in sorted(reached_from_kernels(sources)):
        digest.update(f"{name}\0{len(sources[name])}\0".encode())
        digest.update(sources[name])
    return digest.hexdigest()


def reached_from_kernels(sources: Mapping[str, bytes]) -> set[str]:
    """Returns the files with compiled functions, and those that they import, directly or not.

    Imports are found line by line, which is quick. An import from a package counts as one of all
    its files. A test holds the answer against Python's own reading of the files.

    Args:
        sources: Every file of the package by its path below the package's parent.
    """
    waiting = [name for name, source in sources.items() if _MARK in source]
    reached = set(waiting)
    while waiting:
        for module in _IMPORT.findall(sources[waiting.pop()]):
            fresh = _files(module.decode(), sources) - reached
            reached |= fresh
            waiting.extend(fresh)
    return reached


def _files(module: str, sources: Mapping[str, bytes]) -> set[str]:
    path = module.replace(".", "/")
    if f"{path}.py" in sources:
        return {f"{path}.py"}
    if f"{path}/__init__.py" not in sources:
        return set()
    return {name for name in sources if name.startswith(f"{path}/")}


def _read(root: Path) -> dict[str, bytes]:
    sources = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)  # noqa: PTH118  paths would double the time
                with open(path, "rb") as file:  # noqa: PTH123  likewise
                    sources[os.path.relpath(path, root.parent)] = file.read()
    return sources


def edited_since_start() -> bool:
    """Says whether a file that this process runs was written to after the process began.

    Then the files may say something else than the modules, now or when they are restored. The time
    of the last change to a file (ctime) also tells of files that were put back as they were.
    """
    ours = [module for name, module in sys.modules.copy().items() if name.startswith(_PACKAGE)]
    return any(_written(getattr(module, "__file__", None)) > STARTED_NS for module in ours)


def _written(file: str | None) -> int:
    """Returns when a file was last written to; one that is gone is as good as just written."""
    if file is None:
        return 0
    try:
        return os.stat(file).st_ctime_ns  # noqa: PTH116  paths would double the time
    except OSError:
        return sys.maxsize


# Rows of several numbers side by side in memory, as compiled code reads them fastest.
#
# A function that takes a row array takes one thing; with a column each it would take a dozen, and
# both compiling and calling it would take many times as long.

# Compiled code reads a field as an attribute, which types cannot follow.
Rows = NDArray[Any]


def rows(count: int, **fields: type[np.generic]) -> Rows:
    """Returns rows of zeros with the named fields."""
    return np.zeros(count, dtype=np.dtype(list(fields.items())))


def whole_rows(count: int, names: str) -> Rows:
    """Returns rows of zeros with named fields of whole numbers; the names are one text."""
    return rows(count, **dict.fromkeys(names.split(), np.int64))


def rows_of(**columns: NDArray[Any]) -> Rows:
    """Returns rows made of columns of the same length."""
    size = len(next(iter(columns.values())))
    made = np.empty(size, dtype=np.dtype([(name, c.dtype) for name, c in columns.items()]))
    for name, column in columns.items():
        made[name] = column
    return made
