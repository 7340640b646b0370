"""Where people got off, by their own next tap and the public timetable: trip chaining.

After Barry et al. (2002), Trepanier et al. (2007) and Munizaga and Palma (2012): whoever got on got
off where the next ride was taken, at the stop of the boarded line that is nearest to it; the last
ride of a day goes back to where the day began, or to where the next day begins.

Privacy:
    Every row that comes out follows from the taps of one person and from public tables. All windows
    and joins of taps with taps are within one person (`test_chaining.py` and the audit hold that).
"""

from dataclasses import dataclass

import ibis
import ibis.expr.types as ir

from hushway.engine.embedded import EmbeddedSession
from hushway.journeys.rides import ANY_LINE, NO_LINE, PublicRides

DAY_US = 86_400_000_000
_SECOND_US = 1_000_000
# More than any ride lasts, and more stops than any feed has; the product stays below 2 ** 63.
_MOST_S, _MOST_STOPS = 1 << 20, 1 << 26


@dataclass(frozen=True, kw_only=True)
class ChainingRules:
    """Public rules of chaining and of joining rides.

    Attributes:
        transfer_s: How long they take between getting off and getting on again, if it is the same
            journey.
        together_s: Taps of one card at one stop and line within so long are people who travel
            together.
        day_begins_us: When a service day begins, after midnight.
    """

    transfer_s: int = 1800
    together_s: int = 120
    day_begins_us: int = 3 * 3_600 * _SECOND_US


@dataclass(frozen=True, kw_only=True)
class PublicTables:
    """The tables of `PublicRides` in an engine."""

    stops: ir.Table
    lines: ir.Table
    rides: ir.Table
    near: ir.Table
    behind_gates: ir.Table
    gates: ir.Table


def load_rides(session: EmbeddedSession, rides: PublicRides) -> PublicTables:
    """Puts the public tables into an engine."""
    names = ("stops", "lines", "rides", "near", "behind_gates", "gates")
    return PublicTables(
        **{name: session.load(f"public_{name}", getattr(rides, name)) for name in names}
    )


def chained(
    taps: ir.Table, public: PublicTables, rules: ChainingRules
) -> tuple[ir.Table, ir.Table]:
    """Returns rides, where they began and ended and by which rule that is known; and the taps.

    Args:
        taps: (person, us, day, at, line, stop_id, enters), with numbers of stops and lines: null
            where they are not in the timetable, or not named.
        public: What the timetable says.
        rules: What counts as one ride after another.

    Returns:
        (person, ride, us, day, at, line, alight, off_us, rule), where `ride` numbers the rides of a
        person; and the taps, each with the number of its ride: those who travel together share it.
    """
    ordered = _in_order(taps, rules)
    heads = ordered.filter(ordered.leads)
    aimed = _aimed(heads)
    entered = aimed.filter(aimed.enters)
    first = _ridden(entered, "toward", public)
    both = first.left_join(
        _ridden(entered, "fallback", public).select(
            "person", "ride", fallback_alight="alight", fallback_s="ride_s"
        ),
        ["person", "ride"],
    ).drop("person_right", "ride_right")
    return _told(both, public), ordered


def _in_order(taps: ir.Table, rules: ChainingRules) -> ir.Table:
    """Numbers the taps of a person, and says which are the first of people who travel together.

    Exits come before entries of the same moment: whoever changes leaves first.
    """
    order = [taps.us, taps.enters, taps.at, taps.line]
    own = ibis.window(group_by="person", order_by=order)
    same = (
        (taps.at.lag().over(own).identical_to(taps.at))
        & (taps.line.lag().over(own).identical_to(taps.line))
        & (taps.enters.lag().over(own) == taps.enters)
        & (taps.us - taps.us.lag().over(own) <= rules.together_s * _SECOND_US)
    )
    marked = taps.mutate(leads=~same.fill_null(False), number=ibis.row_number().over(own))
    so_far = ibis.window(group_by="person", order_by=marked.number, following=0)
    return marked.mutate(ride=marked.leads.cast("int64").sum().over(so_far))


def _aimed(heads: ir.Table) -> ir.Table:
    """Adds what a person did next: (next_at, next_us, next_enters, toward, fallback)."""
    own = ibis.window(group_by="person", order_by=heads.ride)
    # Exits name no line, and end no day.
    day = ibis.window(group_by=["person", "day", "enters"], order_by=heads.ride)
    entries = ibis.window(group_by=["person", "enters"], order_by=heads.ride)
    facts = heads.mutate(
        next_at=heads.at.lead().over(own),
        next_us=heads.us.lead().over(own),
        next_day=heads.day.lead().over(own),
        next_enters=heads.enters.lead().over(own),
        board_at=heads.at.lead().over(entries),
        board_day=heads.day.lead().over(entries),
        first_at=heads.at.first(include_null=True).over(day),
        number_today=ibis.row_number().over(day),
    )
    last = ~(facts.board_day == facts.day).fill_null(False)
    tomorrow = (facts.board_day == facts.day + 1).fill_null(False)
    nowhere = ibis.null("int64")
    return facts.mutate(
        last=last,
        # The only ride of a day does not go back to itself.
        toward=ibis.cases(
            (~last, facts.board_at), (facts.number_today > 0, facts.first_at), else_=nowhere
        ),
        fallback=ibis.ifelse(last & tomorrow, facts.board_at, nowhere),
    )


def _ridden(entered: ir.Table, target: str, public: PublicTables) -> ir.Table:
    """Adds where rides toward a stop ended: (alight, metres, ride_s), null where none fits.

    Of the stops that the line goes on to, the nearest to the next one; the soonest of these.
    """
    legs = entered.mutate(line=entered.line.fill_null(ANY_LINE), target=entered[target])
    asked = legs.select("line", "at", "target").drop_null().distinct()
    to = public.rides.inner_join(asked, ["line", "at"])
    near = public.near.rename(target="toward")
    found = to.select("line", "at", "target", "alight", "ride_s").inner_join(
        near, ["alight", "target"]
    )
    # One number in which the shorter walk decides, then the shorter ride, then the stop.
    number = (found.metres * _MOST_S + found.ride_s) * _MOST_STOPS + found.alight
    best = found.group_by(["line", "at", "target"]).aggregate(number=number.min())
    chosen = best.select(
        "line",
        "at",
        "target",
        metres=best.number // (_MOST_S * _MOST_STOPS),
        ride_s=best.number // _MOST_STOPS % _MOST_S,
        alight=best.number % _MOST_STOPS,
    )
    gated = _behind_gates(asked, public)
    return legs.left_join(chosen.union(gated), ["line", "at", "target"]).select(
        *legs.columns, "alight", "metres", "ride_s"
    )


def _behind_gates(asked: ir.Table, public: PublicTables) -> ir.Table:
    """Returns where people came out who passed a gate without naming a line."""
    passed = asked.filter(asked.line == ANY_LINE).semi_join(public.gates, "at")
    out = passed.inner_join(public.behind_gates.rename(target="toward"), "target")
    return out.select("line", "at", "target", "metres", ride_s=ibis.null("int64"), alight=out.gate)


def _told(legs: ir.Table, public: PublicTables) -> ir.Table:
    """Says by which rule a ride's end is known, or why it is not."""
    called = public.rides.select("line", "at").distinct().mutate(called=True)
    legs = legs.left_join(called, ["line", "at"]).drop("line_right", "at_right")
    exits = (~legs.next_enters & (legs.next_day == legs.day)).fill_null(False)
    direct = _elsewhere(legs.alight, legs["at"]) & ~exits
    later = _elsewhere(legs.fallback_alight, legs["at"]) & ~exits & ~direct
    rule = ibis.cases(
        (exits, "exit"),
        (direct & ~legs.last, "next_tap"),
        (direct, "first_stop"),
        (later, "next_day"),
        (legs["at"].isnull() & legs.stop_id.notnull(), "unknown_stop"),
        (legs["at"].isnull(), "no_stop"),
        (legs.line == NO_LINE, "unknown_line"),
        (legs.target.isnull() & legs.fallback.isnull(), "nothing_follows"),
        (legs.alight.notnull(), "round_trip"),
        (legs.called.isnull() & (legs.line != ANY_LINE), "not_on_line"),
        else_="too_far",
    )
    alight = ibis.cases((exits, legs.next_at), (direct, legs.alight), (later, legs.fallback_alight))
    ride_s = ibis.ifelse(direct, legs.ride_s, legs.fallback_s)
    off_us = ibis.ifelse(exits, legs.next_us, legs.us + ride_s * _SECOND_US)
    line = legs.line.nullif(ANY_LINE)
    return legs.select(
        "person", "ride", "us", "day", "at", line=line, alight=alight, off_us=off_us, rule=rule
    )


def _elsewhere(alight: ir.IntegerValue, board: ir.IntegerValue) -> ir.BooleanValue:
    return (alight.notnull() & (alight != board)).fill_null(False)
