"""What the rows are like as a whole: when, where and whose they are, by DuckDB.

Privacy:
    Exact numbers, for the steward's own screen. No person's id and no single time is among them;
    names of places are, where the public list has none.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import ibis
import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.engine.session import Session
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.progress import ShareProgress
from hushway.tables.aliases import nearest_places
from hushway.tables.header import Clock
from hushway.tables.profile import PlacesFound, Sizes, TimesFound, UnknownName

# All clocks of today are whole quarters of an hour apart.
_QUARTER_US: Final = 900_000_000
_QUARTERS_OF_HOUR: Final = 4
_DAY_QUARTERS: Final = 96
_DAY_HOURS: Final = 24
# Of more names than these, whoever keeps the list should be asked, and not a file of aliases.
_MOST_NAMES: Final = 1_000
# What a calendar can show; other times are as good as these.
_FIRST = (date(1, 1, 2) - date(1970, 1, 1)).days
_LAST = (date(9999, 12, 30) - date(1970, 1, 1)).days


def times_found(
    session: Session,
    rows: ir.Table,
    periods: Periods,
    clock: Clock,
    progress: ShareProgress | None = None,
) -> TimesFound | None:
    """Returns when rows with a time `us` were; None if no time can be read."""
    timed = rows.filter(rows.us.notnull()).select("us")
    quarters = timed.group_by(quarter=timed.us // _QUARTER_US).aggregate(
        rows=lambda quarter: quarter.count()
    )
    found = session.run(quarters, progress)
    if not len(found["quarter"]):
        return None
    quarter = np.clip(
        found["quarter"].astype(np.int64), _FIRST * _DAY_QUARTERS, _LAST * _DAY_QUARTERS
    )
    if clock == "utc":
        quarter = _on_the_wall(quarter, ZoneInfo(periods.zone))
    day = quarter // _DAY_QUARTERS
    hour = quarter % _DAY_QUARTERS // _QUARTERS_OF_HOUR
    hours = np.bincount(hour, weights=found["rows"], minlength=_DAY_HOURS)
    first, last = (_number(one) for one in (periods.first_day, periods.last_day))
    inside = day[(day >= first) & (day <= last)]
    return TimesFound(
        first_day=_date(int(day.min())),
        last_day=_date(int(day.max())),
        window=(periods.first_day, periods.last_day),
        days_with_rows=len(np.unique(inside)),
        window_days=len(periods.days),
        hours=tuple(int(rows) for rows in hours),
        service=(periods.opens, periods.closes),
    )


def _on_the_wall(quarter: IntArray, zone: ZoneInfo) -> IntArray:
    """Returns what a clock shows at instants, both in quarters of an hour since 1970."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    unit = timedelta(microseconds=_QUARTER_US)

    def shown(instant: int) -> int:
        ahead = (start + instant * unit).astimezone(zone).utcoffset() or timedelta()
        return instant + ahead // unit

    return np.array([shown(int(instant)) for instant in quarter], dtype=np.int64)


def _number(day: date) -> int:
    return (day - date(1970, 1, 1)).days


def _date(number: int) -> date:
    return date(1970, 1, 1) + timedelta(days=number)


def place_counts(prefix: str, ids: ir.Value, places: ir.Value) -> dict[str, ir.Value]:
    """Returns what to ask of rows about the ids that they name, and the public places of these.

    The place is null where the public list has none.
    """
    return {
        f"{prefix}_found": places.nunique(),
        f"{prefix}_unknown": ids.nunique(where=places.isnull()),
    }


def places_found(
    what: str,
    prefix: str,
    listed: int,
    found: dict[str, int],
    names: Callable[[], tuple[UnknownName, ...]] = tuple,
) -> PlacesFound:
    """Returns what `place_counts` has found; asks for unknown names if there are any."""
    unknown = found[f"{prefix}_unknown"]
    return PlacesFound(
        what=what,
        listed=listed,
        found=found[f"{prefix}_found"],
        unknown=unknown,
        names=names() if unknown else (),
    )


def unknown_names(
    session: Session, rows: ir.Table, ids: str, place: str, locations: Locations
) -> tuple[UnknownName, ...]:
    """Returns the names without a place that most rows have, and what each is most like.

    Args:
        rows: The rows, or groups of them with their number in `times`.
        ids: Their column of names.
        place: The one with the public place of each, null where there is none.
    """
    strange = rows.filter(rows[ids].notnull() & rows[place].isnull())
    times = strange.times if "times" in rows.columns else ibis.literal(1)
    named = strange.select(name=strange[ids].cast("string"), times=times)
    counted = named.group_by("name").aggregate(rows=lambda alike: alike.times.sum())
    found = session.run(counted.order_by([ibis.desc("rows"), "name"]).limit(_MOST_NAMES))
    counts = dict(zip(map(str, found["name"]), map(int, found["rows"]), strict=True))
    near = nearest_places(counts, locations)
    return tuple(
        UnknownName(name=name, rows=count, nearest=near.get(name))
        for name, count in counts.items()
        # A listed place may be left out, such as a tower outside of all areas.
        if name not in locations.places_of_ids
    )


def sizes_of(session: Session, owners: ir.Table, column: str) -> Sizes:
    """Returns how many owners have how many rows, by a column with the number of each."""
    sizes = owners.group_by(size=owners[column]).aggregate(owners=lambda size: size.count())
    return Sizes.of(session.run(sizes))


Where = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]


def swapped_positions(lon: NDArray[Any], lat: NDArray[Any], inside: Where) -> int:
    """Returns how many positions lie nowhere, and somewhere with longitude and latitude swapped.

    `inside` says of longitudes and latitudes whether they lie in the plan's places.
    """
    outside = ~inside(lon, lat)
    return int(inside(lat[outside], lon[outside]).sum())
