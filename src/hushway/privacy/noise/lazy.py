"""One dense noisy vector over a huge universe, drawn only as far as anyone has looked.

Nearly all cells of a mobility table are empty, and an empty cell is pure noise. How many of the m
hidden empty cells reach a threshold is binomial; which ones is a uniform subset; what they show is
the noise law above the threshold. Drawing these three is the same, in law, as drawing every cell
and looking (Cormode, Procopiuc, Srivastava and Tran 2012, theorem 4.1 of the prefix-tree paper,
made exact). A later, lower threshold continues the same vector: hidden cells are known to be below
the old threshold, so the three draws are conditional on that.

Whoever could draw the hidden part twice would see which cells change and which do not: the ones
that do are empty. So a vector is drawn by one thread at a time, and a forked copy of it shows
nothing new.
"""

import os
import threading
from dataclasses import dataclass
from weakref import WeakSet

import numpy as np

from hushway.errors import PrivacyError
from hushway.privacy.noise.binomial import binomial
from hushway.privacy.noise.enclosure import Enclosure
from hushway.privacy.noise.inversion import IntArray
from hushway.privacy.noise.law import NoiseLaw, between, share
from hushway.privacy.noise.uniform import uniform_subset
from hushway.privacy.randomness import BitSource

# Two vectors of this many cells, places and values, take 2 GiB.
_MOST_SHOWN = 1 << 27


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The cells of a noisy vector that reach a threshold, ascending, and their noisy values."""

    cells: IntArray
    values: IntArray


class LazyVector:
    """A noisy vector that exists in full in law, and in memory only where it was looked at.

    Privacy:
        The exact counts given to the constructor are not kept, but which cells were occupied is:
        only what `reveal` returns may be seen.
    """

    def __init__(
        self, *, law: NoiseLaw, size: int, cells: IntArray, counts: IntArray, source: BitSource
    ) -> None:
        self._law = law
        self._size = size
        self._source = source
        # Copies: a view would keep the engine's arrays alive, exact counts included.
        self._occupied = cells.copy()
        self._noisy = counts + law.draw(source, len(counts))
        nothing = np.empty(0, dtype=np.int64)
        self._empty_shown = Shown(cells=nothing, values=nothing)
        self._threshold: int | None = None
        self._owner = os.getpid()
        self._lock = threading.Lock()
        _ALIVE.add(self)

    def disown(self) -> None:
        """Makes this a copy that shows nothing new; its lock may have been held during the fork."""
        self._owner = -1
        self._lock = threading.Lock()

    def reveal(self, threshold: int) -> Shown:
        """Returns all cells at or above the threshold, the same ones at every call.

        Raises:
            PrivacyError: Too many cells would show, or this is a forked copy that has not shown as
                much before the fork.
        """
        with self._lock:
            if self._threshold is None or threshold < self._threshold:
                check_showable(self._law, self._size, threshold)
                self._look_lower(threshold)
            return self._shown(threshold)

    def _shown(self, threshold: int) -> Shown:
        empty = self._empty_shown.values >= threshold
        reached = self._noisy >= threshold
        cells = np.concatenate([self._occupied[reached], self._empty_shown.cells[empty]])
        values = np.concatenate([self._noisy[reached], self._empty_shown.values[empty]])
        order = np.argsort(cells)
        return Shown(cells=cells[order], values=values[order])

    def _look_lower(self, threshold: int) -> None:
        """Draws the empty cells between the new threshold and the old one."""
        if self._owner != os.getpid():
            raise PrivacyError(
                "A sparse measurement cannot be looked at further in a copy of its process.",
                advice="Reveal what is needed before the process forks.",
            )
        taken = np.sort(np.concatenate([self._occupied, self._empty_shown.cells]))
        hidden = self._size - len(taken)
        above = self._threshold
        count = binomial(
            self._source, hidden, lambda bits: _chance(self._law, threshold, above, bits)
        )
        if count:
            ranks = uniform_subset(self._source, count, hidden)
            cells = _skip(ranks, taken)
            values = self._law.draw_between(self._source, count, threshold, above)
            shown = self._empty_shown
            self._empty_shown = Shown(
                cells=np.concatenate([shown.cells, cells]),
                values=np.concatenate([shown.values, values]),
            )
        self._threshold = threshold


_ALIVE: "WeakSet[LazyVector]" = WeakSet()


def _disown_all() -> None:
    for vector in _ALIVE:
        vector.disown()


os.register_at_fork(after_in_child=_disown_all)


def check_showable(law: NoiseLaw, size: int, threshold: int) -> None:
    """Refuses a threshold by public numbers alone, so it can be asked before anything is charged.

    Raises:
        PrivacyError: More empty cells would show than fit in memory, or the law offers no
            conditional draws.
    """
    bits = 64
    if size * law.mass_from(threshold, bits)[0] >> bits > _MOST_SHOWN:
        raise PrivacyError(
            f"More than {_MOST_SHOWN:,} empty cells would reach the threshold by chance.",
            advice="Choose a higher threshold.",
        )


def _chance(law: NoiseLaw, low: int, high: int | None, bits: int) -> Enclosure:
    """Encloses 2^bits * P(Z >= low | Z < high)."""
    if high is None:
        return law.mass_from(low, bits)
    wide = bits + 64
    part = between(law, low, high, wide)
    from_high = law.mass_from(high, wide)
    return share(part, ((1 << wide) - from_high[1], (1 << wide) - from_high[0]), bits)


def _skip(ranks: IntArray, taken: IntArray) -> IntArray:
    """Turns ranks among the cells that are not taken into cell numbers."""
    before = taken - np.arange(len(taken))
    return ranks + np.searchsorted(before, ranks, side="right")
