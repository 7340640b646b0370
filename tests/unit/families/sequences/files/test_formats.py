import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.sequences.files import rows as paths
from hushway.families.sequences.files import tree as tree_format
from hushway.families.sequences.files.rows import (
    check_sequences_parquet,
    sequences_csv,
    write_sequences_parquet,
)
from hushway.families.sequences.files.taxonomy import (
    check_levels,
    grouped_locations_csv,
    node_labels,
    read_taxonomy,
    taxonomy_json,
)
from hushway.families.sequences.files.tree import (
    levels_csv,
    prefixes_of,
    read_levels,
    read_tree,
    write_tree,
)
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Locations, PlaceLabels
from hushway.privacy.loss import PureLoss
from support.sequence_scenes import lines_city, tree_of

Sequence = tuple[tuple[str, ...], tuple[str, ...], int]


@pytest.fixture(params=["plain", "timed", "simple", "one level", "nothing kept"])
def any_tree(request: pytest.FixtureRequest) -> SequenceTable:
    choices = {
        "plain": {},
        "timed": {"times": True, "height": 3},
        "simple": {"taxonomy": lines_city(0)},
        "one level": {"taxonomy": lines_city(1, places=30, own=False)},
        "nothing kept": {"spend": PureLoss(Fraction(1, 1000))},
    }
    table = tree_of(**choices[request.param])
    assert (len(table.parent) == 0) == (request.param == "nothing kept")
    return table


def plain_sequences(table: SequenceTable) -> list[Sequence]:
    """Follows the parents of every node at which records end, one by one."""
    finest, grains = table.taxonomy.grains - 1, table.grains
    found = []
    for node in np.flatnonzero(table.ends).tolist():
        ids, labels, at = [], [], node
        while at >= 0:
            if grains[at] == finest:
                place = int(table.taxonomy.location_of(table.code[at : at + 1])[0])
                ids.append(table.taxonomy.locations.ids[place])
                if table.periods is not None:
                    labels.append(table.periods.labels[table.period[at]])
            at = table.parent[at]
        found.append((tuple(ids[::-1]), tuple(labels[::-1]), int(table.ends[node])))
    return found


def parquet_sequences(path: Path) -> list[Sequence]:
    return [
        (tuple(row["sequence"]), tuple(row.get("periods", ())), row["count"])
        for row in pq.read_table(path).to_pylist()
    ]


def split(text: str) -> tuple[str, ...]:
    """Reads a sequence as the data package says: a bare ' > ' stands between two stops."""
    parts, letters = [""], iter(text)
    for letter in letters:
        if letter == "\\":
            parts[-1] += next(letters)
        elif letter == ">":
            assert parts[-1].endswith(" ")
            assert next(letters) == " "
            parts[-1] = parts[-1][:-1]
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(parts)


def csv_sequences(table: SequenceTable) -> list[Sequence]:
    text = b"".join(sequences_csv(table, prefixes_of(table))).decode()
    return [
        (
            split(row["sequence"]),
            split(row["periods"]) if "periods" in row else (),
            int(row["count"]),
        )
        for row in csv.DictReader(io.StringIO(text, newline=""))
    ]


def test_both_files_hold_the_sequences_that_end_in_the_tree(
    any_tree: SequenceTable, tmp_path: Path
) -> None:
    prefix, expected = prefixes_of(any_tree), plain_sequences(any_tree)
    write_sequences_parquet(any_tree, prefix, tmp_path / "s.parquet")
    assert parquet_sequences(tmp_path / "s.parquet") == expected
    assert csv_sequences(any_tree) == expected
    check_sequences_parquet(any_tree, prefix, tmp_path / "s.parquet")


def test_batches_do_not_show(
    tree: SequenceTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = prefixes_of(tree)
    whole = paths.sequences_ending_at(tree, prefix, paths.ending_nodes(tree))
    monkeypatch.setattr(paths, "BATCH_STOPS", 7)
    parts = list(paths.batches_of_sequences(tree, prefix))
    assert len(parts) > 10
    assert max(len(part.stops) for part in parts) <= 7
    assert np.concatenate([part.stops for part in parts]).tolist() == whole.stops.tolist()
    assert np.concatenate([part.counts for part in parts]).tolist() == whole.counts.tolist()
    write_sequences_parquet(tree, prefix, tmp_path / "s.parquet")
    assert parquet_sequences(tmp_path / "s.parquet") == plain_sequences(tree)
    check_sequences_parquet(tree, prefix, tmp_path / "s.parquet")
    assert csv_sequences(tree) == plain_sequences(tree)


def test_a_sequence_that_is_longer_than_a_batch_comes_whole(
    tree: SequenceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "BATCH_STOPS", 1)
    parts = list(paths.batches_of_sequences(tree, prefixes_of(tree)))
    assert [len(part.counts) for part in parts] == [1] * len(paths.ending_nodes(tree))


def test_paths_agree_with_those_of_the_table(any_tree: SequenceTable) -> None:
    nodes, start, places = any_tree.paths()
    own = paths.sequences_ending_at(any_tree, prefixes_of(any_tree), nodes)
    assert own.start.tolist() == start.tolist()
    assert own.stops.tolist() == places.tolist()


def test_the_tree_is_read_back_as_it_was(any_tree: SequenceTable, tmp_path: Path) -> None:
    write_tree(any_tree, tmp_path / "t.parquet")
    again = read_tree(tmp_path / "t.parquet", any_tree.taxonomy, any_tree.periods, any_tree.steps)
    for name in ("parent", "step", "period", "code", "measured", "counts", "ends"):
        assert getattr(again, name).tolist() == getattr(any_tree, name).tolist(), name


def test_the_tree_is_read_back_in_whatever_batches_it_comes(
    tree: SequenceTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_format, "BATCH_ROWS", 5)
    write_tree(tree, tmp_path / "t.parquet")
    again = read_tree(tmp_path / "t.parquet", tree.taxonomy, tree.periods, tree.steps)
    assert again.code.tolist() == tree.code.tolist()
    pq.write_table(pq.read_table(tmp_path / "t.parquet"), tmp_path / "one.parquet")
    again = read_tree(tmp_path / "one.parquet", tree.taxonomy, tree.periods, tree.steps)
    assert again.step.tolist() == tree.step.tolist()


def test_rows_of_the_tree_speak_for_themselves(timed_tree: SequenceTable, tmp_path: Path) -> None:
    write_tree(timed_tree, tmp_path / "t.parquet")
    rows = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert [row["node"] for row in rows] == list(range(len(timed_tree.parent)))
    assert {row["stop"] for row in rows} == {1, 2, 3}
    assert [row["granularity"] for row in rows[:2]] == ["zone", "zone"]
    zones = {p.id: p.zone for p in timed_tree.taxonomy.locations.places}
    for row in rows:
        above = None if row["parent"] is None else rows[row["parent"]]
        if row["granularity"] == "place":
            assert rows[above["parent"]]["label"] == zones[row["label"]]
        if above is not None:
            assert above["period"] <= row["period"]


def test_the_steps_are_read_back_exactly(any_tree: SequenceTable) -> None:
    data = levels_csv(any_tree.taxonomy, any_tree.steps)
    again = read_levels(data, any_tree.taxonomy)
    assert [vars(step) for step in again] == [vars(step) for step in any_tree.steps]


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"1,zone", b"01,zone"), (b"1,zone", b"1,zones"), (b"stop,", b"step,"), (b"\n", b"\r\n")],
)
def test_an_edited_list_of_steps_is_refused(tree: SequenceTable, old: bytes, new: bytes) -> None:
    data = levels_csv(tree.taxonomy, tree.steps)
    assert old in data
    with pytest.raises((ReleaseError, ValueError, LookupError)):
        read_levels(data.replace(old, new, 1), tree.taxonomy)


@pytest.mark.parametrize(
    "numbers", ["{0},{1}.0,{2}", "{0},{1},-{2}", "{0},+{1},{2}", "{0}.0,{1},{2}", "{0},{1}, {2}"]
)
def test_numbers_of_steps_are_whole_and_plain(tree: SequenceTable, numbers: str) -> None:
    step, data = tree.steps[0], levels_csv(tree.taxonomy, tree.steps).decode()
    old = f"{step.candidates},{step.threshold},{step.kept}"
    new = numbers.format(step.candidates, step.threshold, step.kept)
    assert f",{old}," in data
    with pytest.raises((ReleaseError, ValueError, LookupError)):
        read_levels(data.replace(old, new, 1).encode(), tree.taxonomy)


@pytest.mark.parametrize("levels", [0, 1, 2])
@pytest.mark.parametrize("own", [True, False])
def test_the_groups_are_read_back_exactly(levels: int, *, own: bool) -> None:
    taxonomy = lines_city(levels, own=own)
    check_levels(taxonomy)
    again = read_taxonomy(taxonomy_json(taxonomy), grouped_locations_csv(taxonomy))
    assert again.digest == taxonomy.digest


def test_places_show_their_groups() -> None:
    rows = list(csv.DictReader(grouped_locations_csv(lines_city(2)).decode().splitlines()))
    assert list(rows[0]) == ["id", "name", "lat", "lon", "zone", "owner", "line"]
    assert [row["line"] for row in rows[:4]] == ["red", "blue", "1", "x > y"]


def test_a_level_with_the_name_of_another_column_gets_one_of_its_own() -> None:
    places = lines_city(0).locations.places
    owner = PlaceLabels(column="line", values=("somebody",) * len(places))
    taxonomy = Taxonomy(locations=Locations(places, (owner,)), levels=lines_city(1).levels)
    header = grouped_locations_csv(taxonomy).decode().splitlines()[0]
    assert header == "id,name,lat,lon,zone,line,line (2)"
    [level] = json.loads(taxonomy_json(taxonomy))["levels"]
    assert (level["column"], level["stored_as"]) == ("line", "line (2)")
    check_levels(taxonomy)


def test_every_number_of_a_group_has_the_name_of_its_places() -> None:
    taxonomy = lines_city(2, places=30)
    for grain, level in enumerate(taxonomy.levels):
        names = node_labels(taxonomy, grain)
        for place, code in enumerate(taxonomy.codes(grain).tolist()):
            assert names[code] == level.names[level.codes[place]]


def test_an_edited_taxonomy_is_refused() -> None:
    taxonomy = lines_city(2)
    data, places = taxonomy_json(taxonomy), grouped_locations_csv(taxonomy)
    for changed, shown in (
        (data.replace(b"blue", b"navy"), places),
        (data, places.replace(b"blue", b"navy")),
        (data.replace(b'"owner"', b'"keeper"'), places),
        (data + b" ", places),
    ):
        assert (changed, shown) != (data, places)
        with pytest.raises(ReleaseError, match="taxonomy"):
            read_taxonomy(changed, shown)


def test_other_sequences_are_found(tree: SequenceTable, tmp_path: Path) -> None:
    prefix, path = prefixes_of(tree), tmp_path / "s.parquet"
    write_sequences_parquet(tree, prefix, path)
    table = pq.read_table(path)
    lists, counts = table.column("sequence").to_pylist(), table.column("count").to_pylist()
    kind = table.schema.field("sequence").type
    names = {place.id: place.name for place in tree.taxonomy.locations.places}

    def made(lists: list[list[str]], counts: list[Any]) -> pa.Table:
        called = [[names.get(stop, stop) for stop in stops] for stops in lists]
        stops = {"sequence": pa.array(lists, kind), "names": pa.array(called, kind)}
        return pa.table({**stops, "count": counts})

    pq.write_table(made(lists, counts).cast(table.schema), path, use_dictionary=False)
    check_sequences_parquet(tree, prefix, path)
    for changed in (
        made([*lists[1:], lists[0]], counts),
        made([["nowhere"], *lists[1:]], counts),
        made([[*lists[0], "d"], *lists[1:]], counts),
        made(lists[1:], counts[1:]),
        made(lists, [counts[0] + 1, *counts[1:]]),
    ):
        # With the right columns, so that what they hold is what is wrong.
        pq.write_table(changed.cast(table.schema), path, use_dictionary=False)
        with pytest.raises(ReleaseError):
            check_sequences_parquet(tree, prefix, path)
    for changed in (
        made(lists, [float(n) for n in counts]),
        made(lists, counts).set_column(0, "sequence", [[text[0] for text in lists]]),
        table.append_column("truth", [counts]),
    ):
        pq.write_table(changed, path)
        with pytest.raises(ReleaseError):
            check_sequences_parquet(tree, prefix, path)
