from datetime import date
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.families.od.fit.cbdp import LazyCells
from hushway.families.od.fit.projection.problem import CellSource
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import Groups, groups_of
from hushway.families.od.public.features import pair_feature, place_pair_labels
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource

LAW = DiscreteLaplace(Fraction(2))
ZONES = ["a", "b", "c"] * 4


def cells() -> ODCells:
    places = (
        Location(id=str(i), name="", lon=0.0, lat=0.0, zone=zone) for i, zone in enumerate(ZONES)
    )
    day = date(2024, 1, 15)
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=480, closes=720, minutes=60)
    return ODCells(locations=Locations(tuple(places)), periods=periods)


def measured(universe: ODCells, groups: Groups | None) -> MeasuredSparse:
    occupied = np.array([7, 100, 500])
    vector = LazyVector(
        law=LAW,
        size=universe.size,
        cells=occupied,
        counts=np.array([40, 50, 60]),
        source=SeededSource(3),
        groups=groups,
    )
    bound = Bound(cells=1, each=1, total=1)
    return MeasuredSparse(
        query=Query(name="trips", cells=universe),
        variance=LAW.variance,
        event=LaplaceEvent(query="trips", cells=universe.size, bound=bound, scale=LAW.scale),
        vector=vector,
        groups=groups,
    )


def grouped() -> tuple[ODCells, Groups]:
    universe = cells()
    zones = place_pair_labels(universe, "zone", ZONES)
    return universe, groups_of(universe, [pair_feature(universe, "zones", zones)])


def test_cells_come_by_group_then_largest_first_then_by_number() -> None:
    universe, groups = grouped()
    source: CellSource = LazyCells(measured=measured(universe, groups), groups=groups)
    thresholds = np.arange(groups.count) % 7 - 3
    found = source.above(thresholds)
    group = np.repeat(np.arange(groups.count), np.diff(found.start))
    assert (groups.of(found.cells) == group).all()
    assert (found.values >= thresholds[group]).all()
    keys = list(zip(group.tolist(), (-found.values).tolist(), found.cells.tolist(), strict=True))
    assert keys == sorted(keys)
    assert len(set(found.cells.tolist())) == len(found.cells) == found.start[-1]
    values = found.values.tolist()
    assert any(one == other for one, other in pairwise(values))


def test_lower_thresholds_show_the_same_cells_and_more() -> None:
    universe, groups = grouped()
    source = LazyCells(measured=measured(universe, groups), groups=groups)
    before: dict[int, int] = {}
    for threshold in (8, 3, 0, -4, -400):
        found = source.above(np.full(groups.count, threshold))
        now = dict(zip(found.cells.tolist(), found.values.tolist(), strict=True))
        assert before.items() <= now.items()
        before = now
    assert sorted(before) == list(range(universe.size))


def test_sizes_are_those_of_the_groups() -> None:
    universe, groups = grouped()
    source = LazyCells(measured=measured(universe, groups), groups=groups)
    assert source.sizes.tolist() == groups.sizes.tolist()
    assert source.sizes.sum() == universe.size


def test_a_measurement_by_other_groups_or_none_is_refused() -> None:
    universe, groups = grouped()
    for other in (None, groups_of(universe, [])):
        with pytest.raises(PrivacyError, match="not measured by the groups"):
            LazyCells(measured=measured(universe, other), groups=groups)
