"""The verb that compares two releases."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working

if TYPE_CHECKING:
    from hushway.families.comparing import Comparison


def compare(
    one: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.")],
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="Another one, of the same type.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Compare two releases figure by figure: what differs by more than their noise; costs nothing.

    Only published numbers are read.
    """
    from hushway.families.comparing import compare_releases

    with working() as show:
        show("Comparing")
        found = compare_releases(one, other)
    if as_json:
        answer_json({**vars(found), "largest": [vars(difference) for difference in found.largest]})
        return
    _show(found)


def _show(found: "Comparison") -> None:
    first, second = found.totals
    if not found.same_universe:
        say(
            "These releases are over different public cells, such as another window or other "
            "places: figures are compared where they are named alike."
        )
    say(
        f"All figures together: {first:,.0f} and {second:,.0f}, a difference of "
        f"{second - first:+,.0f}."
    )
    say(
        f"{found.both:,} figures are in both, {found.only[0]:,} only in the first and "
        f"{found.only[1]:,} only in the second."
    )
    if found.correlation is not None:
        say(
            "Correlation of all figures, with 0 for those that are not there: "
            f"{found.correlation:.3f}."
        )
    if found.beyond is None:
        say("These figures carry no standard errors, so nothing is said about noise.")
        return
    share = found.beyond / found.both if found.both else 0.0
    say(
        f"{found.beyond:,} ({share:.1%}) of those in both differ by more than two joint standard "
        "errors. Noise alone makes about 5% do so."
    )
    if found.largest:
        table(
            "Largest differences, in joint standard errors",
            ["figure", "#first", "#second", "#joint error", "#difference"],
            [
                [
                    one.figure,
                    f"{one.one:,.1f}",
                    f"{one.other:,.1f}",
                    f"{one.joint_error:,.1f}",
                    f"{(one.other - one.one) / one.joint_error:+.1f}",
                ]
                for one in found.largest
            ],
        )
