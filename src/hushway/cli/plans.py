"""Verbs on plans: write a new one, check it, publish it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.asking import ask_to_spend, say_rehearsed, say_spills
from hushway.cli.found import say_found, say_problems
from hushway.cli.screen import (
    AsJson,
    PlanFile,
    answer_json,
    connect,
    say,
    say_cautions,
    working,
)
from hushway.errors import PlanError
from hushway.facts.check import check_facts, problems_of
from hushway.families.registry import FAMILIES, family_names

if TYPE_CHECKING:
    from hushway.tables.check import Problem

plan = typer.Typer(help="Write a new plan, or describe all of them.", no_args_is_help=True)


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


@plan.command("schema")
def schema(
    family: Annotated[
        str | None,
        typer.Argument(
            metavar="[TYPE]",
            help=f"The release type: {family_names()}.",
            show_default="all of them",
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of plans, by which editors complete and check them."""
    from hushway.families.schema import every_plan_schema, plan_schema

    answer_json(every_plan_schema() if family is None else plan_schema(family))


def check(plan_file: PlanFile, *, as_json: AsJson = False) -> None:
    """Explain plan and data, and every problem in them, before any budget is touched.

    What it prints is for the steward's own screen: it counts rows, and none of it is released.
    """
    from hushway.cli.keys import ask_passphrase
    from hushway.facts.price import large_delta_text
    from hushway.families.load import load_plan, prepare
    from hushway.release.job import settings_of
    from hushway.steward.check import check as check_job

    job = prepare(load_plan(plan_file), rows=True)
    with working() as show:
        checked = check_job(job, progress=show, passphrase=ask_passphrase)
    settings = settings_of(job.plan)
    problems = problems_of(checked, settings)
    refused = any(problem.refused for problem in problems)
    if as_json:
        answer_json(check_facts(checked, settings))
    else:
        say_found(checked.found)
        say_problems(problems)
        say(f"{job.wording.universe} The {job.wording.rows} {_verdict(problems)}.")
        if job.plan.privacy.large_delta:
            say(large_delta_text(job.plan.privacy))
        if settings.encrypt_spills is False:
            say("Rows that do not fit into memory go to disk unencrypted, as the plan says.")
    if refused:
        raise typer.Exit(1)


def _verdict(problems: "Sequence[Problem]") -> str:
    from hushway.tables.check import UNOPENED

    if any(problem.refused for problem in problems):
        return "cannot be published as the plan says"
    if any(problem.kind == UNOPENED for problem in problems):
        return "can be published once the account is open"
    return "can be published"


def publish(
    plan_file: PlanFile,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Spend without asking first.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Do all but spend: check plan, rows, place and account."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Spend budget on a release, measure it with noise, and write the release folder."""
    from hushway.cli.keys import ask_passphrase, notice_old_encryption
    from hushway.families.load import load_plan, prepare
    from hushway.release.plans.missing import refuse_missing
    from hushway.release.wording import claim_text, guarantee
    from hushway.steward.publish import publish as publish_job
    from hushway.warming.background import Compiling, rehearsal_of

    plan = load_plan(plan_file)
    refuse_missing(plan, rows=True)
    with Compiling(rehearsal_of(plan)) as compiling:
        job = prepare(plan, rows=True)
        with connect(str(plan_file)) as book:
            say_cautions(book.cautions())
        say_spills(plan)
        notice_old_encryption(job.plan.path(key) if (key := plan.release.signing_key) else None)
        if dry_run:
            say_rehearsed(job, ask_passphrase, as_json=as_json)
            return
        if not yes:
            ask_to_spend(job)
        with working() as show:
            published = publish_job(
                job, progress=show, passphrase=ask_passphrase, before_spending=compiling.wait
            )
    certificate = published.certificate
    claim, conversion = certificate.claim, certificate.epsilon_delta
    if as_json:
        answer_json(
            {
                "release": certificate.release_id,
                "folder": published.folder,
                "measure": claim.measure,
                "cost": claim.amount,
                "epsilon_delta": conversion and conversion.to_json(),
                "banner": certificate.banner,
            }
        )
        return
    if certificate.banner:
        say(f"{certificate.banner}. {guarantee(certificate)}")
    say(f"Published {certificate.release_id} in {published.folder}: {claim_text(certificate)}.")
    say(f"Check it with: hushway verify {published.folder}")
