from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import DensityUniverse
from hushway.families.verify import verify
from hushway.families.write import write_release
from hushway.geography.areas import Areas
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from support.family_suite import put, rewrite_rows
from support.forging import failed

Reseal = Callable[[Path], None]


# From here on somebody changes a file and seals the folder again: the claims must still add up.


def test_pieces_larger_than_their_area_are_found(tower_release: Path, reseal: Reseal) -> None:
    path = tower_release / "pieces.csv"
    first, _, size = path.read_text().rpartition(",")
    path.write_text(f"{first},{float(size) * 1.01!r}\n")
    reseal(tower_release)
    assert "geography" in failed(verify(tower_release))


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
    rewrite_rows(path, put(0, counts=[float(i) for i in range(1_000_000)]))
    reseal(tower_release)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("was read"))
    assert "formats" in failed(verify(tower_release))


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
