"""What the checks of all families share: kinds of rows, shared ids, and words for the steward."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import numpy as np

from hushway.engine.grids import DayGrid, TimeGrid
from hushway.engine.session import Session
from hushway.errors import DataError
from hushway.geography.periods import Periods
from hushway.progress import ShareProgress
from hushway.tables.check import Policy, Problem, RowsChecked, verdicts
from hushway.tables.layout import Columns
from hushway.tables.profile import RowsFound

# An id that many people share counts as one person. The limit then drops most of its rows, and
# those who share it have one person's protection together, so a steward should know before anything
# is published.

_DAY_US: Final = 86_400_000_000
# An id looks shared if it has more than so many trips, taps, records or events on each of its days:
# one every ten minutes from dawn to midnight ...
MOST_A_DAY: Final = 100
# ... and more than so many times what 99 of 100 ids have, because some data are dense for everybody
# and some people are busy. In the synthetic cities, whose longest records are published figures,
# the busiest card has 90 or 121 taps on its day, 6 times what 99 of 100 have; the busiest caller 8
# times. A single id for 2 % of the rows has 40 times as much in a city of 20,000 trips, and more in
# larger ones.
TIMES_USUAL: Final = 20
_NEARLY_ALL: Final = 0.99
# Where the number of rows of each id stays in the engine.
ROWS_BY_ID: Final = "rows_by_id"
POSITIONS_BY_ID: Final = "positions_by_id"

# A device may take positions as often as it likes, but it is in one place. Nobody on a road gets
# further than a kilometre in ten seconds, which is 360 km/h. Single positions may be far off, so an
# id looks shared only if that happens often, and in one of twenty moments with several positions.
# (Of 61,095 such moments in the synthetic Berkeley not one is torn; if one device in fifty reports
# under the same id, 61 of 100 of its moments are. In another city it is 19 of 100, because one of
# the devices takes positions all the time.)
MOMENT_US: Final = 10_000_000
FAR_APART_M: Final = 1_000.0
FEWEST_TORN: Final = 20
TORN_SHARE: Final = 0.05
_METRES_OF_DEGREE: Final = 111_195.0


def ids_with_too_many(
    session: Session, rows: ir.Table, progress: ShareProgress | None = None
) -> dict[str, int]:
    """Returns how many rows belong to ids that nobody can have alone, by their number of rows.

    Privacy:
        Exact counts, for the steward's own screen. No id is among them.

    Args:
        rows: Rows with a `person`, and with a time `us` unless they have none. If they say which of
            them are `kept`, the engine remembers how many of each id are, in `ROWS_BY_ID`.

    Returns:
        `shared_ids`, the number of their rows; `shared_number`, how many ids they are; and
        `rows_with_id`, the number of all rows.
    """
    days = ibis.literal(1)
    if "us" in rows.columns:
        days = (rows.us.max() - rows.us.min()) // _DAY_US + 1
    kept = {"kept": rows.kept.sum()} if "kept" in rows.columns else {}
    ids = rows.group_by("person").aggregate(rows=rows.count(), days=days, **kept)
    ids = session.store(ROWS_BY_ID, ids, progress)
    usual = ids.rows.quantile(_NEARLY_ALL).as_scalar()
    shared = (ids.rows > MOST_A_DAY * ids.days) & (ids.rows > TIMES_USUAL * usual)
    return _counted(session, ids, shared)


def ids_in_two_places(
    session: Session, rows: ir.Table, latitude: float, progress: ShareProgress | None = None
) -> dict[str, int]:
    """Returns how many positions belong to ids that are in two places at once, again and again.

    Privacy:
        Exact counts, for the steward's own screen. No id is among them.

    Args:
        rows: Positions (person, since_us, lon, lat) in the surroundings of the roads.
        latitude: Where the metres of a degree are taken, in degrees.

    Returns:
        As `ids_with_too_many`.
    """
    north = FAR_APART_M / _METRES_OF_DEGREE
    east = north / float(np.cos(np.radians(latitude)))
    placed = rows.mutate(moment=rows.since_us // MOMENT_US)
    moments = placed.group_by("person", "moment").aggregate(
        rows=placed.count(),
        wide=placed.lon.max() - placed.lon.min(),
        high=placed.lat.max() - placed.lat.min(),
    )
    ids = moments.group_by("person").aggregate(
        rows=moments.rows.sum(),
        several=(moments.rows > 1).sum(),
        torn=((moments.wide > east) | (moments.high > north)).sum(),
    )
    ids = session.store(POSITIONS_BY_ID, ids, progress)
    shared = (ids.torn >= FEWEST_TORN) & (ids.torn >= TORN_SHARE * ids.several)
    return _counted(session, ids, shared)


def _counted(session: Session, ids: ir.Table, shared: ir.BooleanValue) -> dict[str, int]:
    counts = ids.aggregate(
        shared_ids=shared.ifelse(ids.rows, 0).sum().fill_null(0),
        shared_number=shared.sum().fill_null(0),
        rows_with_id=ids.rows.sum().fill_null(0),
    )
    return first_row(session.run(counts))


Words = dict[str, tuple[str, str]]

# A list that is filled from the rows is not public: an entry would say that somebody was there.
UNKNOWN = (
    "Leave it out, unless a source other than these rows lists it; or correct it: ids are compared "
    'as text, and "7" is not "7.0".'
)

_LOOK_SHARED = "Ids that look shared by many people: {shared:,}, with {share:.3g} % of the rows."
TOO_MANY = f"{_LOOK_SHARED} No person makes so many rows."
TWO_PLACES = f"{_LOOK_SHARED} They are in two places at once, again and again."
LEAVE_OUT = (
    "A shared id counts as one person: most of its rows will not count, and those who share it are "
    "protected only together. Leave these rows out,"
)
OWN_TICKET = f"{LEAVE_OUT} give each ticket an id of its own, or protect single"

# For rows of any family, one row at a time.
ROW_WORDS: Final[Words] = {
    "null_value": ("No value for {empty}.", "Fill them in, or leave such rows out."),
    "unparsable_time": (
        "The time is not written as the plan says: ISO 8601, or its time_format.",
        'Set time_format in [data], such as "%d/%m/%Y %H:%M"; Z or an offset needs clock = "utc".',
    ),
    "malformed_row": (
        "A CSV line has too many or too few fields, an open quote, or another encoding.",
        'Write each row as one line. If it is not UTF-8: encoding = "windows-1252" in [data].',
    ),
    "impossible_time": (
        "This local time does not exist: the clock went forward past it.",
        'Check the time zone; or the times are in UTC, then set clock = "utc".',
    ),
}

OUTSIDE_WINDOW = (
    "The time is outside the window's days or outside service hours.",
    "Check what [time] says: first_day, last_day, opens, closes and zone.",
)

IMPOSSIBLE_POSITION = (
    "Longitude or latitude is not a number of degrees on Earth.",
    "Write WGS84 degrees: longitude from -180 to 180, latitude from -90 to 90.",
)


def counts_found(
    session: Session, summary: ir.Table, noun: str, one: str, progress: ShareProgress | None = None
) -> dict[str, int]:
    """Returns the numbers of rows of every kind, malformed ones included."""
    found = first_row(session.run(summary, progress))
    if found["rows"] == 0 and session.malformed_rows():
        problem, advice = ROW_WORDS["malformed_row"]
        raise DataError(f"Not one line of the {noun} can be read: {problem}", advice=advice)
    if found["rows"] == 0:
        raise DataError(
            f"The {noun} are empty: there is not a single {one}.",
            advice=f"Give files with at least one {one}.",
        )
    return found | {"malformed_row": session.malformed_rows()}


def rows_found(found: Mapping[str, int], **more: Any) -> RowsFound:
    """Returns how many rows there are, and how many of them can be counted."""
    return RowsFound(read=found["rows"] + found["malformed_row"], kept=found["kept"], **more)


def rows_checked(  # noqa: PLR0917  what was found, and how it is put into words
    found: Mapping[str, int],
    profile: RowsFound,
    columns: Columns,
    policy: Policy,
    words: Words,
    facts: Mapping[str, float] | None = None,
) -> RowsChecked:
    """Returns the problems that there are, those that the plan refuses first, and the profile."""
    roles = columns.roles
    blanks = {
        "empty": ", ".join(repr(roles[role]) for role in roles if found.get(f"null_{role}")),
        "within": " of one person" if "person" in roles else "",
        "alike": ", ".join(role for role in roles if role != "trip_id"),
        "shared": found.get("shared_number", 0),
        "share": 100 * found.get("shared_ids", 0) / max(found.get("rows_with_id", 0), 1),
        **(facts or {}),
    }
    problems = [
        Problem(
            kind=kind,
            message=message.format(**blanks),
            count=found[kind],
            advice=advice,
            severity=getattr(policy, kind, "note"),
        )
        for kind, (message, advice) in words.items()
        if found.get(kind)
    ]
    return RowsChecked(
        problems=tuple(sorted(problems, key=lambda problem: not problem.refused)),
        verdicts=tuple(verdicts(profile, policy)),
        found=profile,
    )


Buckets = TimeGrid | DayGrid


def in_window(us: ir.IntegerValue, grid: Buckets) -> ir.BooleanValue:
    """Says which times lie in the window; a time that cannot be read does not."""
    inside: ir.BooleanValue = (us >= grid.start_us) & (us < grid.end_us)
    return inside.fill_null(ibis.literal(value=False))


def bucket_of(us: ir.IntegerValue, grid: Buckets) -> ir.IntegerValue:
    """Returns the start of the bucket of each time; null outside."""
    inside = (us >= grid.start_us) & (us < grid.end_us)
    # Only inside: far outside the difference would not fit into 64 bits.
    return inside.ifelse(us - (us - grid.start_us) % grid.bucket_us, ibis.null("int64"))


def looked_up(rows: ir.Table, table: ir.Table, key: str) -> ir.Table:
    """Adds the columns of a public table to all rows, null where it does not have their key."""
    return rows.left_join(table, key).drop(f"{key}_right")


def with_buckets(rows: ir.Table, grid: Buckets, buckets: ir.Table) -> ir.Table:
    """Adds what a public table of buckets says of each time, null outside."""
    return looked_up(rows.mutate(bucket=bucket_of(rows.us, grid)), buckets, "bucket")


def null_kinds(rows: ir.Table, roles: Mapping[str, str]) -> dict[str, ir.BooleanValue]:
    """Returns which rows lack a value: by the purposes of columns, of the time, and at all."""
    kinds = {
        f"null_{role}": rows[name].isnull() for name, role in roles.items() if name in rows.columns
    }
    for name, role in (("timed", "time"), ("dated", "service_date")):
        if name in rows.columns:
            kinds[f"null_{role}"] = ~rows[name]
    return kinds | {"null_value": reduce(or_, kinds.values())}


def time_kinds(rows: ir.Table, skipped: Periods | None) -> dict[str, ir.BooleanValue]:
    """Returns which rows have a time that cannot be counted, given the period of each."""
    gone, given = in_gaps(rows.us, skipped), rows.timed
    if "dated" in rows.columns:
        given &= rows.dated
    return {
        "unparsable_time": given & rows.us.isnull(),
        "impossible_time": rows.us.notnull() & gone,
        "outside_window": rows.us.notnull() & rows.period.isnull() & ~gone,
    }


def in_gaps(us: ir.IntegerValue, skipped: Periods | None) -> ir.BooleanValue:
    """Says whether the wall clock of a window never showed these times."""
    gone = ibis.literal(value=False)
    for start, end in () if skipped is None else skipped.skipped_wall:
        gone |= (us >= start) & (us < end)
    return gone.fill_null(ibis.literal(value=False))


def summary_of(rows: ir.Table, kinds: Mapping[str, ir.BooleanValue], **more: ir.Value) -> ir.Table:
    """Returns one row with the number of rows, and of those of every kind."""
    counts = {kind: condition.sum().fill_null(0) for kind, condition in kinds.items()}
    return rows.aggregate(rows=rows.count(), **counts, **more)


def rows_between(rows: ir.Table, grid: Buckets, *further: str) -> ir.Table:
    """Returns (person, us, and further columns) of rows with a person and a time in the window."""
    inside = rows.filter(rows.us >= grid.start_us, rows.us < grid.end_us)
    return inside.select("person", "us", *further).drop_null(["person"])


def first_row(columns: Mapping[str, Any]) -> dict[str, int]:
    """Returns the only row of an answer."""
    return {name: _whole(values[0]) for name, values in columns.items()}


def _whole(number: Any) -> int:
    try:
        return int(number)
    except ValueError:
        # Clusters tell NaN of a sum over no rows.
        return 0


def copies_of(rows: ir.Table, columns: list[str], needed: list[str] | None = None) -> ir.Table:
    """Returns one row: how many rows are copies of another.

    Only rows are looked at that have all `needed` columns, or all that copies have in common.
    """
    groups = rows.drop_null(needed or columns).group_by(columns)
    counted = groups.aggregate(times=lambda group: group.count())
    return counted.aggregate(duplicate_rows=(counted.times - 1).sum().fill_null(0))
