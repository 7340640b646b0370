import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.privacy.certificate import Certificate, canonical_json
from hushway.release.folder.seal import files_of
from support.forging import failed, sentence

Reseal = Callable[[Path], None]
Change = Callable[[list[dict[str, Any]]], object]


def test_an_untouched_release_passes_every_check(plain_release: Path, fast_release: Path) -> None:
    for release in (plain_release, fast_release):
        verification = verify(release)
        assert verification.passed
        names = [check.name for check in verification.checks]
        assert names[names.index("table facts") :] == [
            "table facts",
            "release type",
            "geography",
            "links",
            "terms",
            "formats",
            "package",
        ]
        assert all(check.sentence.endswith(".") for check in verification.checks)


def test_one_changed_byte_anywhere_is_found(plain_release: Path) -> None:
    for name in files_of(plain_release):
        path = plain_release / name
        data = path.read_bytes()
        for position in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
            changed = bytearray(data)
            changed[position] ^= 0x20
            path.write_bytes(changed)
            assert not verify(plain_release).intact, (name, position)
        path.write_bytes(data)
    assert verify(plain_release).passed


# From here on somebody changes a file and seals the folder again: the claims must still add up.


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("periods.csv", b"2026-03-03", b"2026-03-04", "geography"),
        ("periods.csv", b"Europe/Lisbon", b"Europe/Berlin", "geography"),
        ("zones.csv", b"west", b"best", "geography"),
        ("zones.csv", b"zone,", b"area,", "geography"),
        ("zones.csv", b"1,west\n", b"", "geography"),
        ("zones.csv", b"1,west\n", b"1,west\n2,north\n", "geography"),
        ("roads.parquet", b"PAR1", b"PAR2", "geography"),
        ("roads.parquet", b"1.1.0", b"1.2.0", "geography"),
        ("nodes.parquet", b"PAR1", b"PAR2", "geography"),
        ("links.parquet", b"PAR1", b"PAR2", "links"),
        ("links.geo.parquet", b"PAR1", b"PAR2", "formats"),
        ("links.geo.parquet", b"1.1.0", b"1.2.0", "formats"),
        ("links.geojson", b"way 9", b"way 8", "formats"),
        ("links.geojson", b'"total":', b'"total": ', "formats"),
        ("gmns/link.csv", b"way 9,", b"way 8,", "formats"),
        ("gmns/link.csv", b",true,", b",false,", "formats"),
        ("gmns/node.csv", b"n3", b"n4", "formats"),
        ("gmns/config.csv", b"km", b"mi", "formats"),
        ("measured_classes.csv", b"links,0,1,", b"links,0,1,1", "package"),
        ("measured_classes.csv", b"links,0,1,", b"links,1,1,", "links"),
        ("measured_classes.csv", b"ends,", b"stops,", "links"),
        ("datapackage.json", b'"classes_measured": true', b'"classes_measured": 1', "table facts"),
        (
            "datapackage.json",
            b'"classes_measured": true',
            b'"classes_measured": false',
            "terms",
        ),
        ("datapackage.json", b'"speeds": false', b'"speeds": true', "links"),
        ("datapackage.json", b'"speeds": false', b'"speed": false', "table facts"),
        ("datapackage.json", b'"rounds": 7', b'"rounds": 8', "none"),
        ("datapackage.json", b'"links": 47', b'"links": 48', "package"),
        ("datapackage.json", b"is not known to be empty", b"is empty", "package"),
    ],
)
def test_a_changed_file_is_found_under_a_new_seal(
    plain_release: Path, reseal: Reseal, *, name: str, old: bytes, new: bytes, check: str
) -> None:
    path = plain_release / name
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    reseal(plain_release)
    # How well the fit went is the publisher's word.
    assert check in (failed(verify(plain_release)) or {"none"})


@pytest.mark.parametrize(
    ("threshold", "check"),
    [('"2"', "table facts"), ("2", "table facts"), ("1e999", "table facts"), ("2.25", "terms")],
)
def test_another_threshold_is_found_under_a_new_seal(
    plain_release: Path, links: LinkTable, reseal: Reseal, *, threshold: str, check: str
) -> None:
    path = plain_release / "datapackage.json"
    text, old = path.read_text(), f'"threshold": {links.threshold}'
    assert text.count(old) == 1
    path.write_text(text.replace(old, f'"threshold": {threshold}'))
    reseal(plain_release)
    assert check in failed(verify(plain_release))


NOISES: dict[str, tuple[Callable[[dict[str, Any]], object], set[str]]] = {
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


@pytest.mark.parametrize("name", NOISES)
def test_the_noise_of_the_data_package_is_that_of_the_certificate(
    plain_release: Path, reseal: Reseal, name: str
) -> None:
    change, expected = NOISES[name]
    path = plain_release / "datapackage.json"
    package = json.loads(path.read_bytes())
    change(package["table"])
    path.write_bytes(canonical_json(package))
    reseal(plain_release)
    verification = verify(plain_release)
    assert failed(verification) == expected
    if expected == {"terms"}:
        assert "The noise that the table was fitted for" in sentence(verification, "terms")


def put(rows: list[dict[str, Any]], row: int, **values: Any) -> None:
    rows[row] |= values


def swap(rows: list[dict[str, Any]]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


CHANGES: dict[str, tuple[str, Change, set[str]]] = {
    "another count": (
        "links.parquet",
        lambda rows: put(rows, 3, count=rows[3]["count"] + 1),
        {"formats"},
    ),
    "another error": ("links.parquet", lambda rows: put(rows, 3, standard_error=9.5), {"formats"}),
    "a count of 0": ("links.parquet", lambda rows: put(rows, 3, count=0.0), {"links"}),
    "a count of thousandths": ("links.parquet", lambda rows: put(rows, 3, count=1.001), {"links"}),
    "no error": ("links.parquet", lambda rows: put(rows, 3, standard_error=0.0), {"links"}),
    "the same link": (
        "links.parquet",
        lambda rows: put(rows, 1, **{k: v for k, v in rows[0].items() if k != "count"}),
        {"links"},
    ),
    "an unknown link": ("links.parquet", lambda rows: put(rows, 0, link_id="?"), {"links"}),
    "an unknown period": ("links.parquet", lambda rows: put(rows, 0, period="?"), {"links"}),
    "another period": ("links.parquet", lambda rows: put(rows, 0, period_number=1), {"links"}),
    "another class": ("links.parquet", lambda rows: put(rows, 0, **{"class": 5}), {"links"}),
    "another length": ("links.parquet", lambda rows: put(rows, 0, length_m=1.0), {"links"}),
    "another speed": ("links.parquet", lambda rows: put(rows, 0, speed=1.0), {"links"}),
    "a negative speed": (
        "links.parquet",
        lambda rows: put(rows, 0, speed=-1.0, speed_error=1.0),
        {"links"},
    ),
    "another time": ("links.parquet", lambda rows: put(rows, 0, travel_time_s=1.0), {"links"}),
    "a speed without an error": (
        "links.parquet",
        lambda rows: put(rows, 0, speed_error=None),
        {"links"},
    ),
    "rows out of order": ("links.parquet", swap, {"links"}),
    "a missing row": ("links.parquet", lambda rows: rows.pop(), {"formats"}),
    "a further row": ("links.parquet", lambda rows: rows.append(dict(rows[-1])), {"links"}),
    "another name on the map": (
        "links.geo.parquet",
        lambda rows: put(rows, 0, name="Elsewhere"),
        {"formats"},
    ),
    "another course on the map": (
        "links.geo.parquet",
        lambda rows: put(rows, 0, geometry=rows[1]["geometry"]),
        {"formats"},
    ),
    "another total on the map": (
        "links.geo.parquet",
        lambda rows: put(rows, 0, total=rows[0]["total"] + 0.01),
        {"formats"},
    ),
    "a smaller error on the map": (
        "links.geo.parquet",
        lambda rows: put(rows, 0, total_error=0.01),
        {"formats"},
    ),
    "a shorter list on the map": (
        "links.geo.parquet",
        lambda rows: put(rows, 0, counts=rows[0]["counts"][:-1]),
        {"formats"},
    ),
    "a missing link on the map": ("links.geo.parquet", lambda rows: rows.pop(), {"formats"}),
    "another length of a road": (
        "roads.parquet",
        lambda rows: put(rows, 0, length_m=1.0),
        {"geography"},
    ),
    "another course of a road": (
        "roads.parquet",
        lambda rows: put(rows, 0, geometry=rows[1]["geometry"]),
        {"geography"},
    ),
    "another zone of a road": ("roads.parquet", lambda rows: put(rows, 0, zone=0), {"geography"}),
    "a zone without a name": ("roads.parquet", lambda rows: put(rows, 0, zone=7), {"geography"}),
    "a missing road": ("roads.parquet", lambda rows: rows.pop(), {"geography"}),
    "a moved node": ("nodes.parquet", lambda rows: put(rows, 0, lon=0.0), {"geography"}),
    "another place of a node on the map": (
        "nodes.parquet",
        lambda rows: put(rows, 0, geometry=rows[1]["geometry"]),
        {"geography"},
    ),
    "a link from nowhere": (
        "roads.parquet",
        lambda rows: put(rows, 0, from_node_id="nowhere"),
        {"geography"},
    ),
    "a missing node": ("nodes.parquet", lambda rows: rows.pop(), {"geography"}),
}


def rewrite(path: Path, change: Change, **options: Any) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    options = {"compression": "zstd", "use_dictionary": False} | options
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, **options)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_row_is_found_under_a_new_seal(
    fast_release: Path, reseal: Reseal, name: str
) -> None:
    file, change, expected = CHANGES[name]
    rewrite(fast_release / file, change)
    reseal(fast_release)
    assert failed(verify(fast_release)) & (expected | {"package"}) >= expected


@pytest.mark.parametrize("file", ["links.parquet", "links.geo.parquet", "roads.parquet"])
def test_the_same_rows_in_another_file_are_the_same_release(
    fast_release: Path, reseal: Reseal, file: str
) -> None:
    path = fast_release / file
    table = pq.read_table(path)
    pq.write_table(table, path, compression="none", row_group_size=7, use_dictionary=False)
    reseal(fast_release)
    # The data package holds size and digest of the file as it was.
    assert failed(verify(fast_release)) == {"package"}


@pytest.mark.parametrize("column", ["count", "period_number", "speed"])
def test_columns_have_the_types_that_they_should(
    fast_release: Path, reseal: Reseal, column: str
) -> None:
    path = fast_release / "links.parquet"
    table = pq.read_table(path)
    position = table.schema.names.index(column)
    pq.write_table(table.set_column(position, column, table[column].cast(pa.string())), path)
    reseal(fast_release)
    assert failed(verify(fast_release)) == {"links"}


def refusing_large(read: Callable[..., pa.Table]) -> Callable[..., pa.Table]:
    def watched(opened: pq.ParquetFile, *rest: Any) -> pa.Table:
        assert opened.metadata.row_group(0).total_byte_size < 1_000_000
        return read(opened, *rest)

    return watched


@pytest.mark.parametrize(
    ("file", "check"), [("links.geo.parquet", "formats"), ("roads.parquet", "geography")]
)
def test_a_file_that_claims_to_be_huge_is_not_even_read(
    plain_release: Path, reseal: Reseal, monkeypatch: pytest.MonkeyPatch, file: str, check: str
) -> None:
    rewrite(plain_release / file, lambda rows: put(rows, 0, name="x" * 3_000_000))
    reseal(plain_release)
    monkeypatch.setattr("hushway.families.links.files.roads._MOST_BYTES", 500_000)
    for way in ("read", "read_row_group"):
        monkeypatch.setattr(pq.ParquetFile, way, refusing_large(getattr(pq.ParquetFile, way)))
    (found,) = [each for each in verify(plain_release).checks if each.name == check]
    assert not found.passed
    assert "AssertionError" not in found.sentence


def test_texts_that_grow_when_they_are_read_are_refused(
    plain_release: Path, reseal: Reseal
) -> None:
    rewrite(plain_release / "roads.parquet", lambda _: None, use_dictionary=True)
    reseal(plain_release)
    found = {check.name: check.sentence for check in verify(plain_release).checks}
    assert "pages are not as hushway writes them" in found["geography"]


def test_too_many_counts_are_not_even_read(
    plain_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.links.files.check.MOST_CELLS", 46)
    assert failed(verify(plain_release)) == {"geography"}


def test_a_release_of_another_family_does_not_pass_as_links(
    plain_release: Path, reseal: Reseal
) -> None:
    path = plain_release / "datapackage.json"
    package = json.loads(path.read_bytes())
    package["table"] = {"quanta": 12, "towers": False}
    path.write_text(json.dumps(package))
    reseal(plain_release)
    assert failed(verify(plain_release)) == {"table facts"}


def test_names_that_a_spreadsheet_would_run_are_guarded_and_verified(
    build: Callable[..., LinkTable],
    certify_links: Callable[..., Certificate],
    streets: Callable[..., LinkUniverse],
    tmp_path: Path,
) -> None:
    plain = streets(4)
    roads = replace(
        plain.roads,
        link_id=np.array([f"=way {i}" for i in range(plain.roads.links)]),
        name=np.array(["@name"] * plain.roads.links),
    )
    named = build(replace(plain, roads=roads, zones=("+east", "-west")))
    release = write_release(tmp_path / "risky", table=named, certificate=certify_links(named))
    assert verify(release).passed
    links = (release / "gmns" / "link.csv").read_text(encoding="utf-8")
    assert "\n'=way 1,'@name," in links
    assert "\n0,'+east\n1,'-west\n" in (release / "zones.csv").read_text(encoding="utf-8")
