"""Looks for taps and stops that cannot be counted, before any budget is touched."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from hushway.engine import row_checks
from hushway.engine.grids import day_grid, load_places
from hushway.engine.opening import open_session
from hushway.engine.profile import place_counts, places_found, sizes_of, times_found, unknown_names
from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings
from hushway.families.sequences.rows.sequences import (
    SequenceRule,
    SequencesSource,
    TapsSource,
    rows_read,
    window_of,
)
from hushway.geography.locations import Locations
from hushway.privacy.bound import Unit
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.profile import PlacesFound

_STOP_WORDS: Final[row_checks.Words] = {
    "unknown_place": ("The place is not in the public list of places.", row_checks.UNKNOWN),
    "long_records": (
        "A stop comes after the first ones of its record that count, and is left out.",
        "Leave it so: a taller tree costs accuracy, and these rows must not choose the height.",
    ),
    "shared_ids": (row_checks.TOO_MANY, f'{row_checks.OWN_TICKET} records (unit = "record").'),
}

_TAP_WORDS: Final[row_checks.Words] = {
    **row_checks.ROW_WORDS,
    **_STOP_WORDS,
    "outside_window": row_checks.OUTSIDE_WINDOW,
    "duplicate_rows": (
        "A row repeats another: same {alike}. Both are counted, as two stops.",
        "Check whether files overlap.",
    ),
}

_SEQUENCE_WORDS: Final[row_checks.Words] = {
    **{kind: row_checks.ROW_WORDS[kind] for kind in ("null_value", "malformed_row")},
    **_STOP_WORDS,
}


# More stops of one id than so many times its contribution limit are worth a look.
_TIMES_LIMIT: Final = 100


def check_taps(
    source: TapsSource,
    locations: Locations,
    rule: SequenceRule,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    unit: Unit = Unit.PERSON,
) -> RowsChecked:
    """Returns every kind of problem with the taps, how many rows it concerns, and a profile.

    With `notes`, rows that are alike, records that are too long and ids that many people share are
    looked for, and the rows are described. They are counted all the same.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.
    """
    window = window_of(rule)
    grid = day_grid(window, source.clock)
    with open_session(settings or EngineSettings()) as session:
        rows = session.rows(rows_read(session, source))
        marked = _placed(session, rows, locations)
        marked = row_checks.with_buckets(marked, grid, session.load("public_buckets", grid.table))
        kept = marked.period.notnull() & marked.place.notnull() & marked.person.notnull()
        marked = marked.mutate(kept=kept)
        kinds = row_checks.time_kinds(marked, window if source.clock == "local" else None)
        summary = _summary(marked, {"person": "person", "location": "location"}, kinds, notes=notes)
        found = row_checks.counts_found(session, summary, source.noun, "stop")
        profile = row_checks.rows_found(found)
        if notes:
            copies = row_checks.copies_of(rows, ["person", "location", "us"])
            found |= row_checks.first_row(session.run(copies))
            parts = ["person", "day"] if rule.record == "day" else ["person"]
            records = _records(session, marked, parts)
            found |= row_checks.first_row(session.run(_beyond(records, rule.max_stops)))
            if unit.has_many_records:
                found |= row_checks.ids_with_too_many(session, row_checks.rows_between(rows, grid))
            times = times_found(session, rows, window, source.clock)
            profile = replace(
                profile, times=times, places=_places(session, marked, found, locations)
            )
            limits = _limits(session, records, rule, unit, days=len(window.days))
            profile = replace(profile, **limits)
    return row_checks.rows_checked(found, profile, source.columns, policy, _TAP_WORDS)


def check_sequences(
    source: SequencesSource,
    locations: Locations,
    rule: SequenceRule,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    unit: Unit = Unit.PERSON,
) -> RowsChecked:
    """Returns every kind of problem with ready sequences, with stops for rows, and a profile.

    With `notes`, ids that many people share are looked for, and the stops are described.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.
    """
    with open_session(settings or EngineSettings()) as session:
        rows = session.rows(rows_read(session, source))
        marked = _placed(session, rows, locations)
        owned = unit.has_many_records and "person" in rows.columns
        kept = marked.place.notnull()
        marked = marked.mutate(kept=kept & marked.person.notnull() if owned else kept)
        summary = _summary(marked, {"person": "person", "location": "stops"}, {}, notes=notes)
        found = row_checks.counts_found(session, summary, source.noun, "stop")
        # A row of a CSV file that cannot be read has at least one stop.
        profile = row_checks.rows_found(found)
        parts = ["person", "record"] if owned else ["record"]
        records = _records(session, marked, parts)
        found |= row_checks.first_row(session.run(_beyond(records, rule.max_stops)))
        if notes:
            if owned:
                # Every record has a first stop.
                firsts = rows.filter(rows.position == 1).select("person").drop_null(["person"])
                found |= row_checks.ids_with_too_many(session, firsts)
            limits = _limits(session, records, rule, unit, days=1)
            places = _places(session, marked, found, locations)
            profile = replace(profile, places=places, **limits)
    return row_checks.rows_checked(found, profile, source.columns, policy, _SEQUENCE_WORDS)


def _placed(session: Session, rows: ir.Table, locations: Locations) -> ir.Table:
    """Adds the public place of each row; null where there is none."""
    integers = bool(rows.location.type().is_integer())
    places = load_places(session, locations, integers=integers)
    return row_checks.looked_up(rows, places.rename(location="id"), "location")


def _summary(
    marked: ir.Table, roles: dict[str, str], kinds: dict[str, ir.BooleanValue], *, notes: bool
) -> ir.Table:
    """Returns one row with the number of taps or stops of every kind."""
    kinds = {
        **row_checks.null_kinds(marked, roles),
        **kinds,
        "unknown_place": marked.location.notnull() & marked.place.isnull(),
        "kept": marked.kept,
    }
    places = place_counts("place", marked.location, marked.place) if notes else {}
    return row_checks.summary_of(marked, kinds, **places)


def _places(
    session: Session, marked: ir.Table, found: dict[str, int], locations: Locations
) -> tuple[PlacesFound, ...]:
    names = partial(unknown_names, session, marked, "location", "place", locations)
    return (places_found("places", "place", len(locations), found, names),)


def _limits(
    session: Session, records: ir.Table, rule: SequenceRule, unit: Unit, *, days: int
) -> dict[str, Any]:
    """Returns how many stops people have, and what the contribution limits leave out."""
    height = sizes_of(session, records, "stops").limited("max_stops", "stops", rule.max_stops)
    if not unit.has_many_records or "person" not in records.columns:
        return {"limits": (height,)}
    people = records.group_by("person").aggregate(
        records=lambda person: person.count(), stops=lambda person: person.stops.sum()
    )
    per_person = sizes_of(session, people, "records")
    plausible = max(_TIMES_LIMIT * rule.max_records * rule.max_stops, row_checks.MOST_A_DAY * days)
    return {
        "people": sizes_of(session, people, "stops").people(plausible),
        "limits": (per_person.limited("max_records", "records", rule.max_records), height),
    }


def _records(session: Session, marked: ir.Table, parts: list[str]) -> ir.Table:
    """Counts the stops of each record that count at all, once for all that is asked of them."""
    usable = marked.filter(marked.kept)
    records = usable.group_by(parts).aggregate(stops=lambda record: record.count())
    return session.store("stops_by_record", records)


def _beyond(records: ir.Table, max_stops: int) -> ir.Table:
    """Returns one row: how many stops come after those that count."""
    over = ibis.greatest(records.stops - max_stops, 0)
    return records.aggregate(long_records=over.sum().fill_null(0))
