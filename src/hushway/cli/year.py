"""How a year of a series is foretold on the screen."""

from typing import TYPE_CHECKING

from hushway.cli.console import number, say, short, table

if TYPE_CHECKING:
    from hushway.release.forecast.series import SumError
    from hushway.steward.year import Year


def say_year(year: "Year", counted: str) -> None:
    """Says what steps and longer sums would be off by, and which step length the data support."""
    errors = () if year.forecast is None else year.forecast.errors
    if errors:
        table(
            f"Errors to expect over a year, each step at ε {number(year.share)}: its equal share "
            f"of the budget of {year.span}",
            ["figure", "in a", f"#about, in {counted}", "#first", "#that is", "#revised"],
            [
                [
                    one.figure,
                    one.length,
                    short(one.size),
                    f"± {short(one.first)}",
                    _share(one),
                    "" if one.revised is None else f"± {short(one.revised)}",
                ]
                for one in errors
            ],
        )
    for sentence in (*(() if year.forecast is None else year.forecast.notes), *year.sentences):
        say(sentence)


def _share(one: "SumError") -> str:
    return f"{short(100 * one.first / one.size)}%" if one.size else ""
