"""Which files a published density becomes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hushway.families.density.files.description import (
    CSV,
    GEO,
    MEASURED_SITES,
    PARQUET,
    SERIES,
    describe,
)
from hushway.families.density.files.geo import write_density_geo
from hushway.families.density.files.guard import check_stated, check_table
from hushway.families.density.files.measured import write_measured_series
from hushway.families.density.files.rows import write_density_csv, write_density_parquet
from hushway.families.density.files.sites import measured_sites_csv
from hushway.families.density.files.universe import check_pieces, check_readable, public_files
from hushway.families.density.mechanism.table import DensityTable
from hushway.privacy.certificate import Certificate
from hushway.release.resource import Description, Progress

Writer = Callable[[Path], object]


@dataclass(frozen=True)
class DensityContents:
    """A density, ready to be written."""

    table: DensityTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the density is one and belongs to the certificate.

        Raises:
            PrivacyError: The density is not made of published numbers.
            ReleaseError: The certificate was made for other public lists or other measurements.
        """
        check_table(self.table)
        check_stated(certificate, self.table)
        check_pieces(self.table.universe)
        check_readable(self.table.universe, self.table.cluster)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return describe(self.table)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        writers = self._writers()
        for resource in self.description.resources:
            progress(f"Writing {resource.path}")
            writers[resource.path](folder / resource.path)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns maps of some hours, series and the noise of every area, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.density.files.picture import draw_density_picture

        return draw_density_picture(self.table, certificate)

    def _writers(self) -> dict[str, Writer]:
        table = self.table
        writers: dict[str, Writer] = {
            PARQUET: lambda path: write_density_parquet(table, path),
            CSV: lambda path: write_density_csv(table, path),
            GEO: lambda path: write_density_geo(table, path),
            SERIES: lambda path: write_measured_series(table.measured_series, path),
        }
        for name, render in public_files(table.universe, table.cluster).items():
            writers[name] = partial(_write_rendered, render)
        if (measured := table.measured_sites) is not None:
            writers[MEASURED_SITES] = lambda path: path.write_bytes(measured_sites_csv(measured))
        return writers


def _write_rendered(render: Callable[[], bytes], path: Path) -> None:
    path.write_bytes(render())
