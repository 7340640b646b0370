"""Atlases of folders that somebody tampered with, or wrote to do harm."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.atlas import atlas_of
from hushway.families.od.fit.table import ODTable
from hushway.families.registry import FAMILIES
from hushway.families.write import write_release
from hushway.geography.locations import Locations
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.atlas_files import atlas_files
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal
from support.atlases import atlas_in
from support.mutations import seal
from support.od_scenes import small_certificate
from support.toy_family import ToyFamily

EVIL = "</script><img src=x onerror=alert(1)>\"'&\u2028<!--"


def test_names_of_places_are_data_and_nothing_else(table: ODTable, tmp_path: Path) -> None:
    places = tuple(
        replace(place, id=f"{EVIL}{place.id}", name=EVIL, zone=EVIL)
        for place in table.universe.locations.places
    )
    odd = replace(table, universe=replace(table.universe, locations=Locations(places)))
    folder = write_release(
        tmp_path / "release", table=odd, certificate=small_certificate(odd, title=EVIL)
    )
    facts = atlas_in(folder).facts
    assert facts["title"] == EVIL
    assert facts["places"]["names"] == [EVIL] * len(places)
    assert facts["places"]["ids"] == [place.id for place in places]


def test_every_file_is_offered_as_it_was_sealed(signed_release: Path) -> None:
    seal = Seal.from_json((signed_release / SEAL).read_bytes())
    offered = {each["path"]: each for each in atlas_in(signed_release).facts["downloads"]}
    for file in seal.files:
        one = offered.pop(f"files/{file.path}")
        assert (one["bytes"], one["sha256"]) == (file.size, file.sha256)
        assert one["title"]
    assert set(offered) == {f"files/{SEAL}", f"files/{SIGNATURE}"}
    assert offered[f"files/{SEAL}"]["bytes"] == (signed_release / SEAL).stat().st_size


def test_the_same_release_is_drawn_with_the_same_bytes(release: Path) -> None:
    assert atlas_files(atlas_of(release)) == atlas_files(atlas_of(str(release)))


def added(folder: Path) -> None:
    (folder / "more.html").write_text("<script>alert(1)</script>")


def changed(folder: Path) -> None:
    (folder / "places.csv").write_bytes((folder / "places.csv").read_bytes() + b"\n")


def linked(folder: Path) -> None:
    path = folder / "places.csv"
    shutil.move(path, folder.parent / "elsewhere.csv")
    path.symlink_to(folder.parent / "elsewhere.csv")


def taken_away(folder: Path) -> None:
    (folder / "trips.csv").unlink()


def unsealed(folder: Path) -> None:
    (folder / SEAL).unlink()


@pytest.mark.parametrize("harm", [added, changed, linked, taken_away, unsealed])
def test_a_folder_that_is_not_as_it_was_sealed_is_not_drawn(
    release: Path, harm: Callable[[Path], None]
) -> None:
    harm(release)
    with pytest.raises(ReleaseError) as caught:
        atlas_of(release)
    assert caught.value.advice


def test_a_folder_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no folder nowhere"):
        atlas_of(tmp_path / "nowhere")


def package(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "datapackage.json"
    facts = json.loads(path.read_bytes())
    change(facts)
    path.write_text(json.dumps(facts), encoding="utf-8")


def other_places(folder: Path) -> None:
    path = folder / "places.csv"
    path.write_bytes(path.read_bytes().replace(b"east", b"west"))


def no_table(folder: Path) -> None:
    (folder / "trips.parquet").write_bytes(b"PAR1 and nothing more PAR1")


def rows_turned(folder: Path) -> None:
    path = folder / "trips.parquet"
    rows = pq.read_table(path)
    pq.write_table(rows.take(np.arange(len(rows))[::-1].copy()), path, compression="zstd")


def odd_threshold(folder: Path) -> None:
    package(folder, lambda facts: facts["table"].update(threshold="0"))


def no_facts(folder: Path) -> None:
    package(folder, lambda facts: facts.pop("table"))


def odd_resources(folder: Path) -> None:
    package(folder, lambda facts: facts.update(resources=[{"path": "trips.csv"}, 7]))


def bare_positions(folder: Path) -> None:
    path = folder / "places.csv"
    path.write_bytes(path.read_bytes().replace(b"42.3", b"nan", 1))


@pytest.mark.parametrize(
    "harm",
    [
        other_places,
        no_table,
        rows_turned,
        odd_threshold,
        no_facts,
        odd_resources,
        bare_positions,
    ],
)
def test_a_folder_that_was_sealed_again_is_refused_with_a_sentence(
    release: Path, harm: Callable[[Path], None]
) -> None:
    harm(release)
    seal(release)
    with pytest.raises(ReleaseError) as caught:
        atlas_of(release)
    assert str(caught.value).endswith(".")


def test_a_release_type_that_cannot_be_drawn_says_so(
    tmp_path: Path, certificate: Certificate
) -> None:
    with pytest.raises(ReleaseError, match="type toy cannot be drawn"):
        ToyFamily().drawing(tmp_path, certificate, {})


def test_every_release_type_of_the_product_can_be_drawn() -> None:
    for family in FAMILIES.values():
        assert type(family).drawing is not ToyFamily.drawing
