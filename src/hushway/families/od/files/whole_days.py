"""Flows and place totals of whole days beside those of their parts."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.files.drawn_sums import (
    TimeAxis,
    flow_sums,
    origin_sums,
    parts_of_days,
    whole_days,
)
from hushway.families.od.public.cells import ODCells
from hushway.release.drawing.atlas import AtlasPeriod, Drawing, Flows, Numbers
from hushway.release.drawing.atlas_files import refuse_many
from hushway.release.questions.cells import AskedCells

WHOLE_DAY = "whole day"


def with_whole_days(drawing: Drawing, universe: ODCells, cells: AskedCells) -> Drawing:
    """Returns a drawing with a further period for every kind of day that has several parts."""
    parts = universe.periods.parts
    if parts == 1 or drawing.flows is None:
        return drawing
    days = whole_days(universe, cells)
    groups = [period.group for period in drawing.periods[::parts]]
    return replace(
        drawing,
        periods=(
            *drawing.periods,
            *(AtlasPeriod(label=WHOLE_DAY, group=group, whole=True) for group in groups),
        ),
        flows=_flows(drawing.flows, cells, days, len(drawing.places)),
        totals=None if drawing.totals is None else _totals(drawing, cells, days),
        series=None if drawing.series is None else _series(drawing.series, universe, cells, days),
    )


def place_totals(universe: ODCells, cells: AskedCells, meaning: str) -> Numbers:
    """Returns the trips that start at each place, row by row of places, with errors of the sums."""
    every = np.arange(len(universe.locations))
    count, error = origin_sums(cells, parts_of_days(universe, cells), every)
    return Numbers(count=count.ravel(), error=error.ravel(), meaning=meaning)


def _flows(flows: Flows, cells: AskedCells, days: TimeAxis, places: int) -> Flows:
    """Adds flows of whole days, which stand behind those of all parts."""
    sums = flow_sums(cells, days, np.arange(places))
    refuse_many(len(flows.origin) + len(sums.origin))
    ends = np.searchsorted(sums.time, np.arange(1, len(days) + 1))
    return Flows(
        origin=np.concatenate([flows.origin, sums.origin]),
        destination=np.concatenate([flows.destination, sums.destination]),
        numbers=_joined(flows.numbers, sums.count, sums.error),
        starts=np.concatenate([flows.starts, len(flows.origin) + ends]),
    )


def _totals(drawing: Drawing, cells: AskedCells, days: TimeAxis) -> Numbers:
    totals, places = drawing.totals, len(drawing.places)
    assert totals is not None  # noqa: S101  asked before
    count, error = (
        np.column_stack([part.reshape(places, -1), whole]).ravel()
        for part, whole in zip(
            (totals.count, totals.error), origin_sums(cells, days, np.arange(places)), strict=True
        )
    )
    return Numbers(count=count, error=error, meaning=totals.meaning)


def _series(series: Numbers, universe: ODCells, cells: AskedCells, days: TimeAxis) -> Numbers:
    together = np.zeros(len(universe.locations), dtype=np.int64)
    count, error = origin_sums(cells, days, together)
    return _joined(series, count.ravel(), error.ravel())


def _joined(numbers: Numbers, *further: Sequence[float] | FloatArray) -> Numbers:
    count, error = further
    return Numbers(
        count=np.concatenate([numbers.count, count]),
        error=np.concatenate([numbers.error, error]),
        meaning=numbers.meaning,
    )
