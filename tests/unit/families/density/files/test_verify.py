import dataclasses
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.areas import Areas
from support.certificates import noise_in
from support.density_scenes import by_towers, density_certificate, density_of
from support.family_suite import OTHER_NOISE, put, rewrite_rows
from support.forging import assert_contradiction, failed
from support.mutations import seal

# From here on somebody changes a file and seals the folder again: the claims must still add up.


def test_pieces_larger_than_their_area_are_found(tower_release: Path) -> None:
    path = tower_release / "pieces.csv"
    first, _, size = path.read_text().rpartition(",")
    path.write_text(f"{first},{float(size) * 1.01!r}\n")
    seal(tower_release)
    assert "geography" in failed(verify(tower_release))


def test_a_missing_number_is_found(tower_release: Path) -> None:
    path = tower_release / "density.parquet"
    table = pq.read_table(path)
    holes = pa.array([None, *table["count"].to_pylist()[1:]], pa.float64())
    pq.write_table(table.set_column(3, "count", holes), path)
    seal(tower_release)
    assert failed(verify(tower_release)) == {"density"}


def test_a_map_that_claims_to_be_huge_is_not_even_read(
    tower_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tower_release / "density.geo.parquet"
    rewrite_rows(path, put(0, counts=[float(i) for i in range(1_000_000)]))
    seal(tower_release)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("was read"))
    assert "formats" in failed(verify(tower_release))


def test_names_that_a_spreadsheet_would_run_are_guarded_and_verified(tmp_path: Path) -> None:
    universe = by_towers(density_of().universe.periods)
    assert universe.sites is not None
    areas = Areas(
        areas=tuple(
            replace(area, id=f"{mark}{area.id}", name="=name")
            for area, mark in zip(universe.areas.areas, "=@-", strict=True)
        )
    )
    named = density_of(replace(universe, areas=areas))
    release = write_release(tmp_path / "risky", table=named, certificate=density_certificate(named))
    assert verify(release).passed
    for name in ("density.csv", "cover.csv", "pieces.csv"):
        assert '"\'@x,y"' in (release / name).read_text(encoding="utf-8")


OTHER_MEASUREMENTS = "The measurements of the table are not those of"


def test_what_is_measured_is_published(tmp_path: Path, plain_density: DensityTable) -> None:
    certificate = density_certificate(plain_density, histogram=True)
    assert_contradiction(
        tmp_path / "r", table=plain_density, certificate=certificate, words=OTHER_NOISE
    )
    noise = noise_in(certificate.terms)
    fitted = dataclasses.replace(plain_density, noise=noise)
    assert_contradiction(
        tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_MEASUREMENTS
    )


def test_what_is_published_was_measured(tmp_path: Path, density: DensityTable) -> None:
    certificate = density_certificate(density, histogram=False)
    assert_contradiction(tmp_path / "r", table=density, certificate=certificate, words=OTHER_NOISE)
    fitted = dataclasses.replace(density, noise=noise_in(certificate.terms))
    assert_contradiction(
        tmp_path / "s", table=fitted, certificate=certificate, words=OTHER_MEASUREMENTS
    )


@pytest.mark.parametrize("name", ["measured_sites", "measured_total"])
def test_sites_and_total_are_published_together(
    tmp_path: Path, density: DensityTable, name: str
) -> None:
    fewer = dataclasses.replace(density, **{name: None})
    assert_contradiction(
        tmp_path / "r",
        table=fewer,
        certificate=density_certificate(density),
        words=OTHER_MEASUREMENTS,
    )


def test_a_visit_has_the_parts_that_the_certificate_states(
    tmp_path: Path, density: DensityTable
) -> None:
    other = dataclasses.replace(density, quanta=density.quanta + 1)
    assert_contradiction(
        tmp_path / "r",
        table=other,
        certificate=density_certificate(density),
        words=OTHER_MEASUREMENTS,
    )


def test_cells_are_merged_only_by_totals_that_were_measured(
    tmp_path: Path, density: DensityTable
) -> None:
    certificate = density_certificate(density, clustered=False)
    merged = dataclasses.replace(density, noise=noise_in(certificate.terms))
    assert_contradiction(
        tmp_path / "r", table=merged, certificate=certificate, words=OTHER_MEASUREMENTS
    )
