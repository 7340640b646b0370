"""Thirty clusters and one visit of one person in each: what all cuts together lose, exactly.

Nothing is drawn. The chances follow from the scores and the rate that the curator uses, and the
Rényi divergences of independent choices add up.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp

from hushway.privacy.bound import Bound
from hushway.privacy.calibration import cutting_event, loss_of_cuts
from hushway.privacy.query import CutQuery, Query

CLUSTERS, BINS, QUANTA = 30, 168, 1024
BOUND = Bound(cells=CLUSTERS, each=QUANTA, total=CLUSTERS * QUANTA)
SPEND = loss_of_cuts(Fraction(1, 10))
ORDERS = (1.5, 2.0, 8.0, 32.0)


@dataclass(frozen=True)
class Series:
    name: str = "series"
    size: int = CLUSTERS * BINS
    digest: str = ""


QUERY = CutQuery(
    name="cuts", base=Query(name="series", cells=Series()), length=BINS, noise=Fraction(12 * QUANTA)
)
HOURS = np.arange(CLUSTERS) * 5


def log_chances(people: int, rate: Fraction) -> NDArray[np.float64]:
    """The chances of all cuts of each cluster, if so many people were there in one hour each."""
    counts = np.zeros((CLUSTERS, BINS), dtype=np.int64)
    counts[np.arange(CLUSTERS), HOURS] = people * QUANTA
    weights = np.array([-float(rate) * scores for scores in QUERY.scores(counts.ravel())])
    chances: NDArray[np.float64] = weights - logsumexp(weights, axis=1, keepdims=True)
    return chances


def divergence(rate: Fraction, people: int, order: float) -> float:
    """The larger Rényi divergence between one person more and not, over all clusters."""
    more, fewer = log_chances(people + 1, rate), log_chances(people, rate)
    return max(
        float(logsumexp(order * one + (1 - order) * other, axis=1).sum()) / (order - 1)
        for one, other in ((more, fewer), (fewer, more))
    )


def worst(rate: Fraction, order: float) -> float:
    # With about 145 others a cluster is undecided between few cosines and many.
    crowds = (0, 1, 10, *range(130, 162, 4))
    return max(divergence(rate, people, order) for people in crowds)


@pytest.mark.parametrize("order", ORDERS)
def test_all_cuts_together_keep_to_their_rho(order: float) -> None:
    event = cutting_event("cuts", QUERY.cells.size, SPEND, BOUND)
    assert worst(event.rate, order) <= order * float(SPEND.rho)


def test_the_rho_is_no_empty_promise() -> None:
    event = cutting_event("cuts", QUERY.cells.size, SPEND, BOUND)
    assert worst(event.rate, 2.0) > 2 * float(SPEND.rho) / 10


@pytest.mark.parametrize("order", ORDERS)
def test_the_printed_exponent_loses_a_multiple_of_it(order: float) -> None:
    # The root of 2 rho for a score that moves by one visit, as if there were one visit.
    printed = Fraction(447, 1000) / QUANTA
    assert worst(printed, order) > 2.5 * order * float(SPEND.rho)
