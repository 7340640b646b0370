"""Rows of CSV and Parquet as DuckDB reads them: ids by purpose, (us, timed), positions or stops.

The only place with SQL of our own. Whatever types the files have, ids come out as 64-bit integers
or as text, and times as microseconds since 1970: UTC for instants, "as if it were UTC" for a wall
clock.
"""

from glob import escape

import ibis
import pyarrow as pa
from ibis.backends.duckdb import Backend

from hushway.engine.lookup import place_table
from hushway.engine.session import has_rejects, quietly
from hushway.geography.locations import Locations
from hushway.tables.layout import Clock, Kind, Layout

# ISO 8601 with date and time; engines differ in what else they would take for a time.
_DATE_TIME = r"\d{4}-\d{2}-\d{2}[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?"
_OFFSET = r"(Z|[+-]\d{2}(:?\d{2})?)?"
_NUMBERS = ("lon", "lat", "speed", "heading")
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
    one. A person or trip id of blanks alone is null: whoever wrote it did not know it. `lon` and
    `lat` are null where they are missing, and NaN where they are no numbers. Columns
    that are not in the layout are left out.

    Raises:
        DataError: A file cannot be opened.
    """
    columns = [
        f"{_value(_column(layout, role), role, kind)} AS {role}"
        for role, kind in layout.kinds.items()
        if role != "time"
    ]
    time = _column(layout, "time")
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
    pattern = _DATE_TIME if clock == "wall" else _DATE_TIME + _OFFSET
    read = f"TRY_CAST({column} AS TIMESTAMP{'' if clock == 'wall' else 'TZ'})"
    return f"CASE WHEN regexp_full_match({column}, '{pattern}') THEN epoch_us({read}) END"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
