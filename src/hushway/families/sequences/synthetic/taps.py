"""Synthetic taps from a published release of sequences: whole records with plausible times."""

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError
from hushway.families.sequences.files.learnt import PREFIXES
from hushway.families.sequences.files.published import COMPLETED, PARQUET
from hushway.families.sequences.files.records import read_records
from hushway.families.sequences.files.rows import read_completed
from hushway.families.sequences.files.taxonomy import LOCATIONS, TAXONOMY, read_taxonomy
from hushway.families.sequences.synthetic.itinerary import one_by_one, plausible_seconds
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.release.formats.places import number_array, text_array
from hushway.release.untrusted.limits import LIST_BYTES, read_plain

_NO_DAY = date(2000, 1, 3)


def synthesize_taps(release: Path, path: Path, *, seed: int, day: date = _NO_DAY) -> str:
    """Writes one row a tap (record, place, time) for every record of a release.

    Privacy:
        Reads a published release and nothing else: it costs nothing. Stops beyond kept prefixes and
        all times are likely ones, not measurements.

    Args:
        release: A verified release folder of the family sequences, without times.
        path: The Parquet file to write.
        seed: Chooses the times.
        day: The day that times are written on.

    Raises:
        ReleaseError: The release has no completed records, or the file is there already or cannot
            be written.
    """
    refuse_taken(path)
    learnt = (release / PREFIXES).is_file()
    if not (learnt or (release / COMPLETED).is_file()):
        raise ReleaseError(
            "The release has no complete records to draw from.",
            advice="Give a release of sequences without times.",
        )
    locations = read_taxonomy(
        read_plain(release / TAXONOMY, LIST_BYTES), read_plain(release / LOCATIONS, LIST_BYTES)
    ).locations
    ids = text_array(locations.ids)
    if learnt:
        start, stops, counts = read_records(locations, release / PARQUET)
    else:
        read = read_completed(locations, release / COMPLETED)
        start, stops, counts = read.start, read.stops, read.counts
    records = one_by_one(start, stops, counts)
    seconds = plausible_seconds(records, locations, seed=seed)
    times = np.datetime64(day, "us") + (seconds * 1_000_000).astype("timedelta64[us]")
    owner = np.repeat(np.arange(len(records.start) - 1), np.diff(records.start))
    table = pa.table(
        {
            "record": number_array(owner),
            "place": pa.DictionaryArray.from_arrays(
                number_array(records.stops.astype(np.int32)), ids
            ),
            "time": pa.Array.from_buffers(
                pa.timestamp("us"), len(times), [None, pa.py_buffer(np.ascontiguousarray(times))]
            ),
        }
    )
    packed = pa.BufferOutputStream()
    pq.write_table(table, packed, compression="zstd")
    write_new(path, packed.getvalue().to_pybytes())
    return (
        f"{len(records.stops):,} taps of {len(records.start) - 1:,} synthetic records in {path}. "
        "Times, and stops beyond published prefixes, are likely ones: nobody measured them."
    )
