"""The `hushway` command: it always ends in an answer or in one clear message.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Nothing but Python's own library is imported
here before `main` is there to say what is wrong with the others.
"""

import sys
import threading
from typing import TYPE_CHECKING, Any

from hushway.exit_messages import ErrorMessage, error_message_of, interrupted, print_plainly

if TYPE_CHECKING:
    from hushway.cli.verbs import app
from hushway.errors import HushwayError
from hushway.interruption import ignore_signals, take_signals

__all__ = ["app", "main"]

# What typer makes of Ctrl-C.
_CTRL_C = 130


def __getattr__(name: str) -> Any:
    """Imports the verbs, and what they need, when they are first asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hushway.cli.verbs import app

    return app


def main() -> None:
    """Runs the command; whatever goes wrong becomes one clear message and exit code 1."""
    take_signals()
    # What goes wrong beside the command, in a thread or when something is thrown away, would be
    # printed with all that it says, and that may be a row. Whoever waits for a thread still hears.
    threading.excepthook = _keep_silent
    sys.unraisablehook = _keep_silent
    try:
        refuse_little_address_space()
        from hushway.cli.verbs import app

        app()
    except SystemExit as end:
        if end.code != _CTRL_C:
            raise
        ignore_signals()
        _say(interrupted(end))
    except BaseException as error:  # noqa: BLE001  some libraries' errors are no `Exception`
        ignore_signals()
        _say(error_message_of(error))
    sys.exit(1)


def _keep_silent(_failure: object) -> None:
    pass


def _say(ending: ErrorMessage) -> None:
    try:
        from hushway.cli.console import failure

        failure(ending.message, ending.advice, *ending.notes)
    except Exception:  # noqa: BLE001  the very libraries of the screen may be what is missing
        print_plainly(ending)


# A process that may use little memory is told so before any library is loaded.
#
# Below a limit of their own, the libraries for numbers, rows and machine code do not raise errors:
# they end the process, or turn round for ever.

try:
    import resource
except ImportError:  # pragma: no cover  not on Windows
    resource = None  # type: ignore[assignment]

# Measured: with these all libraries are loaded and a release of the demo is priced.
_LEAST_BYTES = 1_200_000_000


def refuse_little_address_space() -> None:
    """Refuses to start where the libraries could not be loaded.

    Raises:
        HushwayError: The process may not use enough memory.
    """
    if resource is None:  # pragma: no cover  not on Windows
        return
    allowed = resource.getrlimit(resource.RLIMIT_AS)[0]
    if allowed not in (resource.RLIM_INFINITY, -1) and allowed < _LEAST_BYTES:
        raise HushwayError(
            f"This process may use {allowed / 1e6:,.0f} MB of address space, and the libraries of "
            f"hushway need {_LEAST_BYTES / 1e6:,.0f} MB before they do anything.",
            advice="Raise the limit (ulimit -v), best to twice the plan's memory_limit.",
        )
