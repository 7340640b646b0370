"""A task's process whose publish waits when it has spent and counted, until it is let go.

Run in the place of `hushway.workbench.worker`. It says that it waits by one file, and goes on when
there is another; `HUSHWAY_TEST_HELD` names the folder of both. `HUSHWAY_TEST_HELD_AT` names another
function of `hushway.steward.publish` to wait before. If there is a third file, it publishes nothing
of which nothing would be known.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from hushway.steward import publish as publishing
from hushway.steward.worth import Worth
from hushway.workbench import worker as child

FOLDER = "HUSHWAY_TEST_HELD"
COMMAND = (sys.executable, "-m", "support.held_child")
WAITS, GO, DEMANDING = "waits", "go", "demanding"
AT = "HUSHWAY_TEST_HELD_AT"


def wait_before(name: str) -> None:
    function = getattr(publishing, name)

    def held(*args: Any, **options: Any) -> Any:
        folder = Path(os.environ[FOLDER])
        (folder / WAITS).touch()
        while not (folder / GO).exists():
            time.sleep(0.02)
        return function(*args, **options)

    setattr(publishing, name, held)


if __name__ == "__main__":
    if not (Path(os.environ.get(FOLDER, "")) / DEMANDING).exists():
        # Of the few rows of a test nothing would be known.
        setattr(publishing, "worth_of_rows", lambda *_, **__: Worth(sentence=""))  # noqa: B010
    wait_before(os.environ.get(AT, "certify"))
    child.main()
