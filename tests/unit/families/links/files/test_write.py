import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.families.links.fit.table import LinkTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.periods import Cycle
from support.link_scenes import links_certificate, links_of, parts_of_days, streets_of
from support.long import often


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
    assert [each["path"] for each in package["omitted"]] == ["noisy_answers.parquet"]


@pytest.mark.parametrize(
    ("cycle", "parts", "share"), often([("day", 1, 0.0), ("week", 2, 0.3), ("window", 24, 1.0)])
)
@pytest.mark.parametrize("measured", [True, False])
def test_links_of_every_kind_verify(
    tmp_path: Path, *, cycle: Cycle, parts: int, share: float, measured: bool
) -> None:
    universe = streets_of(3, parts_of_days(parts, cycle))
    table = links_of(universe, speeds=measured, classes=measured, share=share)
    folder = write_release(tmp_path / "r", table=table, certificate=links_certificate(table))
    assert verify(folder).passed


def test_roads_that_could_not_be_read_back_are_refused(tmp_path: Path, links: LinkTable) -> None:
    roads = links.universe.roads
    spoilt = roads.lon.copy()
    spoilt[1] = np.nan
    roads = dataclasses.replace(roads, lon=spoilt)
    table = dataclasses.replace(links, universe=dataclasses.replace(links.universe, roads=roads))
    with pytest.raises(ReleaseError, match="would not be the same"):
        write_release(tmp_path / "r", table=table, certificate=links_certificate(table))
