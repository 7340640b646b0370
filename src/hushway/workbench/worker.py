"""The worker process of one task.

`hushway.workbench.tasks` starts it: the task comes on standard input, events go to standard output.
A publish continues if the server dies, because its budget is spent already; all other tasks end.
SIGINT and SIGTERM interrupt it as Ctrl-C interrupts `hushway publish`.
"""

import json
import signal
import sys
import threading
from pathlib import Path

from hushway.exit_messages import error_message_of
from hushway.interruption import ignore_signals, interrupt
from hushway.workbench.worker_events import EventWriter, take_standard_output

PUBLISH = "publish"


def main() -> None:
    """Runs one task."""
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    # As in `hushway.cli.app`: errors in threads may quote a row.
    threading.excepthook = _ignore
    sys.unraisablehook = _ignore
    question = json.load(sys.stdin)
    kind = question["kind"]
    events = EventWriter(take_standard_output(), outlives_server=kind == PUBLISH)
    try:
        from hushway.workbench.worker_tasks import TASKS

        found = TASKS[kind](Path(question["plan"]), question["options"], events)
        ignore_signals()
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  some libraries' errors are no `Exception`
        ignore_signals()
        events.failed(error_message_of(error))
    else:
        events.result(found)


def _ignore(_failure: object) -> None:
    pass


if __name__ == "__main__":
    main()
