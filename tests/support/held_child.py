"""A task's process whose publish waits when it has spent and counted, until it is let go.

Run in the place of `hushway.workbench.child`. It says that it waits by one file, and goes on when
there is another; `HUSHWAY_TEST_HELD` names the folder of both.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from hushway import publishing
from hushway.workbench import child

FOLDER = "HUSHWAY_TEST_HELD"
COMMAND = (sys.executable, "-m", "support.held_child")
WAITS, GO = "waits", "go"

_certify = publishing.certify


def held(*args: Any, **options: Any) -> Any:
    folder = Path(os.environ[FOLDER])
    (folder / WAITS).touch()
    while not (folder / GO).exists():
        time.sleep(0.02)
    return _certify(*args, **options)


if __name__ == "__main__":
    publishing.certify = held
    child.main()
