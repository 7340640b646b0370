"""Which days are counted, and how, in words that stand beside published numbers."""

from typing import Final

from hushway.geography.periods import Periods

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def window_text(periods: Periods) -> str:
    """Returns the days of a window in words: 2 March 2026, or 2 to 31 March 2026."""
    first, last = periods.first_day, periods.last_day
    end = f"{last.day} {MONTHS[last.month - 1]} {last.year}"
    if first == last:
        return end
    begin = str(first.day)
    if (first.year, first.month) != (last.year, last.month):
        begin += f" {MONTHS[first.month - 1]}"
    if first.year != last.year:
        begin += f" {first.year}"
    return f"{begin} to {end}"


def counted_text(periods: Periods, *, together: str = "sum of") -> str:
    """Returns what a number of a period is of, with the days of the window.

    Examples are "sum of 7 days, 2 to 8 March 2026" and "average weekday of 20 days, 2 to 27 March
    2026".

    Args:
        together: How days that are counted together are, where no average is published.
    """
    if periods.cycle == "window":
        return f"each day by itself, {window_text(periods)}"
    kinds = [(name or "day", _days(len(days))) for name, days in periods.kinds_of_days.items()]
    if periods.average:
        said = "average " + ", ".join(f"{name} of {days}" for name, days in kinds)
    elif periods.cycle == "day":
        said = f"{together} {kinds[0][1]}"
    else:
        said = f"{together} " + ", ".join(f"{days} ({name})" for name, days in kinds)
    return f"{said}, {window_text(periods)}"


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number:,} days"
