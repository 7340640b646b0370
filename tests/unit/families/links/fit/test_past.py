"""What links learn from other steps of a series, and what they let go of."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from hushway.families.links.files.others import noisy_answers
from hushway.families.links.fit.answers import Told
from hushway.families.links.fit.completion import Completed, ToldSums
from hushway.families.links.fit.left_out_before import Beyond, missing_of
from hushway.families.links.fit.missing_shares import Counted, LeftOutWeight, Nesting
from hushway.families.links.fit.steps import noisy_step, tells_of
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.catalogue import limits_of
from hushway.families.links.mechanism.counts import LinkCounts, link_counts
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.mechanism.terms import stated_counts
from hushway.families.links.public.universe import WEIGHTS, ClassZones, LinkUniverse, MovementLimits
from hushway.geography.periods import Periods
from hushway.numerics.wandering import UNKNOWN
from hushway.privacy.certificate import MechanismRecord
from hushway.privacy.loss import ZCDPLoss
from hushway.release.others import OtherStep
from support.link_scenes import streets_of
from support.link_towns import Town, town_of

RHO = ZCDPLoss(Fraction(1, 40))
WAY = link_counts(MovementLimits(max_items=40), budget=RHO)
BUSIEST = 3
AWAY = range(1, 5)
SEEDS = range(1, 7)
PERIOD = np.repeat([0, 1], 2_000)


@cache
def month(number: int, closed: bool = False) -> Town:
    """Returns a town in which other people drive every month, and where a street may be closed."""
    whole = town_of(8_000)
    random = np.random.default_rng(number)
    person = random.random(8_000) < 0.5
    there = person[whole.person]
    if closed:
        there &= ~np.isin(whole.item, busiest())
    return only(whole, there)


def only(town: Town, rows: Any) -> Town:
    columns = {name: getattr(town, name)[rows] for name in ("person", "period", "item", "steps")}
    return replace(town, **columns)


def busiest() -> Any:
    return np.argsort(-town_of(8_000).truth[0])[:BUSIEST]


@cache
def measured(town: Town, seed: int, way: Any = WAY) -> Any:
    return town.measure(way, seed)[0]


def told_by(town: Town, seed: int, away: int) -> OtherStep:
    answers = measured(town, seed)

    def read(universe: LinkUniverse) -> Any:
        return noisy_answers(WAY, answers, town.universe, universe)

    return OtherStep(stated={"steps_away": away}, answers=read)


def learning(others: Sequence[OtherStep]) -> LinkCounts:
    return replace(WAY, others=tuple(others))


def fitted(town: Town, seed: int, others: Sequence[OtherStep] = ()) -> LinkTable:
    return learning(others).fit(measured(town, seed), town.universe)


def dense(table: LinkTable, name: str = "counts") -> Any:
    found = np.zeros(table.universe.roads.links)
    found[table.link] = getattr(table, name)
    return found


def off(table: LinkTable, town: Town, links: Any = slice(None)) -> float:
    return float(np.sqrt(((dense(table) - town.truth[0])[links] ** 2).mean()))


def held(table: LinkTable, town: Town) -> float:
    apart = np.abs(table.counts - town.truth[0, table.link])
    return float((apart <= 1.96 * table.standard_error).mean())


def whole(table: LinkTable) -> float:
    return float(table.counts.sum() + table.rest.counts.sum())


def test_a_month_is_more_exact_with_those_before_and_with_all_others() -> None:
    now = month(7)
    before = [told_by(month(7 - away), 10 + away, away) for away in AWAY]
    after = [told_by(month(7 + away), 20 + away, -away) for away in AWAY]
    alone, first, revised = (fitted(now, 1, some) for some in ((), before, before + after))
    assert off(first, now) < off(alone, now) / 1.3
    assert off(revised, now) < off(first, now)
    assert len(revised.link) > len(alone.link)
    assert held(revised, now) > 0.93
    assert whole(revised) == pytest.approx(now.truth.sum(), rel=0.05)


@pytest.mark.parametrize(("before", "now"), [(False, True), (True, False)])
def test_a_street_that_closes_or_opens_follows_its_own_answers(before: bool, now: bool) -> None:
    town, links = month(7, now), busiest()
    others = [told_by(month(7 - away, before), 10 + away, away) for away in AWAY]
    # What follows is also so when one step since then is known.
    since = [told_by(month(6, now), 11, 1), *others[1:]]
    alone, first, later = (
        np.mean([off(fitted(town, seed, some), town, links) for seed in SEEDS])
        for some in ((), others, since)
    )
    assert first <= 1.1 * alone
    assert later <= 1.1 * alone


def test_a_city_that_is_another_one_is_not_learnt_from() -> None:
    town = month(7)
    links = town.universe.roads.links
    turned = np.where(town.item < links, links - 1 - town.item, town.item)
    others = [told_by(replace(town, item=turned), 30 + away, away) for away in AWAY]
    assert off(fitted(town, 1, others), town) < 1.02 * off(fitted(town, 1), town)


def test_steps_without_anybody_say_nothing() -> None:
    town, nobody = month(7), only(month(7), np.zeros(len(month(7).person), dtype=np.bool_))
    for one, others in ((town, [told_by(nobody, 3, 1)]), (nobody, [told_by(town, 3, 1)])):
        alone, learnt = fitted(one, 1), fitted(one, 1, others)
        assert np.array_equal(alone.counts, learnt.counts)
        assert np.array_equal(alone.standard_error, learnt.standard_error)


def test_limits_that_are_chosen_learn_as_well() -> None:
    town = month(7)
    way = LinkPeople(planned=link_counts(limits_of("auto"), budget=RHO))
    others = tuple(told_by(month(7 - away), 10 + away, away) for away in AWAY)
    learnt = replace(way, planned=replace(way.planned, others=others))
    answers = measured(town, 1, way)
    alone, first = (one.fit(answers, town.universe) for one in (way, learnt))
    assert off(first, town) < off(alone, town) / 1.2


def test_roads_that_a_step_did_not_have_stand_alone() -> None:
    small, large = streets_of(3), streets_of(4)
    assert tells_of(small, large)
    assert not tells_of(replace(small, periods=_hours(small.periods)), large)
    named = set(small.roads.link_id.tolist())
    step = noisy_step(_told(small), small, large)
    known = step.variance[: large.roads.links] < UNKNOWN
    assert known.tolist() == [name in named for name in large.roads.link_id.tolist()]
    place = {name: at for at, name in enumerate(small.roads.link_id.tolist())}
    links = large.roads.link_id.tolist()
    assert [step.counts[at] for at in np.flatnonzero(known)] == [
        place[links[at]] for at in np.flatnonzero(known)
    ]
    assert (step.sum_variance == UNKNOWN).all(), "other links are in all of its groups"
    same = noisy_step(_told(small), small, small)
    assert (same.sum_variance < UNKNOWN).all()


def test_a_step_with_other_zones_tells_of_the_same_links() -> None:
    town, others = month(7), [told_by(month(7 - away), 10 + away, away) for away in AWAY]
    universe = replace(town.universe, zone=np.zeros_like(town.universe.zone), zones=("all",))
    one = replace(town, universe=universe)
    assert off(fitted(one, 1, others), one) < off(fitted(one, 1), one) / 1.3


def test_what_the_bound_leaves_out_is_learnt_from_steps_with_the_same_bound() -> None:
    random = np.random.default_rng(5)
    truth = 300.0 * random.random(4_000)

    def beyond(most: int) -> Beyond:
        """Returns a step in which .3 of what counts is missing, twice that in the second period."""
        told = 0.3 * truth * np.where(PERIOD, 2.0, 1.0)
        noise = random.normal(0, 1_000.0, (3, 4_000))
        nothing = np.zeros(4_000, dtype=np.int64)
        return Beyond(
            most=most,
            period=PERIOD,
            ground=Counted(counts=truth, noise=1.0, nesting=Nesting(kind=nothing, group=PERIOD)),
            told=tuple(
                LeftOutWeight(
                    weight=weight,
                    cells=told * (weight == 1) + noise[number],
                    classes=np.array([told.sum() * (weight == 1)]) + 6_000 * random.normal(),
                    noise=1e6,
                    sum_noise=36_000_000.0,
                )
                for number, weight in enumerate(WEIGHTS)
            ),
            expected=None,
        )

    own, others = beyond(8), [beyond(8) for _ in range(8)]
    alone, learnt = missing_of(own).groups[0], missing_of(own, others).groups[0]
    true = np.array([0.3, 0.6])
    assert np.abs(learnt.mean - true).max() < np.abs(alone.mean - true).max() / 1.5
    assert np.all(learnt.variance < alone.variance)
    others = [beyond(16)] * 8
    assert np.array_equal(missing_of(own, others).groups[0].mean, alone.mean)


def _hours(periods: Periods) -> Periods:
    return replace(periods, minutes=60)


def _told(universe: LinkUniverse) -> Any:
    """Returns what would be told if each item had its own number of people."""
    groups = ClassZones(universe=universe)
    counts, shape = np.arange(universe.items, dtype=np.float64), (1, groups.groups)
    ones, nothing = np.ones(universe.items), np.zeros(groups.size)
    return Told(
        on_link=np.arange(universe.items) < universe.roads.links,
        whole=Completed(
            counts=counts, variance=ones, together=0 * ones, share=nothing, share_variance=nothing
        ),
        sums=ToldSums(
            values=np.ones(shape),
            variance=np.ones(shape),
            least=np.zeros(shape),
            most=np.ones(shape),
        ),
    )


def test_a_certificate_names_the_steps_and_is_read_again() -> None:
    assert "learnt_from" not in WAY.parameters
    named = {"release": "r", "seal": "s", "steps_away": 1}
    mechanism = learning([OtherStep(stated=named)])
    assert mechanism.parameters["learnt_from"] == [named]
    assert any("1 other release" in words for words in mechanism.post_processing)
    record = MechanismRecord(name=mechanism.name, parameters=mechanism.parameters)
    assert stated_counts(record).parameters == mechanism.parameters
