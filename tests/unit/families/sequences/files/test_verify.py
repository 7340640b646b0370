import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.families.sequences.files import tree as tree_format
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.synthesis import synthesize
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.locations import Locations
from hushway.privacy.certificate import Certificate
from hushway.release.folder.seal import files_of
from support.forging import failed, sentence

Reseal = Callable[[Path], None]
Change = Callable[[list[dict[str, Any]]], object]


def test_an_untouched_release_passes_every_check(tree_release: Path, timed_release: Path) -> None:
    for release, completed in ((tree_release, ["completed"]), (timed_release, [])):
        verification = verify(release)
        assert verification.passed
        names = [check.name for check in verification.checks]
        assert names[names.index("table facts") :] == [
            "table facts",
            "release type",
            "geography",
            "tree",
            "terms",
            "sequences",
            *completed,
            "package",
        ]
        assert all(check.sentence.endswith(".") for check in verification.checks)


def test_one_changed_byte_anywhere_is_found(timed_release: Path) -> None:
    for name in files_of(timed_release):
        path = timed_release / name
        data = path.read_bytes()
        for position in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
            changed = bytearray(data)
            changed[position] ^= 0x20
            path.write_bytes(changed)
            assert not verify(timed_release).intact, (name, position)
        path.write_bytes(data)
    assert verify(timed_release).passed


# From here on somebody changes a file and seals the folder again: the claims must still add up.


@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("places.csv", b"42.3,", b"42.4,", "geography"),
        ("places.csv", b"blue", b"navy", "geography"),
        ("taxonomy.json", b'"blue"', b'"navy"', "geography"),
        ("taxonomy.json", b"{", b"[", "geography"),
        ("periods.csv", b"2026-03-31", b"2026-03-30", "geography"),
        ("levels.csv", b"1,line,", b"1,zone,", "tree"),
        ("levels.csv", b"stop,", b"step,", "tree"),
        ("tree.parquet", b"PAR1", b"PAR2", "tree"),
        ("sequences.parquet", b"PAR1", b"PAR2", "sequences"),
        ("sequences.csv", b" > ", b"  > ", "sequences"),
        ("sequences.csv", b",count", b",counts", "sequences"),
        ("datapackage.json", b'"times": true', b'"times": false', "geography"),
        ("datapackage.json", b'"times": true', b'"times": 1', "table facts"),
        ("datapackage.json", b'"times": true', b'"time": true', "table facts"),
        ("datapackage.json", b'"relative": 1e-12', b'"relative": 2e-12', "none"),
        ("datapackage.json", b'"stops": 3', b'"stops": 4', "package"),
        ("datapackage.json", b"not known to be absent", b"absent", "package"),
    ],
)
def test_a_changed_file_is_found_under_a_new_seal(
    timed_release: Path, reseal: Reseal, *, name: str, old: bytes, new: bytes, check: str
) -> None:
    path = timed_release / name
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    reseal(timed_release)
    # How well the fit was solved is the publisher's word.
    assert check in (failed(verify(timed_release)) or {"none"})


@pytest.mark.parametrize(
    ("numbers", "check"),
    [
        ("{candidates},0,{kept},{standard_error}", "tree"),
        ("{candidates},100000,{kept},{standard_error}", "tree"),
        ("{candidates},1,{kept},{standard_error}", "terms"),
        ("{candidates},{threshold},{kept},12.5", "terms"),
    ],
    ids=["no threshold", "a threshold above a node", "a lower threshold", "other noise"],
)
def test_a_changed_step_is_found_under_a_new_seal(
    timed_release: Path, timed_tree: SequenceTable, reseal: Reseal, *, numbers: str, check: str
) -> None:
    step, path = timed_tree.steps[0], timed_release / "levels.csv"
    old = f"{step.candidates},{step.threshold},{step.kept},{step.standard_error}"
    text = path.read_text()
    assert text.count(f",{old}\n") == 1
    path.write_text(text.replace(old, numbers.format(**vars(step))))
    reseal(timed_release)
    verification = verify(timed_release)
    assert check in failed(verification)
    if check == "terms":
        assert "The steps of the table" in sentence(verification, "terms")


def test_a_changed_count_in_the_list_is_found(tree_release: Path, reseal: Reseal) -> None:
    path = tree_release / "sequences.csv"
    header, first, *rest = path.read_text().splitlines(keepends=True)
    text, count = first.rsplit(",", 1)
    path.write_text("".join([header, f"{text},{int(count) + 1}\n", *rest]))
    reseal(tree_release)
    assert "sequences" in failed(verify(tree_release))


@pytest.mark.parametrize("rows", [slice(0, -1), slice(1, None)], ids=["last", "first"])
def test_a_missing_row_of_the_list_is_found(
    tree_release: Path, reseal: Reseal, rows: slice
) -> None:
    path = tree_release / "sequences.csv"
    header, *lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, *lines[rows]]))
    reseal(tree_release)
    assert "sequences" in failed(verify(tree_release))


def put(rows: list[dict[str, Any]], row: int, **values: Any) -> None:
    rows[row] |= values


CHANGES: dict[str, tuple[Change, str]] = {
    "a child without parent": (lambda rows: put(rows, -1, parent=-1), "tree"),
    "a parent that comes later": (lambda rows: put(rows, 3, parent=len(rows) - 1), "tree"),
    "a parent of another step": (lambda rows: put(rows, -1, parent=0), "tree"),
    "its own parent": (lambda rows: put(rows, 7, parent=7), "tree"),
    "another number": (lambda rows: put(rows, 0, node=1), "tree"),
    "another stop": (lambda rows: put(rows, 0, stop=2), "tree"),
    "another granularity": (lambda rows: put(rows, 0, granularity="line"), "tree"),
    "another group": (lambda rows: put(rows, 2, label="x > y"), "tree"),
    "an unknown label": (lambda rows: put(rows, 0, label="nowhere"), "tree"),
    "a period": (lambda rows: put(rows, 0, period="06:00-08:00"), "tree"),
    "below the threshold": (lambda rows: put(rows, 0, measured=3), "tree"),
    "a smaller count": (lambda rows: put(rows, 0, count=rows[0]["count"] // 2), "tree"),
    "a larger end": (lambda rows: put(rows, -1, ends=rows[-1]["ends"] + 1), "tree"),
    "a repeated node": (lambda rows: put(rows, 1, label=rows[0]["label"]), "tree"),
    "a missing node": (lambda rows: rows.pop(), "tree"),
    "one node more": (lambda rows: rows.append(rows[-1]), "tree"),
    "another measurement": (lambda rows: put(rows, 0, measured=10_000), "none"),
}


def rewrite_tree(path: Path, change: Change) -> None:
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=tree_format.SCHEMA), path)


@pytest.mark.parametrize("name", CHANGES)
def test_a_tree_that_no_release_may_hold_is_found(
    tree_release: Path, reseal: Reseal, name: str
) -> None:
    change, check = CHANGES[name]
    rewrite_tree(tree_release / "tree.parquet", change)
    reseal(tree_release)
    found = failed(verify(tree_release))
    # The package names the digest of the file, so even a sound change is not overlooked.
    assert found == ({"package"} if check == "none" else {check})


def test_more_records_at_an_end_must_be_in_the_list(tree_release: Path, reseal: Reseal) -> None:
    def add_one(rows: list[dict[str, Any]]) -> None:
        node = len(rows) - 1
        rows[node]["ends"] += 1
        while node is not None:
            rows[node]["count"] += 1
            node = rows[node]["parent"]

    rewrite_tree(tree_release / "tree.parquet", add_one)
    reseal(tree_release)
    assert failed(verify(tree_release)) == {"sequences", "completed", "package"}


def change_completed(release: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    path = release / "completed.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def one_more(rows: list[dict[str, Any]]) -> None:
    rows[0]["count"] += 1


def one_less(rows: list[dict[str, Any]]) -> None:
    rows.pop()


def elsewhere(rows: list[dict[str, Any]]) -> None:
    first, last = rows[0]["sequence"], rows[-1]["sequence"]
    first[0] = next(row["sequence"][0] for row in rows if row["sequence"][0] != first[0])
    assert last


def an_unknown_place(rows: list[dict[str, Any]]) -> None:
    rows[0]["sequence"][0] = "nowhere"


@pytest.mark.parametrize("change", [one_more, one_less, elsewhere, an_unknown_place])
def test_completed_records_must_begin_as_the_tree_says(
    tree_release: Path, reseal: Reseal, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    change_completed(tree_release, change)
    reseal(tree_release)
    assert "completed" in failed(verify(tree_release))


@pytest.mark.parametrize("column", ["measured", "count", "node"])
def test_numbers_of_the_tree_are_whole(tree_release: Path, reseal: Reseal, column: str) -> None:
    path = tree_release / "tree.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    as_float = table.column(place).cast(pa.float64())
    pq.write_table(table.set_column(place, column, as_float), path)
    reseal(tree_release)
    assert failed(verify(tree_release)) == {"tree"}


def test_a_missing_number_is_found(tree_release: Path, reseal: Reseal) -> None:
    path = tree_release / "tree.parquet"
    table = pq.read_table(path)
    counts = pa.chunked_array([[None, *table.column("count").to_pylist()[1:]]], pa.int64())
    place = table.schema.get_field_index("count")
    pq.write_table(table.set_column(place, "count", counts), path)
    reseal(tree_release)
    assert failed(verify(tree_release)) == {"tree"}


def test_a_list_that_claims_to_be_longer_is_not_even_read(
    tree_release: Path, reseal: Reseal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree_release / "sequences.parquet"
    table = pq.read_table(path)
    lists = table.column("sequence").to_pylist()
    lists[0] = ["d"] * 1_000_000
    long = pa.array(lists, table.schema.field("sequence").type)
    pq.write_table(table.set_column(0, table.schema.field(0), long), path)
    reseal(tree_release)
    assert path.stat().st_size < 100_000

    def read(*_: Any, **__: Any) -> None:
        raise AssertionError

    reader = pq.ParquetFile.iter_batches

    def watch(file: pq.ParquetFile, **choices: Any) -> Any:
        claimed = file.metadata.row_group(0).column(0).num_values
        return read() if claimed > 1_000_000 else reader(file, **choices)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watch)
    verification = verify(tree_release)
    assert "sequences" in failed(verification)
    assert not any("AssertionError" in check.sentence for check in verification.checks)


def test_too_many_nodes_are_not_even_read(
    tree_release: Path, tree: SequenceTable, reseal: Reseal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_format, "MOST_NODES", 100)
    assert failed(verify(tree_release)) == {"tree"}
    path, step = tree_release / "levels.csv", tree.steps[0]
    begins = f",{step.candidates},{step.threshold},"
    first, found, rest = path.read_text().partition(f"{begins}{step.kept},")
    assert found
    path.write_text(f"{first}{begins}{10**30},{rest}")
    reseal(tree_release)
    assert failed(verify(tree_release)) == {"tree"}


def test_a_release_of_another_family_does_not_pass_as_sequences(
    tree_release: Path, reseal: Reseal
) -> None:
    path = tree_release / "datapackage.json"
    package = json.loads(path.read_bytes())
    package["table"] = {"threshold": None, "include_intrazonal": False}
    path.write_text(json.dumps(package))
    reseal(tree_release)
    assert failed(verify(tree_release)) == {"table facts"}


def test_names_that_a_spreadsheet_would_run_are_guarded_verified_and_synthesised(
    tree: SequenceTable, certify_tree: Callable[..., Certificate], tmp_path: Path
) -> None:
    old = tree.taxonomy
    places = tuple(replace(place, id=f"={place.id}") for place in old.locations.places)
    taxonomy = Taxonomy(
        locations=Locations(places, old.locations.labels),
        levels=tuple(
            replace(level, names=tuple(f"@{name}" for name in level.names)) for level in old.levels
        ),
    )
    named = replace(tree, taxonomy=taxonomy)
    release = write_release(tmp_path / "risky", table=named, certificate=certify_tree(named))
    assert verify(release).passed
    assert "\n\"'=" in (release / "sequences.csv").read_text(encoding="utf-8")
    assert ",'@" in (release / "places.csv").read_text(encoding="utf-8")
    synthesize(release, tmp_path / "taps.parquet")
    written = set(pq.read_table(tmp_path / "taps.parquet").column("place").to_pylist())
    assert written <= {place.id for place in places}
