"""What does not show is published in sums, so that kilometres add up."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.links.fit.rest import FittedLinks, hidden_links, rest_of
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.public.universe import ClassZones, MovementLimits
from hushway.privacy.loss import ZCDPLoss

LIMITS = MovementLimits(max_items=200)
SOME = ZCDPLoss(Fraction(1))


def test_what_shows_and_the_rest_are_all_that_was_fitted(build: Any) -> None:
    town = build(1000, periods=3)
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


def test_kilometres_add_up(build: Any) -> None:
    """Of many people with noise of 10 on every link: within 5% with the rest, far less without."""
    town = build(2000)
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
    rest = rest_of(FittedLinks(values=values, errors=values / 2), shown, groups)
    assert (rest.counts[0], rest.standard_error[0], rest.km[0], rest.km_error[0]) == (0, 0, 0, 0)
    size = np.bincount(group)
    assert rest.counts[1:].tolist() == (3.0 * size[1:]).tolist()
    # Between errors that are independent and errors that are one.
    assert (rest.standard_error[1:] >= np.round(1.5 * np.sqrt(size[1:]), 2)).all()
    assert (rest.standard_error[1:] <= 2 * 1.5 * size[1:]).all()
    period, link = np.nonzero(shown)
    hidden = hidden_links(period, link, groups)
    assert hidden.tolist() == [0, *size[1:].tolist()]
    assert len(hidden) == len(used)
