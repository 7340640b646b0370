"""Runs commands of hushway, each in a process of its own that has loaded the libraries already.

`python -m support.commands` reads words, a folder and a file for what is said as lines of JSON, and
answers with exit codes. Loading libraries is most of what a little command takes, so they are
loaded once, and every command is run by a fork.
"""

import atexit
import json
import os
import sys
from pathlib import Path

import dp_accounting.pld  # noqa: F401
import ibis.backends.duckdb  # noqa: F401
import matplotlib.figure  # noqa: F401
import pandas as pd  # noqa: F401

import hushway.engine.embedded
import hushway.numerics.chance
import hushway.steward.check
import hushway.steward.publish  # noqa: F401
from hushway.cli.app import app, main

assert app is not None  # loads the verbs


def _run(words: list[str], folder: str, said: str) -> int:
    """Runs a command, which says everything to a file, and returns its exit code."""
    with Path(said).open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    sys.argv = ["hushway", *words]
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            # Libraries put away threads when a process ends, and a fork has none of them.
            os._exit(_run(*json.loads(line)))
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()
