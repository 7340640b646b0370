"""What a check has found, on the steward's own screen: exact, and never released."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hushway.cli.screen import say, table
from hushway.facts.check import ONLY_HERE

if TYPE_CHECKING:
    from hushway.tables.check import Problem
    from hushway.tables.profile import LimitFound, PeopleFound, RowsFound, TimesFound

_HOUR_MINUTES = 60


def say_found(found: "RowsFound | None") -> None:
    """Prints what the rows are like, beside what the plan says."""
    if found is None:
        return
    lines = [
        ["rows read", f"{found.read:,}", ""],
        ["rows that can be counted", _of(found.kept, found.read), ""],
        ["rows dropped", _of(found.dropped, found.read), "reasons below"],
    ]
    if found.times is not None:
        lines += _times(found.times)
    for places in found.places:
        other = f", and {places.unknown:,} that are not listed" if places.unknown else ""
        lines.append([f"{places.what} named", f"{places.found:,}{other}", f"{places.listed:,}"])
    if found.people is not None:
        lines += _people(found.people)
    lines += [_limit(limit) for limit in found.limits]
    table(f"What was found ({ONLY_HERE})", ["what", "found", "plan"], lines)


def say_problems(problems: "Sequence[Problem]") -> None:
    """Prints what is wrong, and what the plan does about it."""
    if not problems:
        say("No problems found.")
        return
    rows = [
        [p.message, "" if p.count is None else f"{p.count:,}", p.rule, p.advice] for p in problems
    ]
    table(
        "Problems (your screen only: nothing of this is released)",
        ["problem", "#rows", "plan says", "what to do"],
        rows,
    )


def _of(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})"


def _times(times: "TimesFound") -> list[list[str]]:
    first, last = times.window
    used = [hour for hour, rows in enumerate(times.hours) if rows]
    opens, closes = (f"{m // _HOUR_MINUTES:02d}:{m % _HOUR_MINUTES:02d}" for m in times.service)
    return [
        ["days", f"{times.first_day} to {times.last_day}", f"{first} to {last}"],
        ["days of the window with rows", f"{times.days_with_rows:,}", f"{times.window_days:,}"],
        ["hours of the day", f"{used[0]:02d}:00 to {used[-1] + 1:02d}:00", f"{opens} to {closes}"],
    ]


def _people(people: "PeopleFound") -> list[list[str]]:
    counts = [f"{share} have at most {n:,}" for share, n in people.quantiles.items()][:-1]
    most = people.quantiles.get("most")
    spread = "none" if most is None else f"{', '.join(counts)}; the most is {most:,}"
    return [
        ["people", f"{people.people:,}", ""],
        ["rows of a person", spread, ""],
        ["ids with implausibly many rows", f"{people.implausible_ids:,}", f"{people.plausible:,}"],
    ]


def _limit(limit: "LimitFound") -> list[str]:
    above = f"{limit.owners_above:,} of {limit.owners:,} exceed it"
    return [
        f"contribution limit {limit.option}",
        f"{above}; it leaves out {limit.cut_off:.1%} of the {limit.what}",
        f"{limit.limit:,}",
    ]
