"""Noisy answers of another step, laid over the questions of one that learns from it.

Most questions are the same in every step, but for places that come and go. Of triples, those are
known that both steps looked at. The prefixes that a step looks at last stand alone: counts of one
tree can be laid over another one, but that made errors no smaller and intervals too narrow.

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.sequences.fit.answers import Answer
from hushway.families.sequences.fit.steps import BY_PLACE, LOOK, PAIRS, TRIPLES, StepAnswers
from hushway.families.sequences.public.questions import TURNS, Asked, KnownPrefixCells

MARGINS = (int(Asked.FIRSTS), int(Asked.LASTS), BY_PLACE)
"""Questions about single places."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Laid:
    """Numbers of another step, in the order and on the level of one that learns.

    Attributes:
        known: Which of them it has.
    """

    values: FloatArray
    variance: FloatArray
    known: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Overlay:
    """Two steps, of which one learns from the other one."""

    own: StepAnswers
    other: StepAnswers

    @cached_property
    def at(self) -> IntArray:
        """Where each place is in the other step; -1 if it is not there."""
        index = {name: at for at, name in enumerate(self.other.places)}
        return np.array([index.get(name, -1) for name in self.own.places], dtype=np.int64)

    def margins(self) -> Iterator[Laid]:
        """Yields what the other step says of single places, in the order of `margins_of`."""
        for question, told in zip((*MARGINS, LOOK), margins_of(self.other), strict=True):
            scale = self.own.level(question) / self.other.level(question)
            known = (self.at >= 0) & np.isfinite(told.variance[self.at])
            values, variance = told.values[self.at] * scale, told.variance[self.at] * scale**2
            yield Laid(values=values, variance=variance, known=known)

    def all(self, same: BoolArray) -> Iterator[Laid]:
        """Yields what it says of every question but the last look.

        Args:
            same: The places that have not changed.
        """
        there = (self.at >= 0) & same
        for question in range(LOOK):
            yield self._taken(question, *self._cells(question, there))

    def _cells(self, question: int, there: BoolArray) -> tuple[IntArray, BoolArray]:
        """Returns where the numbers of a question are in the other step, and if they are known."""
        at, places = self.at, len(self.other.places)
        if question in MARGINS:
            return at, there
        if question == Asked.TURNS_BY_PLACE:
            return _grid(at, np.arange(TURNS), TURNS), np.repeat(there, TURNS)
        if question == Asked.FIRST_TWO:
            # The last column is for records that have no second stop.
            second, known = np.append(at, places), np.append(there, True)
            return _grid(at, second, places + 1), np.outer(there, known).ravel()
        if question == PAIRS:
            return _grid(at, at, places), np.outer(there, there).ravel()
        if question == TRIPLES:
            return _triples(self, there)
        every = np.arange(self.own.answers[question].values.size)
        return every, np.ones(len(every), dtype=np.bool_)

    def _taken(self, question: int, at: IntArray, known: BoolArray) -> Laid:
        answer: Answer = self.other.answers[question]
        scale = self.own.level(question) / self.other.level(question)
        values = np.zeros(len(at))
        values[known] = answer.values.ravel()[at[known]] * scale
        variance = np.full(len(at), answer.noise.variance * scale**2)
        return Laid(values=values, variance=variance, known=known)


def margins_of(step: StepAnswers) -> Iterator[Laid]:
    """Yields what a step says of single places: by question, and by all prefixes that begin there.

    Where a step has looked at no such prefix, it does not know.
    """
    every = np.ones(len(step.places), dtype=np.bool_)
    for question in MARGINS:
        answer = step.answers[question]
        yield Laid(values=answer.values, variance=answer.variance, known=every)
    look, answer = step.look, step.answers[LOOK]
    first = np.repeat(first_stops(look), 2)
    begun = first >= 0
    values = np.bincount(first[begun], answer.values[begun], len(every))
    cells = np.bincount(first[begun], minlength=len(every)).astype(np.float64)
    variance = np.where(cells > 0, cells, np.inf) * answer.noise.variance
    yield Laid(values=values.astype(np.float64), variance=variance, known=cells > 0)


def first_stops(look: KnownPrefixCells) -> IntArray:
    """Returns the first place of each node; -1 for the empty prefix."""
    first = look.place.copy()
    for begin, end in levels_of(look):
        above = look.parent[begin:end]
        first[begin:end] = np.where(above > 0, first[above], first[begin:end])
    return first


def groups_of(step: StepAnswers, question: int) -> tuple[IntArray, ...]:
    """Returns groupings of the numbers of a question, of which all may have more or fewer.

    Numbers that are in no group have -1.
    """
    places = len(step.places)
    one, other = np.arange(places), np.append(np.arange(places), -1)
    if question == Asked.TURNS_BY_PLACE:
        return (np.repeat(one, TURNS),)
    if question == Asked.FIRST_TWO:
        return np.repeat(one, places + 1), np.tile(other, places)
    if question == PAIRS:
        return np.repeat(one, places), np.tile(one, places)
    return ()


def _grid(row: IntArray, column: IntArray, width: int) -> IntArray:
    return np.asarray(row[:, None] * width + column).ravel()


def _triples(both: Overlay, there: BoolArray) -> tuple[IntArray, BoolArray]:
    """Returns where triples are among those that the other step looked at, and which are."""
    mine, places, others = both.own.grams, len(both.own.places), len(both.other.places)
    first, second, new = mine // places**2, mine // places % places, mine % places
    wanted = (both.at[first] * others + both.at[second]) * others + both.at[new]
    where = np.minimum(np.searchsorted(both.other.grams, wanted), len(both.other.grams) - 1)
    known = there[first] & there[second] & there[new]
    if len(both.other.grams):
        return where, known & (both.other.grams[where] == wanted)
    return where, np.zeros(len(mine), dtype=np.bool_)


def levels_of(look: KnownPrefixCells) -> Iterator[tuple[int, int]]:
    """Yields where the nodes of each depth begin and end: they stand level by level."""
    first, end = 1, int(np.searchsorted(look.parent, 1))
    while first < end:
        yield first, end
        first, end = end, int(np.searchsorted(look.parent, end))
