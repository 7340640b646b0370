import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import DensityUniverse
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.areas import Areas
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate, canonical_json
from hushway.release.folder.seal import files_of
from support.forging import failed, sentence

Reseal = Callable[[Path], None]
Change = Callable[[list[dict[str, Any]]], object]


def test_an_untouched_release_passes_every_check(tower_release: Path, plain_release: Path) -> None:
    for release in (tower_release, plain_release):
        verification = verify(release)
        assert verification.passed
        names = [check.name for check in verification.checks]
        assert names[names.index("table facts") :] == [
            "table facts",
            "release type",
            "geography",
            "density",
            "terms",
            "formats",
            "package",
        ]
        assert all(check.sentence.endswith(".") for check in verification.checks)


def test_one_changed_byte_anywhere_is_found(tower_release: Path) -> None:
    for name in files_of(tower_release):
        path = tower_release / name
        data = path.read_bytes()
        for position in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
            changed = bytearray(data)
            changed[position] ^= 0x20
            path.write_bytes(changed)
            assert not verify(tower_release).intact, (name, position)
        path.write_bytes(data)
    assert verify(tower_release).passed


# From here on somebody changes a file and seals the folder again: the claims must still add up.


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("areas.geojson", b"[2.3,48.8", b"[2.3,48.7", "geography"),
        ("areas.geojson", b"Quarter 1", b"Quarter 9", "geography"),
        ("areas.geojson", b"{", b"[", "geography"),
        ("areas.geojson", b'"Feature"', b' "Feature"', "geography"),
        ("periods.csv", b"2026-03-03", b"2026-03-04", "geography"),
        ("periods.csv", b"Europe/Paris", b"Europe/Berlin", "geography"),
        ("sites.csv", b"48.81", b"48.82", "geography"),
        ("sites.csv", b"1,t2", b"0,t2", "geography"),
        ("sites.csv", b"site,id", b"place,id", "geography"),
        ("cover.csv", b"0,site,0,0", b"0,site,0,1", "package"),
        ("cover.csv", b"0,site,0,0", b"0,site,0,5", "geography"),
        ("cover.csv", b"0,site,0,0", b"0,site,1,0", "geography"),
        ("cover.csv", b"kind", b"type", "geography"),
        ("pieces.csv", b"\n1,", b"\n0,", "geography"),
        ("pieces.csv", b",size", b",area", "geography"),
        ("density.parquet", b"PAR1", b"PAR2", "density"),
        ("density.csv", b"T06:00:00", b"T07:00:00", "formats"),
        ("density.csv", b",count,", b",counts,", "formats"),
        ("density.geo.parquet", b"1.1.0", b"1.2.0", "formats"),
        ("density.geo.parquet", b"PAR1", b"PAR2", "formats"),
        ("measured_series.parquet", b"PAR1", b"PAR2", "density"),
        ("measured_sites.csv", b"0,", b"1,", "density"),
        ("datapackage.json", b'"places": true', b'"places": false', "geography"),
        ("datapackage.json", b'"places": true', b'"places": 1', "table facts"),
        ("datapackage.json", b'"places": true', b'"place": true', "table facts"),
        ("datapackage.json", b'"quanta": 12', b'"quanta": 13', "terms"),
        ("datapackage.json", b'"quanta": 12', b'"quanta": 1e9', "table facts"),
        ("datapackage.json", b'"quanta": 12', b'"quanta": 999999999', "density"),
        ("datapackage.json", b'"sites_measured": true', b'"sites_measured": false', "terms"),
        ("datapackage.json", b'"measured_total": 12345', b'"measured_total": 2.5', "table facts"),
        ("datapackage.json", b'"measured_total": 12345', b'"measured_total": null', "terms"),
        ("datapackage.json", b'"kept": 4.5', b'"kept": 5.5', "none"),
        ("datapackage.json", b'"clusters": 2', b'"clusters": 3', "package"),
        ("datapackage.json", b'"visits": ', b'"visits": 1', "package"),
        ("datapackage.json", b"may be negative", b"is positive", "package"),
    ],
)
def test_a_changed_file_is_found_under_a_new_seal(
    tower_release: Path, reseal: Reseal, *, name: str, old: bytes, new: bytes, check: str
) -> None:
    path = tower_release / name
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    reseal(tower_release)
    # How well the fit went is the publisher's word.
    assert check in (failed(verify(tower_release)) or {"none"})


NOISES: dict[str, tuple[Callable[[dict[str, Any]], object], set[str]]] = {
    "less": (
        lambda facts: facts["noise"].update({"all visits": facts["noise"]["all visits"] / 2}),
        {"terms"},
    ),
    "one less": (lambda facts: facts["noise"].pop("all visits"), {"terms"}),
    "one more": (lambda facts: facts["noise"].update(heads=1.0), {"terms"}),
    "as text": (lambda facts: facts["noise"].update({"all visits": "1.0"}), {"table facts"}),
    "as a whole number": (lambda facts: facts["noise"].update({"all visits": 1}), {"table facts"}),
    "as a list": (lambda facts: facts.update(noise=list(facts["noise"].values())), {"table facts"}),
    "none": (lambda facts: facts.pop("noise"), {"table facts"}),
}


@pytest.mark.parametrize("name", NOISES)
def test_the_noise_of_the_data_package_is_that_of_the_certificate(
    tower_release: Path, reseal: Reseal, name: str
) -> None:
    change, expected = NOISES[name]
    path = tower_release / "datapackage.json"
    package = json.loads(path.read_bytes())
    change(package["table"])
    path.write_bytes(canonical_json(package))
    reseal(tower_release)
    verification = verify(tower_release)
    assert failed(verification) == expected
    if expected == {"terms"}:
        assert "The noise that the table was fitted for" in sentence(verification, "terms")


def test_pieces_larger_than_their_area_are_found(tower_release: Path, reseal: Reseal) -> None:
    path = tower_release / "pieces.csv"
    first, _, size = path.read_text().rpartition(",")
    path.write_text(f"{first},{float(size) * 1.01!r}\n")
    reseal(tower_release)
    assert "geography" in failed(verify(tower_release))


def put(rows: list[dict[str, Any]], row: int, **values: Any) -> None:
    rows[row] |= values


def swap(rows: list[dict[str, Any]]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


CHANGES: dict[str, tuple[str, Change, set[str]]] = {
    "another count": (
        "density.parquet",
        lambda rows: put(rows, 3, count=rows[3]["count"] + 1),
        {"formats", "package"},
    ),
    "another error": (
        "density.parquet",
        lambda rows: put(rows, 3, standard_error=31.5),
        {"formats"},
    ),
    "a negative count": ("density.parquet", lambda rows: put(rows, 3, count=-1.0), {"density"}),
    "a count of thousandths": (
        "density.parquet",
        lambda rows: put(rows, 3, count=1.001),
        {"density"},
    ),
    "no error": ("density.parquet", lambda rows: put(rows, 3, standard_error=0.0), {"density"}),
    "another area": (
        "density.parquet",
        lambda rows: put(rows, 0, area=rows[-1]["area"]),
        {"density"},
    ),
    "an unknown area": ("density.parquet", lambda rows: put(rows, 0, area="?"), {"density"}),
    "another period": ("density.parquet", lambda rows: put(rows, 0, period=1), {"density"}),
    "another start": (
        "density.parquet",
        lambda rows: put(rows, 0, starts=rows[1]["starts"]),
        {"density"},
    ),
    "rows out of order": ("density.parquet", swap, {"density"}),
    "a missing row": ("density.parquet", lambda rows: rows.pop(), {"density"}),
    "a further row": ("density.parquet", lambda rows: rows.append(dict(rows[-1])), {"density"}),
    "another name on the map": (
        "density.geo.parquet",
        lambda rows: put(rows, 0, name="Elsewhere"),
        {"formats"},
    ),
    "another shape on the map": (
        "density.geo.parquet",
        lambda rows: put(rows, 0, geometry=rows[1]["geometry"]),
        {"formats"},
    ),
    "another total on the map": (
        "density.geo.parquet",
        lambda rows: put(rows, 0, total=rows[0]["total"] + 0.01),
        {"formats"},
    ),
    "a shorter series on the map": (
        "density.geo.parquet",
        lambda rows: put(rows, 0, counts=rows[0]["counts"][:-1]),
        {"formats"},
    ),
    "another series on the map": (
        "density.geo.parquet",
        lambda rows: put(rows, 0, counts=rows[0]["counts"][::-1]),
        {"formats"},
    ),
    "a missing area on the map": ("density.geo.parquet", lambda rows: rows.pop(), {"formats"}),
    "another cluster": (
        "measured_series.parquet",
        lambda rows: put(rows, 0, cluster=1),
        {"density"},
    ),
    "another period of a cluster": (
        "measured_series.parquet",
        lambda rows: put(rows, 0, period=1),
        {"density"},
    ),
    "a missing measurement": (
        "measured_series.parquet",
        lambda rows: rows.pop(),
        {"density"},
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_row_is_found_under_a_new_seal(
    tower_release: Path, reseal: Reseal, name: str
) -> None:
    file, change, expected = CHANGES[name]
    path = tower_release / file
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd")
    reseal(tower_release)
    assert failed(verify(tower_release)) & (expected | {"package"}) >= expected


@pytest.mark.parametrize("column", ["count", "period", "starts"])
def test_columns_have_the_types_that_they_should(
    tower_release: Path, reseal: Reseal, column: str
) -> None:
    path = tower_release / "density.parquet"
    table = pq.read_table(path)
    position = table.schema.names.index(column)
    pq.write_table(table.set_column(position, column, table[column].cast(pa.string())), path)
    reseal(tower_release)
    assert failed(verify(tower_release)) == {"density"}


def test_a_missing_number_is_found(tower_release: Path, reseal: Reseal) -> None:
    path = tower_release / "density.parquet"
    table = pq.read_table(path)
    holes = pa.array([None, *table["count"].to_pylist()[1:]], pa.float64())
    pq.write_table(table.set_column(3, "count", holes), path)
    reseal(tower_release)
    assert failed(verify(tower_release)) == {"density"}


def test_a_map_that_claims_to_be_huge_is_not_even_read(
    tower_release: Path, reseal: Reseal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tower_release / "density.geo.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[0]["counts"] = [float(i) for i in range(1_000_000)]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path, compression="zstd")
    reseal(tower_release)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("was read"))
    assert "formats" in failed(verify(tower_release))


def test_too_many_counts_are_not_even_read(
    tower_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.density.files.check.MOST_CELLS", 23)
    assert failed(verify(tower_release)) == {"geography"}


def test_a_release_of_another_family_does_not_pass_as_a_density(
    tower_release: Path, reseal: Reseal
) -> None:
    path = tower_release / "datapackage.json"
    package = json.loads(path.read_bytes())
    package["table"] = {"threshold": None, "include_intrazonal": False}
    path.write_text(json.dumps(package))
    reseal(tower_release)
    assert failed(verify(tower_release)) == {"table facts"}


def test_names_that_a_spreadsheet_would_run_are_guarded_and_verified(
    build: Callable[..., DensityTable],
    certify_density: Callable[..., Certificate],
    seen_by_towers: Callable[[Periods], DensityUniverse],
    tmp_path: Path,
) -> None:
    universe = seen_by_towers(build().universe.periods)
    assert universe.sites is not None
    areas = Areas(
        areas=tuple(
            replace(area, id=f"{mark}{area.id}", name="=name")
            for area, mark in zip(universe.areas.areas, "=@-", strict=True)
        )
    )
    named = build(replace(universe, areas=areas))
    release = write_release(tmp_path / "risky", table=named, certificate=certify_density(named))
    assert verify(release).passed
    for name in ("density.csv", "cover.csv", "pieces.csv"):
        assert '"\'@x,y"' in (release / name).read_text(encoding="utf-8")
