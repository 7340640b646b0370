import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.periods import Cycle, Periods
from hushway.privacy.certificate import Certificate
from hushway.release.folder.seal import files_of
from support.long import often

Build = Callable[..., LinkTable]
Certify = Callable[..., Certificate]
Spoil = Callable[[LinkTable], Any]

ALWAYS = [
    "README.md",
    "certificate.html",
    "certificate.json",
    "croissant.json",
    "datapackage.json",
    "gmns/config.csv",
    "gmns/link.csv",
    "gmns/node.csv",
    "index.html",
    "label.yaml",
    "map.gpkg",
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
    "tables.xlsx",
    "zones.csv",
]


def test_a_release_holds_its_files(plain_release: Path, fast_release: Path) -> None:
    assert sorted(files_of(plain_release)) == sorted([*ALWAYS, "measured_classes.csv"])
    assert sorted(files_of(fast_release)) == sorted([*ALWAYS, "gmns/link_measurement.csv"])


def test_the_data_package_tells_the_facts(plain_release: Path, links: LinkTable) -> None:
    package = json.loads((plain_release / "datapackage.json").read_bytes())
    assert "of the travellers stand in links" in package["table"].pop("known")
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
    spoilt[1] = np.nan
    roads = dataclasses.replace(roads, lon=spoilt)
    table = dataclasses.replace(links, universe=dataclasses.replace(links.universe, roads=roads))
    with pytest.raises(ReleaseError, match="would not be the same"):
        write_release(tmp_path / "r", table=table, certificate=certify_links(table))
