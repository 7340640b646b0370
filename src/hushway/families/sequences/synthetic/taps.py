"""Synthetic taps from a published release of sequences: whole records with plausible times."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.sequences.files.learnt import PREFIXES
from hushway.families.sequences.files.published import COMPLETED, PARQUET
from hushway.families.sequences.files.records import read_records
from hushway.families.sequences.files.rows import read_completed
from hushway.families.sequences.files.taxonomy import LOCATIONS, TAXONOMY, read_taxonomy
from hushway.geography.locations import Locations
from hushway.numerics.chance import draw, generator
from hushway.release.formats.places import number_array, text_array
from hushway.release.synthetic_file import SyntheticFile, Travellers
from hushway.release.untrusted.limits import LIST_BYTES, read_plain

# Plausible times for records of stops that were published without times.
#
# Nothing here was measured: a day's rhythm, walking pace and lengths of stay are those of cities in
# general. Synthetic records with such times suit tools that want timestamps, not conclusions about
# when people travel.

_DAY_S = 24 * 60 * 60
_SLOT_S = 15 * 60
# Peaks of the first tap of a day: hour, spread in hours, height.
_PEAKS_H = ((7.8, 1.2, 1.0), (12.5, 3.0, 0.5), (17.0, 2.0, 0.25))
_METRES_PER_DEGREE = 111_320.0
_SPEED_M_PER_S = 7.0
_CHANGE_S = 4 * 60
# A tap where the record was already, or back where it came from, comes after a stay.
_STAY_H, _STAY_SPREAD = 6.0, 0.6
_ERRAND_H, _ERRAND_SPREAD = 0.7, 0.8
_HOME_H, _HOME_SPREAD_H = 18.0, 5.5
_SHORTEST_S = 40 * 60


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """Records one by one, as a ragged array of location indices."""

    start: IntArray
    stops: IntArray


def one_by_one(start: IntArray, stops: IntArray, counts: IntArray) -> Records:
    """Returns every record on its own, given distinct sequences with counts."""
    length = np.repeat(np.diff(start), counts)
    begin = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)])
    within = np.arange(begin[-1]) - np.repeat(begin[:-1], length)
    return Records(
        start=begin, stops=stops[np.repeat(np.repeat(start[:-1], counts), length) + within]
    )


def plausible_seconds(records: Records, locations: Locations, *, seed: int) -> IntArray:
    """Returns a second of the day for every stop, ascending within a record."""
    rng = generator(seed, 0)
    length = np.diff(records.start)
    first = np.zeros(len(records.stops), dtype=np.bool_)
    first[records.start[:-1][length > 0]] = True
    gap = np.where(first, 0.0, _gaps(rng, records.stops, first, locations))
    before = np.cumsum(gap)
    owner = np.repeat(np.arange(len(length)), length)
    since = before - before[records.start[:-1][length > 0]][_dense(owner)]
    span = np.zeros(len(length))
    np.maximum.at(span, owner, since)
    departure = _departures(rng, len(length))
    # Whoever would be out beyond the evening hurries: all gaps of the record shrink alike.
    home = (_HOME_H + _HOME_SPREAD_H * rng.random(len(length))) * 3600
    room = np.minimum(np.maximum(home - departure, _SHORTEST_S), _DAY_S - 1 - departure)
    squeeze = np.minimum(1.0, room / np.maximum(span, 1.0))
    return np.asarray(np.floor(departure[owner] + since * squeeze[owner]), dtype=np.int64)


def _dense(owner: IntArray) -> IntArray:
    """Numbers the records that have stops, in order."""
    fresh = np.diff(owner, prepend=-1) != 0
    return np.cumsum(fresh) - 1


def _gaps(
    rng: np.random.Generator, stops: IntArray, first: np.ndarray, locations: Locations
) -> FloatArray:
    """Returns the seconds from the stop before: a ride, and a stay before it."""
    previous = np.concatenate([stops[:1], stops[:-1]])
    earlier = np.concatenate([stops[:2], stops[:-2]])[: len(stops)]
    back = (stops == previous) | (stops == earlier)
    typical = np.where(back, _STAY_H, _ERRAND_H) * 3600
    spread = np.where(back, _STAY_SPREAD, _ERRAND_SPREAD)
    stay = typical * np.exp(spread * _normal(rng, len(stops)))
    lon = np.array([place.lon for place in locations.places])
    lat = np.array([place.lat for place in locations.places])
    east = (lon[stops] - lon[previous]) * np.cos(np.radians(lat[stops]))
    metres = np.hypot(east, lat[stops] - lat[previous]) * _METRES_PER_DEGREE
    return np.asarray(np.where(first, 0.0, stay + metres / _SPEED_M_PER_S + _CHANGE_S))


def _departures(rng: np.random.Generator, count: int) -> FloatArray:
    slots = np.arange(_DAY_S // _SLOT_S)
    hours = (slots + 0.5) * _SLOT_S / 3600
    bumps = [height * np.exp(-(((hours - at) / wide) ** 2) / 2) for at, wide, height in _PEAKS_H]
    weights = np.asarray(0.01 + np.sum(bumps, axis=0), dtype=np.float64)
    return np.asarray((draw(rng, weights, count) + rng.random(count)) * _SLOT_S)


def _normal(rng: np.random.Generator, count: int) -> FloatArray:
    """Draws normal numbers from uniform ones, whose stream numpy keeps stable."""
    one = np.maximum(rng.random(count), 1e-300)
    return np.asarray(np.sqrt(-2 * np.log(one)) * np.cos(2 * np.pi * rng.random(count)))


_NO_DAY = date(2000, 1, 3)


def synthesize_taps(release: Path, file: SyntheticFile) -> str:
    """Writes one row a tap (record, place, time) for every record of a release, or travellers.

    Privacy:
        Reads a published release and nothing else: it costs nothing. Stops beyond kept prefixes and
        all times are likely ones, not measurements.

    Args:
        release: A verified release folder of the family sequences, without times.
        file: What to write, and where.

    Raises:
        ReleaseError: The release has no completed records, or the file cannot be written.
    """
    learnt = (release / PREFIXES).is_file()
    if not (learnt or (release / COMPLETED).is_file()):
        raise ReleaseError(
            "The release has no complete records to draw from.",
            advice="Give a release of sequences without times.",
        )
    locations = read_taxonomy(
        read_plain(release / TAXONOMY, LIST_BYTES), read_plain(release / LOCATIONS, LIST_BYTES)
    ).locations
    if learnt:
        start, stops, counts = read_records(locations, release / PARQUET)
    else:
        read = read_completed(locations, release / COMPLETED)
        start, stops, counts = read.start, read.stops, read.counts
    records = one_by_one(start, stops, counts)
    seconds = plausible_seconds(records, locations, seed=file.seed)
    if file.for_simulators:
        people = file.write_travellers(
            Travellers(locations=locations, start=records.start, places=records.stops, left=seconds)
        )
        return (
            f"{people:,} synthetic travellers in {file.path}, of {len(records.start) - 1:,} "
            "records. Records of one place go nowhere and are left out. Times, and stops "
            "beyond published prefixes, are likely ones: nobody measured them."
        )
    file.write_rows(_rows(records, seconds, locations))
    return (
        f"{len(records.stops):,} taps of {len(records.start) - 1:,} synthetic records in "
        f"{file.path}. "
        "Times, and stops beyond published prefixes, are likely ones: nobody measured them."
    )


def _rows(records: Records, seconds: IntArray, locations: Locations) -> pa.Table:
    times = np.datetime64(_NO_DAY, "us") + (seconds * 1_000_000).astype("timedelta64[us]")
    owner = np.repeat(np.arange(len(records.start) - 1), np.diff(records.start))
    return pa.table(
        {
            "record": number_array(owner),
            "place": pa.DictionaryArray.from_arrays(
                number_array(records.stops.astype(np.int32)), text_array(locations.ids)
            ),
            "time": pa.Array.from_buffers(
                pa.timestamp("us"), len(times), [None, pa.py_buffer(np.ascontiguousarray(times))]
            ),
        }
    )
