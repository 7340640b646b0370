"""Stops of files in the order of their records, by DuckDB: the way from rows to sequences.

Reading, joining with public lists and sorting are the engine's, which may use the disk. What a
record is, and which of them count, is decided on arrays, by code that all counters share.
"""

from dataclasses import replace

import ibis
import ibis.expr.types as ir
import numpy as np
from ibis.backends.duckdb import Backend

from hushway.arrays import Int32Array, IntArray
from hushway.engine.key import BoundingKey
from hushway.engine.reading import day_grid, load_places, read_rows, read_stops
from hushway.engine.session import run, store
from hushway.errors import DataError
from hushway.families.sequences.rows.record_bounding import OrderedStops
from hushway.families.sequences.rows.sequences import SequenceRule, SequencesSource, TapsSource
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.progress import ShareProgress
from hushway.tables.layout import layout_of


def ordered_taps(
    backend: Backend,
    source: TapsSource,
    locations: Locations,
    *,
    rule: SequenceRule,
    key: BoundingKey,
    progress: ShareProgress | None = None,
) -> OrderedStops:
    """Returns the taps that can be counted, ordered by person, time and, in ties, by the key.

    Privacy:
        A tap is kept or dropped by looking at that row and at public tables alone; the order of a
        person's taps depends on these taps and the key alone.

    Raises:
        DataError: The taps cannot be read, or memory or disk ran out.
    """
    window = window_of(rule)
    layout = layout_of(source)
    grid = day_grid(window, source.clock)
    rows = read_rows(backend, layout, source.clock).drop("timed")
    inside = rows.filter(rows.us >= grid.start_us, rows.us < grid.end_us)
    places = load_places(backend, locations, integers=layout.kinds["location"] == "integer").rename(
        location="id"
    )
    placed = inside.drop_null(["person"]).inner_join(places, "location")
    since = placed.select("person", "place", since_us=placed.us - grid.start_us)
    ordered = _owned(backend, since, progress).order_by(["owner", "since_us"])
    found = run(backend, _narrow(ordered, ["owner", "place", "since_us"]), _half(progress, 1))
    place = settled(found["owner"], found["since_us"], found.pop("place"), key)
    bucket = grid.bucket(found["since_us"])
    taps = OrderedStops(
        owner=found["owner"],
        part=grid.day[bucket],
        place=place,
        period=grid.period[bucket] if rule.keep_times else None,
        since_us=found["since_us"],
    )
    # Sorted first and dropped after: few rows are outside service hours, and a join costs more.
    served = taps.within_service()
    return served if rule.record == "day" else replace(served, part=None)


def ordered_sequences(
    backend: Backend,
    source: SequencesSource,
    locations: Locations,
    *,
    has_owner: bool,
    progress: ShareProgress | None = None,
) -> OrderedStops:
    """Returns the stops of ready sequences that can be counted, ordered by person and record.

    Privacy:
        A stop is kept or dropped by looking at it and at public tables alone, and with it nothing
        else of the sequence. With owners, sequences without a person are dropped.

    Raises:
        DataError: The sequences cannot be read, or memory or disk ran out.
    """
    layout = layout_of(source)
    integers = layout.kinds["stops"] == "list of integers"
    places = load_places(backend, locations, integers=integers).rename(location="id")
    rows = read_stops(backend, layout, source.separator)
    rows = rows.drop_null(["person"]) if has_owner else rows
    stops = rows.inner_join(places, "location").drop("location")
    owned = _owned(backend, stops, progress) if has_owner else stops
    names = ["owner"] if has_owner else []
    ordered = owned.order_by([*names, "record", "position"])
    found = run(backend, _narrow(ordered, [*names, "record", "place"]), _half(progress, 1))
    return OrderedStops(
        owner=found["owner"] if has_owner else None, part=found["record"], place=found["place"]
    )


def window_of(rule: SequenceRule) -> Periods:
    """Returns the window of a rule.

    Raises:
        DataError: The rule has none.
    """
    if rule.window is None:
        raise DataError(
            "Taps cannot become sequences without a window of days.",
            advice="Give the window's first and last day, its service hours and its time zone.",
        )
    return rule.window


def settled(owner: IntArray, since_us: IntArray, place: Int32Array, key: BoundingKey) -> Int32Array:
    """Returns the places of ordered taps, with those at one and the same time ordered by the key.

    Privacy:
        Only taps of one owner change places with each other.

    Args:
        owner: Whose each tap is, ascending.
        since_us: When it was, ascending for each owner.
        place: Where it was.
        key: Decides among taps at the same time.
    """
    same = (owner[1:] == owner[:-1]) & (since_us[1:] == since_us[:-1])
    if not same.any():
        return place
    tied = np.zeros(len(place), dtype=np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    at = np.flatnonzero(tied)
    when, where = since_us[at], place[at].astype(np.int64)
    # In ties only the place can differ, so nothing else needs to move.
    order = np.lexsort((where, key.place(key.mixed(when, where, 0)), when, owner[at]))
    in_order = place.copy()
    in_order[at] = where[order]
    return in_order


def _owned(backend: Backend, rows: ir.Table, progress: ShareProgress | None) -> ir.Table:
    """Gives rows an integer for their person, which says what belongs together and nothing else.

    Persons that are no integers are numbered. Nothing but equality and order of the rows depends on
    the number, so it does not matter that it depends on who else is there.
    """
    if rows.person.type().is_integer():
        return rows.rename(owner="person")
    stored = store(backend, "owned_rows", rows, _half(progress, 0))
    persons = stored.select("person").distinct()
    numbered = persons.mutate(owner=ibis.row_number().over(ibis.window()))
    return stored.inner_join(numbered, "person").drop("person")


def _narrow(rows: ir.Table, names: list[str]) -> ir.Table:
    """Returns columns with small places; there is a row for each stop of a city."""
    return rows.select(**{n: rows[n].cast("int32") if n == "place" else rows[n] for n in names})


def _half(progress: ShareProgress | None, half: int) -> ShareProgress | None:
    return None if progress is None else lambda share: progress((half + share) / 2)
