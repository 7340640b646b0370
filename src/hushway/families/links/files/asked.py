"""Sums of any published travellers on links, with how far they may be off."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.families.links.files.roads import read_universe
from hushway.families.links.files.rows import (
    PARQUET,
    REST,
    LinkRows,
    class_zones,
    read_links_parquet,
    read_rest,
)
from hushway.families.links.fit.publication import Rest
from hushway.families.links.public.universe import LinkUniverse
from hushway.privacy.certificate import Certificate
from hushway.release.questions.cells import AskedCells, Dimension, correlated
from hushway.release.terms import check_domain
from hushway.release.untrusted.limits import LIST_BYTES, read_plain

# The share of variances that counts of a link, of a period, and all counts have in common.
_OF_A_LINK: Final = 0.1
_OF_A_PERIOD: Final = 0.2
_OF_ALL: Final = 0.05


def ask_links(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> AskedCells:
    """Returns the travellers of a release to be added up, as `Family.asked` asks."""
    universe = read_universe(folder)
    check_domain(certificate, universe)
    rows = read_links_parquet(folder / PARQUET, universe, speeds=facts["speeds"])
    return travellers_asked(
        universe, rows, read_rest(read_plain(folder / REST, LIST_BYTES), universe)
    )


def travellers_asked(universe: LinkUniverse, rows: LinkRows, rest: Rest) -> AskedCells:
    """Returns travellers by (link, period), and those of all links of a kind that do not show.

    The latter have a zone and a class, and are in sums of these and of everything.
    """
    roads, shown = universe.roads, np.unique(rows.link)
    kinds = class_zones(universe)
    others = [f"others of zone {universe.zones[zone]}, class {own}" for zone, own in kinds]
    period, kind = np.divmod(np.arange(len(rest.counts), dtype=np.int64), max(1, len(kinds)))
    zones = [*universe.zone[shown].tolist(), *(zone for zone, _ in kinds)]
    classes = [*roads.road_class[shown].tolist(), *(own for _, own in kinds)]
    link = np.concatenate([np.searchsorted(shown, rows.link), len(shown) + kind])
    when = np.concatenate([rows.period, period])
    errors = np.concatenate([rows.standard_error, rest.standard_error])
    return AskedCells(
        counted="travellers",
        dimensions={
            "links": Dimension(
                ids=[*roads.link_id[shown].tolist(), *others],
                position=link,
                names=(
                    [*roads.name[shown].tolist(), *others],
                    [universe.zones[zone] for zone in zones],
                    [f"class {own}" for own in classes],
                ),
            ),
            "periods": Dimension(ids=universe.periods.labels, position=when),
        },
        counts=np.concatenate([rows.counts, rest.counts]),
        variances=correlated(errors, (link, _OF_A_LINK), (when, _OF_A_PERIOD), (None, _OF_ALL)),
        notes=("A traveller counts once on every link: a sum counts links travelled, not people.",),
    )
