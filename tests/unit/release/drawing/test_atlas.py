"""What an atlas may hold, and how it is written."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.release.drawing import atlas_files as packing
from hushway.release.drawing.atlas import (
    Atlas,
    AtlasLinks,
    AtlasPeriod,
    AtlasPlaces,
    Download,
    Drawing,
    Flows,
    HiddenLinks,
    Numbers,
    Rings,
    Tree,
)
from hushway.release.drawing.atlas_files import atlas_files
from support.atlases import read_atlas

NOBODY = "A number of nobody."
EVIL = '</script><script>alert(1)</script><!-- "'


def numbers(count: Any, error: Any) -> Numbers:
    return Numbers(count=np.array(count), error=np.array(error, dtype=np.float64), meaning=NOBODY)


def whole(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def places() -> AtlasPlaces:
    return AtlasPlaces(
        ids=["a", "b", EVIL],
        names=["A", "Île", EVIL],
        lon=np.array([1.0, 2.0, 3.0]),
        lat=np.array([10.0, 20.0, 30.0]),
        shapes=Rings(
            lon=np.array([1.0, 1.5, 1.25, 1.0]),
            lat=np.array([10.0, 10.0, 11.0, 10.0]),
            starts=whole(0, 4),
            place=whole(0),
        ),
    )


def drawing() -> Drawing:
    return Drawing(
        counted="trips",
        window="2 March 2026",
        periods=[AtlasPeriod(label="08:00", group="Mon"), AtlasPeriod(label="09:00", group="Mon")],
        places=places(),
        totals=numbers([1, 2, 3, 4, 5, np.nan], [0.5, 1, 1, 1, 1, np.nan]),
        series=numbers([10, 11], [2, 3]),
        flows=Flows(
            origin=whole(0, 1, 2),
            destination=whole(1, 2, 0),
            numbers=numbers([7, 8, 9], [1, np.nan, 2]),
            starts=whole(0, 2, 3),
        ),
        links=AtlasLinks(
            ids=["x"],
            names=[EVIL],
            lon=np.array([1.0, 4.0]),
            lat=np.array([10.0, 10.5]),
            starts=whole(0, 2),
            rank=whole(4),
            link=whole(0),
            numbers=numbers([12.5], [1.25]),
            row_starts=whole(0, 0, 1),
            rest=[HiddenLinks(period=0, label="x", count=1.5, error=2, km=3, km_error=4)],
        ),
        tree=Tree(
            parent=whole(-1, 0),
            place=whole(2, 0),
            period=whole(1, 1),
            numbers=numbers([5, 3], [1, 1]),
        ),
        notes=[EVIL],
    )


def atlas(shown: Drawing | None = None) -> Atlas:
    return Atlas(
        drawing=drawing() if shown is None else shown,
        facts={"title": EVIL, "licence": None},
        sentences={"stamp": None},
        downloads=[Download(path="t.csv", title="T", size=3, sha256="00")],
    )


def test_columns_come_back_as_they_were_aligned_and_apart() -> None:
    read = read_atlas(atlas_files(atlas()))
    assert read.column("flows", "origin").tolist() == [0, 1, 2]
    assert read.column("flows", "starts").tolist() == [0, 2, 3]
    assert read.column("tree", "parent").tolist() == [-1, 0]
    assert read.column("links", "rank").tolist() == [4]
    assert read.column("places", "shapes", "lon").tolist() == [1.0, 1.5, 1.25, 1.0]
    assert read.column("places", "lat").tolist() == [10.0, 20.0, 30.0]
    assert read.facts["bounds"] == [1.0, 10.0, 4.0, 30.0]
    places_taken = sorted(
        (each["at"], each["length"] * int(each["type"][1:])) for each in read.columns()
    )
    assert len(places_taken) == 28
    end = 0
    for at, size in places_taken:
        assert at >= end
        end = at + size
    assert len(read.data) % 8 == 0


def test_what_is_not_told_is_not_a_number_and_never_0() -> None:
    read = read_atlas(atlas_files(atlas()))
    assert np.array_equal(read.column("flows", "error"), [1, np.nan, 2], equal_nan=True)
    assert np.isnan(read.column("totals", "count")[-1])


def test_names_are_data_whatever_they_hold() -> None:
    read = read_atlas(atlas_files(atlas()))
    assert read.facts["title"] == EVIL
    assert read.facts["places"]["names"][2] == EVIL
    assert read.facts["links"]["names"] == [EVIL]
    assert read.facts["downloads"] == [
        {"path": "files/t.csv", "title": "T", "bytes": 3, "sha256": "00"}
    ]


def test_the_same_release_gives_the_same_bytes() -> None:
    assert atlas_files(atlas()) == atlas_files(atlas())


@pytest.mark.parametrize(
    ("count", "kind"),
    [(2**24, "f4"), (2**24 + 1, "f8"), (1234.56, "f4"), (1_234_567.89, "f8"), (np.nan, "f4")],
)
def test_floats_are_short_unless_a_reader_would_see_it(count: float, kind: str) -> None:
    shown = replace(drawing(), series=numbers([count, 1], [1, 1]))
    read = read_atlas(atlas_files(atlas(shown)))
    assert read.facts["series"]["count"]["type"] == kind
    back = read.column("series", "count")[0]
    assert np.isnan(back) if np.isnan(count) else abs(back - count) <= 0.005


def wrong_flows(**changes: Any) -> Any:
    flows = drawing().flows
    assert flows is not None
    return lambda: replace(drawing(), flows=replace(flows, **changes))


def wrong_tree(**changes: Any) -> Any:
    tree = drawing().tree
    assert tree is not None
    return lambda: replace(drawing(), tree=replace(tree, **changes))


WRONG = {
    "a place that is not there": wrong_flows(origin=whole(0, 1, 3)),
    "a place below the first": wrong_flows(destination=whole(0, -1, 2)),
    "uneven columns": wrong_flows(origin=whole(0, 1)),
    "too few starts": wrong_flows(starts=whole(0, 3)),
    "starts that go back": wrong_flows(starts=whole(0, 4, 3)),
    "starts beyond the end": wrong_flows(starts=whole(0, 2, 4)),
    "a parent that comes later": wrong_tree(parent=whole(1, -1)),
    "a parent of itself": wrong_tree(parent=whole(-1, 1)),
    "a parent below the root": wrong_tree(parent=whole(-2, 0)),
    "a period that is not there": wrong_tree(period=whole(0, 2)),
    "no period": lambda: replace(drawing(), periods=[]),
    "totals of other places": lambda: replace(drawing(), totals=numbers([1], [1])),
    "a series of other periods": lambda: replace(drawing(), series=numbers([1], [1])),
    "a count without error": lambda: numbers([1, 2], [1]),
    "a negative count": lambda: numbers([-1], [1]),
    "an endless count": lambda: numbers([np.inf], [1]),
    "a negative error": lambda: numbers([1], [-1]),
    "an endless error": lambda: numbers([1], [np.inf]),
    "a place nowhere": lambda: replace(places(), lon=np.array([1.0, np.nan, 3.0])),
    "a place beyond the earth": lambda: replace(places(), lat=np.array([1.0, 91.0, 3.0])),
    "a place that overflows": lambda: replace(places(), lon=np.array([1.0, 1e300, 3.0])),
    "a name too few": lambda: replace(places(), names=["A"]),
    "a ring of no place": lambda: replace(
        places(),
        shapes=Rings(lon=np.zeros(1), lat=np.zeros(1), starts=whole(0, 1), place=whole(3)),
    ),
    "rings that do not end": lambda: Rings(
        lon=np.zeros(1), lat=np.zeros(1), starts=whole(0, 2), place=whole(0)
    ),
    "a ring to nowhere": lambda: Rings(
        lon=np.array([np.inf]), lat=np.zeros(1), starts=whole(0, 1), place=whole(0)
    ),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_what_a_page_could_trip_over_is_refused(make: Any) -> None:
    with pytest.raises(ReleaseError, match="cannot be drawn"):
        make()


def test_a_release_without_any_position_has_no_bounds() -> None:
    shown = Drawing(counted="x", window="y", periods=[AtlasPeriod(label="z")])
    with pytest.raises(ReleaseError, match="neither places nor roads"):
        atlas_files(atlas(shown))


@pytest.mark.parametrize("limit", ["MOST_COLUMN_BYTES", "MOST_JSON_BYTES"])
def test_more_than_a_page_can_hold_is_refused(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = atlas_files(atlas())
    size = len(files.columns if limit == "MOST_COLUMN_BYTES" else files.atlas)
    monkeypatch.setattr(packing, limit, size)
    atlas_files(atlas())
    monkeypatch.setattr(packing, limit, size - 8)
    with pytest.raises(ReleaseError, match="too large for a page"):
        atlas_files(atlas())


def test_the_json_has_no_number_that_is_none() -> None:
    text = atlas_files(atlas()).atlas.decode()
    assert "NaN" not in text
    json.loads(text, parse_constant=lambda _: pytest.fail("not JSON"))


def test_names_without_end_are_told_by_their_beginning() -> None:
    endless = "x" * 10_000_000
    shown = replace(
        drawing(),
        places=replace(places(), ids=["a", "b", endless], names=["A", endless, "C" * 200]),
        periods=[AtlasPeriod(label=endless, group=endless), AtlasPeriod(label="09:00")],
    )
    whole_sentence = "A sentence of many words. " * 20
    files = atlas_files(
        replace(
            atlas(shown),
            facts={"title": endless},
            sentences={"error": whole_sentence},
            downloads=[Download(path="t.csv", title=endless, size=3, sha256="00")],
        )
    )
    facts = read_atlas(files).facts
    assert facts["places"]["names"] == ["A", "x" * 199 + "…", "C" * 200]
    assert {len(facts["title"]), len(facts["downloads"][0]["title"])} == {200}
    assert facts["error"] == whole_sentence
    assert len(files.atlas) < 5_000
