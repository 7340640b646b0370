"""The command `recommend`: what to put into a plan, and whether the data are enough for it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.console import AsJson, PlanFile, Step, answer_json, say, table, working
from hushway.cli.year import say_year

if TYPE_CHECKING:
    from hushway.release.forecast.advice import Advice
    from hushway.steward.recommend import Recommendation

_SHOWN = 8


def recommend(
    plan: PlanFile,
    *,
    trips: Annotated[
        int,
        typer.Option(
            help="A public guess, never a count: trips in the window (visits, records or links "
            "travelled for the other release types).",
            min=1,
        ),
    ],
    people: Annotated[
        int, typer.Option(help="A public guess, never a count: people who make them.", min=1)
    ],
    runs: Annotated[int, typer.Option(help="How often each choice is tried.", min=1)] = 1,
    write: Annotated[
        Path | None,
        typer.Option(help="Write the plan with what is proposed to this new file beside it."),
    ] = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Try mechanism, published totals and contribution limit; say whether your data are enough.

    OD tables and densities are tried on invented rows over your places. For the other release
    types noise decides, and what a limit leaves out. Neither rows nor budget are touched.
    """
    from hushway.steward.facts import recommendation_facts
    from hushway.steward.recommend import recommend as recommend_for

    with working() as show:
        found = recommend_for(
            plan, trips=trips, people=people, runs=runs, write=write, progress=show, step=step
        )
    if as_json:
        answer_json(recommendation_facts(found))
        return
    counted = next(iter(found.guess))
    _show(found, f"{trips:,} {counted} of {people:,} people")
    _show_worth(found)
    if found.year is not None:
        say_year(found.year, counted)
    if write is not None:
        say(f"The plan with these changes is in {write}.")


def _show_worth(found: "Recommendation") -> None:
    say(f"What would be known of the plan as it is: {found.worth.sentence}")
    if found.proposal is not None:
        say(found.proposal.sentence)
        for option, value in found.proposal.changes.items():
            said = "left out" if value is None else json.dumps(value)
            say(f"  {option}: {said}")
    elif found.worth.little:
        say("No coarser places or periods that the plan knows would do.")


def _words(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _show(advice: "Advice", guess: str) -> None:
    if advice.tried:
        shown, best = advice.tried[:_SHOWN], advice.tried[0]
        # What all of them have alike is in the lines for the plan.
        options = [
            name
            for name, value in best.options.items()
            if any(choice.options[name] != value for choice in shown) or len(best.options) == 1
        ]
        table(
            advice.measured,
            [*options, "#score"],
            [
                [*(_words(one.options[name]) for name in options), f"{one.score:.3g}"]
                for one in shown
            ],
        )
        if best.details:
            figures = ", ".join(f"{name} {value:.3f}" for name, value in best.details.items())
            say(f"Of the first, by figure: {figures}.")
    if advice.lines:
        say("For your plan (guesses decided this; your rows were not looked at):")
        for line in advice.lines.strip().split("\n"):
            say(line)
    for sentence in advice.could_add:
        say(sentence)
    say(f"Is a crowd of {guess} enough for this? A forecast, not a guarantee:")
    for sentence in advice.enough:
        say(f"  {sentence}")
