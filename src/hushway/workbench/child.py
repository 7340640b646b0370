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

from hushway.exit_messages import ending_of
from hushway.interruption import ignore_signals, interrupt
from hushway.workbench.voice import Voice, take_standard_output

PUBLISH = "publish"


def main() -> None:
    """Answers one question."""
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    # As in `hushway.cli.app`: what goes wrong beside the task may quote a row.
    threading.excepthook = _keep_silent
    sys.unraisablehook = _keep_silent
    question = json.load(sys.stdin)
    kind = question["kind"]
    voice = Voice(take_standard_output(), goes_on=kind == PUBLISH)
    try:
        from hushway.workbench.work import WORK

        found = WORK[kind](Path(question["plan"]), question["options"], voice)
        ignore_signals()
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  some libraries' errors are no `Exception`
        ignore_signals()
        voice.failed(ending_of(error))
    else:
        voice.result(found)


def _keep_silent(_failure: object) -> None:
    pass


if __name__ == "__main__":
    main()
