"""Rows of CSV and Parquet as DuckDB reads them, and public tables that turn them into indexes.

The only place with SQL of our own. Whatever types the files have, ids come out as 64-bit integers
or as text, and times as microseconds since 1970: UTC for instants, "as if it were UTC" for a wall
clock.
"""

from dataclasses import dataclass, replace
from glob import escape
from math import gcd

import ibis
import numpy as np
import pyarrow as pa
from ibis.backends.duckdb import Backend

from hushway.arrays import Int32Array, IntArray
from hushway.engine.session import has_rejects, quietly
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.tables.layout import Clock, Kind, Layout

# ISO 8601 with date and time; engines differ in what else they would take for a time.
_DATE_TIME = r"\d{4}-\d{2}-\d{2}[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?"
_OFFSET = r"(Z|[+-]\d{2}(:?\d{2})?)?"
# A day of a service calendar, and the time on it: 25:30 is half past one in the night after it.
_SERVICE_DATE = r"\d{4}(-\d{2}-\d{2}|\d{4})"
_SERVICE_TIME = r"([0-4]?\d):([0-5]\d)(:([0-5]\d))?"
_NUMBERS = (
    *("lon", "lat", "speed", "heading"),
    *("origin_lon", "origin_lat", "destination_lon", "destination_lat"),
)
# Whose a row is; a text of blanks is nobody's. Just the characters that Python calls spaces.
_OWNERS = ("person", "trip_id")
_BLANK = r"[\pZ\x09-\x0d\x1c-\x1f\x{85}]*"
# So many are kept, to be counted; rows beyond are dropped all the same.
_MOST_REJECTS = 100_000
_COUNT_REJECTS = """
    SELECT count(DISTINCT (file_path, line))
    FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
"""


def read_rows(backend: Backend, layout: Layout, clock: Clock) -> ibis.Table:
    """Returns trips, taps, events or traces as an Ibis table of a DuckDB.

    `us` is null where the time is missing or cannot be understood; `timed` says whether there was
    one, and on the clock "service" `dated` whether there was a service date. A person or trip id of
    blanks alone is null: whoever wrote it did not know it. `lon` and `lat` are null where they are
    missing, and NaN where they are no numbers. Columns that are not in the layout are left out.

    Raises:
        DataError: A file cannot be opened.
    """
    columns = [
        f"{_value(_column(layout, role), role, kind)} AS {role}"
        for role, kind in layout.kinds.items()
        if role not in ("time", "service_date")
    ]
    time = _column(layout, "time")
    if clock == "service":
        day = _column(layout, "service_date")
        columns.append(f"{_service_microseconds(day, time)} AS us")
        columns.append(f"{day} IS NOT NULL AS dated")
    else:
        columns.append(f"{_microseconds(time, layout.kinds['time'], clock)} AS us")
    columns.append(f"{time} IS NOT NULL AS timed")
    query = f"SELECT {', '.join(columns)} FROM {_files(layout)}"  # noqa: S608  all quoted
    return quietly(lambda: backend.sql(query))


def read_stops(backend: Backend, layout: Layout, separator: str) -> ibis.Table:
    """Returns ready sequences as an Ibis table of a DuckDB: (person, record, position, location).

    One row for each stop, none for a sequence without stops. `record` numbers the rows of the
    files; the number means nothing else. A person of blanks alone is null.

    Raises:
        DataError: A file cannot be opened.
    """
    column, kind = _column(layout, "stops"), layout.kinds["stops"]
    if kind == "text":
        split = f"string_split(CAST({column} AS VARCHAR), {_quoted(separator)})"
        stops = f"list_filter({split}, lambda stop: stop <> '')"
    else:
        stops = f"CAST({column} AS {'BIGINT' if kind == 'list of integers' else 'VARCHAR'}[])"
    owner = ""
    if "person" in layout.kinds:
        owner = f"{_value(_column(layout, 'person'), 'person', layout.kinds['person'])} AS person, "
    rows = f"SELECT {owner}row_number() OVER () AS record, {stops} AS stops FROM {_files(layout)}"  # noqa: S608  all quoted
    query = (
        f"SELECT {'person, ' if owner else ''}record, generate_subscripts(stops, 1) AS position, "  # noqa: S608  all quoted
        f"unnest(stops) AS location FROM ({rows})"
    )
    return quietly(lambda: backend.sql(query))


def malformed_rows(backend: Backend) -> int:
    """Returns how many rows of CSV files were dropped because their fields cannot be told."""
    if not has_rejects(backend.con):
        return 0
    counted = backend.con.execute(_COUNT_REJECTS).fetchone()
    return int(counted[0]) if counted else 0


def load_places(backend: Backend, locations: Locations, *, integers: bool) -> ibis.Table:
    """Puts the public table (id, place) into a DuckDB."""
    return load_table(backend, "public_places", place_table(locations, integers=integers))


def load_table(backend: Backend, name: str, table: pa.Table) -> ibis.Table:
    """Puts a table that is in memory into a DuckDB.

    Raises:
        DataError: There is not enough memory, or a text in it is none.
    """

    def load() -> ibis.Table:
        # Copied into DuckDB's own memory: its joins then know how small the table is.
        backend.con.register(f"{name}_arrow", table)
        backend.con.execute(f"CREATE TABLE {name} AS FROM {name}_arrow")
        backend.con.unregister(f"{name}_arrow")
        return backend.table(name)

    return quietly(load)


def _files(layout: Layout) -> str:
    # Names are taken as they are: a bracket in a file's name is no pattern.
    names = ", ".join(_quoted(escape(str(path))) for path in layout.files.paths)
    if layout.files.format == "parquet":
        # By name: files may order their columns differently.
        return f"read_parquet([{names}], union_by_name = true, hive_partitioning = false)"
    fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(layout.width))
    return (
        f"read_csv([{names}], columns = {{{fields}}}, auto_detect = false, header = true, "
        f"delim = {_quoted(layout.delimiter)}, quote = '\"', escape = '\"', nullstr = '', "
        "strict_mode = true, hive_partitioning = false, "
        f"store_rejects = true, rejects_limit = {_MOST_REJECTS})"
    )


def _column(layout: Layout, role: str) -> str:
    if layout.files.format == "csv":
        return f"c{layout.places[role]}"
    return '"' + layout.names[role].replace('"', '""') + '"'


def _value(column: str, role: str, kind: Kind) -> str:
    if role in _OWNERS and kind == "text":
        text = _id(column, kind)
        return f"CASE WHEN NOT regexp_full_match({text}, '{_BLANK}') THEN {text} END"
    if role not in _NUMBERS:
        return _id(column, kind)
    read = f"coalesce(TRY_CAST({column} AS DOUBLE), CAST('nan' AS DOUBLE))"
    return f"CASE WHEN {column} IS NOT NULL THEN {read} END"


def _id(column: str, kind: Kind) -> str:
    return f"CAST({column} AS {'BIGINT' if kind == 'integer' else 'VARCHAR'})"


def _microseconds(column: str, kind: Kind, clock: Clock) -> str:
    if kind != "text":
        # An infinite time, and one beyond microseconds of 64 bits, become null.
        return f"epoch_us(TRY_CAST({column} AS TIMESTAMP{'TZ' if kind == 'zoned time' else ''}))"
    pattern = _DATE_TIME if clock == "local" else _DATE_TIME + _OFFSET
    read = f"TRY_CAST({column} AS TIMESTAMP{'' if clock == 'local' else 'TZ'})"
    return f"CASE WHEN regexp_full_match({column}, '{pattern}') THEN epoch_us({read}) END"


def _service_microseconds(day: str, time: str) -> str:
    """Reads a service date, as TIDES or GTFS write it, and hours that may go on after midnight."""
    day = f"CAST({day} AS VARCHAR)"
    dashed = f"regexp_replace({day}, '^(\\d{{4}})(\\d{{2}})(\\d{{2}})$', '\\1-\\2-\\3')"
    midnight = f"epoch_us(TRY_CAST({dashed} AS TIMESTAMP))"
    parts = ((1, 3_600_000_000), (2, 60_000_000), (4, 1_000_000))
    digits = [(f"regexp_extract({time}, '{_SERVICE_TIME}', {group})", us) for group, us in parts]
    hours = " + ".join(f"coalesce(TRY_CAST({text} AS BIGINT), 0) * {us}" for text, us in digits)
    understood = (
        f"regexp_full_match({day}, '{_SERVICE_DATE}') AND "
        f"regexp_full_match({time}, '{_SERVICE_TIME}')"
    )
    return f"CASE WHEN {understood} THEN {midnight} + {hours} END"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_MOST_INT64 = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class TimeGrid:
    """Buckets of one length that refine all periods, so that a time finds its period by equality.

    Attributes:
        start_us: Start of the first bucket.
        end_us: End of the last bucket.
        bucket_us: Length of a bucket.
        starts: Start of every bucket that lies in a period.
        periods: The period it lies in.
    """

    start_us: int
    end_us: int
    bucket_us: int
    starts: IntArray
    periods: IntArray

    @property
    def table(self) -> pa.Table:
        """The buckets as a table (bucket, period)."""
        return pa.table({"bucket": self.starts, "period": self.periods})


def time_grid(periods: Periods, clock: Clock) -> TimeGrid:
    """Returns the buckets of the periods on a clock, without times that the clock never showed.

    Hours of a service day are counted from its beginning, so that none of them is skipped.
    """
    slots = periods.instant_slots if clock == "utc" else periods.wall_slots
    skipped = periods.skipped_wall if clock == "local" else ()
    edges = {edge for slot in slots for edge in (slot.start_us, slot.end_us)}
    if not edges:
        return _nothing(periods)
    start, end = min(edges), max(edges)
    edges |= {min(max(edge, start), end) for gap in skipped for edge in gap}
    bucket = gcd(*(edge - start for edge in edges))
    starts = [np.arange(slot.start_us, slot.end_us, bucket, dtype=np.int64) for slot in slots]
    numbers = [np.full(len(s), slot.period) for s, slot in zip(starts, slots, strict=True)]
    all_starts, all_periods = np.concatenate(starts), np.concatenate(numbers).astype(np.int64)
    real = np.ones(len(all_starts), dtype=np.bool_)
    for low, high in skipped:
        real &= (all_starts < low) | (all_starts >= high)
    return TimeGrid(
        start_us=start,
        end_us=end,
        bucket_us=bucket,
        starts=all_starts[real],
        periods=all_periods[real],
    )


def _nothing(periods: Periods) -> TimeGrid:
    """Returns the grid of a window that no clock ever showed, such as Samoa's skipped day."""
    start = periods.wall_slots[0].start_us
    empty = np.empty(0, dtype=np.int64)
    return TimeGrid(start_us=start, end_us=start + 1, bucket_us=1, starts=empty, periods=empty)


def place_table(locations: Locations, *, integers: bool) -> pa.Table:
    """Returns the table (id, place) to join a column of ids with.

    Ids are compared as text. For a column of integers that is the same as comparing numbers with
    those ids that are written as an integer writes itself; any other id can have no match there.
    """
    if not integers:
        return pa.table({"id": pa.array(locations.ids, pa.string()), "place": _counted(locations)})
    known = [(int(id_), i) for i, id_ in enumerate(locations.ids) if _is_integer(id_)]
    ids, places = zip(*known, strict=True) if known else ((), ())
    return pa.table({"id": pa.array(ids, pa.int64()), "place": pa.array(places, pa.int64())})


def _counted(locations: Locations) -> IntArray:
    return np.arange(len(locations), dtype=np.int64)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    number = int(text)
    return str(number) == text and -_MOST_INT64 - 1 <= number <= _MOST_INT64


@dataclass(frozen=True, kw_only=True, eq=False)
class DayGrid:
    """Buckets of one length from the window's start to its end.

    Attributes:
        start_us: Start of the first bucket.
        end_us: End of the last bucket.
        bucket_us: Length of a bucket.
        day: The day of the window that each bucket belongs to; -1 outside service hours.
        period: The period that it lies in; -1 likewise.
    """

    start_us: int
    end_us: int
    bucket_us: int
    day: Int32Array
    period: Int32Array

    @property
    def table(self) -> pa.Table:
        """The buckets that lie in a period, as a table (bucket, day, period)."""
        used = np.flatnonzero(self.day >= 0)
        starts = self.start_us + used * self.bucket_us
        return pa.table({"bucket": starts, "day": self.day[used], "period": self.period[used]})

    def bucket(self, since_us: IntArray) -> IntArray:
        """Returns the bucket of times, given in microseconds from the first bucket's start."""
        return since_us // self.bucket_us


def day_grid(periods: Periods, clock: Clock) -> DayGrid:
    """Returns the days and periods of a window on a clock.

    A day is one of the agency's wall clock, also where the rows carry instants.
    """
    grids: list[tuple[int, TimeGrid]] = []
    for number, day in enumerate(periods.days):
        grid = time_grid(replace(periods, first_day=day, last_day=day), clock)
        # A day that no clock ever showed, such as Samoa's skipped one, has no buckets.
        if len(grid.starts):
            grids.append((number, grid))
    if not grids:
        start = periods.wall_slots[0].start_us
        nowhere = np.full(1, -1, dtype=np.int32)
        return DayGrid(start_us=start, end_us=start, bucket_us=1, day=nowhere, period=nowhere)
    start = min(grid.start_us for _, grid in grids)
    end = max(grid.end_us for _, grid in grids)
    bucket = gcd(*(v for _, g in grids for v in (g.bucket_us, g.start_us - start, end - start)))
    day_of = np.full((end - start) // bucket, -1, dtype=np.int32)
    period_of = day_of.copy()
    for number, grid in grids:
        parts = np.arange(grid.bucket_us // bucket)
        at = ((grid.starts - start) // bucket)[:, None] + parts
        day_of[at] = number
        period_of[at] = grid.periods[:, None]
    return DayGrid(start_us=start, end_us=end, bucket_us=bucket, day=day_of, period=period_of)
