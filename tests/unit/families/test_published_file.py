"""A toy family of three files: the list alone says what is described, written and checked."""

from pathlib import Path

import pyarrow as pa
import pytest

from hushway.errors import ReleaseError, damaged
from hushway.families.density.files import published as density
from hushway.families.links.files import published as links
from hushway.families.od.files import published as od
from hushway.families.sequences.files import published as sequences
from hushway.release.folder.published_file import (
    PublishedFile,
    check_files,
    describe_files,
    write_files,
)
from hushway.release.formats.columns import LABEL, MOMENT, TEXT, WHOLE, WKB, Column, Columns
from hushway.release.formats.columns import NUMBER as FLOAT

Toy = PublishedFile[int, str]


def _parts(view: int | str) -> list[bytes]:
    return [str(view).encode()]


def read_number(read: str, path: Path) -> None:
    if path.read_text() != read:
        raise damaged(f"{path.name} is another number.")


NUMBER = Columns((Column("number", WHOLE, "It."),), key=("number",))
FILES = (
    Toy(
        path="number.csv",
        title="A number",
        description=lambda view: f"It is {view}.",
        columns=lambda view: Columns((Column(str(view), TEXT, "Its name."),)),
        parts=_parts,
    ),
    Toy(
        path="maps/number.json",
        title="The same number",
        description="In a folder.",
        parts=_parts,
        finding="maps",
    ),
    Toy(
        path="small.parquet",
        title="Small numbers",
        description="Of one digit.",
        columns=NUMBER,
        write=lambda table, path: path.write_text(str(table)),
        check=read_number,
        is_there=lambda view: len(str(view)) == 1,
        left_out="It has more than one digit.",
    ),
    Toy(
        path="source.csv",
        title="What was read first",
        description="It is not compared.",
        parts=_parts,
        is_source=True,
        is_there=lambda view: len(str(view)) == 1,
    ),
)


def test_both_sides_describe_the_same_files() -> None:
    written, read = describe_files(FILES, 12, {"a": 1}), describe_files(FILES, "12", {"a": 1})
    assert written == read
    assert [file.path for file in written.resources] == ["number.csv", "maps/number.json"]
    assert [file.mediatype for file in written.resources] == ["text/csv", "application/json"]
    assert written.resources[0].description == "It is 12."
    fields = [{"name": "12", "type": "string", "description": "Its name."}]
    assert [file.schema for file in written.resources] == [{"fields": fields}, None]
    assert written.omitted == {"small.parquet": "It has more than one digit."}


def test_files_that_are_there_are_not_said_to_be_left_out() -> None:
    description = describe_files(FILES, 7, {})
    assert [file.path for file in description.resources] == [file.path for file in FILES]
    assert description.resources[2].schema == NUMBER.described
    assert description.omitted == {}


def test_every_file_that_is_there_is_written_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    write_files(FILES, 12, tmp_path, told.append)
    assert told == ["Writing number.csv", "Writing maps/number.json"]
    assert (tmp_path / "number.csv").read_text() == "12"
    assert (tmp_path / "maps" / "number.json").read_text() == "12"
    assert not (tmp_path / "small.parquet").exists()


def test_the_files_of_a_finding_are_checked_and_no_others(tmp_path: Path) -> None:
    write_files(FILES, 7, tmp_path, lambda _: None)
    check_files(FILES, "7", tmp_path)
    check_files(FILES, "7", tmp_path, "maps")
    (tmp_path / "small.parquet").write_text("8")
    (tmp_path / "source.csv").write_text("8")
    check_files(FILES, "7", tmp_path, "maps")
    with pytest.raises(ReleaseError, match=r"small\.parquet is another number") as caught:
        check_files(FILES, "7", tmp_path)
    assert "intact copy" in caught.value.advice
    (tmp_path / "maps" / "number.json").write_text("71")
    with pytest.raises(ReleaseError, match=r"maps/number\.json does not hold"):
        check_files(FILES, "7", tmp_path, "maps")


def test_files_that_are_not_there_are_not_checked(tmp_path: Path) -> None:
    (tmp_path / "number.csv").write_text("12")
    check_files(FILES, "12", tmp_path)


@pytest.mark.parametrize("family", [od, sequences, density, links])
def test_a_family_has_no_two_files_of_one_name(family: object) -> None:
    paths = [file.path for file in family.FILES]  # type: ignore[attr-defined]
    assert len(set(paths)) == len(paths) > 1


def test_columns_give_the_schema_and_the_words_of_the_data_package() -> None:
    kinds = (LABEL, TEXT, WHOLE, FLOAT, MOMENT, WKB, pa.list_(TEXT), pa.bool_(), pa.date32())
    table = Columns(tuple(Column(str(i), kind, "It.") for i, kind in enumerate(kinds)), key=("0",))
    assert [field["type"] for field in table.described["fields"]] == [
        *("string", "string", "integer", "number", "datetime", "any", "array", "boolean", "date")
    ]
    assert table.described["primaryKey"] == ["0"]
    assert table.schema.types == list(kinds)
    longer = table.and_also(Column("rest", WHOLE, "More.", optional=True, described_as="number"))
    assert longer.described["fields"][-1]["type"] == "number"
    assert [longer.schema.field(name).nullable for name in ("0", "rest")] == [False, True]
    assert table.with_kinds(**{"0": TEXT}).schema.field("0").type == TEXT
    assert table.names == table.with_kinds(**{"0": TEXT}).names
