"""How far one unit moves the exact answers to what a mechanism asks, beside what noise is for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.product import BlindBudget
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator, _exact
from hushway.privacy.events import CutEvent, Event, spread_of_cuts
from hushway.privacy.query import AnyQuery, Counter, CutQuery, ExactCounts
from hushway.privacy.randomness import os_source
from hushway.release.job import Job

Question = tuple[AnyQuery | CutQuery, Event]


class _Listening:
    """A curator that remembers what it was asked, and what was charged for it."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator
        self.asked: list[Question] = []

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._curator, name)
        return verb if name == "bound" or not callable(verb) else self._heard(verb)

    def _heard(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        def ask(query: Any, *further: Any, **named: Any) -> Any:
            answer = verb(query, *further, **named)
            self.asked.append((query, self._curator.events[-1]))
            return answer

        return ask


def questions_of(job: Job, counter: Counter) -> list[Question]:
    """Returns what a job's mechanism really asks of a counter, with the noise that it gets."""
    curator = Curator(counter=counter, budget=BlindBudget(), source=os_source())
    listening = _Listening(curator)
    job.mechanism.measure(listening, job.geography)
    assert listening.asked
    return listening.asked


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The exact answers of one world to some questions."""

    values: list[ExactCounts]

    @classmethod
    def of(cls, counter: Counter, questions: list[Question]) -> "Answers":
        """Asks a counter as a curator does."""
        bases = (query.base if isinstance(query, CutQuery) else query for query, _ in questions)
        return cls(values=[_exact(counter, base) for base in bases])


def violations(one: Answers, other: Answers, questions: list[Question]) -> Iterator[str]:
    """Yields how two worlds that differ in one unit are further apart than noise is for."""
    for (query, event), mine, theirs in zip(questions, one.values, other.values, strict=True):
        moved = _moved(mine, theirs)
        for what, found, most in _measures(moved, event.bound):
            if found > most:
                yield f"{query.name}: {what} is {found}, and noise is for {most}"
        if isinstance(query, CutQuery) and isinstance(event, CutEvent):
            scores = _moved_scores(query, mine, theirs)
            if scores > spread_of_cuts(event.bound):
                yield f"{query.name}: scores move by {scores:.3f}"


def reached(one: Answers, other: Answers, questions: list[Question]) -> bool:
    """Whether two worlds are as far apart in some answer as noise is for."""
    return any(
        int(np.abs(_moved(mine, theirs)).sum()) == event.bound.l1
        for (_, event), mine, theirs in zip(questions, one.values, other.values, strict=True)
    )


def _measures(moved: IntArray, bound: Bound) -> Iterator[tuple[str, int, int]]:
    apart = np.abs(moved)
    yield "the L1 distance", int(apart.sum()), bound.l1
    yield "the squared L2 distance", int((apart**2).sum()), bound.l2_squared
    yield "the change of one cell", int(apart.max(initial=0)), bound.each
    yield "the number of cells that change", int(np.count_nonzero(apart)), bound.cells


def _moved(one: ExactCounts, other: ExactCounts) -> IntArray:
    cells = np.union1d(one.cells, other.cells)
    moved = np.zeros(len(cells), dtype=np.int64)
    moved[np.searchsorted(cells, one.cells)] += one.values
    moved[np.searchsorted(cells, other.cells)] -= other.values
    return moved


def _moved_scores(query: CutQuery, one: ExactCounts, other: ExactCounts) -> float:
    """Returns how far the scores of all series move together."""
    both = [np.zeros(query.base.cells.size, dtype=np.int64) for _ in (one, other)]
    for values, exact in zip(both, (one, other), strict=True):
        values[exact.cells] = exact.values
    mine, theirs = (np.array([*query.scores(values)]) for values in both)
    return float(np.linalg.norm(np.abs(mine - theirs).max(axis=1)))
