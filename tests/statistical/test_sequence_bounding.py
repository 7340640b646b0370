"""The choice among records is uniform, and people with the same records do not share it."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.families.sequences.public.prefixes import first_prefixes
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.geography.locations import Location, Locations
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from support.choices import check_sets, keys
from support.long import often

KEYS = 3_000
DAY_US = 86_400_000_000


@pytest.fixture(scope="module")
def town() -> Taxonomy:
    places = tuple(Location(id=str(i), name="", lon=i / 100, lat=0.0, zone="") for i in range(40))
    return Taxonomy(locations=Locations(places))


HABITS: dict[str, Callable[[int], NDArray[np.int64] | None]] = {
    "every day at the same minute": lambda n: np.arange(n) * DAY_US,
    "without any times": lambda _: None,
}


@pytest.mark.parametrize("habit", often(HABITS))
@pytest.mark.parametrize(("count", "most"), [(5, 2), pytest.param(7, 3, marks=pytest.mark.long)])
def test_every_set_of_records_is_kept_equally_often(
    town: Taxonomy, habit: str, *, count: int, most: int
) -> None:
    """Record i starts at place i and goes on to places 20 and 21, as all others do."""
    stops = np.column_stack([np.arange(count), np.full(count, 20), np.full(count, 21)]).ravel()
    root = Query(name="records", cells=first_prefixes(town))
    chosen = []
    for key in keys(31, KEYS):
        counter = ArraySequences(
            taxonomy=town,
            unit=Unit.PERSON,
            max_records=most,
            max_stops=3,
            key=key,
            start=np.arange(count + 1) * 3,
            stops=stops,
            person=np.zeros(count, dtype=np.int64),
            since_us=HABITS[habit](count),
        )
        chosen.append(int((1 << counter.count(root).cells).sum()))
    check_sets(chosen, count, most)


@pytest.mark.parametrize("times", [True, False])
def test_people_who_share_records_do_not_share_the_choice(town: Taxonomy, times: bool) -> None:
    """A popular commute is kept by a share of people, not by all or by none.

    300 people keep 4 of 20 records; 10 of these are a commute on the same days at the same minute,
    10 are their own. If they shared the choice, the total would vary hundreds of times as much.
    """
    rng = np.random.default_rng(6)
    people, shared, own, most, rounds = 300, 10, 10, 4, 300
    each = shared + own
    stops = np.zeros((people, each, 2), dtype=np.int64)
    stops[:, :shared, 1] = 1
    stops[:, shared:] = rng.integers(2, 40, (people, own, 2))
    since = np.broadcast_to(np.arange(each) * DAY_US, (people, each)).copy()
    since[:, shared:] += rng.integers(0, DAY_US, (people, own))
    root = Query(name="records", cells=first_prefixes(town))
    totals = []
    for key in keys(32, rounds):
        counter = ArraySequences(
            taxonomy=town,
            unit=Unit.PERSON,
            max_records=most,
            max_stops=2,
            key=key,
            start=np.arange(people * each + 1) * 2,
            stops=stops.ravel(),
            person=np.repeat(np.arange(people), each),
            since_us=since.ravel() if times else None,
        )
        found = counter.count(root)
        assert found.values.sum() == people * most
        totals.append(int(found.values[found.cells == 0].sum()))
    variance = people * most * 0.25 * (each - most) / (each - 1)
    # 300 draws estimate a variance within 8% (one standard deviation); 1.6 is seven of them away.
    assert np.var(totals) < 1.6 * variance
    assert abs(np.mean(totals) - people * most / 2) < 6 * np.sqrt(variance / rounds)
