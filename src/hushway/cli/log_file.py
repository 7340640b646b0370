"""The log file: when commands began and ended, and what went wrong.

Privacy:
    Output for the steward's screen may count rows, so none of it is logged. Messages of errors
    carry no private value. Arguments may hold a password and are left out.
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
_log = logging.getLogger("hushway.log")
_log.setLevel(logging.INFO)
# Without a log file nothing is logged: errors are on the screen already.
_log.propagate = False
_log.addHandler(logging.NullHandler())


def log_error(message: str) -> None:
    """Logs an error, if there is a log file."""
    _log.error("%s", visible(message))


def open_log_file(file: Path | None, context: typer.Context) -> None:
    """Logs to a file from now on; without a file, no longer.

    Raises:
        HushwayError: The file cannot be written.
    """
    _close_log_file()
    if file is None:
        return
    try:
        # Only its owner may read it.
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))
        writer = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    except OSError:
        raise HushwayError(
            f"The log file {file} cannot be written.",
            advice="Name a file in a folder that you may write to.",
        ) from None
    writer.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _product.addHandler(writer)
    _log.addHandler(writer)
    # Python's own handler of warnings stops when there is another one.
    if logging.lastResort is not None:
        _product.addHandler(logging.lastResort)
    began = time.monotonic()
    _log.info("hushway %s: %s began", __version__, context.invoked_subcommand)

    def end() -> None:
        passed = time.monotonic() - began
        _log.info("%s ended after %.1f s", context.invoked_subcommand, passed)

    context.call_on_close(end)


def _close_log_file() -> None:
    """Closes the log file of an earlier command of the same process."""
    for writer in [one for one in _log.handlers if isinstance(one, logging.FileHandler)]:
        _log.removeHandler(writer)
        _product.removeHandler(writer)
        writer.close()
    if logging.lastResort is not None:
        _product.removeHandler(logging.lastResort)
