from datetime import date
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.od.job_features import (
    FeatureDefinition,
    build_features,
    pair_columns,
    place_columns,
)
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.pairs import PairLabels, read_pairs
from hushway.geography.periods import Periods
from hushway.tables.locations import LocationColumns, read_locations

PLACES = "id,lon,lat,zone,county\na,0,0,west,north\nb,1,0,west,south\nc,2,0,east,south\n"
PAIRS = "origin,destination,mode\n" + "".join(
    f"{o},{d},{'bus' if o == 'a' else 'walk'}\n" for o in "abc" for d in "abc" if o != d
)
DEFINITIONS = (
    FeatureDefinition(title="zones", place_column="zone"),
    FeatureDefinition(title="ends", place_column="county", side="destination", each_period=False),
    FeatureDefinition(title="modes", pair_column="mode"),
)


@pytest.fixture
def cells(tmp_path: Path) -> ODCells:
    (tmp_path / "places.csv").write_text(PLACES)
    columns = LocationColumns(labels=place_columns(DEFINITIONS))
    return ODCells(
        locations=read_locations(tmp_path / "places.csv", columns),
        periods=Periods(
            zone="UTC",
            first_day=date(2026, 1, 5),
            last_day=date(2026, 1, 5),
            opens=0,
            closes=1440,
            minutes=720,
        ),
    )


@pytest.fixture
def pairs(tmp_path: Path, cells: ODCells) -> dict[str, PairLabels]:
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS)
    return {
        column: read_pairs(file, cells.locations, column=column)
        for column in pair_columns(DEFINITIONS)
    }


def test_features_are_built_from_the_columns_of_files(
    cells: ODCells, pairs: dict[str, PairLabels]
) -> None:
    zones, ends, modes = build_features(DEFINITIONS, cells, pairs)
    first = np.arange(cells.pairs, dtype=np.int64)
    assert [f.title for f in (zones, ends, modes)] == ["zones", "ends", "modes"]
    assert [zones.labels(e)[1] for e in zones.of(first)] == [
        "west → west",
        "west → east",
        "west → west",
        "west → east",
        "east → west",
        "east → west",
    ]
    south, north = "south", "north"
    assert [ends.labels(e)[1] for e in ends.of(first)] == [south, south, north, south, north, south]
    assert [modes.labels(e)[1] for e in modes.of(first)] == ["bus"] * 2 + ["walk"] * 4
    assert (zones.size, ends.size, modes.size) == (6, 2, 4)
    assert ends.labels(0)[0] == ""
    assert modes.labels(3)[0] == "12:00-00:00"


def test_the_columns_to_read_are_named_once_and_the_zone_is_always_there() -> None:
    doubled = (*DEFINITIONS, FeatureDefinition(title="x", place_column="county"))
    assert place_columns(doubled) == ("county",)
    assert pair_columns(doubled) == ("mode",)
    assert place_columns(()) == pair_columns(()) == ()


def test_a_column_that_was_not_read_is_refused(
    cells: ODCells, pairs: dict[str, PairLabels]
) -> None:
    with pytest.raises(GeographyError, match="'state'"):
        build_features([FeatureDefinition(title="x", place_column="state")], cells, pairs)
    with pytest.raises(GeographyError, match="'x' needs the column 'corridor'"):
        build_features([FeatureDefinition(title="x", pair_column="corridor")], cells, pairs)


@pytest.mark.parametrize("columns", [{}, {"place_column": "a", "pair_column": "b"}])
def test_a_definition_names_exactly_one_column(columns: dict[str, str]) -> None:
    with pytest.raises(GeographyError, match="'x' needs"):
        FeatureDefinition(title="x", **columns)
