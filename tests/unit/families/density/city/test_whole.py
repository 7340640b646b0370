import sys
from pathlib import Path

import numpy as np
import pytest

from hushway.families.density.city import describe as paris_describe
from hushway.families.density.city.paris import DensityCity, paris
from hushway.families.density.city.people import GATHERINGS
from hushway.study.results import print_tables

# Two million people take half a minute.
pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[5] / "docs" / "researchers" / "cities.md"


@pytest.fixture(scope="module")
def whole() -> DensityCity:
    return paris(seed=1)


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


@pytest.mark.parametrize("number", [0, 2, 12])
def test_a_gathering_is_a_peak_that_no_other_day_has(whole: DensityCity, number: int) -> None:
    gathering = GATHERINGS[number]
    near = np.array([(place.lon, place.lat) for place in whole.towers.places])
    east, north = (near - (2.345, 48.858)).T * [[73_260], [111_200]]
    tower = np.argmin(np.hypot(east - gathering.east_m, north - gathering.north_m))
    day, hour = divmod(gathering.first_hour + 1, 24)
    at_that_hour = whole.counts[tower].reshape(7, 24)[:, hour]
    assert at_that_hour[day] > 2 * np.delete(at_that_hour, day).max()


def test_no_few_patterns_explain_the_towers(whole: DensityCity) -> None:
    shape = whole.counts / whole.counts.sum(axis=1, keepdims=True)
    strength = np.linalg.svd(shape / shape.mean(axis=0) - 1, compute_uv=False) ** 2
    explained = np.cumsum(strength) / strength.sum()
    assert explained[2] < 0.75
    assert explained[9] < 0.9


def test_the_page_shows_what_the_command_prints(
    whole: DensityCity, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["paris_describe"])
    print_tables("Paris", lambda seed: paris_describe.tables({1: whole}[seed]))
    for table in capsys.readouterr().out.split("\n\n"):
        assert table.strip() in page
