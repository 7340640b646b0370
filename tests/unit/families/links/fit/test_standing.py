"""Noise alone does not show, and what stands out does."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.links.fit.standing import chance_of, standing_out
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.public.universe import MovementLimits
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.measured import Measured
from hushway.privacy.noise.forecast import expected_above
from hushway.privacy.randomness import SeededSource

ONE = Bound(cells=1, each=1, total=1)
SPENDS: list[Loss] = [PureLoss(Fraction(1, 4)), ZCDPLoss(Fraction(1, 50))]


def measured(values: Any, spend: Loss) -> Measured:
    return Measured(
        query=None,
        values=np.asarray(values, dtype=np.int64),
        variance=noise_for(spend, ONE).variance,
        event=counting_event("links", len(values), spend, ONE),
    )


@pytest.mark.parametrize("spend", SPENDS)
def test_chances_are_those_of_the_noise(spend: Loss) -> None:
    values = np.arange(-15, 30)
    found = chance_of(measured(values, spend))
    law = noise_for(spend, ONE)
    exact = [expected_above(law, 10**6, value) / 10**6 for value in values.tolist()]
    # A discrete Gaussian is nearly a continuous one, the less so the further out.
    assert found == pytest.approx(exact, rel=0.06)


@pytest.mark.parametrize("spend", SPENDS)
def test_noise_alone_hardly_ever_shows(spend: Loss) -> None:
    """Once in ten releases at most, so in 200 releases 47 times with a chance below 1e-7."""
    source = SeededSource(4)
    law = noise_for(spend, ONE)
    cells = np.arange(500)
    shown = sum(
        bool(standing_out(measured(law.draw(source, 500), spend), cells).any()) for _ in range(200)
    )
    assert shown < 47


@pytest.mark.parametrize("spend", SPENDS)
def test_what_stands_out_shows_and_only_cells_that_are_looked_at(spend: Loss) -> None:
    values = noise_for(spend, ONE).draw(SeededSource(5), 1000)
    values[::10] += 200
    shown = standing_out(measured(values, spend), np.arange(0, 1000, 2))
    assert shown[::5].all()
    # A tenth of what shows may be noise.
    assert shown.sum() < 140


def test_a_release_about_nobody_shows_nothing(town: Any) -> None:
    empty = type(town)(
        universe=town.universe,
        **dict.fromkeys(("person", "period", "item", "steps"), np.empty(0, dtype=np.int64)),
    )
    mechanism = link_counts(MovementLimits(max_items=60), budget=ZCDPLoss(Fraction(1, 50)))
    rows = [len(empty.release(mechanism, seed).link) for seed in range(1, 11)]
    assert sum(rows) <= 3
