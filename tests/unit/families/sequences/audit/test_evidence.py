"""Evidence is the logarithm of a ratio of chances, whatever the noise is."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.families.sequences.audit.looks import evidence_of
from hushway.privacy.bound import Bound
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent

BOUND = Bound(cells=1, each=1, total=1)
EVENTS: dict[str, tuple[Event, np.ndarray]] = {}
_VALUES = np.arange(-80, 81)
_LAPLACE = np.exp(-np.abs(_VALUES) / 2)
_GAUSSIAN = np.exp(-(_VALUES**2) / 8)
EVENTS["laplace"] = (
    LaplaceEvent(query="q", cells=1, bound=BOUND, scale=Fraction(2)),
    _LAPLACE / _LAPLACE.sum(),
)
EVENTS["gaussian"] = (
    GaussianEvent(query="q", cells=1, bound=BOUND, sigma_squared=Fraction(4)),
    _GAUSSIAN / _GAUSSIAN.sum(),
)


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("noise", EVENTS)
def test_a_count_speaks_by_how_likely_the_noise_is(noise: str, records: int) -> None:
    event, law = EVENTS[noise]
    zero = int(np.flatnonzero(_VALUES == 0)[0])
    shown = np.array([2, 5, 9])
    expected = [math.log(law[zero + v - records] / law[zero + v]) for v in shown.tolist()]
    assert evidence_of(shown, 2, event, records) == pytest.approx(expected)


@pytest.mark.parametrize("noise", EVENTS)
def test_a_candidate_that_is_missing_speaks_by_the_odds_of_missing_it(noise: str) -> None:
    event, law = EVENTS[noise]
    below = [float(law[least > _VALUES].sum()) for least in (2 - 3, 2)]
    expected = math.log(below[0] / below[1])
    assert evidence_of(np.array([0]), 2, event, 3) == pytest.approx([expected])
