"""Releases whose names a spreadsheet would run, in every family's CSV files."""

import csv
import dataclasses
import json
from pathlib import Path

import pytest

from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.locations import Locations
from hushway.release.untrusted.limits import is_risky
from support.forging import failed, sentence
from support.mutations import seal
from support.od_scenes import small_certificate

IDS = ("=1+1", "-5", "'=1+1", "@x, y", "+a")


@pytest.fixture
def risky_release(table: ODTable, tmp_path: Path) -> Path:
    old = table.universe
    places = tuple(
        dataclasses.replace(place, id=key, name=f"{key} station", zone=f"={key}")
        for place, key in zip(old.locations.places, IDS, strict=True)
    )
    universe = ODCells(
        locations=Locations(places), periods=old.periods, include_intrazonal=old.include_intrazonal
    )
    named = dataclasses.replace(table, universe=universe)
    return write_release(tmp_path / "risky", table=named, certificate=small_certificate(named))


def cells_of(folder: Path) -> list[str]:
    found = []
    for path in folder.rglob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found += [cell for row in csv.reader(file) for cell in row]
    return found


def test_no_cell_of_a_release_is_run_and_the_release_verifies(risky_release: Path) -> None:
    cells = cells_of(risky_release)
    assert {"'=1+1", "''=1+1", "'@x, y", "'+a", "-5"} <= set(cells)
    for cell in cells:
        assert cell.startswith("'") or not is_risky(cell) or float(cell) < 0
    assert verify(risky_release).passed


def test_the_data_package_says_what_the_quote_is(risky_release: Path) -> None:
    package = json.loads((risky_release / "datapackage.json").read_text())
    for resource in package["resources"]:
        for field in resource.get("schema", {}).get("fields", ()):
            said = "keeps spreadsheets from running" in field["description"]
            is_text = resource["format"] == "csv" and field["type"] == "string"
            assert said == is_text, (resource["path"], field["name"])


@pytest.mark.parametrize("file", ["trips.csv", "flowmap/flows.csv"])
@pytest.mark.parametrize(("old", "new"), [("'+a", "+a"), ("-5", "'-5")])
def test_a_table_that_a_spreadsheet_would_run_does_not_verify(
    risky_release: Path, file: str, old: str, new: str
) -> None:
    path = risky_release / file
    text = path.read_text(encoding="utf-8")
    assert f'"{old}",' in text
    path.write_text(text.replace(f'"{old}",', f'"{new}",'), encoding="utf-8")
    seal(risky_release)
    found = verify(risky_release)
    assert "formats" in failed(found)
    assert f"{file} does not hold what" in sentence(found, "formats")
