"""Parts of the checks that trips and taps share."""

from typing import Any

import ibis
import ibis.expr.types as ir

from hushway.geography.periods import Periods


def bucket_of(us: ir.IntegerValue, start_us: int, end_us: int, bucket_us: int) -> ir.IntegerValue:
    """Returns the start of the bucket of each time; null outside."""
    inside = (us >= start_us) & (us < end_us)
    # Only inside: far outside the difference would not fit into 64 bits.
    return inside.ifelse(us - (us - start_us) % bucket_us, ibis.null("int64"))


def in_gaps(us: ir.IntegerValue, skipped: Periods | None) -> ir.BooleanValue:
    """Says whether the wall clock of a window never showed these times."""
    gone = ibis.literal(value=False)
    for start, end in () if skipped is None else skipped.skipped_wall:
        gone |= (us >= start) & (us < end)
    return gone.fill_null(ibis.literal(value=False))


def rows_between(rows: ir.Table, start_us: int, end_us: int) -> ir.Table:
    """Returns whose rows were when: (person, us) of rows with a person and a time inside."""
    inside = rows.filter(rows.us >= start_us, rows.us < end_us)
    return inside.select("person", "us").drop_null(["person"])


def first_row(columns: dict[str, Any]) -> dict[str, int]:
    """Returns the only row of an answer."""
    return {name: int(values[0]) for name, values in columns.items()}
