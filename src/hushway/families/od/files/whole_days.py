"""Flows and place totals of whole days beside those of their parts, with errors of these sums."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.public.cells import ODCells
from hushway.release.drawing.atlas import AtlasPeriod, Drawing, Flows, Numbers
from hushway.release.drawing.atlas_files import refuse_many
from hushway.release.questions.cells import AskedCells

WHOLE_DAY = "whole day"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sums:
    """Sums by some key, and the error of each."""

    count: FloatArray
    error: FloatArray


def with_whole_days(drawing: Drawing, universe: ODCells, cells: AskedCells) -> Drawing:
    """Returns a drawing with a further period for every kind of day that has several parts."""
    parts = universe.periods.parts
    if parts == 1 or drawing.flows is None:
        return drawing
    groups = [period.group for period in drawing.periods[::parts]]
    days = np.array(universe.periods.days_counted[::parts]) if universe.periods.average else None
    return replace(
        drawing,
        periods=(
            *drawing.periods,
            *(AtlasPeriod(label=WHOLE_DAY, group=group, whole=True) for group in groups),
        ),
        flows=_flows(drawing.flows, universe, cells, days, len(groups)),
        totals=_totals(drawing.totals, universe, cells, days, len(groups)),
        series=None if drawing.series is None else _padded(drawing.series, len(groups)),
    )


def place_totals(universe: ODCells, cells: AskedCells, meaning: str) -> Numbers:
    """Returns the trips that start at each place, row by row of places, with errors of the sums."""
    periods = len(universe.periods)
    at = cells.dimensions["origins"].position * periods + cells.dimensions["periods"].position
    days = np.array(universe.periods.days_counted if universe.periods.average else [1])
    sums = _sums(cells, at, len(universe.locations) * periods)
    by_place = (-1, periods)
    return Numbers(
        count=(sums.count.reshape(by_place) / days).ravel(),
        error=(sums.error.reshape(by_place) / days).ravel(),
        meaning=meaning,
    )


def _sums(cells: AskedCells, key: IntArray, size: int) -> _Sums:
    count = np.bincount(key, cells.counts, minlength=size)
    error = np.sqrt(np.maximum(cells.variances(key, size), 0.0))
    return _Sums(count=np.maximum(count, 0.0), error=error)


def _flows(
    flows: Flows, universe: ODCells, cells: AskedCells, days: IntArray | None, groups: int
) -> Flows:
    """Adds flows of whole days, which stand behind those of all parts."""
    day = cells.dimensions["periods"].position // universe.periods.parts
    places = len(universe.locations)
    pair = cells.dimensions["origins"].position * places + cells.dimensions["destinations"].position
    keys, key = np.unique(day * places**2 + pair, return_inverse=True)
    sums = _sums(cells, key.astype(np.int64), len(keys))
    some = sums.count > 0
    refuse_many(len(flows.origin) + int(some.sum()))
    day, pair = np.divmod(keys[some], places**2)
    by = 1 if days is None else days[day]
    return Flows(
        origin=np.concatenate([flows.origin, pair // places]),
        destination=np.concatenate([flows.destination, pair % places]),
        numbers=_joined(flows.numbers, sums.count[some] / by, sums.error[some] / by),
        starts=np.concatenate(
            [flows.starts, len(flows.origin) + np.searchsorted(day, np.arange(1, groups + 1))]
        ),
    )


def _totals(
    totals: Numbers | None,
    universe: ODCells,
    cells: AskedCells,
    days: IntArray | None,
    groups: int,
) -> Numbers | None:
    if totals is None:
        return None
    places = len(universe.locations)
    day = cells.dimensions["periods"].position // universe.periods.parts
    sums = _sums(cells, cells.dimensions["origins"].position * groups + day, places * groups)
    by = 1 if days is None else days
    count, error = (
        np.column_stack([part.reshape(places, -1), whole.reshape(places, -1) / by]).ravel()
        for part, whole in ((totals.count, sums.count), (totals.error, sums.error))
    )
    return Numbers(count=count, error=error, meaning=totals.meaning)


def _padded(series: Numbers, groups: int) -> Numbers:
    return _joined(series, np.full(groups, np.nan), np.full(groups, np.nan))


def _joined(numbers: Numbers, *further: Sequence[float] | FloatArray) -> Numbers:
    count, error = further
    return Numbers(
        count=np.concatenate([numbers.count, count]),
        error=np.concatenate([numbers.error, error]),
        meaning=numbers.meaning,
    )
