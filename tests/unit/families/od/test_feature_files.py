from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import HushwayError, PlanError
from hushway.families.load import plan_from
from hushway.families.od.job import asked_features, asked_labels
from hushway.families.od.plan import ODPlan
from hushway.families.od.public.cells import ODCells
from hushway.tables.locations import LocationColumns, read_locations
from support.little_plans import little_plan

PLACES = "id,lon,lat,zone,county\na,0,0,west,north\nb,1,0,west,south\nc,2,0,east,south\n"
PAIRS = "origin,destination,mode\n" + "".join(
    f"{o},{d},{'bus' if o == 'a' else 'walk'}\n" for o in "abc" for d in "abc" if o != d
)
ENDS = {"places": "county", "side": "destination", "each_period": False}


def planned(folder: Path, asked: list[str], **defined: dict[str, Any]) -> ODPlan:
    (folder / "places.csv").write_text(PLACES)
    (folder / "pairs.csv").write_text(PAIRS)
    facts = little_plan("od")
    facts["places"] = {"file": "places.csv", "pairs": "pairs.csv"}
    facts["time"] |= {"opens": "00:00", "closes": "24:00", "minutes": 720}
    facts["mechanism"] = {"name": "cbdp", "published_totals": asked}
    plan = plan_from(facts | {"published_totals": defined}, folder=folder)
    assert isinstance(plan, ODPlan)
    return plan


def cells_of(plan: ODPlan) -> ODCells:
    columns = LocationColumns(labels=asked_labels(plan))
    return ODCells(
        locations=read_locations(plan.folder / "places.csv", columns),
        periods=plan.time.periods(plan.path),
    )


def test_features_are_built_from_the_columns_of_files(tmp_path: Path) -> None:
    plan = planned(tmp_path, ["zones", "ends", "modes"], ends=ENDS)
    cells = cells_of(plan)
    zones, ends, modes = asked_features(plan, cells)
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


def test_the_columns_to_read_are_named_once_and_the_zone_is_always_there(tmp_path: Path) -> None:
    twice = planned(tmp_path, ["zones", "ends", "x", "modes"], ends=ENDS, x={"places": "county"})
    assert asked_labels(twice) == ("county",)
    assert asked_labels(planned(tmp_path, ["zones", "modes"], ends=ENDS)) == ()


@pytest.mark.parametrize("column", [{"places": "state"}, {"pairs": "corridor"}])
def test_a_column_that_is_not_there_is_refused(tmp_path: Path, column: dict[str, str]) -> None:
    cells = cells_of(planned(tmp_path, ["zones"]))
    (name,) = column.values()
    with pytest.raises(HushwayError, match=name):
        asked_features(planned(tmp_path, ["x"], x=column), cells)


@pytest.mark.parametrize("columns", [{}, {"places": "a", "pairs": "b"}])
def test_a_definition_names_exactly_one_column(tmp_path: Path, columns: dict[str, str]) -> None:
    with pytest.raises(PlanError, match="exactly one of places"):
        planned(tmp_path, ["x"], x=columns)
