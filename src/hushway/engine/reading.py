"""Rows of CSV and Parquet as DuckDB reads them.

The only place with SQL of our own. Whatever types the files have, ids come out as 64-bit integers
or as text, and times as microseconds since 1970: UTC for instants, "as if it were UTC" for a wall
clock.
"""

from glob import escape

import ibis

from hushway.engine.embedded import EmbeddedSession
from hushway.tables.header import Clock
from hushway.tables.layout import Kind, Layout
from hushway.tables.time_format import SINCE_1970

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
# Whole numbers with fewer of them fit into 64 bits.
_DIGITS = 19
# Whose a row is; a text of blanks is nobody's. Just the characters that Python calls spaces.
_OWNERS = ("person", "trip_id")
_BLANK = r"[\pZ\x09-\x0d\x1c-\x1f\x{85}]*"


def read_rows(session: EmbeddedSession, layout: Layout | None, clock: Clock) -> ibis.Table:
    """Returns trips, taps, events or traces as an Ibis table of a DuckDB.

    `us` is null where the time is missing or cannot be understood; `timed` says whether there was
    one, and on the clock "service" `dated` whether there was a service date. A person or trip id of
    blanks alone is null: whoever wrote it did not know it. `lon` and `lat` are null where they are
    missing, and NaN where they are no numbers. Columns that are not in the layout are left out.
    """
    assert layout is not None  # noqa: S101  what tables of rows have
    columns = [
        f"{_value(_column(layout, role), role, kind)} AS {role}"
        for role, kind in layout.kinds.items()
        if role not in ("time", "date", "service_date")
    ]
    time = _column(layout, "time")
    if "date" in layout.kinds:
        # Nothing where either is missing.
        time = f"(CAST({_column(layout, 'date')} AS VARCHAR) || ' ' || CAST({time} AS VARCHAR))"
    if clock == "service":
        day = _column(layout, "service_date")
        columns.append(f"{_service_microseconds(day, time)} AS us")
        columns.append(f"{day} IS NOT NULL AS dated")
    else:
        columns.append(f"{_microseconds(time, layout, clock)} AS us")
    columns.append(f"{time} IS NOT NULL AS timed")
    query = f"SELECT {', '.join(columns)} FROM {_source(session, layout)}"  # noqa: S608  all quoted
    return session.sql(query)


def read_stops(session: EmbeddedSession, layout: Layout | None, separator: str) -> ibis.Table:
    """Returns ready sequences as an Ibis table of a DuckDB: (person, record, position, location).

    One row for each stop, none for a sequence without stops. `record` numbers the rows of the
    files; the number means nothing else. A person of blanks alone is null.
    """
    assert layout is not None  # noqa: S101  likewise
    column, kind = _column(layout, "stops"), layout.kinds["stops"]
    if kind == "text":
        split = f"string_split(CAST({column} AS VARCHAR), {_quoted(separator)})"
        stops = f"list_filter({split}, lambda stop: stop <> '')"
    else:
        stops = f"CAST({column} AS {'BIGINT' if kind == 'list of integers' else 'VARCHAR'}[])"
    owner = ""
    if "person" in layout.kinds:
        owner = f"{_value(_column(layout, 'person'), 'person', layout.kinds['person'])} AS person, "
    number = f"row_number() OVER () + {session.first_number}"
    rows = f"SELECT {owner}{number} AS record, {stops} AS stops FROM {_source(session, layout)}"  # noqa: S608  all quoted
    query = (
        f"SELECT {'person, ' if owner else ''}record, generate_subscripts(stops, 1) AS position, "  # noqa: S608  all quoted
        f"unnest(stops) AS location FROM ({rows})"
    )
    return session.sql(query)


def _source(session: EmbeddedSession, layout: Layout) -> str:
    if session.given is not None:
        return session.given
    if layout.files.format == "parquet":
        # Names are taken as they are: a bracket in a file's name is no pattern.
        listed = ", ".join(_quoted(escape(str(path))) for path in layout.files.paths)
        # By name: files may order their columns differently.
        return f"read_parquet([{listed}], union_by_name = true, hive_partitioning = false)"
    return session.csv_rows(layout)


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
    # In texts, also as most of Europe writes numbers: 38,72.
    number = f"replace({column}, ',', '.')" if kind == "text" else column
    read = f"coalesce(TRY_CAST({number} AS DOUBLE), CAST('nan' AS DOUBLE))"
    return f"CASE WHEN {column} IS NOT NULL THEN {read} END"


def _id(column: str, kind: Kind) -> str:
    return f"CAST({column} AS {'BIGINT' if kind == 'integer' else 'VARCHAR'})"


def _microseconds(column: str, layout: Layout, clock: Clock) -> str:
    kind, written = layout.kinds["time"], layout.time_format
    if written in SINCE_1970:
        # Exact, with fractions of a second; what is no number, or beyond 64 bits, becomes null.
        unit = SINCE_1970[written]
        exact = f"TRY_CAST(round(TRY_CAST({column} AS DECIMAL(28, 6)) * {unit}) AS BIGINT)"
        if kind != "text":
            return exact
        # DuckDB makes decimals of texts two hundred times as slowly as whole numbers.
        whole = f"regexp_full_match({column}, '-?[0-9]{{1,{_DIGITS - len(str(unit))}}}')"
        return f"CASE WHEN {whole} THEN CAST({column} AS BIGINT) * {unit} ELSE {exact} END"
    if written is not None and kind == "text":
        return f"epoch_us(try_strptime({column}, {_quoted(written)}))"
    if kind != "text":
        # An infinite time, and one beyond microseconds of 64 bits, become null.
        return f"epoch_us(TRY_CAST({column} AS TIMESTAMP{'TZ' if kind == 'zoned time' else ''}))"
    pattern, read = _DATE_TIME, f"TRY_CAST({column} AS TIMESTAMP)"
    if clock != "local":
        # DuckDB takes no offset behind a minute, as in 2026-03-02T08:00Z.
        whole = f"substr({column}, 1, 16) || ':00' || substr({column}, 17)"
        told = f"CASE WHEN substr({column}, 17, 1) = ':' THEN {column} ELSE {whole} END"
        pattern, read = _DATE_TIME + _OFFSET, f"TRY_CAST({told} AS TIMESTAMPTZ)"
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
