"""A published tree of sequences as the files of a release."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hushway.families.sequences.files.guard import check_lists, check_stated, check_tree
from hushway.families.sequences.files.published import FILES, TreeView, describe
from hushway.families.sequences.files.tree_shape import prefixes_of
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.privacy.certificate import Certificate
from hushway.progress import Progress
from hushway.release.published_file import write_files
from hushway.release.resource import Description


@dataclass(frozen=True)
class SequencesContents:
    """A tree of sequences, ready to be written."""

    table: SequenceTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the tree is one and belongs to the certificate.

        Raises:
            PrivacyError: The tree is not made of published numbers.
            ReleaseError: The certificate was made for other public lists or other steps.
        """
        check_stated(certificate, self.table, check_tree(self.table))
        check_lists(self.table)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return describe(self._tree)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        write_files(FILES, self._tree, folder, progress)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the first stops, the strongest ways between stops and the lengths, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.sequences.files.picture import draw_sequences_picture

        return draw_sequences_picture(self.table, certificate)

    @cached_property
    def _tree(self) -> TreeView:
        return TreeView(table=self.table, prefix=prefixes_of(self.table))
