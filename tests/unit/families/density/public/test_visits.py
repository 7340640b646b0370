"""What can be asked about visits, and how far one person can move the answers."""

from datetime import date
from typing import Any

import numpy as np
import pytest
import shapely

from hushway.arrays import IntArray
from hushway.errors import GeographyError
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    SiteHistogram,
    VisitLimits,
    VisitTotal,
)
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.privacy.bound import Bound
from support.windows import window

QUANTA = 60


def small_universe(days: int = 1) -> DensityUniverse:
    areas = Areas(
        areas=tuple(
            Area(
                id=f"{column}-{row}",
                name="",
                shape=shapely.box(column / 100, row / 100, (column + 1) / 100, (row + 1) / 100),
            )
            for row in range(4)
            for column in range(5)
        )
    )
    places = np.random.default_rng(4).uniform(0.001, 0.999, (25, 2)) * [0.05, 0.04]
    towers = tuple(
        Location(id=f"t{i}", name="", lon=float(lon), lat=float(lat), zone="")
        for i, (lon, lat) in enumerate(places)
    )
    periods = window(date(2026, 1, 5), date(2026, 1, 4 + days), minutes=240, cycle="window")
    return density_universe(areas, periods, Locations(towers))


UNIVERSE = small_universe()


def clusters(count: int) -> IntArray:
    return np.arange(len(UNIVERSE.cover), dtype=np.int64) % count


def answer(cells: ClusterSeries | ClusterTotals, visits: list[tuple[int, int]]) -> IntArray:
    """The exact answer to one person's visits (site, bin), by the plainest reading."""
    found = np.zeros(cells.size, dtype=np.int64)
    for at_site, at_bin in visits:
        for cluster, site, parts in zip(*cells.parts, strict=True):
            if site == at_site:
                series = isinstance(cells, ClusterSeries)
                found[cluster * UNIVERSE.bins + at_bin if series else cluster] += parts
    return found


@pytest.mark.parametrize("kind", [ClusterSeries, ClusterTotals])
@pytest.mark.parametrize("count", [1, 3, 9])
@pytest.mark.parametrize("most", [1, 4, 99])
def test_nobody_moves_an_answer_further_than_its_reach(
    kind: type[ClusterSeries | ClusterTotals], count: int, most: int
) -> None:
    cells = kind(universe=UNIVERSE, cluster=clusters(count), quanta=QUANTA)
    reach = cells.reach(VisitLimits(max_visits=most, max_visits_in_total=1))
    rng = np.random.default_rng(count)
    for _ in range(20):
        bins = rng.permutation(UNIVERSE.bins)[:most]
        visits = [(int(rng.integers(UNIVERSE.site_count)), int(each)) for each in bins]
        moved = answer(cells, visits)
        assert moved.sum() == len(visits) * QUANTA <= reach.total
        assert moved.max() <= reach.each
        assert (moved > 0).sum() <= reach.cells


def test_the_reach_of_a_series_can_be_met() -> None:
    every = clusters(len(UNIVERSE.cover))
    cells = ClusterSeries(universe=UNIVERSE, cluster=every, quanta=QUANTA)
    reach = cells.reach(VisitLimits(max_visits=99, max_visits_in_total=1))
    widest = int(np.bincount(cells.parts[1]).argmax())
    moved = answer(cells, [(widest, each) for each in range(UNIVERSE.bins)])
    assert reach.cells == np.count_nonzero(moved)
    assert reach.total == moved.sum()
    assert cells.parts[2].max() <= reach.each


@pytest.mark.parametrize("kind", [ClusterSeries, ClusterTotals])
def test_the_reach_does_not_tell_how_cells_are_clustered(
    kind: type[ClusterSeries | ClusterTotals],
) -> None:
    limits = VisitLimits(max_visits=5, max_visits_in_total=1)
    reaches = {
        kind(universe=UNIVERSE, cluster=clusters(count), quanta=QUANTA).reach(limits)
        for count in (1, 2, len(UNIVERSE.cover))
    }
    assert len(reaches) == 1


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_parts_of_every_site_add_up_to_one_visit(count: int) -> None:
    cells = ClusterSeries(universe=UNIVERSE, cluster=clusters(count), quanta=QUANTA)
    cluster, site, parts = cells.parts
    assert np.bincount(site, weights=parts).tolist() == [QUANTA] * UNIVERSE.site_count
    assert cluster.max() < count == cells.clusters
    assert cells.size == count * UNIVERSE.bins


def test_a_histogram_and_a_total_are_moved_by_their_limits() -> None:
    limits = VisitLimits(max_visits=30, max_visits_in_total=12)
    histogram = SiteHistogram(universe=UNIVERSE)
    assert histogram.size == UNIVERSE.site_count
    sites, parts = UNIVERSE.site_count, PERSON_PARTS
    assert histogram.reach(limits) == (sites, parts, parts)
    # All visits at one site are the worst: as if one visit of each person were drawn.
    assert Bound(**histogram.reach(limits)._asdict()).l2_squared == parts**2
    total = VisitTotal(universe=UNIVERSE)
    assert total.size == 1
    assert total.reach(limits) == (1, 12, 12)


@pytest.mark.parametrize(
    "cluster",
    [
        clusters(3)[:-1],
        clusters(3) + 1,
        clusters(3) * 2,
        clusters(3).astype(np.float64),
        clusters(3) - 1,
    ],
)
@pytest.mark.parametrize("kind", [ClusterSeries, ClusterTotals])
def test_clusters_that_are_not_numbered_are_refused(
    kind: type[ClusterSeries | ClusterTotals], cluster: IntArray
) -> None:
    with pytest.raises(GeographyError, match="numbered from 0"):
        kind(universe=UNIVERSE, cluster=cluster, quanta=QUANTA)


@pytest.mark.parametrize("wrong", [(0, 1), (1, 0), (1.5, 1), (True, 1)])
def test_limits_are_whole_numbers_above_zero(wrong: tuple[int, int]) -> None:
    with pytest.raises(GeographyError, match="whole numbers") as caught:
        VisitLimits(max_visits=wrong[0], max_visits_in_total=wrong[1])
    assert caught.value.advice


def test_every_question_has_a_digest_of_its_own() -> None:
    other = small_universe(days=2)
    questions: list[Any] = [
        ClusterSeries(universe=UNIVERSE, cluster=clusters(3), quanta=QUANTA),
        ClusterSeries(universe=UNIVERSE, cluster=clusters(3), quanta=QUANTA + 1),
        ClusterSeries(universe=UNIVERSE, cluster=clusters(4), quanta=QUANTA),
        ClusterSeries(universe=other, cluster=clusters(3), quanta=QUANTA),
        ClusterTotals(universe=UNIVERSE, cluster=clusters(3), quanta=QUANTA),
        SiteHistogram(universe=UNIVERSE),
        VisitTotal(universe=UNIVERSE),
    ]
    assert len({question.digest for question in questions}) == len(questions)
    assert len({question.name for question in questions}) == 4
