"""What an auditor who knows everybody else sees: noise, and one person."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.auditing.law import ORDERS
from hushway.auditing.product import Product
from hushway.families.density.audit.stage import LONE_SITES, DensityStage, Stay, district
from hushway.families.density.audit.whole import Known
from hushway.families.density.mechanism.recommended import Shares
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import PERSON_PARTS, SiteHistogram, VisitLimits
from hushway.privacy.loss import Loss, ZCDPLoss

QUARTER = Fraction(1, 4)
LIMITS = VisitLimits(max_visits=4, max_visits_in_total=4)
OTHERS = tuple(
    Stay(site=site, bin=when, person=1 + 3 * number + i)
    for number, site in enumerate(LONE_SITES)
    for i in range(3)
    for when in range(4)
)
PERSON = tuple(Stay(site=LONE_SITES[1], bin=when) for when in range(4))


def even(limits: VisitLimits, spend: Loss) -> DensitySeries:
    shares = Shares(histogram=QUARTER, total=QUARTER, clusters=QUARTER)
    return density_series(limits, budget=spend, shares=shares, cluster_error=0.9)


def stage(rho: int) -> DensityStage:
    return DensityStage(
        product=Product(),
        district=district(corners=1, bins=6),
        limits=LIMITS,
        spend=ZCDPLoss(Fraction(rho)),
        make=even,
    )


@pytest.mark.long
def test_nothing_is_left_of_known_people_but_noise() -> None:
    # Sigma is below a fifteenth of a visit: a half is reached less than once in 10^12 times.
    place = stage(2000)
    look = Known(place, OTHERS)
    for answer in place.measured(place.opened(OTHERS)):
        people = PERSON_PARTS if isinstance(answer.query.cells, SiteHistogram) else 1
        visit = getattr(answer.query.cells, "quanta", people)
        assert np.abs(look.unknown(answer)).max() < visit / 2


def test_evidence_of_each_question_is_what_is_paid_for_it_and_sums_up() -> None:
    place = stage(2000)
    look = Known(place, OTHERS, PERSON)
    (seen,) = look.evidence(place.opened(OTHERS + PERSON)).tolist()
    # The squares of what a person moves, in variances, are twice the rho of each question; the
    # noise of the evidence is the root of that, and 0.3 is nine times as much.
    assert seen[:-1] == pytest.approx([1000 * 2 * 500] * 4, rel=0.3)
    assert seen[-1] == pytest.approx(sum(seen[:-1]), abs=4)


@pytest.mark.parametrize("rho", [1, 5])
def test_a_person_with_all_that_counts_has_the_divergence_of_rho(rho: int) -> None:
    place = stage(rho)
    look = Known(place, OTHERS, PERSON)
    found = look.divergence(place.opened(OTHERS + PERSON))
    for order in ORDERS:
        # Of orders that are not whole, discrete noise has a little less.
        assert found[order] == pytest.approx(order * rho, rel=1e-2 if order % 1 else 1e-9)
        assert found[order] <= order * rho * (1 + 1e-12)


@pytest.mark.long
def test_the_noise_of_each_question_is_told_in_variances() -> None:
    place = stage(1)
    look = Known(place, OTHERS)
    squares = np.concatenate([look.squares(place.opened(OTHERS)) for _ in range(300)])
    assert squares.shape == (300, 4)
    # A mean of 300 squares is 1 within 8 standard errors of at most the root of 2 over 300.
    assert np.abs(squares.mean(axis=0) / 1000 - 1).max() < 8 * np.sqrt(2 / 300)
