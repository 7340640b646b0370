"""Rides joined into journeys by public rules of transfers.

Privacy:
    Looks at the rides of one person at a time.
"""

import ibis
import ibis.expr.types as ir

from hushway.journeys.chaining import ChainingRules, PublicTables

_SECOND_US = 1_000_000
_NOWHERE = -1


def linked(rides: ir.Table, public: PublicTables, rules: ChainingRules) -> ir.Table:
    """Adds the number of its journey to every ride.

    A ride goes on with the journey if the person got off nearby, soon before, and not from the same
    line: whoever gets on the same line again did something there.

    Args:
        rides: What `hushway.journeys.chaining.chained` gives.
        public: What the timetable says.
        rules: How far and how long a transfer may be.
    """
    own = ibis.window(group_by="person", order_by=rides.ride)
    before = rides.mutate(
        off_at=rides.alight.lag().over(own),
        waited_us=rides.us - rides.off_us.lag().over(own),
        line_before=rides.line.lag().over(own),
    )
    near = public.near.select(off_at="alight", at="toward", walk_m="metres")
    walked = before.left_join(near, ["off_at", "at"]).drop("off_at_right", "at_right")
    soon = walked.waited_us <= rules.transfer_s * _SECOND_US
    other = ~(walked.line == walked.line_before).fill_null(False)
    goes_on = (soon & walked.walk_m.notnull() & other).fill_null(False)
    so_far = ibis.window(group_by="person", order_by=walked.ride, following=0)
    return walked.mutate(journey=(~goes_on).cast("int64").sum().over(so_far)).select(
        *rides.columns, "journey"
    )


def joined(rides: ir.Table) -> ir.Table:
    """Returns one row for each journey: (person, ride, us, at, alight, rides, rule).

    `ride` is its first; `rule` is how the end of its last is known.
    """
    # Engines pass over nulls when they look for the value of the last.
    known = rides.mutate(
        begins=rides["at"].fill_null(_NOWHERE), ends=rides.alight.fill_null(_NOWHERE)
    )
    journeys = known.group_by(["person", "journey"]).aggregate(
        ride=known.ride.min(),
        us=known.us.min(),
        begins=known.begins.argmin(known.ride),
        ends=known.ends.argmax(known.ride),
        rule=known.rule.argmax(known.ride),
        rides=known.count(),
    )
    return journeys.mutate(
        at=journeys.begins.nullif(_NOWHERE), alight=journeys.ends.nullif(_NOWHERE)
    ).drop("begins", "ends")
