"""Events of a worker process: one JSON object per line, and nothing else on standard output."""

import os
import sys
import time
from typing import Any, TextIO

from hushway.exit_messages import ErrorMessage
from hushway.workbench.responses import error_facts, to_json

_SECONDS_BETWEEN = 0.1


def take_standard_output() -> TextIO:
    """Returns standard output for events; what libraries print from now on is discarded."""
    own = os.dup(sys.stdout.fileno())
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)
    return os.fdopen(own, "w", encoding="utf-8", errors="replace")


class EventWriter:
    """Sends events of a task to the server.

    Args:
        output: Where they are written.
        outlives_server: Whether the task continues when the server has ended.
    """

    def __init__(self, output: TextIO, *, outlives_server: bool) -> None:
        self._output = output
        self._outlives_server = outlives_server
        self._step, self._sent_at = "", 0.0

    def progress(self, step: str, share: float | None = None, /) -> None:
        """Sends what is being done, at most ten times a second."""
        now = time.monotonic()
        if step == self._step and now - self._sent_at < _SECONDS_BETWEEN:
            return
        self._step, self._sent_at = step, now
        self._send("progress", {"text": step, "share": share})

    def part(self, facts: Any) -> None:
        """Sends a part of the result."""
        self._send("part", facts)

    def result(self, facts: Any) -> None:
        """Sends the result."""
        self._send("result", facts)

    def failed(self, error: ErrorMessage) -> None:
        """Sends why there is none."""
        self._send("failed", error_facts(error))

    def _send(self, event: str, facts: Any) -> None:
        try:
            self._output.write(to_json({"event": event, "data": facts}) + "\n")
            self._output.flush()
        except OSError:
            # The server has ended. Only a publish continues.
            if not self._outlives_server:
                raise SystemExit(1) from None
