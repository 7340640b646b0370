"""Which files a published table of links becomes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hushway.families.links.files.description import (
    GEO,
    GEOJSON,
    GMNS_CONFIG,
    GMNS_LINKS,
    GMNS_MEASUREMENTS,
    GMNS_NODES,
    MEASURED_CLASSES,
    PARQUET,
    describe,
)
from hushway.families.links.files.geo import links_geojson, write_links_geo
from hushway.families.links.files.gmns import (
    config_csv,
    link_parts,
    measurement_parts,
    node_parts,
)
from hushway.families.links.files.guard import check_stated, check_table
from hushway.families.links.files.rows import measured_classes_csv, write_links_parquet
from hushway.families.links.files.universe import check_readable, public_writers
from hushway.families.links.mechanism.table import LinkTable
from hushway.privacy.certificate import Certificate
from hushway.release.resource import Description, Progress

Writer = Callable[[Path], object]


@dataclass(frozen=True)
class LinksContents:
    """A table of links, ready to be written."""

    table: LinkTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate.

        Raises:
            PrivacyError: The table is not made of published numbers.
            ReleaseError: The certificate was made for other public lists or other measurements.
        """
        check_table(self.table)
        check_stated(certificate, self.table)
        check_readable(self.table.universe)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return describe(self.table)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        writers = self._writers()
        for resource in self.description.resources:
            progress(f"Writing {resource.path}")
            path = folder / resource.path
            path.parent.mkdir(exist_ok=True)
            writers[resource.path](path)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the roads with the published counts, and their noise, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.links.files.picture import draw_links_picture

        return draw_links_picture(self.table, certificate)

    def _writers(self) -> dict[str, Writer]:
        table = self.table
        writers: dict[str, Writer] = {
            PARQUET: lambda path: write_links_parquet(table, path),
            GEO: lambda path: write_links_geo(table, path),
            GEOJSON: lambda path: path.write_bytes(links_geojson(table)),
            GMNS_CONFIG: lambda path: path.write_bytes(config_csv()),
            GMNS_LINKS: lambda path: _write_parts(path, link_parts(table)),
            GMNS_NODES: lambda path: _write_parts(path, node_parts(table.universe.roads)),
            GMNS_MEASUREMENTS: lambda path: _write_parts(path, measurement_parts(table)),
            **public_writers(table.universe),
        }
        if (measured := table.class_totals) is not None:
            writers[MEASURED_CLASSES] = lambda path: path.write_bytes(
                measured_classes_csv(table.universe, measured)
            )
        return writers


def _write_parts(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(parts)
