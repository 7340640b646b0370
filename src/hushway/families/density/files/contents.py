"""A published density as the files of a release."""

from dataclasses import dataclass
from pathlib import Path

from hushway.families.density.files.guard import check_stated, check_table
from hushway.families.density.files.published import FILES, describe
from hushway.families.density.files.universe import check_pieces, check_readable
from hushway.families.density.mechanism.table import DensityTable
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.published_file import write_files
from hushway.release.resource import Description


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
        write_files(FILES, self.table, folder, progress)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns maps of some hours, series and the noise of every area, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.density.files.picture import draw_density_picture

        return draw_density_picture(self.table, certificate)
