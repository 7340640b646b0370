"""Verbs on plans: write a new one, check it, publish it, be advised on it."""

from collections.abc import Sequence
from typing import Annotated

import typer

from hushway.cli.screen import (
    AsJson,
    PlanFile,
    answer_json,
    connect,
    failure,
    number,
    say,
    say_cautions,
    table,
    working,
)
from hushway.errors import PlanError
from hushway.families.registry import FAMILIES, family_names

plan = typer.Typer(help="Write a new plan.", no_args_is_help=True)


@plan.command("new")
def new(
    family: Annotated[str, typer.Argument(help=f"The release type: {family_names()}.")],
) -> None:
    """Print a plan with every option explained: hushway plan new od > plan.toml."""
    if family not in FAMILIES:
        raise PlanError(
            f"There is no release type {family!r}.",
            advice=f"The release types are: {', '.join(FAMILIES)}.",
        )
    typer.echo(FAMILIES[family].template, nl=False)


def check(plan_file: PlanFile, *, as_json: AsJson = False) -> None:
    """Explain every problem in plan and data before any budget is touched.

    What it prints is for the steward's own screen: it counts rows, and none of it is released.
    """
    from hushway.families.load import load_plan, prepare
    from hushway.release.job import settings_of

    job = prepare(load_plan(plan_file), rows=True)
    with working() as show:
        show(f"Reading the {job.wording.rows}")
        settings = settings_of(job.plan)
        problems = job.rows.check(settings, notes=True)
    refused = [problem for problem in problems if problem.refused]
    if as_json:
        answer_json({"usable": not refused, "problems": [vars(problem) for problem in problems]})
    elif problems:
        rows = [
            [p.message, "" if p.count is None else f"{p.count:,}", p.rule, p.advice]
            for p in problems
        ]
        table(
            "Problems (your screen only: nothing of this is released)",
            ["problem", "#rows", "plan says", "what to do"],
            rows,
        )
    else:
        say("No problems found.")
    if not as_json:
        verdict = "cannot be published as the plan says" if refused else "can be published"
        say(f"{job.wording.universe} The {job.wording.rows} {verdict}.")
        if not settings.encrypt_spills:
            say("Rows that do not fit into memory will go to disk unencrypted while counting.")
    if refused:
        raise typer.Exit(1)


def publish(plan_file: PlanFile, *, as_json: AsJson = False) -> None:
    """Spend the budget of a release, measure it with noise, and write the release folder."""
    from hushway.cli.releases import ask_passphrase
    from hushway.families.load import load_plan, prepare
    from hushway.publishing import publish as publish_job
    from hushway.release.missing import refuse_missing
    from hushway.warming.background import Compiling, rehearsal_of

    plan = load_plan(plan_file)
    refuse_missing(plan, rows=True)
    with Compiling(rehearsal_of(plan)) as compiling:
        job = prepare(plan, rows=True)
        with connect(str(plan_file)) as book:
            say_cautions(book.cautions())
        try:
            with working() as show:
                published = publish_job(
                    job, progress=show, passphrase=ask_passphrase, before_spending=compiling.wait
                )
        except KeyboardInterrupt as stop:
            failure("Interrupted.", "", *getattr(stop, "__notes__", ()))
            raise typer.Exit(1) from None
    certificate = published.certificate
    claim = certificate.claim
    if as_json:
        answer_json(
            {
                "release": certificate.release_id,
                "folder": published.folder,
                "measure": claim.measure,
                "cost": claim.amount,
            }
        )
        return
    if certificate.stamp:
        say(certificate.stamp)
    say(
        f"Published {certificate.release_id} in {published.folder}: "
        f"{claim.measure.symbol} = {number(claim.amount)} per {certificate.terms.unit}."
    )
    say(f"Check it with: hushway verify {published.folder}")


_SHOWN = 8


def _features_words(features: Sequence[str], every: Sequence[str]) -> str:
    left_out = [title for title in every if title not in features]
    return f"all but {', '.join(left_out)}" if left_out else "all"


def recommend(
    plan_file: PlanFile,
    *,
    trips: Annotated[int, typer.Option(help="A guess: trips in the window.", min=1)],
    people: Annotated[int, typer.Option(help="A guess: people who make them.", min=1)],
    runs: Annotated[int, typer.Option(help="How often each choice is tried.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Try mechanism, published totals and contribution limit on a synthetic stand-in; neither rows nor budget are touched."""
    from hushway.families.load import load_plan, prepare
    from hushway.families.od.job_features import possible_features
    from hushway.families.od.plan import ODPlan
    from hushway.families.od.public.cells import ODCells
    from hushway.families.od.study.recommend import make_stand_in, plan_lines
    from hushway.families.od.study.recommend import recommend as try_all
    from hushway.privacy.loss import total

    plan = load_plan(plan_file)
    if not isinstance(plan, ODPlan):
        raise PlanError(
            "There is nothing to recommend for this release type yet.", advice="Give an OD plan."
        )
    job = prepare(plan)
    budget = total(job.mechanism.losses)
    cells = job.geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    with working() as show:
        show("Inventing a synthetic stand-in")
        stand_in = make_stand_in(
            cells,
            possible_features(plan, cells),
            budget=budget,
            unit=plan.privacy.unit,
            trips=trips,
            people=people,
            runs=runs,
        )
        tried = try_all(stand_in, progress=show)
    best = tried[0].candidate
    if as_json:
        answer_json(
            {
                "best": vars(best),
                "tried": [
                    {**vars(one.candidate), "misplaced": one.misplaced, "score": one.score}
                    for one in tried
                ],
            }
        )
        return
    figures = list(tried[0].misplaced)
    every = tuple(figure for figure in figures if figure != "cells")
    table(
        "Trips misplaced on the stand-in, as a share of all trips (less is better)",
        ["mechanism", "features", "#max_trips", "#mean", *(f"#{figure}" for figure in figures)],
        [
            [
                one.candidate.mechanism,
                _features_words(one.candidate.features, every),
                f"{one.candidate.max_trips}",
                f"{one.score:.3f}",
                *(f"{one.misplaced[figure]:.3f}" for figure in figures),
            ]
            for one in tried[:_SHOWN]
        ],
    )
    say("For your plan (invented trips decided this; your own were not looked at):")
    for line in plan_lines(best, budget).split("\n"):
        say(line)
