"""Where machine code is kept: in a private folder of the user, one folder for each digest."""

import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import llvmlite
import numba
import numpy as np
from llvmlite import binding

from hushway.numerics.private_folder import hold_private
from hushway.numerics.sources import digest_of_sources
from hushway.numerics.sweeping import sweep

_HELD: list[int] = []  # handles, open until the process ends


@cache
def code_folder() -> Path | None:
    """Returns the folder for machine code of exactly these sources, libraries and processor.

    While this process lives nobody sweeps it away; it sweeps away what was not used for long. The
    folder is None if there is none to be trusted. Whatever is not as usual is said once.
    """
    if os.name != "posix":  # pragma: no cover
        _say_none("It cannot be told on this system whom a folder belongs to.")
        return None
    try:
        name = _name()
    except OSError:
        _say_none("The sources of hushway cannot be read.")
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
            _say(f"Machine code is kept in {parent}, which may not last.", *problems)
        sweep(parent, used=name)
        return folder.resolve()
    _say_none(*problems)
    return None


def _name() -> str:
    """Returns a digest of everything that machine code depends on.

    Raises:
        OSError: A source cannot be read.
    """
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
    home = os.environ.get("XDG_CACHE_HOME", "")
    if not home.startswith("/"):  # the standard says to ignore such a one
        home = os.path.expanduser("~/.cache")  # noqa: PTH111  has an answer without a home as well
    if home.startswith("/"):
        yield Path(home) / "hushway" / "compiled"
    try:
        temporary = tempfile.gettempdir()
    except FileNotFoundError:
        return
    yield Path(temporary) / f"hushway-{os.geteuid()}" / "compiled"


def _say_none(*problems: str) -> None:
    _say("Machine code is kept nowhere: hushway compiles anew, which takes a while.", *problems)


def _say(*sentences: str) -> None:
    # A log and not a warning: those can be turned into errors, and this is none.
    advice = "Set XDG_CACHE_HOME to a folder that only you may write to."
    logging.getLogger(__name__).warning(" ".join([*sentences, advice]))
