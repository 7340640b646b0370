"""Old names of plan options, and today's: an old plan is answered with the new word."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hushway.errors import PlanError

# Old words of options and tables; some went to different words in different tables.
RENAMED: Final[Mapping[str, str]] = {
    "crowd": "expected_population",
    "expect": "shrink_to_class",
    "family": "release_type",
    "features": "published_totals",
    "height": "max_stops",
    "kappa": "expected_false_prefixes",
    "location": "place",
    "most_counted": "max_visits_in_total",
    "problems.same_place": "intrazonal",
    "same_place": "include_intrazonal",
    "shares": "budget_shares",
    "shown": "publish_above_se",
    "split": "budget_shares",
    "towers": "places",
    "unknown_location": "unknown_place",
}
# Old words that were values of an option.
RENAMED_VALUES: Final[Mapping[str, str]] = {
    "clock.instant": "utc",
    "clock.wall": "local",
}


def now_called(location: Sequence[int | str]) -> str | None:
    """Returns what an option of an earlier time is called now, as words; None if it never was one.

    Args:
        location: The tables that it is in, and its own name last.
    """
    *tables, name = map(str, location)
    word = RENAMED.get(f"{tables[-1]}.{name}") if tables else None
    word = word or RENAMED.get(name)
    return None if word is None else f"is now called {word}"


def value_now_called(location: Sequence[int | str], value: object) -> str | None:
    """Returns what a value of an earlier time is called now, as words; None if it never was one."""
    word = RENAMED_VALUES.get(f"{location[-1]}.{value}") if location else None
    return None if word is None else f'"{value}" is now called "{word}"'


def refuse_old_release_type(facts: Mapping[str, Any]) -> None:
    """Refuses a plan that names its release type by the old word, by which nothing can be read.

    Raises:
        PlanError: It does.
    """
    if "family" in facts and "release_type" not in facts:
        raise PlanError(
            f"family: {now_called(['family'])}.",
            advice="Write release_type instead; other words that changed are told after that.",
        )
