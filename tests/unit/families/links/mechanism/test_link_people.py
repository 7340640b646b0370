"""A limit that is chosen: by noisy people alone, charged, and chosen again from a certificate."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import GeographyError, PrivacyError, ReleaseError
from hushway.families.links.mechanism.catalogue import limits_of
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.mechanism.terms import links_terms, stated_counts
from hushway.families.links.public.universe import (
    CHOICES,
    ITEM_LADDER,
    LeftOutCells,
    MovementCells,
    MovementLimits,
    SpeedSums,
    people_by_items,
)
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import MechanismRecord
from hushway.privacy.loss import PureLoss, ZCDPLoss, total
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource

AUTO = limits_of("auto")
RHO = ZCDPLoss(Fraction(1, 7))
WAY = LinkPeople(planned=link_counts(AUTO, budget=RHO, speeds=Fraction(1, 5)))
ANY = Bound(cells=1, each=1, total=1)


def people_with(items: int, people: int = 20_000) -> tuple[int, ...]:
    """As many people as are sure to be seen, all with so many items."""
    own = ITEM_LADDER.index(items)
    return tuple(people if place == own else 0 for place in range(len(ITEM_LADDER)))


def counter(town: Any, limits: MovementLimits) -> ArrayMovements:
    return ArrayMovements(
        universe=town.universe,
        limits=limits,
        key=BoundingKey.draw(SeededSource(3)),
        person=town.person % 150,
        period=town.period,
        item=town.item,
        steps=town.person % 7 - 3,
    )


@pytest.mark.parametrize("most", CHOICES)
@pytest.mark.parametrize("kind", [MovementCells, LeftOutCells, SpeedSums])
def test_each_choice_counts_what_its_limit_alone_counts(town: Any, most: int, kind: Any) -> None:
    asked, alone = (
        Query(name="any", cells=kind(universe=town.universe, most=limit)) for limit in (most, None)
    )
    every, single = counter(town, AUTO), counter(town, MovementLimits(max_items=most))
    found, expected = every.count(asked), single.count(alone)
    assert np.array_equal(found.cells, expected.cells)
    assert np.array_equal(found.values, expected.values)
    assert every.bound(asked) == single.bound(alone)
    assert asked.cells.digest != alone.cells.digest


def test_a_person_is_in_one_class_of_people(town: Any) -> None:
    cells = people_by_items(town.universe)
    found = counter(town, AUTO).count(Query(name=cells.name, cells=cells))
    assert found.values.sum() == len(np.unique(town.person % 150))
    assert cells.bound == ANY


def test_limits_that_nobody_counts_by_are_refused(town: Any) -> None:
    cells = MovementCells(universe=town.universe, most=9)
    with pytest.raises(PrivacyError, match="does not bound"):
        counter(town, AUTO).count(Query(name=cells.name, cells=cells))
    with pytest.raises(GeographyError, match="double"):
        MovementLimits(max_items=8, choices=(8, 12))
    with pytest.raises(GeographyError, match="double"):
        replace(AUTO, left_out=False)


def test_it_pays_its_budget_and_asks_what_it_settles_on(town: Any) -> None:
    answers, budget, curator = town.measure(WAY)
    settled = WAY.settled(answers)
    assert total([event.loss for event in curator.events]) == total(WAY.losses) == RHO
    assert tuple(budget.charged) == curator.events == settled.events(town.universe, ANY)
    table = WAY.fit(answers, town.universe)
    assert len(table.link)


@pytest.mark.parametrize(("items", "most"), [(16, 16), (48, 64), (192, 256)])
def test_the_limit_follows_the_people(items: int, most: int) -> None:
    assert replace(WAY, people=people_with(items)).chosen.limits.max_items == most


def test_nothing_is_spent_on_what_hardly_anybody_has() -> None:
    assert replace(WAY, people=people_with(12)).chosen.spends.left_out is None
    some = tuple(np.add(people_with(32), people_with(512, 2_000)))
    assert replace(WAY, people=some).chosen.spends.left_out is not None


def test_laplace_noise_wants_a_smaller_limit() -> None:
    people = tuple(np.add(people_with(32), people_with(192, 5_000)))
    pure = LinkPeople(planned=link_counts(AUTO, budget=PureLoss(Fraction(1))), people=people)
    assert pure.chosen.limits.max_items < replace(WAY, people=people).chosen.limits.max_items


def test_where_noise_hides_everybody_the_least_limit_is_taken() -> None:
    nobody = (0,) * len(ITEM_LADDER)
    assert replace(WAY, people=nobody).chosen.limits.max_items == CHOICES[0]


def test_a_certificate_is_enough_to_choose_again(town: Any) -> None:
    way = WAY.settled(town.measure(WAY)[0])
    record = MechanismRecord(name=way.name, parameters=way.parameters)
    assert stated_counts(record) == way
    terms = links_terms(way, town.universe, unit=Unit.PERSON)
    assert "was chosen by how many items people have" in terms.contribution.words
    for forged in (None, [1], ["1"] * len(ITEM_LADDER)):
        parameters = {**way.parameters, "people_by_items": forged}
        with pytest.raises(ReleaseError):
            stated_counts(MechanismRecord(name=way.name, parameters=parameters))
