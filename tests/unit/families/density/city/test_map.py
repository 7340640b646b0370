import re
import sys
from pathlib import Path

import numpy as np
import pytest
import shapely

from hushway.families.density.city import describe as paris_describe
from hushway.families.density.city.ground import areas_of, towers_of
from hushway.families.density.city.paris import DensityCity, paris
from hushway.families.density.city.people import GATHERINGS
from hushway.families.density.public.tower_geometry import tower_geometry
from hushway.geography.areas import Areas
from hushway.study.results import print_tables


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


PAGE = Path(__file__).parents[5] / "docs" / "researchers" / "cities.md"


@pytest.fixture(scope="module")
def whole() -> DensityCity:
    # Two million people take half a minute.
    return paris(seed=1)


@pytest.mark.long
def test_the_whole_city_has_the_published_figures(whole: DensityCity) -> None:
    each = np.bincount(whole.visits().person)
    assert len(each) == whole.people == 1_992_846
    assert len(whole.towers) == 1_303
    assert len(whole.areas) == 989
    assert whole.hours == 168
    assert each.min() == 1
    assert each.max() == 732
    assert round(each.mean(), 2) == 13.55
    assert abs(each.std() - 18.33) < 0.05


@pytest.mark.long
def test_towers_close_together_share_what_is_special_about_them(whole: DensityCity) -> None:
    at = np.array([(0.66 * place.lon, place.lat) for place in whole.towers.places])
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    shape = whole.counts / whole.counts.sum(axis=1, keepdims=True)
    special = shape / shape.mean(axis=0) - 1
    special /= np.linalg.norm(special, axis=1, keepdims=True)
    alike = special @ special.T
    rows = np.arange(len(at))
    assert np.median(alike[rows, apart.argmin(axis=1)]) > 0.4
    assert abs(np.median(alike[rows, (rows + 500) % len(at)])) < 0.2


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 2, 12])
def test_a_gathering_is_a_peak_that_no_other_day_has(whole: DensityCity, number: int) -> None:
    gathering = GATHERINGS[number]
    near = np.array([(place.lon, place.lat) for place in whole.towers.places])
    east, north = (near - (2.345, 48.858)).T * [[73_260], [111_200]]
    tower = np.argmin(np.hypot(east - gathering.east_m, north - gathering.north_m))
    day, hour = divmod(gathering.first_hour + 1, 24)
    at_that_hour = whole.counts[tower].reshape(7, 24)[:, hour]
    assert at_that_hour[day] > 2 * np.delete(at_that_hour, day).max()


@pytest.mark.long
def test_no_few_patterns_explain_the_towers(whole: DensityCity) -> None:
    shape = whole.counts / whole.counts.sum(axis=1, keepdims=True)
    strength = np.linalg.svd(shape / shape.mean(axis=0) - 1, compute_uv=False) ** 2
    explained = np.cumsum(strength) / strength.sum()
    assert explained[2] < 0.75
    assert explained[9] < 0.9


@pytest.mark.long
def test_the_page_shows_what_the_command_prints(
    whole: DensityCity, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["paris_describe"])
    print_tables("Paris", lambda seed: paris_describe.tables({1: whole}[seed]))
    for table in capsys.readouterr().out.split("\n\n"):
        assert table.strip() in page
