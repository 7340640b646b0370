"""The sources that this process runs: machine code made from other ones is not for it."""

import hashlib
import os
import sys
from pathlib import Path

from hushway.numerics.start import STARTED_NS

_PACKAGE = __name__.partition(".")[0]
_ROOT = Path(__file__).resolve().parents[1]


def digest_of_sources(root: Path = _ROOT) -> str:
    """Returns a digest of all sources of the package, names and bytes.

    All of them, since a kernel may call any function and hold any constant of any file. The version
    of the package is in one of them.

    Raises:
        OSError: A source cannot be read.
    """
    found = [
        os.path.join(folder, name)  # noqa: PTH118  paths would double the time
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".py")
    ]
    digest = hashlib.sha256()
    for path in sorted(found):
        with open(path, "rb") as file:  # noqa: PTH123  likewise
            source = file.read()
        name = os.path.relpath(path, root)
        digest.update(f"{name}\0{len(source)}\0".encode())
        digest.update(source)
    return digest.hexdigest()


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
