import dataclasses
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.asking import synthesize
from hushway.families.sequences.files import tree as tree_format
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.locations import Locations
from hushway.privacy.bound import Bound
from hushway.privacy.certificate import MechanismRecord
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.loss import PureLoss
from support.certificates import certificate_of
from support.family_suite import put, rewrite_rows
from support.forging import assert_contradiction, failed, sentence
from support.mutations import seal
from support.sequence_scenes import tree_certificate, tree_of
from support.table_forgeries import columns_that_may_be_edited, documented_columns

Change = Callable[[list[dict[str, Any]]], object]


# From here on somebody changes a file and seals the folder again: the claims must still add up.


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
    timed_release: Path, timed_tree: SequenceTable, *, numbers: str, check: str
) -> None:
    step, path = timed_tree.steps[0], timed_release / "levels.csv"
    old = f"{step.candidates},{step.threshold},{step.kept},{step.standard_error}"
    text = path.read_text()
    assert text.count(f",{old}\n") == 1
    path.write_text(text.replace(old, numbers.format(**vars(step))))
    seal(timed_release)
    verification = verify(timed_release)
    assert check in failed(verification)
    if check == "terms":
        assert "The steps of the table" in sentence(verification, "terms")


def test_a_changed_count_in_the_list_is_found(tree_release: Path) -> None:
    path = tree_release / "sequences.csv"
    header, first, *rest = path.read_text().splitlines(keepends=True)
    text, count = first.rsplit(",", 1)
    path.write_text("".join([header, f"{text},{int(count) + 1}\n", *rest]))
    seal(tree_release)
    assert "sequences" in failed(verify(tree_release))


@pytest.mark.parametrize("rows", [slice(0, -1), slice(1, None)], ids=["last", "first"])
def test_a_missing_row_of_the_list_is_found(tree_release: Path, rows: slice) -> None:
    path = tree_release / "sequences.csv"
    header, *lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header, *lines[rows]]))
    seal(tree_release)
    assert "sequences" in failed(verify(tree_release))


CHANGES: dict[str, tuple[Change, str]] = {
    "a child without parent": (put(-1, parent=-1), "tree"),
    "a parent that comes later": (put(3, parent=lambda rows: len(rows) - 1), "tree"),
    "a parent of another step": (put(-1, parent=0), "tree"),
    "its own parent": (put(7, parent=7), "tree"),
    "another number": (put(0, node=1), "tree"),
    "another stop": (put(0, stop=2), "tree"),
    "another granularity": (put(0, granularity="line"), "tree"),
    "another group": (put(2, label="x > y"), "tree"),
    "an unknown label": (put(0, label="nowhere"), "tree"),
    "a period": (put(0, period="06:00-08:00"), "tree"),
    "below the threshold": (put(0, measured=3), "tree"),
    "a smaller count": (put(0, count=lambda rows: rows[0]["count"] // 2), "tree"),
    "a larger end": (put(-1, ends=lambda rows: rows[-1]["ends"] + 1), "tree"),
    "a repeated node": (put(1, label=lambda rows: rows[0]["label"]), "tree"),
    "a missing node": (lambda rows: rows.pop(), "tree"),
    "one node more": (lambda rows: rows.append(rows[-1]), "tree"),
    "another measurement": (put(0, measured=10000), "none"),
}


def rewrite_tree(path: Path, change: Change) -> None:
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=tree_format.SCHEMA), path)


@pytest.mark.parametrize("name", CHANGES)
def test_a_tree_that_no_release_may_hold_is_found(tree_release: Path, name: str) -> None:
    change, check = CHANGES[name]
    rewrite_tree(tree_release / "tree.parquet", change)
    seal(tree_release)
    found = failed(verify(tree_release))
    # The package names the digest of the file, so even a sound change is not overlooked.
    assert found == ({"package"} if check == "none" else {check})


def test_more_records_at_an_end_must_be_in_the_list(tree_release: Path) -> None:
    def add_one(rows: list[dict[str, Any]]) -> None:
        node = len(rows) - 1
        rows[node]["ends"] += 1
        while node is not None:
            rows[node]["count"] += 1
            node = rows[node]["parent"]

    rewrite_tree(tree_release / "tree.parquet", add_one)
    seal(tree_release)
    assert failed(verify(tree_release)) == {"sequences", "completed", "package"}


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


def named_anew(change: Change) -> Change:
    """Lets names follow from the ids that a change leaves."""

    def both(rows: list[dict[str, Any]]) -> None:
        names = {
            stop: name
            for row in rows
            for stop, name in zip(row["sequence"], row["names"], strict=True)
        }
        change(rows)
        for row in rows:
            row["names"] = [names.get(stop, stop) for stop in row["sequence"]]

    return both


def another_name(rows: list[dict[str, Any]]) -> None:
    rows[0]["names"][0] = rows[0]["sequence"][0]


@pytest.mark.parametrize(
    "change",
    [
        *map(named_anew, (one_more, one_less, elsewhere, an_unknown_place)),
        another_name,
    ],
    ids=["one more", "one less", "elsewhere", "unknown", "another name"],
)
def test_completed_records_must_begin_as_the_tree_says(
    tree_release: Path, change: Callable[[list[dict[str, Any]]], None]
) -> None:
    rewrite_rows(tree_release / "completed.parquet", change, use_dictionary=False)
    seal(tree_release)
    assert "completed" in failed(verify(tree_release))


def test_names_of_stops_are_those_of_the_list_of_places(tree_release: Path) -> None:
    rewrite_rows(tree_release / "sequences.parquet", another_name, use_dictionary=False)
    seal(tree_release)
    assert "sequences" in failed(verify(tree_release))


@pytest.mark.parametrize("column", ["measured", "count", "node"])
def test_numbers_of_the_tree_are_whole(tree_release: Path, column: str) -> None:
    path = tree_release / "tree.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    as_float = table.column(place).cast(pa.float64())
    pq.write_table(table.set_column(place, column, as_float), path)
    seal(tree_release)
    assert failed(verify(tree_release)) == {"tree"}


def test_a_missing_number_is_found(tree_release: Path) -> None:
    path = tree_release / "tree.parquet"
    table = pq.read_table(path)
    counts = pa.chunked_array([[None, *table.column("count").to_pylist()[1:]]], pa.int64())
    place = table.schema.get_field_index("count")
    pq.write_table(table.set_column(place, "count", counts), path)
    seal(tree_release)
    assert failed(verify(tree_release)) == {"tree"}


def test_a_list_that_claims_to_be_longer_is_not_even_read(
    tree_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tree_release / "sequences.parquet"
    table = pq.read_table(path)
    lists = table.column("sequence").to_pylist()
    lists[0] = ["d"] * 1_000_000
    long = pa.array(lists, table.schema.field("sequence").type)
    pq.write_table(table.set_column(0, table.schema.field(0), long), path)
    seal(tree_release)
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
    tree_release: Path, tree: SequenceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_format, "MOST_NODES", 100)
    assert failed(verify(tree_release)) == {"tree"}
    path, step = tree_release / "levels.csv", tree.steps[0]
    begins = f",{step.candidates},{step.threshold},"
    first, found, rest = path.read_text().partition(f"{begins}{step.kept},")
    assert found
    path.write_text(f"{first}{begins}{10**30},{rest}")
    seal(tree_release)
    assert failed(verify(tree_release)) == {"tree"}


def test_names_that_a_spreadsheet_would_run_are_guarded_verified_and_synthesised(
    tree: SequenceTable, tmp_path: Path
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
    release = write_release(tmp_path / "risky", table=named, certificate=tree_certificate(named))
    assert verify(release).passed
    assert "\n\"'=" in (release / "sequences.csv").read_text(encoding="utf-8")
    assert ",'@" in (release / "places.csv").read_text(encoding="utf-8")
    synthesize(release, tmp_path / "taps.parquet")
    written = set(pq.read_table(tmp_path / "taps.parquet").column("place").to_pylist())
    assert written <= {place.id for place in places}
    synthesize(release, tmp_path / "taps.csv")
    text = (tmp_path / "taps.csv").read_text(encoding="utf-8")
    assert text.startswith('"record","place","time"\n')
    assert text.count("\n") == pq.read_metadata(tmp_path / "taps.parquet").num_rows + 1


@pytest.mark.long
def test_what_may_be_edited_in_the_files_is_documented(
    timed_tree: SequenceTable, tmp_path: Path
) -> None:
    found = columns_that_may_be_edited(timed_tree, tree_certificate(timed_tree), tmp_path)
    assert found
    assert found <= documented_columns("sequences")


# So little that nothing stands out from the noise.
MEAGRE = PureLoss(Fraction(1, 1000))


def test_every_tree_needs_its_own_certificate(tmp_path: Path, tree: SequenceTable) -> None:
    terms = tree_certificate(tree).terms
    elsewhere = dataclasses.replace(terms.domain, digest="sha256:00")
    for certificate, words in (
        (certificate_of(terms, release_type="od"), "release type 'od'"),
        (certificate_of(terms, domain=elsewhere), "public lists are not those"),
        (tree_certificate(tree_of(times=True, height=2)), "public lists are not those"),
        (tree_certificate(tree_of(height=3)), "The steps of the table"),
        (tree_certificate(tree_of(seed=2)), "its events are not what"),
        (certificate_of(terms, events=terms.events[1:]), "its events are not what"),
    ):
        with pytest.raises(ReleaseError, match=words):
            write_release(tmp_path / "r", table=tree, certificate=certificate)
    assert list(tmp_path.iterdir()) == []


def test_steps_that_were_not_taken_are_paid_for(tmp_path: Path) -> None:
    table = tree_of(spend=MEAGRE)
    certificate = tree_certificate(table, spend=MEAGRE)
    terms = certificate.terms
    assert (len(terms.events), len(terms.not_taken)) == (1, 11)
    assert certificate.claim == PureLoss(12 * MEAGRE.epsilon)
    folder = write_release(tmp_path / "r", table=table, certificate=certificate)
    stated = json.loads((folder / "certificate.json").read_bytes())
    assert stated["claim"]["amount"] == str(certificate.claim.amount)
    assert len(stated["events_not_taken"]) == 11
    assert (folder / "certificate.html").read_text().count("not measured") == 11
    assert (folder / "label.yaml").read_text().count("spent, and not measured") == 11


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none", "charged for and not measured are not what"),
        ("fewer", "charged for and not measured are not what"),
        ("other cells", "charged for and not measured are not what"),
        ("measured", "its events are not what"),
    ],
)
def test_what_was_reserved_cannot_be_left_off_the_certificate(
    tmp_path: Path, *, name: str, words: str
) -> None:
    table = tree_of(spend=MEAGRE)
    terms = tree_certificate(table, spend=MEAGRE).terms
    first, *others = terms.not_taken
    changes = {
        "none": {"not_taken": ()},
        "fewer": {"not_taken": terms.not_taken[:-1]},
        "other cells": {"not_taken": (dataclasses.replace(first, cells=first.cells + 1), *others)},
        "measured": {"events": (*terms.events, first), "not_taken": tuple(others)},
    }
    other = certificate_of(terms, **changes[name])
    assert_contradiction(tmp_path / "r", table=table, certificate=other, words=words)


def test_the_noise_of_a_step_is_that_of_its_event(tmp_path: Path, tree: SequenceTable) -> None:
    own = tree_certificate(tree)
    first, event, last = own.terms.events[:3], own.terms.events[3], own.terms.events[4:]
    one = Bound.of_records(1)
    # It costs the same, and has half the noise for half the records.
    other = LaplaceEvent(
        query=event.query, cells=event.cells, bound=one, scale=1 / event.loss.amount
    )
    certificate = certificate_of(own.terms, events=(*first, other, *last))
    assert certificate.claim == own.claim
    assert_contradiction(
        tmp_path / "r", table=tree, certificate=certificate, words="its events are not what"
    )


@pytest.mark.parametrize("name", ["a lower threshold", "a higher threshold", "other noise"])
def test_every_step_has_the_threshold_and_the_noise_that_the_mechanism_gives_it(
    tmp_path: Path, tree: SequenceTable, name: str
) -> None:
    step = tree.steps[0]
    changes: dict[str, dict[str, object]] = {
        "a lower threshold": {"threshold": step.threshold - 1},
        "a higher threshold": {"threshold": step.threshold + 1},
        "other noise": {"standard_error": step.standard_error * 1.001},
    }
    first = dataclasses.replace(step, **changes[name])
    other = dataclasses.replace(tree, steps=(first, *tree.steps[1:]))
    assert_contradiction(
        tmp_path / "r",
        table=other,
        certificate=tree_certificate(tree),
        words="The steps of the table are not those of",
    )


def test_a_certificate_says_what_one_record_is(tmp_path: Path, tree: SequenceTable) -> None:
    terms = tree_certificate(tree).terms
    limits = {**terms.contribution.limits, "record": "year"}
    other = certificate_of(
        terms, contribution=dataclasses.replace(terms.contribution, limits=limits)
    )
    assert_contradiction(
        tmp_path / "r", table=tree, certificate=other, words="does not say what one record is"
    )


@pytest.mark.parametrize("most", [1, True, 5e6])
def test_a_tree_goes_as_far_as_it_says_that_it_may(
    tmp_path: Path, tree: SequenceTable, most: object
) -> None:
    terms = tree_certificate(tree).terms
    parameters = {**terms.mechanism.parameters, "most_nodes": most}
    record = MechanismRecord(name=terms.mechanism.name, parameters=parameters)
    certificate = certificate_of(terms, mechanism=record)
    words = "The steps of the table" if most == 1 and most is not True else "this version runs"
    with pytest.raises(ReleaseError, match=words):
        write_release(tmp_path / "r", table=tree, certificate=certificate)


def test_a_tree_does_not_stop_without_a_reason(tmp_path: Path) -> None:
    """It has nodes left to grow from, and steps that were charged for."""
    low = tree_of(height=3)
    certificate = tree_certificate(low, height=4)
    assert certificate.terms.not_taken
    with pytest.raises(ReleaseError, match="The steps of the table"):
        write_release(tmp_path / "r", table=low, certificate=certificate)
