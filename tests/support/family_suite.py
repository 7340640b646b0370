"""What the releases of every family are held to; what is its own, a family says in a `Case`.

A test class of a family inherits the tests that apply to it, and names its tables, releases and
changes in `case`.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from filecmp import cmp
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.atlas import atlas_of
from hushway.families.registry import contents_of
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.calibration import counting_event
from hushway.privacy.certificate import Certificate, canonical_json
from hushway.privacy.events import Event
from hushway.privacy.measured import Internal
from hushway.release.documents.papers import (
    PACKAGE,
    PAGE,
    PAPERS,
    geopackage_paper,
    index_paper,
    workbook_paper,
)
from hushway.release.folder.published_file import PublishedFile
from hushway.release.folder.seal import SEAL, files_of
from hushway.release.formats.interval import interval_of
from support.certificates import UNPROTECTED, certificate_of
from support.forging import assert_contradiction, failed, sentence
from support.mutations import documented_as_free, fields_that_may_be_edited, seal
from support.table_forgeries import columns_that_may_be_edited, documented_columns
from support.wrong_terms import WRONG_TERMS

Certify = Callable[..., Certificate]
Change = Callable[[list[dict[str, Any]]], object]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """What is a family's own.

    Attributes:
        family: Its name.
        table: The fixture of a published table.
        certify: Makes a certificate for a table.
        release: The fixture of the table's release, which tests may change.
        edits_release: The fixture of the release that is edited, if that is another one.
        checks: What a verification checks from the table's facts on, by fixture of a release.
        edits: Bytes of a file, what somebody writes instead under a new seal, and the check that
            finds it; "none" if nothing can.
        others: Fixtures of tables over other public lists.
        rows_release: The fixture of the release whose rows are changed.
        rows: Changes of the rows of a Parquet file, and the checks that find them.
        events: Wrong events of a certificate, made from the right ones.
        spoilt: Tables that are not made of published numbers.
        edited: The fixtures of a release and of a table of which every field is edited.
        files: What its releases may hold beside the papers of every release.
        absent: Which of them a release does not hold, by fixture.
        numbers: The Parquet file of published numbers, its check, and some columns of them.
        left_out: A file that large tables are without, the limit in the code, and a smaller one.
        most_cells: The limit of counts in the code, and one less than there are in a release.
    """

    family: str
    table: str
    certify: Certify
    release: str
    edits_release: str | None = None
    checks: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    edits: Sequence[tuple[str, bytes, bytes, str]] = ()
    others: Sequence[str] = ()
    rows_release: str = ""
    rows: Mapping[str, tuple[str, Change, set[str]]] = dataclasses.field(default_factory=dict)
    events: Callable[[tuple[Event, ...]], dict[str, tuple[Event, ...]]] | None = None
    event_names: Sequence[str] = ()
    spoilt: Mapping[str, Callable[[Any], Any]] = dataclasses.field(default_factory=dict)
    edited: tuple[str, str] = ("", "")
    files: Sequence[PublishedFile[Any, Any]] = ()
    absent: Mapping[str, set[str]] = dataclasses.field(default_factory=dict)
    numbers: tuple[str, str, Sequence[str]] = ("", "", ())
    left_out: tuple[str, str, int] = ("", "", 0)
    most_cells: tuple[str, int] = ("", 0)


def put(row: int, **values: Any) -> Change:
    """Returns a change of some values of a row; a function makes its value of all rows.

    Intervals follow, so that no check finds what only they would tell.
    """

    def change(rows: list[dict[str, Any]]) -> None:
        rows[row] |= {name: own(rows) if callable(own) else own for name, own in values.items()}
        if {"low", "high", "standard_error"} <= rows[row].keys():
            ends = interval_of(np.array(rows[row]["count"]), rows[row]["standard_error"])
            rows[row] |= dict(zip(("low", "high"), map(float, ends), strict=True))

    return change


def changes(
    file: str, checks: set[str], named: Mapping[str, Change]
) -> dict[str, tuple[str, Change, set[str]]]:
    """Returns changes of one file that the same checks find."""
    return {name: (file, change, checks) for name, change in named.items()}


def swap(rows: list[dict[str, Any]]) -> None:
    """Puts the first two rows into the other order."""
    rows[0], rows[1] = rows[1], rows[0]


def rewrite_rows(path: Path, change: Change, **options: Any) -> None:
    """Writes a Parquet file again with changed rows, compressed as hushway does."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    options = {"compression": "zstd"} | options
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, **options)


def edit_bytes(path: Path, old: bytes, new: bytes, times: int = -1) -> None:
    """Replaces some bytes of a file, which must be there."""
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, times))


def rewrite_facts(release: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes what the data package says of the table."""
    path = release / "datapackage.json"
    package = json.loads(path.read_bytes())
    change(package["table"])
    path.write_bytes(canonical_json(package))


STATED_NOISES: dict[str, tuple[Callable[[dict[str, Any]], object], set[str]]] = {
    "less": (
        lambda facts: facts.update(
            noise={query: error / 2 for query, error in facts["noise"].items()}
        ),
        {"terms"},
    ),
    "one less": (lambda facts: facts["noise"].popitem(), {"terms"}),
    "one more": (lambda facts: facts["noise"].update(heads=1.0), {"terms"}),
    "as text": (lambda facts: facts["noise"].update(heads="1.0"), {"table facts"}),
    "as a whole number": (lambda facts: facts["noise"].update(heads=1), {"table facts"}),
    "as a list": (lambda facts: facts.update(noise=list(facts["noise"].values())), {"table facts"}),
    "none": (lambda facts: facts.pop("noise"), {"table facts"}),
}
OTHER_NOISE = "The noise that the table was fitted for is not that of"


FITTED_NOISES: dict[str, Callable[[dict[str, float]], Any]] = {
    "more": lambda noise: {name: 1.001 * error for name, error in noise.items()},
    "less in one": lambda noise: {**noise, max(noise): noise[max(noise)] / 2},
    "a measurement less": lambda noise: dict(list(noise.items())[1:]),
    "a measurement more": lambda noise: {**noise, "heads": 1.0},
    "another name": lambda noise: {name.upper(): error for name, error in noise.items()},
    "none": lambda _: {},
}


def bounded(event: Event, **changes: int) -> Event:
    """Returns a measurement at the same price with noise for another bound."""
    bound = dataclasses.replace(event.bound, **changes)
    return counting_event(event.query, event.cells, event.loss, bound)


class CertifiedSuite:
    """What holds for every table and its certificate."""

    case: Case

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        choices: dict[str, Sequence[Any]] = {
            "checked": list(self.case.checks),
            "file_edit": self.case.edits,
            "row_change": list(self.case.rows),
            "wrong_events": self.case.event_names,
            "spoil": list(self.case.spoilt),
            "column": self.case.numbers[2],
        }
        for name, values in choices.items():
            if name in metafunc.fixturenames:
                ids = [f"{v[0]} {i}" for i, v in enumerate(values)] if name == "file_edit" else None
                metafunc.parametrize(name, values, ids=ids)

    @pytest.fixture
    def own_table(self, request: pytest.FixtureRequest) -> Any:
        return request.getfixturevalue(self.case.table)

    def test_every_table_needs_its_own_certificate(
        self, request: pytest.FixtureRequest, tmp_path: Path, own_table: Any
    ) -> None:
        terms = self.case.certify(own_table).terms
        another = "links" if self.case.family == "od" else "od"
        certificates = [
            (certificate_of(terms, release_type=another), f"release type '{another}'"),
            *(
                (certificate_of(terms, domain=dataclasses.replace(terms.domain, **change)), "lists")
                for change in ({"digest": "sha256:00"}, {"size": terms.domain.size - 1})
            ),
            *(
                (self.case.certify(request.getfixturevalue(name)), "public lists")
                for name in self.case.others
            ),
        ]
        for certificate, words in certificates:
            with pytest.raises(ReleaseError, match=words):
                write_release(tmp_path / "r", table=own_table, certificate=certificate)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.one_in(2)
    @pytest.mark.parametrize("name", WRONG_TERMS)
    def test_terms_that_do_not_follow_from_the_mechanism_are_found(
        self, tmp_path: Path, own_table: Any, name: str
    ) -> None:
        change, words = WRONG_TERMS[name]
        terms = self.case.certify(own_table).terms
        other = certificate_of(terms, **change(terms))
        assert_contradiction(tmp_path / "r", table=own_table, certificate=other, words=words)

    def test_the_same_table_gives_the_same_picture_and_a_stamp_another(
        self, own_table: Any
    ) -> None:
        draw = contents_of(own_table).picture
        plain = draw(self.case.certify(own_table))
        assert plain.startswith(b"\x89PNG\r\n\x1a\n")
        assert plain == draw(self.case.certify(own_table))
        assert plain != draw(self.case.certify(own_table, randomness=UNPROTECTED))


class FamilySuite(CertifiedSuite):
    """What holds for the releases of every family."""

    @pytest.fixture
    def own_release(self, request: pytest.FixtureRequest) -> Path:
        return request.getfixturevalue(self.case.release)

    @pytest.fixture
    def edits_release(self, request: pytest.FixtureRequest) -> Path:
        return request.getfixturevalue(self.case.edits_release or self.case.release)

    def test_an_untouched_release_passes_every_check(
        self, request: pytest.FixtureRequest, checked: str
    ) -> None:
        verification = verify(request.getfixturevalue(checked))
        assert verification.passed
        names = [check.name for check in verification.checks]
        assert names[names.index("release type") + 1 :] == [
            *self.case.checks[checked],
            "package",
            "known",
        ]
        assert all(check.sentence.endswith(".") for check in verification.checks)

    def test_a_release_holds_its_files(self, request: pytest.FixtureRequest, checked: str) -> None:
        # Which files these are is pinned by the digests of `support.same_bytes`.
        # Each release has few enough rows for a page and for tables.
        papers = (*PAPERS, index_paper(0), workbook_paper(), geopackage_paper())
        always = {*(paper.path for paper in papers), PACKAGE, SEAL}
        own = {file.path for file in self.case.files} - self.case.absent[checked]
        assert set(files_of(request.getfixturevalue(checked))) == always | own

    def test_one_changed_byte_anywhere_is_found(self, own_release: Path) -> None:
        for name in files_of(own_release):
            path = own_release / name
            data = path.read_bytes()
            for position in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
                changed = bytearray(data)
                changed[position] ^= 0x20
                path.write_bytes(changed)
                assert not verify(own_release).intact, (name, position)
            path.write_bytes(data)
        assert verify(own_release).passed

    @pytest.mark.one_in(2)
    def test_a_changed_file_is_found_under_a_new_seal(
        self, edits_release: Path, file_edit: tuple[str, bytes, bytes, str]
    ) -> None:
        name, old, new, check = file_edit
        edit_bytes(edits_release / name, old, new)
        seal(edits_release)
        # How well the fit went is the publisher's word.
        assert check in (failed(verify(edits_release)) or {"none"})

    def test_a_release_of_another_family_does_not_pass(self, own_release: Path) -> None:
        path = own_release / "datapackage.json"
        package = json.loads(path.read_bytes())
        package["table"] = {"towers": False, "include_intrazonal": False}
        path.write_text(json.dumps(package))
        seal(own_release)
        assert failed(verify(own_release)) == {"table facts"}

    def test_verify_page_and_site_say_alike_how_much_is_known(self, own_release: Path) -> None:
        known = sentence(verify(own_release), "known")
        assert "of at least twice their error" in known
        assert f"<p>{known}</p>" in (own_release / PAGE).read_text(encoding="utf-8")
        assert known in atlas_of(own_release).drawing.notes
        rewrite_facts(own_release, lambda facts: facts.update(known="Everything is known."))
        seal(own_release)
        assert failed(verify(own_release)) == {"page", "package"}

    def test_the_same_release_gives_the_same_bytes(
        self, tmp_path: Path, own_release: Path, own_table: Any
    ) -> None:
        again = write_release(
            tmp_path / "r", table=own_table, certificate=self.case.certify(own_table)
        )
        for name in files_of(own_release):
            assert cmp(again / name, own_release / name, shallow=False), name

    def test_the_data_package_names_the_columns_of_every_table(self, own_release: Path) -> None:
        package = json.loads((own_release / "datapackage.json").read_bytes())
        tables = [each for each in package["resources"] if "schema" in each]
        assert {each["format"] for each in tables} == {"csv", "parquet"}
        for table in tables:
            path = own_release / table["path"]
            fields = [field["name"] for field in table["schema"]["fields"]]
            if path.suffix == ".csv":
                assert fields == path.read_text().splitlines()[0].split(","), table["path"]
            else:
                assert fields == pq.read_schema(path).names, table["path"]

    def test_only_published_numbers_leave_the_building(
        self, tmp_path: Path, own_table: Any, spoil: str
    ) -> None:
        with pytest.raises(PrivacyError):
            write_release(
                tmp_path / "r",
                table=self.case.spoilt[spoil](own_table),
                certificate=self.case.certify(own_table),
            )
        assert not (tmp_path / "r").exists()

    @pytest.mark.long
    def test_what_may_be_edited_is_documented(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> None:
        release = request.getfixturevalue(self.case.edited[0])
        assert fields_that_may_be_edited(release, tmp_path) == documented_as_free(self.case.family)


class MeasuredSuite(FamilySuite):
    """What also holds where tables name the noise that they were fitted for."""

    @pytest.fixture
    def rows_release(self, request: pytest.FixtureRequest) -> Path:
        return request.getfixturevalue(self.case.rows_release)

    @pytest.mark.one_in(2)
    def test_a_changed_row_is_found_under_a_new_seal(
        self, rows_release: Path, row_change: str
    ) -> None:
        file, change, expected = self.case.rows[row_change]
        rewrite_rows(rows_release / file, change)
        seal(rows_release)
        assert failed(verify(rows_release)) & (expected | {"package"}) >= expected

    @pytest.mark.parametrize("name", STATED_NOISES)
    def test_the_noise_of_the_data_package_is_that_of_the_certificate(
        self, own_release: Path, name: str
    ) -> None:
        change, expected = STATED_NOISES[name]
        rewrite_facts(own_release, change)
        seal(own_release)
        verification = verify(own_release)
        # What is said to be known follows from the noise.
        assert failed(verification) - {"package"} == expected
        if expected == {"terms"}:
            assert OTHER_NOISE in sentence(verification, "terms")

    @pytest.mark.parametrize("name", FITTED_NOISES)
    def test_a_table_was_fitted_for_the_noise_that_was_paid_for(
        self, tmp_path: Path, own_table: Any, name: str
    ) -> None:
        other = dataclasses.replace(own_table, noise=FITTED_NOISES[name](dict(own_table.noise)))
        assert_contradiction(
            tmp_path / "r", table=other, certificate=self.case.certify(own_table), words=OTHER_NOISE
        )

    @pytest.mark.parametrize("kind", [str, Internal, int, lambda _: float("nan")])
    def test_noise_that_is_no_number_is_not_published(
        self, tmp_path: Path, own_table: Any, kind: Callable[[float], Any]
    ) -> None:
        noise = {query: kind(error) for query, error in own_table.noise.items()}
        other = dataclasses.replace(own_table, noise=noise)
        with pytest.raises((ReleaseError, PrivacyError)):
            write_release(tmp_path / "r", table=other, certificate=self.case.certify(own_table))
        assert not (tmp_path / "r").exists()

    @pytest.fixture
    def measured_table(self, own_table: Any) -> Any:
        """A table with every measurement that a certificate can name; a family may have another."""
        return own_table

    @pytest.mark.one_in(3)
    def test_the_events_are_those_of_the_published_numbers(
        self, tmp_path: Path, measured_table: Any, wrong_events: str
    ) -> None:
        terms = self.case.certify(measured_table).terms
        assert self.case.events is not None
        events = self.case.events(terms.events)[wrong_events]
        assert events != terms.events
        assert_contradiction(
            tmp_path / "r",
            table=measured_table,
            certificate=certificate_of(terms, events=events),
            words="contradicts itself: its events are not what",
        )

    def test_nothing_that_was_measured_is_said_not_to_have_been(
        self, tmp_path: Path, own_table: Any
    ) -> None:
        terms = self.case.certify(own_table).terms
        *first, last = terms.events
        other = certificate_of(terms, events=tuple(first), not_taken=(last,))
        assert other.claim == terms.claim
        assert_contradiction(
            tmp_path / "r", table=own_table, certificate=other, words="its events are not what"
        )

    def test_what_may_be_edited_in_the_files_is_documented(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> None:
        table = request.getfixturevalue(self.case.edited[1])
        found = columns_that_may_be_edited(table, self.case.certify(table), tmp_path)
        assert found
        assert found <= documented_columns(self.case.family)

    def test_columns_have_the_types_that_they_should(self, rows_release: Path, column: str) -> None:
        file, check, _ = self.case.numbers
        table = pq.read_table(rows_release / file)
        position = table.schema.names.index(column)
        texts = table.set_column(position, column, table[column].cast(pa.string()))
        pq.write_table(texts, rows_release / file)
        seal(rows_release)
        assert failed(verify(rows_release)) == {check}

    def test_a_large_table_is_without_a_file_and_says_so(
        self, tmp_path: Path, own_table: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file, limit, value = self.case.left_out
        monkeypatch.setattr(limit, value)
        folder = write_release(
            tmp_path / "r", table=own_table, certificate=self.case.certify(own_table)
        )
        assert file not in files_of(folder)
        package = json.loads((folder / PACKAGE).read_bytes())
        assert [each["path"] for each in package["omitted"]] == [file, "noisy_answers.parquet"]
        assert verify(folder).passed

    def test_too_many_counts_are_neither_written_nor_read(
        self, tmp_path: Path, own_release: Path, own_table: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limit, most = self.case.most_cells
        monkeypatch.setattr(limit, most)
        with pytest.raises(PrivacyError, match=f"at most {most} counts"):
            write_release(tmp_path / "r", table=own_table, certificate=self.case.certify(own_table))
        assert failed(verify(own_release)) == {"geography"}
