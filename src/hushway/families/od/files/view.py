"""What is public about an OD table, as its publisher and as a verifier know it."""

from dataclasses import dataclass

from hushway.families.od.files.adds_up import PublishedSums, published_sums
from hushway.families.od.files.summary import RowFacts, Summary
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature


@dataclass(frozen=True, kw_only=True)
class ODView:
    """What both sides know of a table.

    Attributes:
        universe: The public cells.
        threshold: Cells measured below it have no row, if there is one.
        zeros_left_out: Whether a cell without a row is published as 0.
        rows: What the rows have in common.
        margins: The sums over features that the release holds.
    """

    universe: ODCells
    threshold: int | None
    zeros_left_out: bool
    rows: RowFacts
    margins: tuple[PublishedSums, ...] = ()

    @property
    def features(self) -> tuple[Feature, ...]:
        """What the release gives sums of."""
        return tuple(sums.feature for sums in self.margins)


@dataclass(frozen=True, kw_only=True)
class TableView(ODView):
    """The publisher's: it has the table itself."""

    table: ODTable


@dataclass(frozen=True, kw_only=True)
class ReadView(ODView):
    """The verifier's: of the rows it has digests."""

    rows: Summary


def view_of(table: ODTable) -> TableView:
    """Returns what is public about a table of published numbers."""
    errors = table.standard_errors
    return TableView(
        universe=table.universe,
        threshold=table.threshold,
        zeros_left_out=table.zeros_left_out,
        rows=RowFacts(
            number=len(errors),
            least=int(table.counts.min()) if len(errors) else None,
            standard_errors=(float(errors.min()), float(errors.max())) if len(errors) else None,
        ),
        margins=published_sums(table),
        table=table,
    )
