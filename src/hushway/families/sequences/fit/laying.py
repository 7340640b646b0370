"""Noisy answers of another step, laid over the questions of one that learns from it.

Most questions are the same in every step, but for places that come and go. Which triples and which
prefixes are looked at depends on noisy answers. Yet the records that are exactly one sequence have
the same number whichever tree they are looked up in, as long as it has that sequence; and those
that leave a tree somewhere are told by every tree that has all ways on from there.

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
        """Yields what it says of every question.

        Args:
            same: The places that have not changed.
        """
        there = (self.at >= 0) & same
        for question in range(LOOK):
            yield self._taken(question, *self._cells(question, there))
        values, cells, known = _looked(self, there)
        noise = self.other.answers[LOOK].noise
        scale = self.own.level(LOOK) / self.other.level(LOOK)
        yield Laid(values=values * scale, variance=cells * noise.variance * scale**2, known=known)

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
    if question == LOOK:
        return np.repeat(first_stops(step.look), 2), np.repeat(step.look.place, 2)
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


def _looked(both: Overlay, there: BoolArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Returns what another tree says of the cells of one, in how many cells, and where it does.

    Every cell of the other tree goes into one cell at most, so that noise stays independent: what
    ends or leaves at a node that the own tree does not have has left that one before.
    """
    mine = both.own.look
    node, exact = _nodes_in(both)
    cell = np.column_stack([np.where(exact, 2 * node, 2 * node + 1), 2 * node + 1]).ravel()
    size = 2 * len(mine.parent)
    values = np.bincount(cell, both.other.answers[LOOK].values, minlength=size)
    cells = np.maximum(np.bincount(cell, minlength=size), 1.0)
    has = np.zeros(len(mine.parent), dtype=np.bool_)
    has[node[exact]] = True
    lacks = np.bincount(mine.parent[1:], ~has[1:], minlength=len(has)) > 0
    same = _along(mine, there)
    known = np.column_stack([has & same, has & same & ~lacks]).ravel()
    return np.where(known, values, 0.0), cells.astype(np.float64), known


def _nodes_in(both: Overlay) -> tuple[IntArray, BoolArray]:
    """Returns for each node of the other tree the last one of the own tree that it begins with.

    Also returns whether it is that node itself.
    """
    mine, others, places = both.own.look, both.other.look, len(both.own.places)
    back = np.full(len(both.other.places), -1, dtype=np.int64)
    back[both.at[both.at >= 0]] = np.flatnonzero(both.at >= 0)
    keys, leads = mine.steps
    node = np.zeros(len(others.parent), dtype=np.int64)
    exact = np.zeros(len(node), dtype=np.bool_)
    exact[0] = True
    for first, end in levels_of(others):
        above, place = others.parent[first:end], back[others.place[first:end]]
        wanted = node[above] * places + place
        where = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = exact[above] & (place >= 0) & (len(keys) > 0)
        if len(keys):
            found &= keys[where] == wanted
            node[first:end] = np.where(found, leads[where], node[above])
        exact[first:end] = found
    return node, exact


def _along(look: KnownPrefixCells, there: BoolArray) -> BoolArray:
    """Returns the nodes of which all places are among some."""
    same = np.ones(len(look.parent), dtype=np.bool_)
    for first, end in levels_of(look):
        same[first:end] = same[look.parent[first:end]] & there[look.place[first:end]]
    return same


def levels_of(look: KnownPrefixCells) -> Iterator[tuple[int, int]]:
    """Yields where the nodes of each depth begin and end: they stand level by level."""
    first, end = 1, int(np.searchsorted(look.parent, 1))
    while first < end:
        yield first, end
        first, end = end, int(np.searchsorted(look.parent, end))
