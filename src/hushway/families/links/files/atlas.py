"""A release of links read again: as a page draws it, and to be added up."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.families.links.files.check import MOST_CELLS
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
from hushway.release.drawing.atlas import AtlasLinks, Drawing, HiddenLinks, Numbers
from hushway.release.drawing.atlas_parts import (
    kept_starts,
    shown_periods,
    starts_of_periods,
    thinned,
)
from hushway.release.folder.guard import check_size
from hushway.release.questions.cells import AskedCells, Dimension, correlated
from hushway.release.terms import check_domain
from hushway.release.untrusted.limits import LIST_BYTES, read_plain

COUNTED = "travellers"

_HIDDEN: Final = (
    "Links whose count is below {:g} standard errors do not show; that nobody travels there is not "
    "known. What they carry together is told by zone and class."
)
_CLASS_WORDS: Final = {1: "motorways", 5: "residential streets"}


def draw_links(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> Drawing:
    """Returns what a release of links shows, as `Family.drawing` asks."""
    universe = read_universe(folder)
    check_domain(certificate, universe)
    check_size(universe.size, MOST_CELLS)
    rows = read_links_parquet(folder / PARQUET, universe, speeds=facts["speeds"])
    return Drawing(
        counted=COUNTED,
        window=universe.counted,
        periods=shown_periods(universe.periods),
        links=_links(universe, rows, tuple(_rest(folder, universe))),
        notes=(_HIDDEN.format(facts["threshold"]),),
    )


def _links(universe: LinkUniverse, rows: LinkRows, rest: tuple[HiddenLinks, ...]) -> AtlasLinks:
    roads = universe.roads
    lon, lat, starts = roads.lon, roads.lat, roads.start
    keep = thinned(lon, lat, starts)
    if keep is not None:
        lon, lat, starts = lon[keep], lat[keep], kept_starts(starts, keep)
    return AtlasLinks(
        ids=roads.link_id.tolist(),
        names=roads.name.tolist(),
        lon=lon,
        lat=lat,
        starts=starts,
        rank=roads.road_class - 1,
        link=rows.link,
        numbers=Numbers(
            count=rows.counts,
            error=rows.standard_error,
            meaning="Published travellers on a link in one direction, "
            f"{universe.counted}. The error is what the count is "
            "expected to be off by.",
        ),
        row_starts=starts_of_periods(rows.period, len(universe.periods)),
        rest=rest,
    )


def _rest(folder: Path, universe: LinkUniverse) -> Iterator[HiddenLinks]:
    """Yields what links that do not show carry together, by period, zone and class."""
    rest = read_rest(read_plain(folder / REST, LIST_BYTES), universe)
    labels = [
        f"zone {universe.zones[zone]}, {_class_text(own)}" for zone, own in class_zones(universe)
    ]
    columns = (rest.counts, rest.standard_error, rest.km, rest.km_error)
    for place, (count, error, km, km_error) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        period, own = divmod(place, len(labels))
        yield HiddenLinks(
            period=period, label=labels[own], count=count, error=error, km=km, km_error=km_error
        )


def _class_text(road_class: int) -> str:
    words = _CLASS_WORDS.get(road_class)
    return f"class {road_class}" + (f" ({words})" if words else "")


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
                rest=others,
            ),
            "periods": Dimension(ids=universe.periods.labels, position=when),
        },
        counts=np.concatenate([rows.counts, rest.counts]),
        variances=correlated(errors, (link, _OF_A_LINK), (when, _OF_A_PERIOD), (None, _OF_ALL)),
        notes=("A traveller counts once on every link: a sum counts links travelled, not people.",),
    )
