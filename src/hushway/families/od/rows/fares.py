"""Fare transactions of TIDES as trips: from an entry to the exit that follows it."""

from dataclasses import dataclass
from typing import Final

import ibis
import ibis.expr.types as ir

from hushway.tables.layout import Columns

# What the standard calls taps that begin and end a ride. Transfers begin and end one, too.
ENTRIES: Final = ("Enter", "Transfer entrance")
EXITS: Final = ("Exit", "Transfer exit")


@dataclass(frozen=True, kw_only=True)
class FareColumns(Columns):
    """Which column of the fare transactions holds what; the standard names them so."""

    person: str = "token_id"
    stop: str = "stop_id"
    action: str = "fare_action"
    day: str = "service_date"
    time: str = "event_timestamp"


def ridden(taps: ir.Table, span_us: tuple[int, int]) -> ir.Table:
    """Returns one row for each entry: (person, origin, destination, us, timed).

    An entry ends at the next tap of its token on the same service date, if that is an exit; else
    nobody knows where, and the destination is null. Purchases and the like are left out.

    Privacy:
        Looks at the taps of one token at a time. An exit decides where a trip is counted, so only
        taps of days that the ledger charges are brought together. All others, and those without a
        token or a time that can be understood, are rows by themselves, without a destination.

    Args:
        taps: The fare transactions (person, stop, action, day, us, timed).
        span_us: From when to when taps may lie to make trips, as their times are written.
    """
    tapped = taps.filter(taps.action.isin([*ENTRIES, *EXITS]))
    # Exits come first among taps of one moment; the stop decides between others alike.
    charged = (tapped.us >= span_us[0]) & (tapped.us < span_us[1])
    ordered = tapped.mutate(enters=tapped.action.isin(ENTRIES), charged=charged.fill_null(False))
    one_token = ibis.window(
        group_by=[ordered.person, ordered.day, ordered.charged],
        order_by=[ordered.us, ordered.enters, ordered.stop],
    )
    followed = ordered.mutate(
        next_stop=ordered.stop.lead().over(one_token),
        next_enters=ordered.enters.lead().over(one_token),
    )
    known = followed.charged & followed.person.notnull() & followed.day.notnull()
    entered = followed.mutate(
        destination=ibis.ifelse(
            known & ~followed.next_enters, followed.next_stop, ibis.null(followed.stop.type())
        )
    ).filter(followed.enters)
    return entered.select("person", "destination", "us", "timed", origin=entered.stop)
