"""Looks for ids that many people share, such as ANON or the number of all paper tickets.

Such an id counts as one person. The cap then drops most of its rows, and those who share it have
one person's protection together, so a steward should know before anything is published.
"""

from typing import Final

import ibis
import ibis.expr.types as ir
import numpy as np
from ibis.backends.duckdb import Backend

from hushway.engine.findings import first_row
from hushway.engine.session import run, store
from hushway.progress import ShareProgress

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
    backend: Backend, rows: ir.Table, progress: ShareProgress | None = None
) -> dict[str, int]:
    """Returns how many rows belong to ids that nobody can have alone, by their number of rows.

    Privacy:
        Exact counts, for the steward's own screen. No id is among them.

    Args:
        backend: The engine.
        rows: Rows with a `person`, and with a time `us` unless they have none.
        progress: Told from 0 to 1 how far it is.

    Returns:
        `shared_ids`, the number of their rows; `shared_number`, how many ids they are; and
        `rows_with_id`, the number of all rows.
    """
    days = ibis.literal(1)
    if "us" in rows.columns:
        days = (rows.us.max() - rows.us.min()) // _DAY_US + 1
    ids = rows.group_by("person").aggregate(rows=rows.count(), days=days)
    ids = store(backend, "rows_by_id", ids, progress)
    usual = ids.rows.quantile(_NEARLY_ALL).as_scalar()
    shared = (ids.rows > MOST_A_DAY * ids.days) & (ids.rows > TIMES_USUAL * usual)
    return _counted(backend, ids, shared)


def ids_in_two_places(
    backend: Backend, rows: ir.Table, latitude: float, progress: ShareProgress | None = None
) -> dict[str, int]:
    """Returns how many positions belong to ids that are in two places at once, again and again.

    Privacy:
        Exact counts, for the steward's own screen. No id is among them.

    Args:
        backend: The engine.
        rows: Positions (person, since_us, lon, lat) in the surroundings of the roads.
        latitude: Where the metres of a degree are taken, in degrees.
        progress: Told from 0 to 1 how far it is.

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
    ids = store(backend, "positions_by_id", ids, progress)
    shared = (ids.torn >= FEWEST_TORN) & (ids.torn >= TORN_SHARE * ids.several)
    return _counted(backend, ids, shared)


def facts_of(found: dict[str, int]) -> dict[str, float]:
    """Returns the numbers that the message names: how many ids, and their share of rows in %."""
    rows = max(found.get("rows_with_id", 0), 1)
    return {
        "shared": found.get("shared_number", 0),
        "share": 100 * found.get("shared_ids", 0) / rows,
    }


def _counted(backend: Backend, ids: ir.Table, shared: ir.BooleanValue) -> dict[str, int]:
    counts = ids.aggregate(
        shared_ids=shared.ifelse(ids.rows, 0).sum().fill_null(0),
        shared_number=shared.sum().fill_null(0),
        rows_with_id=ids.rows.sum().fill_null(0),
    )
    return first_row(run(backend, counts))
