"""Counts of links for maps and spreadsheets: links that show with totals, and rows by period."""

from hushway.families.links.files.geo import MAP, links_map
from hushway.families.links.files.rows import link_batches, links_columns
from hushway.families.links.fit.table import LinkTable
from hushway.geography.period_words import window_text
from hushway.release.formats.columns import Columns
from hushway.release.formats.layers import Layer

_LISTS = ("counts", "standard_errors")
_LINKS = Columns(tuple(column for column in MAP.columns if column.name not in _LISTS))


def link_layers(table: LinkTable) -> tuple[Layer, ...]:
    """Returns the layers of published links."""
    universe = table.universe
    return (
        Layer(
            name="links",
            title=f"Travellers by link, all periods together, {window_text(universe.periods)}",
            columns=_LINKS,
            rows=len(table.link),
            batches=lambda: links_map(table).select(_LINKS.names).to_batches(),
            shape="LINESTRING",
        ),
        Layer(
            name="counts",
            title=f"Travellers by period and link: {universe.counted}",
            columns=links_columns(universe.roads, speeds=table.speed is not None),
            rows=len(table.link),
            batches=lambda: link_batches(table),
        ),
    )
