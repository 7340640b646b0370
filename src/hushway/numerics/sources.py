"""The sources that this process runs: machine code made from other ones is not for it."""

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from hushway.numerics.start import STARTED_NS

_PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).resolve().parents[1]
_MARK = b"numerics.compiled"
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\w+(?:\.\w+)*)", re.MULTILINE)


def digest_of_sources(root: Path = _ROOT) -> str:
    """Returns a digest of all sources that compiled functions can be made of, names and bytes.

    These are the files with compiled functions and all that they import, on and on: a kernel may
    call any function and hold any constant of any of them.

    Raises:
        OSError: A source cannot be read.
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
