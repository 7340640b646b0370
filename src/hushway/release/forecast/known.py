"""How much of a table is known: what stands in cells that are sure, and in sums that are close."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray

Numbers = IntArray | FloatArray

# Under this name a data package says it, so that page, site and `verify` say the same.
KNOWN: Final = "known"

# A cell is sure if it is at least this many of its standard errors.
SURE: Final = 2.0
# A sum is close if its interval of 95% ends within this share of it.
WITHIN: Final = 0.10
ERRORS_95: Final = 1.96
# Below this share in sure cells, cells say where something is to be expected, and hardly more.
_LITTLE: Final = 0.10


@dataclass(frozen=True, kw_only=True)
class KnownSums:
    """How well the sums of one kind are known.

    Attributes:
        title: What is summed over, such as "origins".
        within: The share of everything that is in sums within 10%.
        error: The standard error of such sums, as a share of them.
    """

    title: str
    within: float
    error: float | None


@dataclass(frozen=True, kw_only=True)
class Known:
    """How much of a table is known.

    Attributes:
        counted: What is counted, such as "trips".
        cells: What the cells are called, such as "flows".
        sure: The share of everything that stands in cells of at least twice their error.
        sums: The same for sums, where their errors are published.
    """

    counted: str
    cells: str
    sure: float
    sums: tuple[KnownSums, ...] = ()

    @property
    def sentence(self) -> str:
        """What is known of a release."""
        return self._said("stand", "are")

    @property
    def foreseen(self) -> str:
        """What would be known of a release."""
        return f"About {self._said('would stand', 'would be')}"

    def _said(self, stand: str, are: str) -> str:
        said = f"{self.sure:.0%} of the {self.counted} {stand} in {self.cells} of at least twice "
        said += "their error."
        if self.sums:
            listed = ", ".join(f"{sums.title} {sums.within:.0%}" for sums in self.sums)
            said += f" Share in sums that {are} sure within {WITHIN:.0%}: {listed}."
        if self.sure < _LITTLE:
            said += (
                f" {'Use sums: single' if self.sums else 'Single'} {self.cells} say little here."
            )
        return said


def sure_share(
    parts: Iterable[tuple[Numbers, FloatArray]], *, hidden: float | None = None
) -> float:
    """Returns which share of everything stands in sure cells.

    Args:
        parts: Counts and their standard errors.
        hidden: What is counted besides, in no cell that is published.
    """
    sure, every = 0.0, hidden or 0.0
    for counts, errors in parts:
        sure += float(counts[counts >= SURE * errors].sum())
        every += float(counts.sum())
    return sure / every if every > 0 else 0.0


def known_sums(title: str, counts: Numbers, errors: FloatArray) -> KnownSums:
    """Returns how well sums are known, by their standard errors."""
    every = float(counts.sum())
    close = float(counts[errors * ERRORS_95 <= WITHIN * counts].sum())
    return KnownSums(
        title=title,
        within=close / every if every > 0 else 0.0,
        error=float(np.sum(errors)) / every if every > 0 else None,
    )
