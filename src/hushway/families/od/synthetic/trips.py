"""Synthetic trips from a published OD table: whole days with origins, destinations and times."""

import io
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.draws import DrawnTable
from hushway.families.od.synthetic.published import PublishedTrips
from hushway.geography.periods import Periods
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.release.formats.places import number_array, text_array

_SECOND_US: Final = 1_000_000


def synthesize_trips(published: PublishedTrips, path: Path, *, seed: int, table: bool) -> str:
    """Writes one row a trip (trip_id, origin, destination, time), or the drawn table itself.

    Privacy:
        Reads a published release and nothing else: it costs nothing, as often as it is done. Times
        within a period, and the days of a window that are counted together, are likely ones.

    Args:
        published: The table of a release.
        path: The file to write; its ending says whether it is CSV or Parquet.
        seed: Chooses the draw; another one is another day.
        table: Whether to write trips by period, origin and destination instead of single trips.

    Raises:
        ReleaseError: The file is there already, cannot be written or has another ending.
    """
    refuse_taken(path)
    if path.suffix not in (".csv", ".parquet"):
        raise ReleaseError(
            f"The file {path.name} is neither CSV nor Parquet.",
            advice="Give it a name that ends in .csv or .parquet.",
        )
    drawn = published.drawn(seed)
    universe = published.universe
    rows = _table(universe, drawn) if table else _trips(universe, drawn, seed)
    write_new(path, _packed(rows, path.suffix))
    return (
        f"{int(drawn.counts.sum()):,} synthetic trips in {len(drawn.cells):,} cells in {path}. "
        "They look like a day that fits the release; nobody made them."
    )


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


def _trips(universe: ODCells, drawn: DrawnTable, seed: int) -> pa.Table:
    period, origin, destination = universe.decode(np.repeat(drawn.cells, drawn.counts))
    times = _times(universe.periods, period, seed)
    order = np.argsort(times, kind="stable")
    places = universe.locations.ids
    return pa.table(
        {
            "trip_id": number_array(np.arange(len(order))),
            "origin": _named(origin[order], places),
            "destination": _named(destination[order], places),
            "time": pa.Array.from_buffers(
                pa.timestamp("us"), len(order), [None, pa.py_buffer(times[order])]
            ).cast(pa.timestamp("s")),
        }
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


def _packed(rows: pa.Table, suffix: str) -> bytes:
    if suffix == ".csv":
        text = io.BytesIO()
        pyarrow.csv.write_csv(rows, text)
        return text.getvalue()
    packed = pa.BufferOutputStream()
    pq.write_table(rows, packed, compression="zstd")
    return bytes(packed.getvalue().to_pybytes())
