"""A published table of links as the files of a release."""

from dataclasses import dataclass
from pathlib import Path

from hushway.families.links.files.guard import check_stated, check_table
from hushway.families.links.files.published import FILES, describe
from hushway.families.links.files.universe import check_readable
from hushway.families.links.mechanism.table import LinkTable
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.published_file import write_files
from hushway.release.resource import Description


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
        write_files(FILES, self.table, folder, progress)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the roads with the published counts, and their noise, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.links.files.picture import draw_links_picture

        return draw_links_picture(self.table, certificate)
