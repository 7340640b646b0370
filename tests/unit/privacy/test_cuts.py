import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.fft import dct

from hushway.errors import PrivacyError
from hushway.privacy.accounting import best_epsilon, epsilon_of_rho
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.calibration import cutting_event, loss_of_cuts
from hushway.privacy.curator import Curator
from hushway.privacy.events import CutEvent, Event, event_from_json, event_to_json, spread_of_cuts
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.query import CutQuery, ExactCounts, Query
from hushway.privacy.randomness import SeededSource
from support.boxes import Boxes

LENGTH = 8
BOUND = Bound(cells=4, each=10, total=40)
SPEND = loss_of_cuts(Fraction(1, 7))


def cuts_of(series: int, noise: Fraction = Fraction(5)) -> CutQuery:
    base = Query(name="visits", cells=Boxes(series * LENGTH))
    return CutQuery(name="cuts", base=base, length=LENGTH, noise=noise)


@dataclass
class Witness:
    """Plays counter and budget."""

    values: NDArray[np.int64]
    charged: list[Event] = field(default_factory=list)
    unit: Unit = Unit.PERSON

    def bound(self, _query: Query) -> Bound:
        return BOUND

    def count(self, _query: Query) -> ExactCounts:
        assert self.charged, "counted before spending"
        cells = np.flatnonzero(self.values)
        return ExactCounts(cells=cells, values=self.values[cells])

    def charge(self, event: Event) -> None:
        self.charged.append(event)


def test_cuts_cost_what_is_spent_and_are_paid_before_counting() -> None:
    witness = Witness(np.zeros(2 * LENGTH, dtype=np.int64))
    curator = Curator(counter=witness, budget=witness, source=SeededSource(1))
    curator.cuts(cuts_of(2), SPEND)
    assert [event.loss for event in witness.charged] == [SPEND]
    assert curator.events == tuple(witness.charged)


def test_a_strong_flat_series_keeps_one_coefficient_and_a_busy_one_keeps_all() -> None:
    flat = np.full(LENGTH, 10**6)
    busy = np.where(np.arange(LENGTH) % 2, 10**6, 0)
    witness = Witness(np.concatenate([flat, busy]).astype(np.int64))
    curator = Curator(counter=witness, budget=witness, source=SeededSource(1))
    spend = loss_of_cuts(Fraction(10**6))
    assert curator.cuts(cuts_of(2), spend).values.tolist() == [1, LENGTH]


def test_a_score_is_the_norm_cut_off_and_the_noise_kept() -> None:
    series = np.array([3, 1, 4, 1, 5, 9, 2, 6]) * 1000
    (scores,) = cuts_of(1).scores(series.astype(np.int64))
    coefficients = dct(series.astype(float), norm="ortho")
    for kept in range(1, LENGTH + 1):
        cost = np.linalg.norm(coefficients[kept:]) + math.sqrt(kept) * 5
        assert abs(scores[kept - 1] - cost) <= 0.5 + 1e-6


@given(
    st.lists(st.integers(0, 10**6), min_size=LENGTH, max_size=LENGTH),
    st.lists(st.integers(0, 1024), min_size=LENGTH, max_size=LENGTH),
)
def test_scores_move_by_no_more_than_the_series_and_2(one: list[int], step: list[int]) -> None:
    before, change = np.array(one, dtype=np.int64), np.array(step, dtype=np.int64)
    (here,) = cuts_of(1).scores(before)
    (there,) = cuts_of(1).scores(before + change)
    assert np.abs(here - there).max() <= np.linalg.norm(change) + 2


def test_the_loss_counts_all_series_that_one_unit_can_move() -> None:
    # 4 series moved by 10 each: their scores move by 12 each, 24 in the Euclidean norm.
    assert spread_of_cuts(BOUND) == 20 + 4
    event = CutEvent(query="cuts", cells=16, bound=BOUND, rate=Fraction(1, 3))
    assert event.loss == ZCDPLoss(Fraction(1, 9) * 24**2 / 2)


def test_the_spread_is_rounded_up() -> None:
    assert spread_of_cuts(Bound(cells=2, each=1, total=2)) == 2 + 3


def test_a_rho_is_rounded_down_to_one_with_a_rational_rate() -> None:
    assert SPEND.rho <= Fraction(1, 7)
    assert SPEND.rho > Fraction(1, 7) * (1 - Fraction(1, 10**12))
    assert cutting_event("cuts", 16, SPEND, BOUND).loss == SPEND


@pytest.mark.parametrize("spend", [PureLoss(Fraction(1)), ZCDPLoss(Fraction(1, 7))], ids=str)
def test_other_spends_are_refused(spend: PureLoss | ZCDPLoss) -> None:
    with pytest.raises(PrivacyError, match="rational rate"):
        cutting_event("cuts", 16, spend, BOUND)


def test_the_event_survives_json_and_is_accounted_by_its_rho() -> None:
    event = cutting_event("cuts", 16, SPEND, BOUND)
    assert event_from_json(event_to_json(event)) == event
    found = best_epsilon([event], Fraction(1, 10**6))
    assert found.method == "zcdp"
    assert found.epsilon == epsilon_of_rho(SPEND.rho, Fraction(1, 10**6))


def test_counts_that_are_no_whole_series_are_refused() -> None:
    base = Query(name="visits", cells=Boxes(LENGTH + 1))
    with pytest.raises(PrivacyError, match="series of one length"):
        CutQuery(name="cuts", base=base, length=LENGTH, noise=Fraction(1))
