"""An OD release as a page draws it: flows between places, and totals of origins where published."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.asked import learnt_cells
from hushway.families.od.files.check import read_universe
from hushway.families.od.files.learnt_sums import read_learnt, read_sums
from hushway.families.od.files.levels import with_levels
from hushway.families.od.files.margins import shown_sums
from hushway.families.od.files.names import PARQUET
from hushway.families.od.files.rows import Rows, joined, read_parquet, shown
from hushway.families.od.files.selected import selectable
from hushway.families.od.files.whole_days import place_totals, with_whole_days
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import LEARNED
from hushway.families.od.public.features import ORIGINS, Feature
from hushway.geography.areas import areas_of_places
from hushway.geography.locations import NOT_KNOWN, Locations
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.atlas import AtlasPlaces, Drawing, Flows, Numbers
from hushway.release.drawing.atlas_files import refuse_many
from hushway.release.drawing.atlas_parts import (
    located,
    outlined,
    shown_periods,
    starts_of_periods,
)

COUNTED = "trips"


def draw_od(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> Drawing:
    """Returns what an OD release shows, as `Family.drawing` asks."""
    universe, _ = read_universe(folder, certificate, facts)
    rows = _rows(folder, universe)
    learnt = certificate.terms.mechanism.name == LEARNED
    margins = read_sums(folder, certificate, universe, learnt=learnt)
    drawing = Drawing(
        counted=COUNTED,
        window=universe.counted,
        periods=shown_periods(universe.periods),
        places=_places(universe.locations),
        totals=_totals(universe, margins),
        series=_series(universe, margins),
        flows=_flows(universe, rows, _error_words(margins, learnt=learnt)),
        notes=_notes(facts, together=universe.periods.average),
    )
    unknown = universe.locations.index.get(NOT_KNOWN)
    if not learnt:
        return drawing if unknown is None else _without(drawing, unknown)
    # Errors of sums that were not measured are known where those of counts were learnt.
    sums = read_learnt(folder, certificate, universe)
    cells = learnt_cells(sums)
    drawing = replace(drawing, selectable=selectable(sums))
    if drawing.totals is None:
        drawing = replace(drawing, totals=place_totals(universe, cells, _origin_words(universe)))
    drawing = with_whole_days(drawing, universe, cells)
    if unknown is not None:
        return _without(drawing, unknown)
    return with_levels(drawing, universe, cells)


def _without(drawing: Drawing, unknown: int) -> Drawing:
    """Returns a drawing without flows to a place that is nowhere."""
    flows = drawing.flows
    if flows is None:
        return drawing
    kept = (flows.origin != unknown) & (flows.destination != unknown)
    before = np.concatenate([[0], np.cumsum(kept)])
    numbers = replace(
        flows.numbers, count=flows.numbers.count[kept], error=flows.numbers.error[kept]
    )
    return replace(
        drawing,
        flows=Flows(
            origin=flows.origin[kept],
            destination=flows.destination[kept],
            numbers=numbers,
            starts=before[flows.starts],
        ),
        notes=(*drawing.notes, "Trips of which an end is not known are in the tables alone."),
    )


def _places(locations: Locations) -> AtlasPlaces:
    return outlined(areas_of_places(locations)) if locations.shapes else located(locations)


def _origin_words(universe: ODCells) -> str:
    return (
        f"Published trips that start at a place, {universe.counted}. "
        "The error is what is left in the count, as learnt from all noisy counts."
    )


def _rows(folder: Path, universe: ODCells) -> Rows:
    """Returns the rows above 0: others draw nothing."""
    parts: list[Rows] = []
    last, held = -1, 0
    for part in read_parquet(folder / PARQUET, universe):
        if len(part.cells) and (part.cells[0] <= last or np.any(np.diff(part.cells) <= 0)):
            raise damaged(f"The rows of {PARQUET} are not cells in order, each once.")
        last = int(part.cells[-1]) if len(part.cells) else last
        parts.append(part[part.counts != 0])
        held += len(parts[-1].cells)
        # Refused before memory is full.
        refuse_many(held)
    return joined(parts)


def _flows(universe: ODCells, rows: Rows, error: str) -> Flows:
    period, origin, destination = universe.decode(rows.cells)
    return Flows(
        origin=origin,
        destination=destination,
        numbers=Numbers(
            count=shown(universe, rows.cells, rows.counts),
            error=np.asarray(shown(universe, rows.cells, rows.standard_errors), dtype=np.float64),
            meaning=f"Published trips from one place to another, {universe.counted}. "
            f"The error is {error}.",
        ),
        starts=starts_of_periods(period, len(universe.periods)),
    )


def _error_words(margins: Sequence[PublishedSums], *, learnt: bool) -> str:
    if learnt:
        return "what is left in the count, as learnt from all noisy counts"
    if margins:
        return "the noise in the flow's own measurement, before the fit"
    return "the noise in the count"


def _totals(universe: ODCells, margins: Sequence[PublishedSums]) -> Numbers | None:
    """Returns the trips that start at each place, if they are published with errors."""
    for sums in margins:
        element = _origins(universe, sums.feature)
        if element is not None and sums.errors is not None:
            return Numbers(
                count=shown_sums(sums.feature, sums.counts)[element],
                error=np.asarray(shown_sums(sums.feature, sums.errors), np.float64)[element],
                meaning=_origin_words(universe),
            )
    return None


def _origins(universe: ODCells, feature: Feature) -> IntArray | None:
    """Returns the element of each place and period, row by row of places; None if it has others."""
    if feature.title != ORIGINS or feature.pairs is None or not _by_period(universe, feature):
        return None
    _, origin, _ = universe.decode(np.arange(universe.pairs, dtype=np.int64))
    code = np.full(len(universe.locations), -1, dtype=np.int64)
    code[origin] = feature.pairs.codes
    apart = len(feature.pairs) == len(code) == len(np.unique(code))
    # A title is no proof: the classes must be the origins themselves.
    if not apart or not np.array_equal(code[origin], feature.pairs.codes):
        return None
    periods = np.arange(len(universe.periods), dtype=np.int64)
    return (periods[None, :] * len(feature.pairs) + code[:, None]).ravel()


def _by_period(universe: ODCells, feature: Feature) -> bool:
    """Whether a published total tells every period by itself, in order."""
    periods = feature.periods
    return periods is not None and np.array_equal(periods.codes, np.arange(len(universe.periods)))


def _series(universe: ODCells, margins: Sequence[PublishedSums]) -> Numbers | None:
    """Returns the trips of each period, if they are published with errors."""
    for sums in margins:
        feature = sums.feature
        if feature.pairs is None and _by_period(universe, feature) and sums.errors is not None:
            return Numbers(
                count=shown_sums(feature, sums.counts),
                error=np.asarray(shown_sums(feature, sums.errors), np.float64),
                meaning=f"All published trips of a period, {universe.counted}. The "
                "error is what is left in the count, as learnt from all noisy counts.",
            )
    return None


def _notes(facts: Mapping[str, Any], *, together: bool) -> tuple[str, ...]:
    threshold = facts["threshold"]
    days = ", all its days together" if together else ""
    missing = (
        "A flow that is not drawn is published as 0; that does not mean that nobody travels there."
        if threshold is None
        else f"A flow that is not drawn was measured below {threshold}{days}; it is not known to "
        "be 0."
    )
    return (
        missing,
        "Flows below twice their error say where trips are to be expected, and hardly more.",
    )
