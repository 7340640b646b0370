"""Which files a published tree of sequences becomes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hushway.families.sequences.files.completed import write_completed
from hushway.families.sequences.files.description import (
    COMPLETED,
    CSV,
    LEVELS,
    LOCATIONS,
    PARQUET,
    PERIODS,
    TAXONOMY,
    TREE,
    describe,
)
from hushway.families.sequences.files.guard import check_lists, check_stated, check_tree
from hushway.families.sequences.files.levels import levels_csv
from hushway.families.sequences.files.rows import (
    write_sequences_csv,
    write_sequences_parquet,
)
from hushway.families.sequences.files.taxonomy import grouped_locations_csv, taxonomy_json
from hushway.families.sequences.files.tree import write_tree
from hushway.families.sequences.files.tree_shape import prefixes_of
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.privacy.certificate import Certificate
from hushway.release.formats.places import periods_csv
from hushway.release.resource import Description, Progress

Writer = Callable[[Path], object]


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
        return describe(self.table)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        writers = self._writers()
        for resource in self.description.resources:
            progress(f"Writing {resource.path}")
            writers[resource.path](folder / resource.path)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the first stops, the strongest ways between stops and the lengths, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.sequences.files.picture import draw_sequences_picture

        return draw_sequences_picture(self.table, certificate)

    def _writers(self) -> dict[str, Writer]:
        table, prefix = self.table, prefixes_of(self.table)
        writers: dict[str, Writer] = {
            PARQUET: lambda path: write_sequences_parquet(table, prefix, path),
            CSV: lambda path: write_sequences_csv(table, prefix, path),
            TREE: lambda path: write_tree(table, path),
            LEVELS: lambda path: path.write_bytes(levels_csv(table)),
            LOCATIONS: lambda path: path.write_bytes(grouped_locations_csv(table.taxonomy)),
            TAXONOMY: lambda path: path.write_bytes(taxonomy_json(table.taxonomy)),
            COMPLETED: lambda path: write_completed(table, path),
        }
        if (periods := table.periods) is not None:
            writers[PERIODS] = lambda path: path.write_bytes(periods_csv(periods))
        return writers
