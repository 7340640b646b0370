import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from hushway.errors import PlanError
from hushway.families.sequences.city.cards import CardCity, bus, metro
from hushway.families.sequences.study.data import distinct

MAKERS = {"metro": metro, "bus": bus}
LONGEST = {"metro": 90, "bus": 121}
MEAN = {"metro": 4.21, "bus": 5.67}
NAMES = pytest.mark.parametrize("name", ["metro", "bus"])


@pytest.fixture(scope="module")
def whole() -> dict[str, CardCity]:
    return {name: make(seed=3) for name, make in MAKERS.items()}


@pytest.fixture(scope="module")
def small() -> dict[str, CardCity]:
    return {name: make(seed=3, records=20_000) for name, make in MAKERS.items()}


def test_metro_has_the_published_figures(whole: dict[str, CardCity]) -> None:
    city = whole["metro"]
    length = np.diff(city.start)
    assert len(city) == 847_668
    assert len(city.locations) == 68
    assert length.max() == 90
    assert length.min() == 1
    assert round(length.mean(), 2) == 4.21
    assert len(city.locations.zones) == 4


def test_bus_has_the_published_figures(whole: dict[str, CardCity]) -> None:
    city = whole["bus"]
    length = np.diff(city.start)
    assert len(city) == 778_724
    assert len(city.locations) == 944
    assert length.max() == 121
    assert length.min() == 1
    assert round(length.mean(), 2) == 5.67
    assert len(city.locations.zones) == 60


@pytest.mark.one_in(2)
@NAMES
@pytest.mark.parametrize("seed", [0, 7, 2012, 2**63])
@pytest.mark.parametrize("records", [100, 2_500])
def test_smaller_cities_keep_the_longest_record_and_the_mean(
    name: str, seed: int, records: int
) -> None:
    city = MAKERS[name](seed=seed, records=records)
    length = np.diff(city.start)
    assert len(city) == records
    assert len(city.stops) == len(city.seconds) == round(MEAN[name] * records)
    assert length.max() == LONGEST[name]
    assert length.min() >= 1


@NAMES
def test_scale_repeats_the_figures_with_other_people(name: str) -> None:
    one, three = MAKERS[name](seed=5, records=1_000), MAKERS[name](seed=5, scale=3, records=1_000)
    assert len(three) == 3 * len(one)
    assert len(three.stops) == 3 * len(one.stops)
    assert np.array_equal(three.stops[: len(one.stops)], one.stops)
    second = three.stops[len(one.stops) : 2 * len(one.stops)]
    assert not np.array_equal(second, one.stops)
    assert len(np.unique(three.person)) == len(three)


@NAMES
def test_the_same_seed_gives_the_same_city_and_another_seed_another(name: str) -> None:
    one, same, other = (MAKERS[name](seed=seed, records=500) for seed in (5, 5, 6))
    for column in ("start", "stops", "seconds"):
        assert np.array_equal(getattr(one, column), getattr(same, column))
        assert not np.array_equal(getattr(one, column), getattr(other, column))
    assert one.taxonomy.digest == other.taxonomy.digest


@NAMES
def test_times_ascend_within_a_record_and_stay_on_the_day(
    name: str, whole: dict[str, CardCity]
) -> None:
    city = whole[name]
    step = np.diff(city.seconds)
    step[city.start[1:-1] - 1] = 1
    assert step.min() > 0
    assert city.seconds.min() >= 5 * 3_600
    assert city.seconds.max() < 86_400
    assert np.array_equal(city.minutes, city.seconds // 60)
    assert city.day == date(2026, 3, 3)


@NAMES
def test_every_stop_lies_on_one_line_and_is_used(name: str, whole: dict[str, CardCity]) -> None:
    city = whole[name]
    (line,) = city.taxonomy.levels
    assert line.column == "line"
    assert [line.names[code] for code in line.codes] == [p.zone for p in city.locations.places]
    assert (np.bincount(city.stops, minlength=len(city.locations)) > 0).all()


@NAMES
def test_commuters_go_there_and_come_back(name: str, whole: dict[str, CardCity]) -> None:
    city = whole[name]
    four = city.start[:-1][np.diff(city.start) == 4]
    first, second, third, last = (city.stops[four + place] for place in range(4))
    mirrored = (first == last) & (second == third) & (first != second)
    assert mirrored.mean() > 0.5


@NAMES
def test_the_three_hundredth_busiest_record_stands_well_above_noise(
    name: str, whole: dict[str, CardCity]
) -> None:
    city = whole[name]
    busiest = np.sort(distinct(city.start, city.stops).weights)[::-1]
    assert busiest[300] > 100
    # And yet most distinct records belong to one card alone.
    assert np.mean(busiest == 1) > 0.5


def test_bus_riders_change_lines_where_the_lines_meet(whole: dict[str, CardCity]) -> None:
    city = whole["bus"]
    line = city.taxonomy.levels[0].codes
    inside = np.ones(len(city.stops), dtype=bool)
    inside[city.start[:-1]] = False
    crossing = np.flatnonzero(inside & (line[city.stops] != line[np.roll(city.stops, 1)]))
    here = np.array([(p.lon, p.lat) for p in city.locations.places])
    gap = np.hypot(*(here[city.stops[crossing]] - here[city.stops[crossing - 1]]).T)
    # Most changes of line lead over less than a hundredth of a degree: about a kilometre.
    assert len(crossing) > 100_000
    assert np.mean(gap < 0.01) > 0.7


def test_arrays_cannot_be_written_to(small: dict[str, CardCity]) -> None:
    with pytest.raises(ValueError, match="read-only"):
        small["metro"].stops[0] = 1


@NAMES
def test_written_taps_read_back_as_the_records(
    name: str, small: dict[str, CardCity], tmp_path: Path
) -> None:
    city = small[name]
    city.write(tmp_path / name)
    table = pyarrow.parquet.read_table(tmp_path / name / "taps.parquet")
    assert table.column_names == ["person", "place", "time"]
    assert table.schema.field("time").type.tz is None
    person = table["person"].to_numpy()
    time = table["time"].to_numpy().astype("datetime64[s]")
    stop = np.array([city.locations.index[key] for key in table["place"].to_pylist()])
    assert (np.diff(time).astype(np.int64) >= 0).all()
    order = np.lexsort((time, person))
    assert np.array_equal(stop[order], city.stops)
    assert np.array_equal(person[order], city.person_of_stop)
    midnight = np.datetime64("2026-03-03", "s")
    assert np.array_equal((time[order] - midnight).astype(np.int64), city.seconds)
    lines = (tmp_path / name / "places.csv").read_text().splitlines()
    assert lines[0] == "id,name,lon,lat,zone"
    assert len(lines) == len(city.locations) + 1
    assert lines[1].endswith(city.locations.places[0].zone)


def test_a_city_that_is_not_written_does_not_load_pyarrow() -> None:
    program = (
        "import sys; from hushway.families.sequences.city.cards import metro; "
        "metro(seed=1, records=100); sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@NAMES
@pytest.mark.parametrize("sizes", [{"seed": -1}, {"scale": 0}, {"records": 99}])
def test_sizes_out_of_range_are_refused_with_advice(name: str, sizes: dict[str, Any]) -> None:
    with pytest.raises(PlanError) as refusal:
        MAKERS[name](**{"seed": 1, **sizes})
    assert refusal.value.advice
