"""Which files an OD table becomes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hushway.families.od.files.adds_up import adds_up_json
from hushway.families.od.files.certified import RowFacts, check_rows, check_stated
from hushway.families.od.files.description import (
    CSV,
    FLOW_LOCATIONS,
    FLOWS,
    LOCATIONS,
    OMX,
    PARQUET,
    PERIODS,
    describe,
)
from hushway.families.od.files.formats.csv import write_csv
from hushway.families.od.files.formats.features import features_json
from hushway.families.od.files.formats.flowmap import flowmap_locations, write_flows
from hushway.families.od.files.formats.margins import write_margins_csv, write_margins_parquet
from hushway.families.od.files.formats.omx import write_omx
from hushway.families.od.files.formats.pairs import pair_columns, write_pairs
from hushway.families.od.files.formats.parquet import write_parquet
from hushway.families.od.files.guard import check_lists, check_margins, check_table
from hushway.families.od.files.margin_description import (
    ADDS_UP,
    FEATURES,
    MARGINS,
    MARGINS_CSV,
    PAIRS,
)
from hushway.families.od.files.sums import published_sums
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.features import Feature
from hushway.privacy.certificate import Certificate
from hushway.release.formats.places import locations_csv, periods_csv
from hushway.release.resource import Description, Progress

Writer = Callable[[Path], None]


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
        table, universe = self.table, self.table.universe
        check_table(table)
        check_margins(table)
        check_stated(
            certificate,
            universe,
            self._features,
            [margin.standard_error for margin in table.margins],
        )
        check_rows(certificate, universe, self._features, _row_facts(table))
        check_lists(universe)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        table = self.table
        return describe(
            table.universe,
            rows=len(table.cells),
            threshold=table.threshold,
            zeros_left_out=table.zeros_left_out,
            features=self._features,
        )

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        writers = self._table_writers() | self._margin_writers()
        for resource in self.description.resources:
            progress(f"Writing {resource.path}")
            path = folder / resource.path
            path.parent.mkdir(exist_ok=True)
            writers[resource.path](path)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the strongest flows and the trips of every period, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.od.files.picture import draw_picture

        return draw_picture(self.table, certificate)

    @property
    def _features(self) -> tuple[Feature, ...]:
        return tuple(margin.feature for margin in self.table.margins)

    def _table_writers(self) -> dict[str, Writer]:
        table, universe = self.table, self.table.universe
        return {
            LOCATIONS: lambda path: _put(path, locations_csv(universe.locations)),
            PERIODS: lambda path: _put(path, periods_csv(universe.periods)),
            FLOW_LOCATIONS: lambda path: _put(path, flowmap_locations(universe.locations)),
            PARQUET: lambda path: write_parquet(table, path),
            CSV: lambda path: write_csv(table, path),
            FLOWS: lambda path: write_flows(table, path),
            OMX: lambda path: write_omx(table, path),
        }

    def _margin_writers(self) -> dict[str, Writer]:
        table, margins = self.table, published_sums(self.table)
        columns = pair_columns(self._features).labels
        return {
            MARGINS: lambda path: write_margins_parquet(margins, path),
            MARGINS_CSV: lambda path: write_margins_csv(margins, path),
            ADDS_UP: lambda path: _put(path, adds_up_json(table, margins)),
            FEATURES: lambda path: _put(path, features_json(self._features)),
            PAIRS: lambda path: write_pairs(table.universe, columns, path),
        }


def _row_facts(table: ODTable) -> RowFacts:
    errors = table.standard_errors
    return RowFacts(
        threshold=table.threshold,
        zeros_left_out=table.zeros_left_out,
        least=int(table.counts.min()) if len(errors) else None,
        standard_errors=(float(errors.min()), float(errors.max())) if len(errors) else None,
    )


def _put(path: Path, data: bytes) -> None:
    path.write_bytes(data)
