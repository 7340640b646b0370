"""A file of finished runs, one a line, so that a long study can be interrupted and go on.

The first line says what the numbers depend on. A run is on the disk before the next is waited for.
Only the last line can be half-written, if the machine went down; it is dropped.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any

from hushway.errors import PlanError
from hushway.transit.study.run import Outcome, Task


class Journal:
    """The finished runs of a study.

    Attributes:
        done: The numbers of each finished task.
    """

    def __init__(self, file: FileIO, done: Mapping[Task, dict[str, float]]) -> None:
        self.done = dict(done)
        self._file = file

    def add(self, outcome: Outcome) -> None:
        """Keeps a run, on the disk when this returns."""
        _append(self._file, {**asdict(outcome.task), "figures": outcome.figures})
        self.done[outcome.task] = outcome.figures


@contextmanager
def opened_journal(path: Path, fingerprint: Mapping[str, Any]) -> Iterator[Journal]:
    """Opens a file of runs, or begins one.

    Args:
        path: The file.
        fingerprint: Everything that decides the numbers, as plain values.

    Raises:
        PlanError: The file holds runs that depend on other things, or is damaged.
    """
    # Appending writes at the end, also after the end was cut off.
    with path.open("ab+", buffering=0) as file:
        file.seek(0)
        lines, end = _whole_lines(file.readall(), path)
        file.truncate(end)
        if lines:
            _check(lines[0], fingerprint, path)
        else:
            _append(file, {"fingerprint": fingerprint})
        yield Journal(file, dict(_run_of(line, path) for line in lines[1:]))


def _append(file: FileIO, facts: Mapping[str, Any]) -> None:
    file.write(json.dumps(facts, ensure_ascii=False).encode() + b"\n")
    os.fsync(file.fileno())


def _whole_lines(content: bytes, path: Path) -> tuple[list[Any], int]:
    """Returns the lines that can be read, and where the last of them ends."""
    rows = content.splitlines(keepends=True)
    lines: list[Any] = []
    end = 0
    for number, row in enumerate(rows, start=1):
        try:
            line = json.loads(row) if row.endswith(b"\n") else None
        except ValueError:
            line = None
        if line is None and number < len(rows):
            raise _damaged(path, number)
        if line is not None:
            lines.append(line)
            end += len(row)
    return lines, end


def _check(first: Any, fingerprint: Mapping[str, Any], path: Path) -> None:
    # Through JSON and back, so that equal values are equal however they were made.
    if first != {"fingerprint": json.loads(json.dumps(fingerprint))}:
        raise PlanError(
            f"{path} holds runs of another city, other rules or another version of hushway.",
            advice="Name another folder, so that runs which do not belong together stay apart.",
        )


def _run_of(line: Any, path: Path) -> tuple[Task, dict[str, float]]:
    try:
        figures = {str(name): float(value) for name, value in line.pop("figures").items()}
        return Task(**line), figures
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _damaged(path) from None


def _damaged(path: Path, number: int | None = None) -> PlanError:
    where = "" if number is None else f", line {number}"
    return PlanError(
        f"{path} cannot be read{where}: one finished run a line was expected.",
        advice="Take out the damaged line: the run will be done again. Or name another folder.",
    )
