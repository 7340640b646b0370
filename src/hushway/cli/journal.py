"""The log file: when commands began and ended, and what went wrong.

Privacy:
    What is said on the steward's screen may count rows, so none of it is written down. Messages of
    errors carry no private value, and arguments, which may hold a password, are left out.
"""

import logging
import os
import time
from pathlib import Path

import typer

from hushway.errors import HushwayError
from hushway.escaping import visible
from hushway.version import __version__

_product = logging.getLogger("hushway")
_journal = logging.getLogger("hushway.journal")
_journal.setLevel(logging.INFO)
# Without a log file nobody is told: what it would say is on the screen already.
_journal.propagate = False
_journal.addHandler(logging.NullHandler())


def write_down(message: str) -> None:
    """Writes an error into the log file, if there is one."""
    _journal.error("%s", visible(message))


def keep_journal(file: Path | None, context: typer.Context) -> None:
    """Writes down from now on; or, without a file, no longer.

    Raises:
        HushwayError: The file cannot be written.
    """
    _put_away()
    if file is None:
        return
    try:
        # Only its owner may read it, as with everything that a steward does.
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
        writer = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    except OSError:
        raise HushwayError(
            f"The log file {file} cannot be written.",
            advice="Name a file in a folder that you may write to.",
        ) from None
    writer.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _product.addHandler(writer)
    _journal.addHandler(writer)
    # Python's own way to say warnings stops when there is another one.
    if logging.lastResort is not None:
        _product.addHandler(logging.lastResort)
    began = time.monotonic()
    _journal.info("hushway %s: %s began", __version__, context.invoked_subcommand)

    def end() -> None:
        passed = time.monotonic() - began
        _journal.info("%s ended after %.1f s", context.invoked_subcommand, passed)

    context.call_on_close(end)


def _put_away() -> None:
    """Closes the log file of an earlier command of the same process."""
    for writer in [one for one in _journal.handlers if isinstance(one, logging.FileHandler)]:
        _journal.removeHandler(writer)
        _product.removeHandler(writer)
        writer.close()
    if logging.lastResort is not None:
        _product.removeHandler(logging.lastResort)
