"""Features, pairs and sums as files that can be read back."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.od.files import features as features_module
from hushway.families.od.files import margins as margins_module
from hushway.families.od.files.adds_up import PublishedSums, published_sums, sums_of_rows
from hushway.families.od.files.features import (
    features_json,
    pair_columns,
    read_features,
    read_pairs,
    write_pairs,
)
from hushway.families.od.files.margins import margins_csv, read_margins, write_margins
from hushway.families.od.files.omx import matrix_names
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    origins_feature,
    pair_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import Labels, labels_of_codes
from hushway.geography.periods import Periods

AWKWARD = ("a,b", 'say "hi"', "two\nlines", "ünï → x", " spaced ", "NULL", "07")


def features_of(table: ODTable) -> tuple[Feature, ...]:
    return tuple(margin.feature for margin in table.margins)


def awkward_feature(universe: ODCells) -> Feature:
    codes = np.arange(universe.pairs)[::-1] % len(AWKWARD)
    return pair_feature(universe, 'odd, "title"', labels_of_codes("origin", codes, AWKWARD))


def write_features(features: tuple[Feature, ...], folder: Path) -> bytes:
    columns, _ = pair_columns(features)
    if columns:
        write_pairs(features[0].universe, columns, folder / "pairs.parquet")
    return features_json(features)


def test_features_survive_writing_and_reading(
    tmp_path: Path, summed: ODTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features_module, "BATCH_ROWS", 7)
    features = (*features_of(summed), awkward_feature(summed.universe))
    data = write_features(features, tmp_path)
    read_back = read_features(data, tmp_path / "pairs.parquet", summed.universe)
    assert [feature.digest for feature in read_back] == [feature.digest for feature in features]
    assert [feature.title for feature in read_back] == [feature.title for feature in features]
    cells = np.arange(summed.universe.size)
    for feature, again in zip(features, read_back, strict=True):
        np.testing.assert_array_equal(again.of(cells), feature.of(cells))
        assert again.labels(feature.size - 1) == feature.labels(feature.size - 1)


def test_features_without_pair_labels_need_no_file_of_pairs(
    tmp_path: Path, summed: ODTable
) -> None:
    [total] = read_features(
        features_json([total_feature(summed.universe)]), tmp_path / "none", summed.universe
    )
    assert total.size == 1


def test_a_labelling_is_stored_once_and_under_a_free_name(summed: ODTable) -> None:
    universe = summed.universe
    zone = [place.zone for place in universe.locations.places]
    first, same = (place_pair_labels(universe, "zone", zone) for _ in range(2))
    other = Labels(column=first.column, codes=first.codes, names=first.names[::-1])
    end = labels_of_codes("origin", np.zeros(universe.pairs, dtype=np.int64), ["all"])
    columns, used = pair_columns(
        [
            pair_feature(universe, str(i), labels)
            for i, labels in enumerate((first, same, other, end))
        ]
        + [total_feature(universe)]
    )
    assert used == ["zone pair", "zone pair", "zone pair (2)", "origin (2)", None]
    assert list(columns) == ["zone pair", "zone pair (2)", "origin (2)"]


def _put(rows: pa.Table, name: str, values: Any) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, values)


def test_sums_at_places_are_called_by_their_names(tmp_path: Path, summed: ODTable) -> None:
    feature = origins_feature(summed.universe)
    [counts] = sums_of_rows([feature], [(summed.cells, summed.counts)])
    sums = PublishedSums(feature=feature, counts=counts, measured=counts, standard_error=1.0)
    write_margins([sums], tmp_path / "m.parquet")
    called = {place.id: place.name for place in summed.universe.locations.places}
    rows = pq.read_table(tmp_path / "m.parquet").to_pylist()
    assert {row["pair"]: row["pair_name"] for row in rows} == called


def test_the_file_of_pairs_reads_as_a_plain_table(tmp_path: Path, summed: ODTable) -> None:
    write_features(features_of(summed), tmp_path)
    rows = pq.read_table(tmp_path / "pairs.parquet").to_pylist()
    assert len(rows) == 20
    assert rows[1] == {
        "origin": "a",
        "origin_name": "Place “a”, stop 0",
        "destination": "c",
        "destination_name": "Place “c”, stop 2",
        "zone pair": "west → west",
        "length": "long",
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda pairs: pairs.slice(1),
        lambda pairs: pairs.take([1, 0, *range(2, 20)]),
        lambda pairs: pa.concat_tables([pairs, pairs.slice(0, 1)]),
        lambda pairs: pairs.drop_columns("length"),
        lambda pairs: pairs.rename_columns([*pairs.column_names[:4], "length", "zone pair"]),
        lambda pairs: _put(pairs, "length", pa.array(["neither"] * 20)),
        lambda pairs: _put(pairs, "length", pa.array([None] * 20, pa.string())),
        lambda pairs: _put(pairs, "origin", pa.array(["nowhere"] * 20)),
        lambda pairs: _put(pairs, "origin_name", pairs["destination_name"]),
    ],
    ids=[
        "short",
        "swapped",
        "long",
        "lacking",
        "renamed",
        "unknown",
        "missing",
        "nowhere",
        "other-names",
    ],
)
def test_other_pairs_than_the_public_ones_are_refused(
    tmp_path: Path, summed: ODTable, change: Callable[[pa.Table], pa.Table]
) -> None:
    columns, _ = pair_columns(features_of(summed))
    path = tmp_path / "pairs.parquet"
    write_pairs(summed.universe, columns, path)
    classes = {name: labels.names for name, labels in columns.items()}
    read_pairs(path, summed.universe, classes)
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(ReleaseError):
        read_pairs(path, summed.universe, classes)


def test_labels_of_too_many_pairs_are_not_read(
    tmp_path: Path, summed: ODTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_features(features_of(summed), tmp_path)
    monkeypatch.setattr(features_module, "MOST_LABELS", 39)
    with pytest.raises(ReleaseError, match=r"pairs\.parquet"):
        read_features(data, tmp_path / "pairs.parquet", summed.universe)


@pytest.mark.parametrize("limit", ["MOST_FEATURES", "MOST_SUMS", "LIST_BYTES"])
def test_too_many_features_are_not_read(
    tmp_path: Path, summed: ODTable, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    data = write_features(features_of(summed), tmp_path)
    monkeypatch.setattr(f"hushway.families.od.files.features.{limit}", 4)
    with pytest.raises(ReleaseError, match="larger than it may be"):
        read_features(data, tmp_path / "pairs.parquet", summed.universe)


def test_rewritten_features_are_refused(tmp_path: Path, summed: ODTable) -> None:
    data = write_features(features_of(summed), tmp_path)
    for old, new in ((b'"elements": 4', b'"elements": 5'), (b'"name": "all', b'"name": "most')):
        assert old in data
        with pytest.raises(ReleaseError, match="as hushway writes it"):
            read_features(data.replace(old, new), tmp_path / "pairs.parquet", summed.universe)
    loose = json.dumps(json.loads(data)).encode()
    with pytest.raises(ReleaseError, match="as hushway writes it"):
        read_features(loose, tmp_path / "pairs.parquet", summed.universe)


def assert_same(ones: tuple[PublishedSums, ...], others: tuple[PublishedSums, ...]) -> None:
    assert len(ones) == len(others)
    for one, other in zip(ones, others, strict=True):
        np.testing.assert_array_equal(one.counts, other.counts)
        np.testing.assert_array_equal(one.measured, other.measured)
        assert one.standard_error == other.standard_error
        assert one.feature is other.feature


@pytest.mark.parametrize("batch", [3, 1000])
def test_sums_survive_writing_and_reading(
    tmp_path: Path, summed: ODTable, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(margins_module, "BATCH_ROWS", batch)
    odd = awkward_feature(summed.universe)
    huge = 2**53 + 2 * np.arange(odd.size) + 1
    sums = (
        *published_sums(summed),
        PublishedSums(feature=odd, counts=huge, measured=-huge, standard_error=0.1 + 0.2),
    )
    features = tuple(each.feature for each in sums)
    write_margins(sums, tmp_path / "m.parquet")
    assert_same(read_margins(tmp_path / "m.parquet", features, learnt=False), sums)
    text = b"".join(margins_csv(sums)).decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [int(row["count"]) for row in rows[-odd.size :]] == huge.tolist()
    assert {row["pair"] for row in rows[-odd.size :]} == set(AWKWARD)
    assert {float(row["measured_error"]) for row in rows[-odd.size :]} == {0.3}


def test_sums_read_as_text_and_numbers(summed: ODTable) -> None:
    sums = [each for each in published_sums(summed) if each.feature.title in ("total", "period")]
    header, total, first, *_ = b"".join(margins_csv(sums)).decode().splitlines()
    assert header == (
        "published_total,period,pair,pair_name,count,measured,measured_error,residual,low,high"
    )
    count = int(summed.counts.sum())
    assert total.split(",")[:6] == ["total", "", "", "", str(count), str(count - 5)]
    assert total.split(",")[7] == "5"
    assert first.startswith("period,08:00-08:30,,")


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.slice(1),
        lambda rows: rows.slice(0, len(rows) - 1),
        lambda rows: rows.take([1, 0, *range(2, len(rows))]),
        lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]),
        lambda rows: rows.drop_columns("pair"),
        lambda rows: _put(rows, "count", rows["count"].cast(pa.float64())),
        lambda rows: _put(rows, "count", pa.array([None] * len(rows), pa.int64())),
        lambda rows: _put(rows, "measured", pa.array([0] * len(rows), pa.int64())),
        lambda rows: _put(rows, "measured_error", pa.array([np.nan] * len(rows))),
        lambda rows: _put(rows, "measured_error", pa.array(range(len(rows)), pa.float64())),
        lambda rows: _put(rows, "published_total", pa.array(["total"] * len(rows))),
        lambda rows: _put(rows, "pair_name", rows["pair"]),
    ],
)
def test_other_sums_than_those_of_the_features_are_refused(
    tmp_path: Path, summed: ODTable, change: Callable[[pa.Table], pa.Table]
) -> None:
    path = tmp_path / "m.parquet"
    write_margins(published_sums(summed), path)
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(ReleaseError):
        read_margins(path, features_of(summed), learnt=False)


def test_sums_of_rows_are_exact_beyond_doubles(summed: ODTable) -> None:
    huge = np.full(len(summed.cells), 2**53 + 1, dtype=np.int64)
    [total] = sums_of_rows([total_feature(summed.universe)], [(summed.cells, huge)])
    assert total.tolist() == [len(summed.cells) * (2**53 + 1)]


def test_matrices_of_weekly_periods_have_plain_names(table: ODTable) -> None:
    day = table.universe.periods
    week = Periods(
        zone=day.zone,
        first_day=day.first_day,
        last_day=day.last_day,
        opens=480,
        closes=600,
        minutes=60,
        cycle="week",
    )
    names = matrix_names(ODCells(locations=table.universe.locations, periods=week))
    assert names[:3] == ("tMon0800_0900", "tMon0900_1000", "tTue0800_0900")
