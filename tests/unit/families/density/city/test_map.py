import re

import numpy as np
import pytest
import shapely

from hushway.families.density.city.ground import areas_of, towers_of
from hushway.families.density.public.tower_geometry import tower_geometry
from hushway.geography.areas import Areas


@pytest.fixture(scope="module")
def areas() -> Areas:
    return areas_of(989)


def test_areas_partition_an_oval_and_neighbours_have_the_same_corners(areas: Areas) -> None:
    assert len(areas) == 989
    assert {shape.geom_type for shape in areas.shapes} == {"Polygon"}
    assert shapely.is_valid(areas.shapes).all()
    assert shapely.coverage_is_valid(areas.shapes)
    whole = shapely.union_all(areas.projected)
    assert whole.geom_type == "Polygon"
    assert not whole.interiors
    assert abs(whole.area - areas.sizes.sum()) < 1.0
    assert abs(whole.area / 1e6 - 105) < 2


def test_areas_are_small_in_the_middle_and_large_at_the_edge(areas: Areas) -> None:
    out = np.hypot(*areas.centres.T)
    middle, edge = areas.sizes[out < 3_000], areas.sizes[out > 5_000]
    assert np.median(middle) < 0.6 * np.median(edge)
    assert areas.sizes.max() > 5 * np.median(areas.sizes)


def test_ids_name_district_quarter_and_area(areas: Areas) -> None:
    assert areas.ids[0] == "751010101"
    assert list(areas.ids) == sorted(areas.ids)
    assert all(re.fullmatch(r"751(0[1-9]|1\d|20)0[1-4]\d\d", key) for key in areas.ids)
    assert len({area.name for area in areas.areas}) == 989


def test_the_most_areas_still_have_ids_of_the_same_length() -> None:
    assert {len(key) for key in areas_of(2_500).ids} == {9}


@pytest.mark.parametrize("count", [10, 40, 300])
def test_fewer_areas_partition_the_same_ground(count: int) -> None:
    fewer = areas_of(count)
    assert len(fewer) == count
    assert shapely.coverage_is_valid(fewer.shapes)
    assert abs(fewer.sizes.sum() / 1e6 - 105) < 2


def test_towers_and_areas_have_about_the_published_cover(areas: Areas) -> None:
    towers, position_m = towers_of(1_303)
    assert len(towers) == len(position_m) == 1_303
    # Towers outside would be refused.
    geometry = tower_geometry(areas, towers, "refuse")
    assert len(np.unique(geometry.site)) == 1_303
    assert abs(len(geometry.cover) - 826) <= 10
    # As published: areas in the middle, cells of towers towards the edge.
    out = np.hypot(*geometry.cover.centres.T)
    assert np.median(out[geometry.cover.is_site]) > np.median(out[~geometry.cover.is_site]) + 500


@pytest.mark.parametrize("count", [20, 60])
def test_few_towers_are_inside_too(count: int) -> None:
    towers, _ = towers_of(count)
    geometry = tower_geometry(areas_of(40), towers, "refuse")
    assert len(np.unique(geometry.site)) == count
    assert all(re.fullmatch(r"District \d+", zone) for zone in towers.zones)
