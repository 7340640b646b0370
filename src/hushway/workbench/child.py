"""The process of one task: it does what a command would do, and tells how far it is.

Started by `hushway.workbench.tasks`: the question comes on standard input, events go to standard
output. A publish goes on if the server dies, because what it has spent should come to something; a
check or a price ends then. SIGINT and SIGTERM are taken as Ctrl-C is by `hushway publish`.
"""

import json
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from hushway.endings import Ending, ending_of
from hushway.workbench.voice import Voice, take_standard_output

PUBLISH = "publish"


def main() -> None:
    """Answers one question."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    # As in `hushway.cli.app`: what goes wrong beside the task may quote a row.
    threading.excepthook = _keep_silent
    sys.unraisablehook = _keep_silent
    question = json.load(sys.stdin)
    kind = question["kind"]
    voice = Voice(take_standard_output(), goes_on=kind == PUBLISH)
    try:
        from hushway.workbench.work import WORK

        found = WORK[kind](Path(question["plan"]), question["options"], voice)
        _hear_no_more()
    except SystemExit:
        raise
    except KeyboardInterrupt as stop:
        _hear_no_more()
        voice.failed(_interrupted(stop, voice))
    except BaseException as error:  # noqa: BLE001  some libraries' errors are no `Exception`
        _hear_no_more()
        voice.failed(ending_of(error))
    else:
        voice.result(found)


def _interrupted(stop: KeyboardInterrupt, voice: Voice) -> Ending:
    """Says what was spent: what the publish itself says, or what follows from how far it was."""
    notes = tuple(getattr(stop, "__notes__", ()))
    if voice.may_have_spent:
        notes = notes or ("What was reserved stays spent: the ledger tells.",)
    else:
        notes = notes or ("Nothing was spent.",)
    return Ending(message="Interrupted.", advice="", notes=notes)


def _hear_no_more() -> None:
    """The last word is told whole, however often somebody interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _keep_silent(_failure: object) -> None:
    pass


if __name__ == "__main__":
    main()
