"""How `hushway price` shows several budgets, and the smallest one that is enough."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.cli.screen import answer_json, number, say, table, working
from hushway.errors import PlanError, PrivacyError
from hushway.facts.price import curve_facts

if TYPE_CHECKING:
    from hushway.release.forecast.crowd import ExpectedPopulation
    from hushway.release.job import Job
    from hushway.steward.curves.curve import FigureError
    from hushway.steward.curves.target import Enough

# From here on two digits would be written as 1e+02.
_WHOLE_FROM = 99.5


def show_curve(
    job: "Job",
    crowd: "ExpectedPopulation | None",
    epsilons: tuple[Fraction, ...],
    *,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Prints and draws errors by budget."""
    from hushway.release.folder.new_file import refuse_taken, write_new
    from hushway.release.wording import at_delta_text
    from hushway.steward.curves.curve import price_curve
    from hushway.steward.curves.picture import draw_curve, refuse_format

    if picture is not None:
        refuse_format(picture)
        refuse_taken(picture)
    with working() as show:
        curve = price_curve(job, epsilons, crowd=crowd, progress=show)
        if picture is not None:
            show("Drawing")
            write_new(picture, draw_curve(curve, picture.suffix.lower().lstrip(".")))
    if as_json:
        answer_json(curve_facts(curve))
        return
    what = "Errors to expect, on average" if curve.foreseen else "Noise (1 standard deviation)"
    table(
        f"{what}, in {curve.counted}, by ε{at_delta_text(curve.delta)}",
        ["figure", *(f"#{number(epsilon)}" for epsilon in curve.points)],
        [
            [name, *(_cell(curve.at(epsilon, name)) for epsilon in curve.points)]
            for name in curve.figures
        ],
    )
    for note in curve.notes:
        say(note)
    say("Neither rows nor budget were touched.")
    if picture is not None:
        say(f"The picture is in {picture}.")


def show_enough(
    job: "Job", crowd: "ExpectedPopulation | None", within: list[str], *, as_json: bool
) -> None:
    """Prints the smallest budget for each target."""
    from hushway.release.wording import at_delta_text
    from hushway.steward.curves.target import smallest_epsilon, target_of

    targets = {text: target_of(text) for text in within}
    with working() as show:
        found = {
            text: smallest_epsilon(job, target, crowd=crowd, progress=show)
            for text, target in targets.items()
        }
    if as_json:
        delta = job.plan.privacy.delta
        within_facts = [_enough_facts(text, one, delta) for text, one in found.items()]
        answer_json({"within": within_facts})
        return
    at_delta = at_delta_text(job.plan.privacy.delta)
    for text, one in found.items():
        say(
            f"{text}: ε = {number(one.epsilon)}{at_delta} is enough (rounded up). There, "
            f"{one.found.figure} is off by {_cell(one.found)}."
        )
    say(
        "A forecast on invented rows, not a guarantee."
        if crowd is not None
        else "By noise alone, one standard deviation."
    )


def epsilons_of(text: str) -> tuple[Fraction, ...]:
    """Reads budgets such as ".25,.5,1,2".

    Raises:
        PlanError: They are none.
    """
    from hushway.privacy.loss import exact

    try:
        found = tuple(dict.fromkeys(exact(part.strip()) for part in text.split(",")))
    except PrivacyError:
        found = ()
    if not found or min(found) <= 0:
        raise PlanError(
            f"{text!r} are not budgets.", advice="Write them like this: --epsilon .25,.5,1,2"
        )
    return found


def _cell(found: "FigureError | None") -> str:
    if found is None:
        return ""
    share = "" if found.share is None else f" ({_short(100 * found.share)}%)"
    return f"± {_short(found.error)}{share}"


def _short(amount: float) -> str:
    return f"{amount:,.0f}" if amount >= _WHOLE_FROM else f"{amount:.2g}"


def _enough_facts(text: str, one: "Enough", delta: Fraction | None) -> dict[str, Any]:
    return {
        "within": text,
        "epsilon": one.epsilon,
        "delta": delta,
        **vars(one.found),
        "share": one.found.share,
    }
