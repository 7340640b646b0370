"""Forgeries that add up: what several changes together can say, and that a reader is warned."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.terms import od_terms
from hushway.families.verify import verify
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Certificate
from hushway.privacy.loss import PureLoss
from hushway.release.folder.finding import Result
from support.certificates import certificate_of
from support.coherent import COHERENT, documented_combinations
from support.forging import forged_release

# What the fixtures spend, and how many trips of a person they count.
SPEND, TRIPS = Fraction(1, 10), 3


def restated(table: ODTable, *, unit: Unit, trips: int, spend: Fraction) -> Certificate:
    mechanism = DenseLaplace(spend=PureLoss(spend))
    return certificate_of(od_terms(mechanism, table.universe, unit=unit, max_trips=trips))


def a_third(table: ODTable, _: Certificate) -> tuple[ODTable, Certificate]:
    """The same noise: a third of the trips, at a third of the loss."""
    return table, restated(table, unit=Unit.PERSON, trips=TRIPS // 3, spend=SPEND / 3)


def another_unit(table: ODTable, _: Certificate) -> tuple[ODTable, Certificate]:
    return table, restated(table, unit=Unit.DEVICE, trips=TRIPS, spend=SPEND)


def other_numbers(table: ODTable, certificate: Certificate) -> tuple[ODTable, Certificate]:
    return replace(table, counts=table.counts[::-1].copy()), certificate


def other_places(table: ODTable, _: Certificate) -> tuple[ODTable, Certificate]:
    places = table.universe.locations.places
    named = tuple(replace(place, name=f"Not {place.name}") for place in places)
    universe = replace(table.universe, locations=replace(table.universe.locations, places=named))
    moved = replace(table, universe=universe)
    return moved, restated(moved, unit=Unit.PERSON, trips=TRIPS, spend=SPEND)


FORGERIES: dict[str, Callable[[ODTable, Certificate], tuple[ODTable, Certificate]]] = {
    "contribution limit and spends": a_third,
    "the unit with its limits and sentences": another_unit,
    "published numbers in all of their files": other_numbers,
    "public lists and the digest of the domain": other_places,
}


@pytest.mark.parametrize("name", [*COHERENT, *FORGERIES])
def test_what_is_changed_together_adds_up_and_is_shown_with_a_warning(
    tmp_path: Path, table: ODTable, certificate: Certificate, name: str
) -> None:
    if name in COHERENT:
        forged, claimed = table, COHERENT[name](certificate)
    else:
        forged, claimed = FORGERIES[name](table, certificate)
    folder = forged_release(tmp_path / "r", table=forged, certificate=claimed)
    found = verify(folder)
    assert found.result is Result.UNSIGNED
    assert found.warning is not None
    assert found.warning in (folder / "certificate.html").read_text("utf-8")
    assert name in documented_combinations()


def test_the_page_lists_no_combination_that_was_not_tried() -> None:
    assert documented_combinations() == {*COHERENT, *FORGERIES}
