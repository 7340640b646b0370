"""Planted mistakes, each of which lets something exact into a release of any family."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest

from hushway.families import write
from hushway.families.write import publishable
from hushway.privacy import measured
from hushway.privacy.curator import Curator, _opened
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.release.job import Job, settings_of
from hushway.steward import publish as publishing
from support.replay.publishing import Change

Mistake = Callable[[pytest.MonkeyPatch], Change]


def a_number_of_rows_in_a_file(patch: pytest.MonkeyPatch) -> Change:
    """A writer adds how many rows there are to one of its files."""
    real, rows = publishable, [0]
    patch.setattr(
        publishing, "publishable", lambda *given: _Talkative(inside=real(*given), rows=rows[0])
    )

    def change(job: Job) -> Job:
        rows[0] = _rows(job)
        return job

    return change


def times_of_files_by_rows(patch: pytest.MonkeyPatch) -> Change:
    """Files are as old as there are rows."""

    def change(job: Job) -> Job:
        moment = _rows(job)
        patch.setattr(write, "_set_times", lambda folder, _moment: _age(folder, moment))
        return job

    return change


def dropped_rows_on_the_certificate(_patch: pytest.MonkeyPatch) -> Change:
    """A certificate says how many rows could not be counted."""

    def change(job: Job) -> Job:
        words = f"Maps; {_dropped(job)} rows could not be counted."
        release = job.plan.release.model_copy(update={"intended_use": words})
        return replace(job, plan=job.plan.model_copy(update={"release": release}))

    return change


def a_fit_that_sees_exact_counts(_patch: pytest.MonkeyPatch) -> Change:
    """A fit moves noisy counts by how many there are in truth."""
    return lambda job: replace(job, mechanism=_Peeking(job.mechanism))


MISTAKES: tuple[Mistake, ...] = (
    a_number_of_rows_in_a_file,
    a_fit_that_sees_exact_counts,
    dropped_rows_on_the_certificate,
    times_of_files_by_rows,
)


def _rows(job: Job) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in job.plan.folder.glob("*.csv"))


def _dropped(job: Job) -> int:
    checked = job.rows.check(settings_of(job.plan), notes=False)
    return sum(problem.count or 0 for problem in checked.problems)


def _age(folder: Path, moment: int) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (moment, moment))


@dataclass(frozen=True, kw_only=True)
class _Talkative:
    """Files of a release, with one number too many."""

    inside: Any
    rows: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inside, name)

    def write(self, folder: Path, progress: Any) -> None:
        """Writes everything, and the number."""
        self.inside.write(folder, progress)
        with min(folder.rglob("*.csv")).open("a", encoding="utf-8") as file:
            file.write(f"# {self.rows} rows\n")


class _Peeking:
    """A mechanism whose fit has kept what it must not have seen."""

    def __init__(self, inside: Any) -> None:
        self._inside = inside
        self._exact = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)

    def measure(self, curator: Curator, geography: Any) -> Sequence[Any]:
        """Asks, and looks at the exact counts behind the first answer."""
        answers: Sequence[Any] = self._inside.measure(curator, geography)
        query = answers[0].query
        exact = _opened(curator).counter.count(getattr(query, "base", query))
        self._exact = int(exact.values.sum())
        return answers

    def fit(self, answers: Sequence[Any], geography: Any) -> Any:
        """Fits counts that all are too high by an exact number."""
        return self._inside.fit([_moved(answer, self._exact) for answer in answers], geography)


def _moved(answer: Any, by: int) -> Any:
    if isinstance(answer, Measured):
        # A choice, which has no variance, stays one of those that there are.
        return replace(answer, values=answer.values + by) if answer.variance else answer
    return MeasuredSparse(
        query=answer.query,
        threshold=answer.threshold,
        groups=answer.groups,
        variance=answer.variance,
        event=answer.event,
        vector=_Moved(measured._VECTORS[ref(answer)], by),
    )


@dataclass(frozen=True)
class _Moved:
    """A lazy vector whose shown values are too high."""

    inside: Any
    by: int

    def reveal(self, threshold: int) -> Any:
        """Returns all cells at or above a threshold."""
        shown = self.inside.reveal(threshold)
        return replace(shown, values=shown.values + self.by)

    def reveal_groups(self, thresholds: np.ndarray) -> Any:
        """Returns all cells at or above the threshold of their group."""
        shown = self.inside.reveal_groups(thresholds)
        return replace(shown, values=shown.values + self.by)
