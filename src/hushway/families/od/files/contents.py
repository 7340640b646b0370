"""An OD table as the files of a release."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hushway.families.od.files.guard import check_lists, check_margins, check_stated, check_table
from hushway.families.od.files.published import FILES, describe
from hushway.families.od.files.view import TableView, view_of
from hushway.families.od.fit.table import ODTable
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.folder.published_file import Description, write_files


@dataclass(frozen=True)
class ODContents:
    """An OD table, ready to be written."""

    table: ODTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate.

        Raises:
            PrivacyError: The table is not made of published numbers.
            ReleaseError: The certificate was made for another geography or other features.
        """
        check_table(self.table)
        check_margins(self.table)
        check_stated(certificate, self._view)
        check_lists(self.table.universe)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return describe(self._view)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        write_files(FILES, self._view, folder, progress)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the strongest flows and the trips of every period, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.od.files.picture import draw_picture

        return draw_picture(self.table, certificate)

    @cached_property
    def _view(self) -> TableView:
        return view_of(self.table)
