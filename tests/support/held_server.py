"""A whole workbench whose publishes wait as `support.held_child` says.

`python -m support.held_server FOLDER` prints the address that lets a browser in.
"""

import sys
from pathlib import Path

from hushway.workbench import tasks
from hushway.workbench.server import run_workbench
from support import held_child

if __name__ == "__main__":
    tasks.COMMAND = held_child.COMMAND  # type: ignore[assignment]  # fewer words
    run_workbench(
        [Path(sys.argv[1])],
        host="127.0.0.1",
        port=0,
        announce=lambda address: print(address, flush=True),  # noqa: T201  for whoever started it
        notice=lambda said: print(said, flush=True),  # noqa: T201  the same
    )
