"""The `hushway` command: it always ends in an answer or in one clear message.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage. Nothing but Python's own library is imported
here before `main` is there to say what is wrong with the others.
"""

import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

from hushway.cli.address_space import refuse_little_address_space
from hushway.cli.endings import INTERRUPTED, Ending, ending_of, plainly

if TYPE_CHECKING:
    from hushway.cli.verbs import app

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
    signal.signal(signal.SIGTERM, _interrupt)
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
        _say(INTERRUPTED)
    except KeyboardInterrupt:
        _say(INTERRUPTED)
    except BaseException as error:  # noqa: BLE001  some libraries' errors are no `Exception`
        _say(ending_of(error))
    sys.exit(1)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """A request to end is taken like Ctrl-C: everything is put in order first."""
    raise KeyboardInterrupt


def _keep_silent(_failure: object) -> None:
    pass


def _say(ending: Ending) -> None:
    try:
        from hushway.cli.screen import failure

        failure(ending.message, ending.advice, *ending.notes)
    except Exception:  # noqa: BLE001  the very libraries of the screen may be what is missing
        plainly(ending)
