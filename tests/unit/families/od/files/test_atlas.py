"""The atlas of an OD release says what its tables say, and no more."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hushway
from hushway.errors import ReleaseError
from hushway.families.atlas import atlas_of
from hushway.families.od.files import levels
from hushway.families.od.fit.table import MarginTable, ODTable
from hushway.families.od.public.features import Feature, origins_feature
from hushway.families.write import write_release
from hushway.geography.locations import labels_of_codes
from hushway.release.drawing import atlas_files
from hushway.release.wording import counted_sentence
from support.atlases import ReadAtlas, atlas_in
from support.certificates import UNPROTECTED
from support.od_scenes import small_certificate


def flows_of(atlas: ReadAtlas, labels: list[str]) -> dict[tuple[str, str, str], tuple[Any, Any]]:
    """Returns the count and error of every flow by (period, origin, destination)."""
    ids = atlas.facts["places"]["ids"]
    starts = atlas.column("flows", "starts")[: len(labels) + 1]
    period = np.repeat(np.arange(len(labels)), np.diff(starts))
    columns = ("origin", "destination", "count", "error")
    end = len(period)
    rows = zip(period, *(atlas.column("flows", name)[:end] for name in columns), strict=True)
    return {(labels[at], ids[o], ids[d]): (count, error) for at, o, d, count, error in rows}


@pytest.mark.parametrize("kind", ["table", "sparse_table", "summed", "learnt"])
def test_flows_are_the_rows_above_0(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    table: ODTable = request.getfixturevalue(kind)
    folder = write_release(tmp_path / "release", table=table, certificate=small_certificate(table))
    published = pq.read_table(folder / "trips.parquet").to_pylist()
    expected = {
        (row["period"], row["origin"], row["destination"]): (
            np.float32(row["count"]),
            np.float32(row["standard_error"]),
        )
        for row in published
        if row["count"] > 0
    }
    atlas = atlas_in(folder)
    assert flows_of(atlas, list(table.universe.periods.labels)) == expected
    further = atlas.facts["flows"]["count"]["length"] - len(expected)
    assert (further > 0) == (kind == "learnt")
    parts = ["08:00", "08:30", "09:00", "09:30"]
    shown = [(each["label"], each["whole"]) for each in atlas.facts["periods"]]
    whole = [("whole day", True)] if kind == "learnt" else []
    assert shown == [*((part, False) for part in parts), *whole]
    assert atlas.facts["counted"] == "trips"
    assert atlas.facts["release_type"] == "od"


def test_a_whole_day_is_the_sum_of_its_parts_with_the_error_of_that(learnt_release: Path) -> None:
    atlas, release = atlas_in(learnt_release), hushway.open(learnt_release)
    ids = atlas.facts["places"]["ids"]
    first = int(atlas.column("flows", "starts")[4])
    columns = (atlas.column("flows", name)[first:] for name in ("origin", "destination"))
    numbers = (atlas.column("flows", name)[first:] for name in ("count", "error"))
    for origin, destination, count, error in zip(*columns, *numbers, strict=True):
        asked = release.sum(origins=ids[origin], destinations=ids[destination])
        assert (count, error) == pytest.approx((asked.value, asked.standard_error), abs=1e-3)
    totals = atlas.column("totals", "count").reshape(len(ids), 5)
    assert totals[:, 4].tolist() == totals[:, :4].sum(axis=1).tolist()
    error = atlas.column("totals", "error").reshape(len(ids), 5)[0, 4]
    assert error == pytest.approx(release.sum(origins=ids[0]).standard_error, abs=1e-3)


def test_places_are_where_the_public_list_has_them(release: Path, table: ODTable) -> None:
    atlas = atlas_in(release)
    places = table.universe.locations.places
    assert atlas.facts["places"]["ids"] == [place.id for place in places]
    assert atlas.facts["places"]["names"] == [place.name for place in places]
    assert atlas.column("places", "lon").tolist() == [place.lon for place in places]
    assert atlas.column("places", "lat").tolist() == [place.lat for place in places]
    assert atlas.facts["places"]["shapes"] is None


def test_a_cell_without_a_row_is_told_as_the_release_tells_it(
    release: Path, sparse_table: ODTable, tmp_path: Path
) -> None:
    assert "published as 0" in atlas_in(release).facts["notes"][0]
    sparse = write_release(
        tmp_path / "sparse", table=sparse_table, certificate=small_certificate(sparse_table)
    )
    assert "measured below 20" in atlas_in(sparse).facts["notes"][0]


def with_sums(table: ODTable, feature: Feature, *, learnt: bool) -> ODTable:
    """Returns a table that publishes one more total."""
    sums = np.zeros(feature.size, dtype=np.int64)
    np.add.at(sums, feature.of(table.cells), table.counts)
    margin = MarginTable(
        feature=feature,
        measured=sums + 3,
        standard_error=table.margins[0].standard_error,
        fitted=sums.astype(np.float64),
        errors=2 + np.arange(feature.size) / 4 if learnt else None,
    )
    return replace(table, margins=(*table.margins, margin))


def test_totals_of_origins_are_the_published_ones_with_their_errors(
    learnt: ODTable, tmp_path: Path
) -> None:
    table = with_sums(learnt, origins_feature(learnt.universe), learnt=True)
    folder = write_release(tmp_path / "release", table=table, certificate=small_certificate(table))
    published = {
        (row["pair"], row["period"]): row
        for row in pq.read_table(folder / "margins.parquet").to_pylist()
        if row["published_total"] == "origins"
    }
    universe, atlas = learnt.universe, atlas_in(folder)
    keys = [
        (place, period) for place in universe.locations.ids for period in universe.periods.labels
    ]
    assert len(keys) == len(published)
    count, found = (
        atlas.column("totals", name).reshape(-1, 5)[:, :4].ravel() for name in ("count", "error")
    )
    assert count.tolist() == [published[key]["count"] for key in keys]
    errors = [np.float32(published[key]["standard_error"]) for key in keys]
    assert found.tolist() == errors
    assert len(set(errors)) == len(keys)


def test_sums_of_which_no_error_is_published_are_not_drawn(
    summed: ODTable, summed_release: Path, tmp_path: Path
) -> None:
    table = with_sums(summed, origins_feature(summed.universe), learnt=False)
    folder = write_release(tmp_path / "release", table=table, certificate=small_certificate(table))
    for release in (summed_release, folder):
        facts = atlas_in(release).facts
        assert facts["totals"] is None
        assert facts["series"] is None


def test_the_totals_of_periods_are_the_published_ones(learnt_release: Path) -> None:
    rows = [
        row
        for row in pq.read_table(learnt_release / "margins.parquet").to_pylist()
        if row["published_total"] == "period"
    ]
    atlas = atlas_in(learnt_release)
    count, found = (atlas.column("series", name).tolist() for name in ("count", "error"))
    assert count[:4] == [row["count"] for row in rows]
    assert found[:4] == [np.float32(row["standard_error"]) for row in rows]
    asked = hushway.open(learnt_release).sum()
    assert (count[4], found[4]) == pytest.approx((asked.value, asked.standard_error), abs=1e-3)


def test_a_total_that_only_calls_itself_origins_is_not_taken_for_them(
    learnt: ODTable, tmp_path: Path
) -> None:
    universe = learnt.universe
    _, _, destination = universe.decode(np.arange(universe.pairs, dtype=np.int64))
    labels = labels_of_codes("place", destination.astype(np.int32), universe.locations.ids)
    honest = origins_feature(universe)
    table = with_sums(learnt, replace(honest, pairs=labels), learnt=True)
    folder = write_release(tmp_path / "release", table=table, certificate=small_certificate(table))
    atlas = atlas_in(folder)
    published = hushway.open(folder).sum(origins=universe.locations.ids[0])
    assert atlas.column("totals", "count").reshape(-1, 5)[0, 4] == published.value


def test_the_certificate_speaks_in_the_atlas(table: ODTable, tmp_path: Path) -> None:
    certificate = small_certificate(table, licence="CC-BY-4.0", contact="data@city.example")
    facts = atlas_in(
        write_release(tmp_path / "release", table=table, certificate=certificate)
    ).facts
    assert facts["title"] == certificate.title
    assert facts["id"] == certificate.release_id
    assert facts["digest"] == certificate.digest.removeprefix("sha256:")
    assert facts["claim"].endswith("per person")
    assert facts["error"] == certificate.terms.error
    assert facts["licence"] == "CC-BY-4.0"
    assert facts["contact"] == "data@city.example"
    assert facts["publisher"] == certificate.publisher
    assert facts["stamp"] is None
    assert facts["window"] == "sum of 30 days, 2 to 31 March 2026"
    assert facts["counted_sentence"] == counted_sentence(certificate)
    assert "sum of 30 days, 2 to 31 March 2026" in facts["counted_sentence"]


def test_a_release_that_protects_nobody_carries_its_stamp(table: ODTable, tmp_path: Path) -> None:
    certificate = small_certificate(table, randomness=UNPROTECTED)
    folder = write_release(tmp_path / "release", table=table, certificate=certificate)
    facts = atlas_in(folder).facts
    assert facts["stamp"] == "NOT PRIVATE"
    assert "protects nobody" in facts["guarantee"]


def test_more_flows_than_a_page_can_hold_are_refused_while_they_are_read(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flows = atlas_in(release).facts["flows"]["count"]["length"]
    monkeypatch.setattr(atlas_files, "MOST_COLUMN_BYTES", 16 * flows - 1)
    monkeypatch.setattr(np, "concatenate", lambda *_: pytest.fail("all of them were held"))
    with pytest.raises(ReleaseError, match="too large for a page"):
        atlas_of(release)


def test_flows_of_groups_are_the_sums_of_their_places_with_the_errors_of_that(
    learnt_release: Path, learnt: ODTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = np.array([0, 1, 0, 1, 2])
    monkeypatch.setattr(levels, "nested_clusters", lambda _: (group,))
    atlas, release = atlas_in(learnt_release), hushway.open(learnt_release)
    level = ReadAtlas(atlas.facts["levels"][0], atlas.data)
    ids = np.array(atlas.facts["places"]["ids"])
    assert level.column("group").tolist() == group.tolist()
    starts = level.column("flows", "starts")
    period = np.repeat(np.arange(5), np.diff(starts))
    names = ("origin", "destination", "count", "error")
    for at, *row in zip(period, *(level.column("flows", name) for name in names), strict=True):
        origin, destination, count, error = row
        asked = release.sum(
            origins=list(ids[group == origin]),
            destinations=list(ids[group == destination]),
            periods="*" if at == 4 else learnt.universe.periods.labels[at],
        )
        assert (count, error) == pytest.approx((asked.value, asked.standard_error), abs=1e-2)
    totals = level.column("totals", "count").reshape(3, 5)
    assert totals[:, 4].tolist() == totals[:, :4].sum(axis=1).tolist()
