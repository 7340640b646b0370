"""How the process of a task speaks: one JSON object a line, and nothing else on standard output."""

import os
import sys
import time
from typing import Any, TextIO

from hushway.exit_messages import Ending
from hushway.workbench.answers import ending_facts, to_json

_SECONDS_BETWEEN = 0.1


def take_standard_output() -> TextIO:
    """Returns standard output for a voice; whatever libraries print from now on goes nowhere."""
    own = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return os.fdopen(own, "w", encoding="utf-8", errors="replace")


class Voice:
    """Tells the server what a task does.

    Args:
        output: Where it is told.
        goes_on: Whether the task goes on when nobody listens any more.
    """

    def __init__(self, output: TextIO, *, goes_on: bool) -> None:
        self._output = output
        self._goes_on = goes_on
        self._step, self._told_at = "", 0.0

    def progress(self, step: str, share: float | None = None, /) -> None:
        """Tells what is being done; not more often than anybody can read."""
        now = time.monotonic()
        if step == self._step and now - self._told_at < _SECONDS_BETWEEN:
            return
        self._step, self._told_at = step, now
        self._tell("progress", {"text": step, "share": share})

    def part(self, facts: Any) -> None:
        """Tells a part of the result."""
        self._tell("part", facts)

    def result(self, facts: Any) -> None:
        """Tells the result."""
        self._tell("result", facts)

    def failed(self, ending: Ending) -> None:
        """Tells why there is none."""
        self._tell("failed", ending_facts(ending))

    def _tell(self, event: str, facts: Any) -> None:
        try:
            self._output.write(to_json({"event": event, "data": facts}) + "\n")
            self._output.flush()
        except OSError:
            # The server is gone. What is spent should come to something; all else can end here.
            if not self._goes_on:
                raise SystemExit(1) from None
