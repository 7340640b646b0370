"""Synthetic trips from a published OD table: whole days with origins, destinations and times."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.omx import fits_omx, omx_bytes
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.draws import DrawnTable
from hushway.families.od.synthetic.published import PublishedTrips
from hushway.geography.periods import Periods
from hushway.release.folder.new_file import write_new
from hushway.release.formats.places import number_array, text_array
from hushway.release.synthetic_file import STAMP, SyntheticFile, Travellers

_SECOND_US: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Trips:
    """Drawn trips, by the moment at which they begin.

    Attributes:
        universe: The public cells.
        origin: The number of the place where each begins.
        destination: The number of the place where each ends.
        times: Microseconds of the agency's clock since 1970.
    """

    universe: ODCells
    origin: IntArray
    destination: IntArray
    times: IntArray


def synthesize_trips(published: PublishedTrips, file: SyntheticFile) -> str:
    """Writes one row a trip (trip_id, origin, destination, time), travellers or the drawn table.

    Privacy:
        Reads a published release and nothing else: it costs nothing, as often as it is done. Times
        within a period, and the days of a window that are counted together, are likely ones.

    Args:
        published: The table of a release.
        file: What to write, and where.

    Raises:
        ReleaseError: The file cannot be written.
    """
    drawn = published.drawn(file.seed)
    trips = int(drawn.counts.sum())
    if file.for_simulators:
        travellers = file.write_travellers(
            _travellers(_trips(published.universe, drawn, file.seed))
        )
        return (
            f"{travellers:,} synthetic travellers with a trip each in {file.path}"
            f"{f', of {trips:,} trips' if travellers < trips else ''}. "
            "They look like a day that fits the release; nobody made these trips."
        )
    universe = published.universe
    if file.for_planners:
        _write_matrices(universe, drawn, file)
    else:
        file.write_rows(
            _table(universe, drawn) if file.table else _rows(_trips(universe, drawn, file.seed))
        )
    return (
        f"{trips:,} synthetic trips in {len(drawn.cells):,} cells in {file.path}. "
        "They look like a day that fits the release; nobody made them."
    )


def _write_matrices(universe: ODCells, drawn: DrawnTable, file: SyntheticFile) -> None:
    if not fits_omx(universe):
        raise ReleaseError(
            "The table has too many places for dense matrices.",
            advice="Write .parquet with --table instead.",
        )
    table = ODTable(
        universe=universe,
        cells=drawn.cells,
        counts=drawn.counts,
        standard_errors=np.zeros(len(drawn.cells)),
        threshold=None,
    )
    write_new(file.path, omx_bytes(table, drawn=STAMP))


def _table(universe: ODCells, drawn: DrawnTable) -> pa.Table:
    period, origin, destination = universe.decode(drawn.cells)
    return pa.table(
        {
            "period": _named(period, universe.periods.labels),
            "origin": _named(origin, universe.locations.ids),
            "destination": _named(destination, universe.locations.ids),
            "count": number_array(drawn.counts),
        }
    )


def _trips(universe: ODCells, drawn: DrawnTable, seed: int) -> Trips:
    period, origin, destination = universe.decode(np.repeat(drawn.cells, drawn.counts))
    times = _times(universe.periods, period, seed)
    order = np.argsort(times, kind="stable")
    return Trips(
        universe=universe, origin=origin[order], destination=destination[order], times=times[order]
    )


def _rows(trips: Trips) -> pa.Table:
    places = trips.universe.locations.ids
    return pa.table(
        {
            "trip_id": number_array(np.arange(len(trips.times))),
            "origin": _named(trips.origin, places),
            "destination": _named(trips.destination, places),
            "time": pa.Array.from_buffers(
                pa.timestamp("us"), len(trips.times), [None, pa.py_buffer(trips.times)]
            ).cast(pa.timestamp("s")),
        }
    )


def _travellers(trips: Trips) -> Travellers:
    """Returns a traveller for each trip: a table of trips does not tell who makes several."""
    midnight = np.datetime64(trips.universe.periods.first_day, "s").astype(np.int64)
    since = trips.times // _SECOND_US - midnight
    return Travellers(
        locations=trips.universe.locations,
        start=2 * np.arange(len(since) + 1),
        places=np.column_stack([trips.origin, trips.destination]).ravel(),
        left=np.repeat(since, 2),
    )


def _times(periods: Periods, period: IntArray, seed: int) -> IntArray:
    """Returns a moment on the agency's clock for each trip, in microseconds since 1970.

    All days that a period is counted over are as likely as each other, and so are its seconds.
    """
    # A stream of its own: the table comes from the seed itself.
    rng = np.random.Generator(np.random.PCG64([seed, 2]))
    slots = sorted(periods.wall_slots, key=lambda slot: slot.period)
    starts = np.array([slot.start_us for slot in slots], dtype=np.int64)
    seconds: IntArray = np.array([part.minutes * 60 for part in periods.day_parts])
    first = np.searchsorted([slot.period for slot in slots], np.arange(len(periods) + 1))
    days = np.diff(first)
    chosen = first[period] + np.floor(rng.random(len(period)) * days[period]).astype(np.int64)
    lengths = seconds[period % periods.parts]
    within: IntArray = np.floor(rng.random(len(period)) * lengths).astype(np.int64)
    moments: IntArray = starts[chosen] + within * _SECOND_US
    return moments


def _named(positions: IntArray, names: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        number_array(positions.astype(np.int32)), text_array(names)
    ).cast(pa.string())
