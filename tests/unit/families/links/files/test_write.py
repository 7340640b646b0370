import dataclasses
import json
from collections.abc import Callable
from filecmp import cmp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.periods import Cycle, Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.measured import Internal
from hushway.release.folder.seal import files_of
from support.long import often

Build = Callable[..., LinkTable]
Certify = Callable[..., Certificate]
Spoil = Callable[[LinkTable], Any]

ALWAYS = [
    "certificate.html",
    "certificate.json",
    "croissant.json",
    "datapackage.json",
    "gmns/config.csv",
    "gmns/link.csv",
    "gmns/node.csv",
    "label.yaml",
    "links.geo.parquet",
    "links.geojson",
    "links.parquet",
    "mobilitydcat-ap.jsonld",
    "nodes.parquet",
    "periods.csv",
    "picture.png",
    "rest.csv",
    "roads.parquet",
    "seal.json",
    "zones.csv",
]


def test_a_release_holds_its_files(plain_release: Path, fast_release: Path) -> None:
    assert sorted(files_of(plain_release)) == sorted([*ALWAYS, "measured_classes.csv"])
    assert sorted(files_of(fast_release)) == sorted([*ALWAYS, "gmns/link_measurement.csv"])


def test_the_same_release_gives_the_same_bytes(
    tmp_path: Path, plain_release: Path, links: LinkTable, certify_links: Certify
) -> None:
    again = write_release(tmp_path / "r", table=links, certificate=certify_links(links))
    for name in files_of(plain_release):
        assert cmp(again / name, plain_release / name, shallow=False), name


def test_the_data_package_tells_the_facts(plain_release: Path, links: LinkTable) -> None:
    package = json.loads((plain_release / "datapackage.json").read_bytes())
    assert package["table"] == {
        "links": 47,
        "nodes": 16,
        "periods": 1,
        "zones": 2,
        "published_rows": len(links.link),
        "published_links": len(links.link),
        "threshold": links.threshold,
        "speeds": False,
        "classes_measured": True,
        "noise": dict(links.noise),
        "fit": {"rounds": 7, "gap": 0.25},
    }
    assert package["omitted"] == []


def test_the_data_package_names_the_columns_of_every_table(
    plain_release: Path, fast_release: Path
) -> None:
    for release in (plain_release, fast_release):
        package = json.loads((release / "datapackage.json").read_bytes())
        tables = [each for each in package["resources"] if each["format"] == "csv"]
        assert len(tables) == 7
        for table in tables:
            header = (release / table["path"]).read_text().splitlines()[0]
            fields = [field["name"] for field in table["schema"]["fields"]]
            assert fields == header.split(","), table["path"]


def test_large_maps_have_no_text(
    tmp_path: Path, links: LinkTable, certify_links: Certify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.links.files.geo.MOST_GEOJSON_NUMBERS", 5)
    folder = write_release(tmp_path / "r", table=links, certificate=certify_links(links))
    assert "links.geojson" not in files_of(folder)
    package = json.loads((folder / "datapackage.json").read_bytes())
    assert [each["path"] for each in package["omitted"]] == ["links.geojson"]
    assert verify(folder).passed


@pytest.mark.parametrize(
    ("cycle", "parts", "share"),
    often([("day", 1, 0.0), ("week", 2, 0.3), ("window", 24, 1.0)]),
)
@pytest.mark.parametrize("measured", [True, False])
def test_links_of_every_kind_verify(
    tmp_path: Path,
    build: Build,
    certify_links: Certify,
    *,
    streets: Callable[..., LinkUniverse],
    parts_of_days: Callable[..., Periods],
    cycle: Cycle,
    parts: int,
    share: float,
    measured: bool,
) -> None:
    universe = streets(3, parts_of_days(parts, cycle))
    table = build(universe, speeds=measured, classes=measured, share=share)
    folder = write_release(tmp_path / "r", table=table, certificate=certify_links(table))
    assert verify(folder).passed


def put(table: LinkTable, name: str, value: float, row: int = 0) -> LinkTable:
    column = getattr(table, name).copy()
    column[row] = value
    return dataclasses.replace(table, **{name: column})


class FullerRoads:
    """Looks like roads, and knows more."""

    def __init__(self, roads: RoadNetwork) -> None:
        self._roads = roads

    def __getattr__(self, name: str) -> Any:
        return getattr(self._roads, name)


def with_fuller_roads(table: LinkTable) -> LinkTable:
    universe = dataclasses.replace(table.universe, roads=FullerRoads(table.universe.roads))
    return dataclasses.replace(table, universe=universe)


def in_zones(table: LinkTable, zone: Any, zones: Any = ("east", "west")) -> LinkTable:
    universe = dataclasses.replace(table.universe, zone=zone, zones=zones)
    return dataclasses.replace(table, universe=universe)


def with_speeds(table: LinkTable, speed: Any, error: Any) -> LinkTable:
    return dataclasses.replace(table, speed=speed, speed_error=error)


def speeds(table: LinkTable, first: float) -> Any:
    column = np.full(len(table.link), 9.5)
    column[0] = first
    return column


NAN = float("nan")
SPOILT: dict[str, Spoil] = {
    "internal": Internal,
    "internal counts": lambda t: dataclasses.replace(t, counts=Internal(t.counts)),
    "no universe": lambda t: dataclasses.replace(t, universe="Porto"),
    "fuller roads": with_fuller_roads,
    "negative zones": lambda t: in_zones(t, t.universe.zone - 1),
    "float zones": lambda t: in_zones(t, t.universe.zone.astype(float)),
    "zones without names": lambda t: in_zones(t, t.universe.zone, (1, 2)),
    "listed zones": lambda t: in_zones(t, t.universe.zone, ["east", "west"]),
    "float links": lambda t: dataclasses.replace(t, link=t.link.astype(float)),
    "a link too few": lambda t: dataclasses.replace(t, link=t.link[1:]),
    "float periods": lambda t: dataclasses.replace(t, period=t.period.astype(float)),
    "a period outside": lambda t: put(t, "period", 1, -1),
    "a negative period": lambda t: put(t, "period", -1),
    "a link outside": lambda t: put(t, "link", 47, -1),
    "a negative link": lambda t: put(t, "link", -1),
    "out of order": lambda t: put(t, "link", 46),
    "a link twice": lambda t: put(t, "link", int(t.link[1])),
    "whole counts": lambda t: dataclasses.replace(t, counts=t.counts.astype(np.int64)),
    "square counts": lambda t: dataclasses.replace(t, counts=t.counts[:, None]),
    "other errors": lambda t: dataclasses.replace(t, standard_error=t.standard_error[1:]),
    "a count of 0": lambda t: put(t, "counts", 0.0),
    "a negative count": lambda t: put(t, "counts", -0.01),
    "no number": lambda t: put(t, "counts", NAN),
    "endless": lambda t: put(t, "counts", float("inf")),
    "huge": lambda t: put(t, "counts", 1e14),
    "thousandths": lambda t: put(t, "counts", 1.005),
    "an error of 0": lambda t: put(t, "standard_error", 0.0),
    "no error": lambda t: put(t, "standard_error", NAN),
    "thousandths of errors": lambda t: put(t, "standard_error", 1.001),
    "speeds without errors": lambda t: with_speeds(t, speeds(t, 9.5), None),
    "errors without speeds": lambda t: with_speeds(t, None, speeds(t, 9.5)),
    "a speed without an error": lambda t: with_speeds(t, speeds(t, 9.5), speeds(t, NAN)),
    "a speed of 0": lambda t: with_speeds(t, speeds(t, 0.0), speeds(t, 1.0)),
    "an endless speed": lambda t: with_speeds(t, speeds(t, float("inf")), speeds(t, 1.0)),
    "hundredths of speeds": lambda t: with_speeds(t, speeds(t, 9.55), speeds(t, 1.0)),
    "a speed too few": lambda t: with_speeds(t, speeds(t, 9.5)[1:], speeds(t, 1.0)[1:]),
    "measured floats": lambda t: dataclasses.replace(t, class_totals=t.class_totals.astype(float)),
    "a group too few": lambda t: dataclasses.replace(t, class_totals=t.class_totals[1:]),
    "huge groups": lambda t: put(t, "class_totals", 2**62),
    "a threshold of numpy": lambda t: dataclasses.replace(t, threshold=np.float64(3)),
    "an endless threshold": lambda t: dataclasses.replace(t, threshold=float("inf")),
    "an internal threshold": lambda t: dataclasses.replace(t, threshold=Internal(3.0)),
    "diagnostics": lambda t: dataclasses.replace(t, diagnostics={"truth": Internal(3)}),
    "odd diagnostics": lambda t: dataclasses.replace(t, diagnostics={"gap": np.float64(3)}),
}


@pytest.mark.parametrize("name", SPOILT)
def test_only_published_links_leave_the_building(
    tmp_path: Path, links: LinkTable, certify_links: Certify, name: str
) -> None:
    with pytest.raises(PrivacyError):
        write_release(tmp_path / "r", table=SPOILT[name](links), certificate=certify_links(links))
    assert not (tmp_path / "r").exists()


def test_too_many_counts_are_refused(
    tmp_path: Path, links: LinkTable, certify_links: Certify, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.links.files.check.MOST_CELLS", 46)
    with pytest.raises(PrivacyError, match="at most 46 counts"):
        write_release(tmp_path / "r", table=links, certificate=certify_links(links))


def test_roads_that_could_not_be_read_back_are_refused(
    tmp_path: Path, certify_links: Certify, links: LinkTable
) -> None:
    roads = links.universe.roads
    spoilt = roads.lon.copy()
    spoilt[1] = NAN
    roads = dataclasses.replace(roads, lon=spoilt)
    table = dataclasses.replace(links, universe=dataclasses.replace(links.universe, roads=roads))
    with pytest.raises(ReleaseError, match="would not be the same"):
        write_release(tmp_path / "r", table=table, certificate=certify_links(table))
