"""The verb that says what a plan costs and how good its release would be."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.price_curve import epsilons_of, show_curve, show_enough
from hushway.cli.screen import AsJson, PlanFile, answer_json, number, say, table, working
from hushway.errors import PlanError
from hushway.facts.price import cost_text, crowd_of, large_delta_text, price_facts

if TYPE_CHECKING:
    from fractions import Fraction

    from hushway.privacy.ledger import Account, AccountKey
    from hushway.release.forecast.crowd import CrowdForecast
    from hushway.release.job import Job
    from hushway.steward.price import Price

# From here on two digits would be written as 1e+02.
_WHOLE_FROM = 99.5


def price(
    plan_file: PlanFile,
    *,
    trips: Annotated[
        int | None,
        typer.Option(help="A public guess, never a count: trips in the window.", min=1),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(help="A public guess, never a count: people who make them.", min=1),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(help="Show errors at these budgets instead, such as .25,.5,1,2."),
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
    as_json: AsJson = False,
) -> None:
    """Forecast cost and typical errors without touching rows or budget.

    With a guess of the trips it also tries the plan on invented trips of that number over your
    places, and says what the published table was wrong by: a forecast, not a guarantee.
    """
    from hushway.families.load import load_plan, prepare
    from hushway.steward.price import can_be_foreseen
    from hushway.steward.price import price as price_of

    crowd = crowd_of(trips, people)
    refuse_mixed(epsilon, within, picture)
    budgets = None if epsilon is None else epsilons_of(epsilon)
    job = prepare(load_plan(plan_file))
    if within:
        show_enough(job, crowd, within, as_json=as_json)
        return
    if budgets is not None:
        show_curve(job, crowd, budgets, picture=picture, as_json=as_json)
        return
    with working() as show:
        if crowd is not None:
            show("Trying the plan on invented trips")
        tag = price_of(job, crowd=crowd)
    account = tag.account
    if as_json:
        answer_json(price_facts(job, tag))
        return
    _say_cost(job, tag)
    if account is None:
        say(f"Account {job.account} is not open yet: hushway ledger open PLAN --epsilon CAP")
    else:
        _say_what_is_left(job.account, account, tag.charge)
    if tag.obstacle is not None:
        say(f"The ledger would refuse it. {tag.obstacle}")
    table(
        f"Typical errors, in {job.wording.counted}",
        ["figure", "#noise (1 standard deviation)", "#upward bias in a sparse table"],
        [[f.figure, f"± {_trips(f.standard_error)}", _trips(f.bias)] for f in tag.forecasts],
    )
    if tag.expected is not None:
        _say_what_to_expect(tag.expected, job.wording.counted)
    elif can_be_foreseen(job):
        say("Errors of the published table can be forecast from a public guess: --trips NUMBER")
    if tag.noise is not None:
        say(tag.noise)


def _say_cost(job: "Job", tag: "Price") -> None:
    if job.plan.privacy.large_delta:
        say(large_delta_text(job.plan.privacy))
    say(f"This release costs {cost_text(job, tag.loss)}.")


def refuse_mixed(epsilon: str | None, within: list[str] | None, picture: Path | None) -> None:
    """Refuses options that ask for several answers at once.

    Raises:
        PlanError: They do.
    """
    if epsilon is not None and within:
        raise PlanError(
            "--epsilon names budgets, and --within looks for one.", advice="Give one of the two."
        )
    if picture is not None and epsilon is None:
        raise PlanError(
            "A picture shows errors at several budgets.", advice="Name them: --epsilon .25,.5,1,2"
        )


def _say_what_to_expect(expected: "CrowdForecast", counted: str) -> None:
    crowd = expected.crowd
    by = "" if crowd.people is None else f" by {crowd.people:,} people"
    if expected.errors:
        table(
            f"Errors to expect of what is published, for a guess of {crowd.trips:,} trips{by}",
            ["figure", f"#about, in {counted}", "#off by, on average", "#that is"],
            [
                [
                    e.figure,
                    _trips(e.size),
                    f"± {_trips(e.error)}",
                    "" if e.share is None else f"{_trips(100 * e.share)}%",
                ]
                for e in expected.errors
            ],
        )
    for note in expected.notes:
        say(note)


def _say_what_is_left(key: "AccountKey", account: "Account", charge: "Fraction | None") -> None:
    symbol = account.budget_limit.measure.symbol
    left = f"{number(account.remaining)} of {number(account.budget_limit.amount)} {symbol} left"
    if charge is None:
        say(f"Account {key}: {left}, in a currency that CANNOT PAY for Gaussian noise.")
        return
    verdict = "enough" if charge <= account.remaining else "NOT ENOUGH"
    say(f"Account {key}: {left}; this release takes {number(charge)} {symbol}, {verdict}.")


def _trips(number_of: float) -> str:
    return f"{number_of:,.0f}" if number_of >= _WHOLE_FROM else f"{number_of:.2g}"
