"""The Laplace totals printed in the CBDP paper come out of the matched city."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.query import ExactCounts
from hushway.privacy.randomness import BitSource, SeededSource

MORNING = range(4, 8)  # the half-hours from 8 to 10 of a day that opens at 6
PUBLISHED = {"0.1": 320_940, "0.05": 656_577, "0.01": 3_312_350}


# Noise in steps of 1/1024 trip: as fine as the paper's real-valued noise shows after flooring.
_STEP_BITS = 10


def floored_laplace(
    counts: ExactCounts, *, size: int, epsilon: Fraction, source: BitSource
) -> IntArray:
    """Returns the trip counts of the Laplace baseline of the CBDP paper (AAMAS 2018).

    The paper adds real-valued Laplace noise of scale 1/epsilon to every cell and keeps whole,
    non-negative counts. Its printed totals fit rounding down, not to the nearest: an empty cell
    then holds 1/(2(exp(epsilon) - 1)) trips on average. Our own release adds whole noise, which
    needs no rounding and has a mean of exp(-epsilon)/(1 - exp(-2 epsilon)) there.
    """
    law = DiscreteLaplace((1 << _STEP_BITS) / epsilon)
    values = law.draw(source, size) >> _STEP_BITS
    values[counts.cells] += counts.values
    return np.maximum(values, 0)


@pytest.fixture(scope="module")
def morning() -> tuple[ExactCounts, int]:
    """Exact counts of 8-10am, and the number of cells with different ends in those periods."""
    city = ann_arbor(seed=7)
    trips = city.trips
    chosen = np.isin(trips.period, MORNING)
    cells = city.cells.encode(
        trips.period[chosen] - MORNING.start, trips.origin[chosen], trips.destination[chosen]
    )
    found, counts = np.unique(cells, return_counts=True)
    return ExactCounts(cells=found, values=counts), city.cells.pairs * len(MORNING)


@pytest.mark.parametrize("epsilon", PUBLISHED)
def test_floored_laplace_noise_gives_the_published_number_of_trips_within_two_percent(
    morning: tuple[ExactCounts, int], epsilon: str
) -> None:
    counts, size = morning
    source = SeededSource(int(Fraction(epsilon) * 100))
    runs = [
        floored_laplace(counts, size=size, epsilon=Fraction(epsilon), source=source).sum()
        for _ in range(50)
    ]
    assert np.mean(runs) == pytest.approx(PUBLISHED[epsilon], rel=0.02)
