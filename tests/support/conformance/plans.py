"""Odd and bad rows for plans of every family: what `check` finds or refuses in every engine."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from hushway.families.load import plan_from, prepare
from hushway.release.job import Job
from support.little_plans import little_plan, rows_file

# On this day, of an agency in Lisbon, the clock skips an hour.
_SHORT_DAY = "2026-03-29"


def rows_option(family: str) -> str:
    """Returns the option of [data] that names the rows: their file is called after it."""
    return rows_file(family).removesuffix(".csv")


def job_of(family: str, folder: Path, rows: Path | str) -> Job:
    """Returns the job of a little plan whose rows lie somewhere else, over a skipped hour."""
    facts = little_plan(family)
    facts["data"][rows_option(family)] = str(rows)
    facts["time"]["last_day"] = _SHORT_DAY
    return prepare(plan_from(facts, folder=folder))


def little_rows(family: str, folder: Path, time: pa.DataType) -> pa.Table:
    """Returns the rows of a little plan."""
    types = pa_csv.ConvertOptions(column_types={"person": pa.string(), "time": time})
    return pa_csv.read_csv(folder / rows_file(family), convert_options=types)


def odd(table: pa.Table) -> pa.Table:
    """Adds rows with nothing in them, with strange ids, times and places, and many of one id."""
    first = table.slice(0, 1).to_pylist()[0]
    texts = {name for name in table.column_names if pa.types.is_string(table[name].type)}
    strange: list[dict[str, Any]] = [
        dict.fromkeys(table.column_names),
        {**first, "person": None},
        {**first, "person": " "},
        *({**first, name: "nowhere"} for name in sorted(texts - {"person", "time"})),
        *({**first, name: 200.0} for name in ("lon", "lat") if name in first),
        *(first for _ in range(400)),
    ]
    skipped = f"{_SHORT_DAY}T01:30:00"
    if "time" in texts:
        strange += [{**first, "time": time} for time in (skipped, "yesterday")]
    else:
        strange.append({**first, "time": datetime.fromisoformat(skipped)})
    return pa.concat_tables([table, pa.Table.from_pylist(strange, schema=table.schema)])


def _without(table: pa.Table) -> pa.Table:
    return table.drop_columns("time")


def _twice(table: pa.Table) -> pa.Table:
    return table.append_column("PERSON", table["person"])


def _decimals(table: pa.Table) -> pa.Table:
    return table.set_column(0, "person", pa.array([1.5] * len(table)))


def _no_times(table: pa.Table) -> pa.Table:
    at = table.column_names.index("time")
    return table.set_column(at, "time", pa.array(range(len(table))))


def _no_rows(table: pa.Table) -> pa.Table:
    return table.slice(0, 0)


@dataclass(frozen=True, kw_only=True)
class Bad:
    """Rows that no engine may take.

    Attributes:
        spoil: Makes them of good ones.
        says: What the error speaks of.
        in_csv: Whether files of text can have them.
    """

    spoil: Callable[[pa.Table], pa.Table]
    says: str
    in_csv: bool


BAD = {
    "no column of times": Bad(spoil=_without, says="time", in_csv=True),
    "two columns alike": Bad(spoil=_twice, says="person", in_csv=True),
    "decimal ids": Bad(spoil=_decimals, says="person", in_csv=False),
    "numbers for times": Bad(spoil=_no_times, says="time", in_csv=False),
    "no rows": Bad(spoil=_no_rows, says="empty", in_csv=True),
}
# Lines of one person that other readers let run on into lines of others, or refuse a file for.
_PLANTED = b"planted-and-never-seen-again"
HOSTILE_LINES = {
    "too few fields": _PLANTED,
    "too many fields": _PLANTED + b"," * 20,
    "an open quote": b'"' + _PLANTED + b",a,b,2026-03-02T09:00:00",
    "an open quote in the last field": _PLANTED + b',a,b,"2026-03-02T09:00:00',
    "a quote before a delimiter": _PLANTED + b'",a,b,2026-03-02T09:00:00',
    "a quote before the line's end": _PLANTED + b',a,b,2026-03-02T09:00:00"',
    "text after a quoted field": b'"' + _PLANTED + b'"x,a,b,2026-03-02T09:00:00',
    "a carriage return": _PLANTED + b",a\rb,c,2026-03-02T09:00:00",
    "a byte that is not UTF-8": _PLANTED + b"\xff,a,b,2026-03-02T09:00:00",
    "half of a character": _PLANTED + b",a,b,2026-03-02T09:00:00\xc3",
    "a surrogate": _PLANTED + b"\xed\xa0\x80,a,b,2026-03-02T09:00:00",
    "a zero byte": _PLANTED + b"\0,a,b,2026-03-02T09:00:00",
    "a line that is far too long": _PLANTED + b"x" * 3_000_000 + b",a,b,2026-03-02T09:00:00",
}
