"""The verb that compares a release: with another one, or with the truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.errors import PlanError

if TYPE_CHECKING:
    from hushway.families.comparison import Comparison

_INTERNAL = "INTERNAL: depends on exact rows; not for release"


def compare(
    one: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="Another one, of the same type.")
    ] = None,
    *,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="Instead of another release: the plan of this one, whose exact rows are read, "
            "for the steward's own screen."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two releases figure by figure: what differs by more than their noise; costs nothing.

    Only published numbers are read. With --truth the exact rows are: what is printed then carries
    no guarantee and must not be published. It is written to no file.
    """
    from hushway.families.comparison import compare_releases

    if (other is None) == (truth is None):
        raise PlanError(
            "A release is compared with one other thing.",
            advice="Name another release, or the plan of this one with --truth.",
        )
    if truth is not None:
        _compare_with_truth(one, truth, as_json=as_json)
        return
    assert other is not None  # noqa: S101  one of the two is given
    with working() as show:
        show("Comparing")
        found = compare_releases(one, other)
    if as_json:
        answer_json({**vars(found), "largest": [vars(difference) for difference in found.largest]})
        return
    _show(found)


def _compare_with_truth(release: Path, plan: Path, *, as_json: bool) -> None:
    from hushway.families.true_errors import true_errors

    with working() as show:
        found = true_errors(release, plan, progress=show).value
    if as_json:
        answer_json({"internal": _INTERNAL, **vars(found)})
        return
    published, true = found.total
    say(_INTERNAL)
    say(f"All {found.counted}: {published:,.0f} published, {true:,.0f} in truth.")
    if found.misplaced is not None:
        say(
            f"{found.counted.capitalize()} misplaced over all cells: {found.misplaced:.1%} of all "
            f"{found.counted}."
        )
    table(
        f"Off by, on average, in {found.counted} ({_INTERNAL})",
        ["figure", "#mean absolute error"],
        [[figure, f"{error:,.1f}"] for figure, error in found.figures.items()],
    )


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
