"""One dense noisy vector over a huge universe, drawn only as far as anyone has looked.

Nearly all cells of a mobility table are empty, and an empty cell is pure noise. How many of the m
hidden empty cells reach a threshold is binomial; which ones is a uniform subset; what they show is
the noise law above the threshold. Drawing these three is the same, in law, as drawing every cell
and looking (Cormode, Procopiuc, Srivastava and Tran 2012, theorem 4.1 of the prefix-tree paper,
made exact). A later, lower threshold continues the same vector: hidden cells are known to be below
the old threshold, so the three draws are conditional on that. Each group of cells may have a
threshold of its own.

Whoever could draw the hidden part twice would see which cells change and which do not: the ones
that do are empty. So a vector is drawn by one thread at a time, and a forked copy of it shows
nothing new.
"""

import os
import threading
from dataclasses import dataclass
from weakref import WeakSet

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.noise.grouped import Grouping, Layout, OneGroup
from hushway.privacy.noise.grouped_draws import EVERYTHING, NOTHING, draw_newly_shown
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.randomness import BitSource

# Three vectors of this many cells (places, cells and values) take 3 GiB.
_MOST_SHOWN = 1 << 27


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The cells of a noisy vector that reach a threshold, ascending, and their noisy values."""

    cells: IntArray
    values: IntArray


@dataclass(frozen=True, kw_only=True)
class ShownGroups:
    """The cells of a noisy vector that reach their group's threshold, group by group.

    Attributes:
        start: Where each group begins; one entry more than groups, the last is the length.
        cells: Cell numbers, within a group in the order of their ranks.
    """

    start: IntArray
    cells: IntArray
    values: IntArray


@dataclass(frozen=True, kw_only=True)
class _Known:
    """The cells whose values are drawn, by ascending place: the occupied ones and all shown."""

    places: IntArray
    cells: IntArray
    values: IntArray


class LazyVector:
    """A noisy vector that exists in full in law, and in memory only where it was looked at.

    Privacy:
        The exact counts given to the constructor are not kept, but which cells were occupied is:
        only what `reveal` and `reveal_groups` return may be seen.

    Args:
        cells: The occupied cells, ascending.
        counts: Their exact counts.
        groups: A public grouping of the cells; without it, all cells are one group.

    Raises:
        PrivacyError: The groups are not a partition of the cells.
    """

    def __init__(
        self,
        *,
        law: NoiseLaw,
        size: int,
        cells: IntArray,
        counts: IntArray,
        source: BitSource,
        groups: Grouping | None = None,
    ) -> None:
        self._law = law
        self._source = source
        self._layout = Layout(OneGroup(size) if groups is None else groups, size)
        # Copies: a view would keep the engine's arrays alive, exact counts included.
        cells = cells.copy()
        noisy = counts + law.draw(source, len(counts))
        places = self._layout.places_of(cells)
        order = np.argsort(places, kind="stable")
        self._known = _Known(places=places[order], cells=cells[order], values=noisy[order])
        self._looked = np.full(self._layout.count, NOTHING, dtype=np.int64)
        self._owner = os.getpid()
        self._lock = threading.Lock()
        _ALIVE.add(self)

    @classmethod
    def of_shown(
        cls, layout: Layout, cells: IntArray, values: IntArray, thresholds: IntArray
    ) -> "LazyVector":
        """Returns a vector of which only what was shown is known, and which draws nothing."""
        vector = object.__new__(cls)
        vector._layout, vector._looked = layout, thresholds.copy()
        places = layout.places_of(cells)
        order = np.argsort(places, kind="stable")
        vector._known = _Known(places=places[order], cells=cells[order], values=values[order])
        vector.disown()
        return vector

    def seen(self) -> dict[str, IntArray]:
        """Returns which cells were shown, ascending, their values, and the thresholds of groups.

        Privacy:
            A cell below the threshold of its group stays hidden, occupied or not.
        """
        with self._lock:
            shown, thresholds = self._shown(self._looked), self._looked.copy()
        order = np.argsort(shown.cells, kind="stable")
        return {
            "cells": shown.cells[order],
            "values": shown.values[order],
            "thresholds": thresholds,
        }

    def disown(self) -> None:
        """Makes this a copy that shows nothing new; its lock may have been held during the fork."""
        self._owner = -1
        self._lock = threading.Lock()

    def reveal(self, threshold: int) -> Shown:
        """Returns all cells at or above the threshold, the same ones at every call."""
        shown = self.reveal_groups(np.full(self._layout.count, _clipped(threshold), dtype=np.int64))
        order = np.argsort(shown.cells, kind="stable")
        return Shown(cells=shown.cells[order], values=shown.values[order])

    def reveal_groups(self, thresholds: IntArray) -> ShownGroups:
        """Returns all cells at or above their group's threshold, the same ones at every call.

        Time grows with what is known and shown, and with the number of different pairs of an old
        and a new threshold: about a millisecond each, more if Gaussian noise is wide. The lowest
        64-bit integer shows every cell of a group.
        """
        wanted = thresholds.copy()
        if wanted.dtype != np.int64 or wanted.shape != (self._layout.count,):
            raise PrivacyError(
                "The thresholds are not one whole number for each group.",
                advice="Give an array of 64-bit integers, as long as there are groups.",
            )
        with self._lock:
            if (wanted < self._looked).any():
                self._look_lower(np.minimum(wanted, self._looked))
            return self._shown(wanted)

    def _shown(self, thresholds: IntArray) -> ShownGroups:
        known = self._known
        runs = self._layout.runs(known.places)
        reached = np.flatnonzero(known.values >= np.repeat(thresholds, np.diff(runs)))
        return ShownGroups(
            start=np.searchsorted(reached, runs),
            cells=known.cells[reached],
            values=known.values[reached],
        )

    def _look_lower(self, thresholds: IntArray) -> None:
        """Draws the empty cells between the new thresholds and the old ones."""
        if self._owner != os.getpid():
            raise PrivacyError(
                "A sparse measurement cannot be looked at further in a copy of its process.",
                advice="Reveal what is needed before the process forks.",
            )
        _refuse_too_many(self._law, self._layout.sizes, thresholds)
        known = self._known
        hidden = self._layout.sizes - np.diff(self._layout.runs(known.places))
        numbers, values = draw_newly_shown(
            self._law, self._source, hidden, self._looked, thresholds
        )
        passed = _passed(numbers, known.places)
        places = numbers + passed
        new = _Known(places=places, cells=self._layout.cells_at(places), values=values)
        self._known = _merged(known, new, passed)
        self._looked = thresholds


_ALIVE: "WeakSet[LazyVector]" = WeakSet()


def _disown_all() -> None:
    for vector in _ALIVE:
        vector.disown()


os.register_at_fork(after_in_child=_disown_all)


def check_showable(law: NoiseLaw, size: int, threshold: int) -> None:
    """Refuses a threshold by public numbers alone, before anything is charged."""
    sizes, thresholds = np.array([[size], [_clipped(threshold)]], dtype=np.int64)
    _refuse_too_many(law, sizes, thresholds)


def check_drawable(law: NoiseLaw) -> None:
    """Refuses a law that cannot be drawn lazily; asked before anything is charged."""
    law.mass_from(1, 64)


def _refuse_too_many(law: NoiseLaw, sizes: IntArray, thresholds: IntArray) -> None:
    bits = 64
    order = np.argsort(thresholds)
    different, first = np.unique(thresholds[order], return_index=True)
    cells = np.add.reduceat(sizes[order], first)
    expected = sum(
        int(size) * law.mass_from(int(threshold), bits)[0]
        for size, threshold in zip(cells, different, strict=True)
    )
    if expected >> bits > _MOST_SHOWN:
        raise PrivacyError(
            f"More than {_MOST_SHOWN:,} empty cells would reach the threshold by chance.",
            advice="Choose a higher threshold.",
        )


def _clipped(threshold: int) -> int:
    return min(max(threshold, EVERYTHING), NOTHING)


def _passed(numbers: IntArray, taken: IntArray) -> IntArray:
    """Returns how many taken places lie below each place that is not taken, given its number."""
    return np.searchsorted(taken - np.arange(len(taken)), numbers, side="right")


def _merged(known: _Known, new: _Known, passed: IntArray) -> _Known:
    """Puts new cells in their places, `passed` of the known ones before each."""
    at = passed + np.arange(len(passed))
    is_old = np.ones(len(known.places) + len(at), dtype=np.bool_)
    is_old[at] = False
    old = np.flatnonzero(is_old)

    def together(before: IntArray, added: IntArray) -> IntArray:
        merged = np.empty(len(is_old), dtype=np.int64)
        merged[old], merged[at] = before, added
        return merged

    return _Known(
        places=together(known.places, new.places),
        cells=together(known.cells, new.cells),
        values=together(known.values, new.values),
    )
