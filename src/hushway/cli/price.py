"""The command `price`: what a plan costs and how good its release would be."""

from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.console import (
    AsJson,
    PlanFile,
    Step,
    answer_json,
    number,
    say,
    short,
    table,
    working,
)
from hushway.cli.year import say_year

if TYPE_CHECKING:
    from hushway.release.forecast.crowd import CrowdForecast
    from hushway.steward.price_curve import FigureError, PriceCurve
    from hushway.steward.price_tag import Price
    from hushway.steward.price_target import Enough


def price(  # noqa: PLR0913  one argument for each option
    plan: PlanFile,
    *,
    trips: Annotated[
        int | None, typer.Option(help="A public guess, never a count: trips in the window.", min=1)
    ] = None,
    people: Annotated[
        int | None, typer.Option(help="A public guess, never a count: people who make them.", min=1)
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Show errors at these budgets instead, such as .25,.5,1,2.")
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            help='Find the smallest epsilon instead for which a figure is that good: "origins=5%" '
            'with a guess, "one cell=5% of 200" or "one cell=10" without. May be repeated.'
        ),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="With --epsilon: draw the errors into this PNG or SVG file.")
    ] = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Forecast cost and typical errors without touching rows or budget.

    With a guess of the trips it also tries the plan on invented trips of that number over your
    places, and says what the published table was wrong by: a forecast, not a guarantee.
    """
    from hushway.steward.facts import curve_facts, enough_facts, price_facts
    from hushway.steward.price import price as price_plan
    from hushway.steward.price_curve import PriceCurve

    with working() as show:
        found = price_plan(
            plan,
            trips=trips,
            people=people,
            epsilon=epsilon,
            within=within,
            picture=picture,
            progress=show,
            step=step,
        )
    if isinstance(found, tuple):
        if as_json:
            answer_json(enough_facts(found))
        else:
            _say_enough(found, guessed=trips is not None)
    elif isinstance(found, PriceCurve):
        if as_json:
            answer_json(curve_facts(found))
        else:
            _say_curve(found, picture)
    elif as_json:
        answer_json(price_facts(found))
    else:
        _say_price(found)


def _say_price(tag: "Price") -> None:
    from hushway.steward.facts import cost_text, large_delta_text
    from hushway.steward.price_tag import can_be_foreseen, can_be_invented

    job = tag.job
    if job.plan.privacy.large_delta:
        say(large_delta_text(job.plan.privacy))
    say(f"This release costs {cost_text(job, tag.loss)}.")
    _say_account(tag)
    if tag.obstacle is not None:
        say(f"The ledger would refuse it. {tag.obstacle}")
    longer = {} if tag.series is None else tag.series.longer
    table(
        f"Typical errors, in {job.wording.counted}",
        [
            "figure",
            "#noise (1 standard deviation)",
            *(f"#in a {length}" for length in longer),
            "#upward bias in a sparse table",
        ],
        [
            [
                f.figure,
                # Noise is drawn anew for every step.
                *(f"± {short(f.standard_error * sqrt(steps))}" for steps in (1, *longer.values())),
                short(f.bias),
            ]
            for f in tag.forecasts
        ],
    )
    _say_series(tag)
    if tag.expected is not None:
        _say_expected(tag.expected, job.wording.counted)
        if longer and (tag.year is None or tag.year.forecast is None):
            length, steps = [*longer.items()][-1]
            say(
                f"Over a {length} these errors are {short(sqrt(steps))} to {steps} times as large: "
                "noise is drawn anew every time, and what a fit expects of a place is not."
            )
    elif can_be_foreseen(job):
        say("Errors of the published table can be forecast from a public guess: --trips NUMBER")
    say(tag.worth.sentence)
    if tag.worth.known is None and can_be_invented(job) and not can_be_foreseen(job):
        say("What share of all that is follows from a public guess: --trips NUMBER")
    if tag.worth.little:
        say("Something coarser may be worth more: hushway recommend PLAN proposes it.")
    if tag.noise is not None:
        say(tag.noise)


def _say_series(tag: "Price") -> None:
    if tag.series is not None:
        say(tag.series.sentence)
    if tag.year is not None:
        say_year(tag.year, tag.job.wording.counted)


def _say_account(tag: "Price") -> None:
    account, charge, key = tag.account, tag.charge, tag.job.account
    if account is None:
        say(f"Account {key} is not open yet: hushway ledger open PLAN --epsilon CAP")
        return
    symbol = account.budget_limit.measure.symbol
    left = f"{number(account.remaining)} of {number(account.budget_limit.amount)} {symbol} left"
    if charge is None:
        say(f"Account {key}: {left}, in a currency that CANNOT PAY for Gaussian noise.")
        return
    verdict = "enough" if charge <= account.remaining else "NOT ENOUGH"
    say(f"Account {key}: {left}; this release takes {number(charge)} {symbol}, {verdict}.")


def _say_expected(expected: "CrowdForecast", counted: str) -> None:
    crowd = expected.crowd
    by = "" if crowd.people is None else f" by {crowd.people:,} people"
    if expected.errors:
        table(
            f"Errors to expect of what is published, for a guess of {crowd.trips:,} trips{by}",
            ["figure", f"#about, in {counted}", "#off by, on average", "#that is"],
            [
                [
                    e.figure,
                    short(e.size),
                    f"± {short(e.error)}",
                    "" if e.share is None else f"{short(100 * e.share)}%",
                ]
                for e in expected.errors
            ],
        )
    for note in expected.notes:
        say(note)


def _say_curve(curve: "PriceCurve", picture: Path | None) -> None:
    from hushway.release.wording import at_delta_text

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


def _say_enough(found: "tuple[Enough, ...]", *, guessed: bool) -> None:
    from hushway.release.wording import at_delta_text

    for one in found:
        say(
            f"{one.within}: ε = {number(one.epsilon)}{at_delta_text(one.delta)} is enough (rounded "
            f"up). There, {one.found.figure} is off by {_cell(one.found)}."
        )
    say(
        "A forecast on invented rows, not a guarantee."
        if guessed
        else "By noise alone, one standard deviation."
    )


def _cell(found: "FigureError | None") -> str:
    if found is None:
        return ""
    share = "" if found.share is None else f" ({short(100 * found.share)}%)"
    return f"± {short(found.error)}{share}"
