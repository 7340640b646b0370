"""Which links are published, and sums over those that are not."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.links.fit.publication import (
    FittedLinks,
    hidden_links,
    p_values,
    rest_of,
    significant,
)
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.public.universe import ClassZones, MovementLimits
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, expected_above, noise_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.measured import Measured
from hushway.privacy.randomness import SeededSource
from support.link_towns import town_of

LIMITS = MovementLimits(max_items=200)
SOME = ZCDPLoss(Fraction(1))


def test_what_shows_and_the_rest_are_all_that_was_fitted() -> None:
    town = town_of(1000, periods=3)
    groups = ClassZones(universe=town.universe)
    group, used = groups.links
    everything, shown = (
        town.release(link_counts(LIMITS, budget=SOME, publish_above_se=shown))
        for shown in (0.0, 2.0)
    )
    assert 0 < len(shown.link) < len(everything.link)
    length = town.universe.roads.length / 1000

    def sums(table: Any, each: Any) -> Any:
        place = table.period * len(used) + group[table.link]
        return np.bincount(place, table.counts * each[table.link], minlength=3 * len(used))

    for each, rests in (
        (np.ones(len(length)), (everything.rest.counts, shown.rest.counts)),
        (length, (everything.rest.km, shown.rest.km)),
    ):
        whole = sums(everything, each) + rests[0]
        assert sums(shown, each) + rests[1] == pytest.approx(whole, abs=0.5)
    # Next to nothing is left where every link above 0 shows.
    assert everything.rest.counts.sum() < 5


def test_kilometres_add_up() -> None:
    """Of many people with noise of 10 on every link: within 5% with the rest, far less without."""
    town = town_of(2000)
    table = town.release(link_counts(LIMITS, budget=SOME))
    length = town.universe.roads.length / 1000
    truth = float(town.truth[0] @ length)
    shown = float(table.counts @ length[table.link])
    assert shown < 0.9 * truth
    assert shown + table.rest.km.sum() == pytest.approx(truth, rel=0.05)


def test_groups_without_a_hidden_link_have_no_rest(town: Any) -> None:
    groups = ClassZones(universe=town.universe)
    group, used = groups.links
    values = np.full((1, len(group)), 3.0)
    shown = (group == 0)[None, :]
    unknown = np.full((1, len(used)), 1e12)
    fitted = FittedLinks(values=values, errors=values / 2, sum_variance=unknown)
    rest = rest_of(fitted, shown, groups)
    assert (rest.counts[0], rest.standard_error[0], rest.km[0], rest.km_error[0]) == (0, 0, 0, 0)
    size = np.bincount(group)
    assert rest.counts[1:].tolist() == (3.0 * size[1:]).tolist()
    # Between errors that are independent and errors that are one.
    assert (rest.standard_error[1:] >= np.round(1.5 * np.sqrt(size[1:]), 2)).all()
    assert (rest.standard_error[1:] <= 2 * 1.5 * size[1:]).all()
    known = rest_of(replace(fitted, sum_variance=np.ones((1, len(used)))), shown, groups)
    # Where nothing shows, nothing is surer than the sum of all.
    assert known.standard_error[1:] == pytest.approx(np.ones(len(used) - 1))
    period, link = np.nonzero(shown)
    hidden = hidden_links(period, link, groups)
    assert hidden.tolist() == [0, *size[1:].tolist()]
    assert len(hidden) == len(used)


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
    found = p_values(measured(values, spend))
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
        bool(significant(measured(law.draw(source, 500), spend), cells).any()) for _ in range(200)
    )
    assert shown < 47


@pytest.mark.parametrize("spend", SPENDS)
def test_what_stands_out_shows_and_only_cells_that_are_looked_at(spend: Loss) -> None:
    values = noise_for(spend, ONE).draw(SeededSource(5), 1000)
    values[::10] += 200
    shown = significant(measured(values, spend), np.arange(0, 1000, 2))
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
