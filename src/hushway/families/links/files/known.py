"""How much of a table of links is known."""

import numpy as np

from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones
from hushway.release.forecast.known import Known, KnownSums, known_sums, sure_share


def known_travellers(table: LinkTable) -> Known:
    """Returns how much is known of links, and of the sums by zone and class that were measured."""
    return Known(
        counted="travellers",
        cells="links",
        sure=sure_share(
            [(table.counts, table.standard_error)], hidden=float(table.rest.counts.sum())
        ),
        sums=tuple(_sums(table)),
    )


def _sums(table: LinkTable) -> list[KnownSums]:
    noise = table.noise.get(ClassZones.name)
    if table.class_totals is None or noise is None:
        return []
    measured = np.maximum(table.class_totals, 0)
    errors = np.full(len(measured), noise)
    return [known_sums("zones and classes", measured, errors)]
