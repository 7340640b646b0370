"""Commands on plans: print a new one or the schema, check, publish."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.console import (
    AsJson,
    PlanFile,
    Step,
    answer_json,
    notice,
    number,
    say,
    say_cautions,
    table,
    working,
)
from hushway.errors import BudgetError
from hushway.families.registry import family_names

if TYPE_CHECKING:
    from hushway.release.job import Job
    from hushway.steward.price_tag import Price
    from hushway.tables.check import Problem
    from hushway.tables.profile import LimitFound, PeopleFound, PlacesFound, RowsFound, TimesFound

plan = typer.Typer(help="Write a new plan, or describe all of them.", no_args_is_help=True)

_HOUR_MINUTES = 60
_SHOWN = 20


@plan.command("new")
def new(
    release_type: Annotated[
        str, typer.Argument(metavar="FAMILY", help=f"The release type: {family_names()}.")
    ],
) -> None:
    """Print a plan with every option explained: hushway plan new od > plan.toml."""
    from hushway.steward.plan import new as new_plan

    typer.echo(new_plan(release_type), nl=False)


@plan.command("schema")
def schema(
    release_type: Annotated[
        str | None,
        typer.Argument(
            metavar="[TYPE]",
            help=f"The release type: {family_names()}.",
            show_default="all of them",
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of plans, by which editors complete and check them."""
    from hushway.steward.plan import schema as schema_of

    answer_json(schema_of(release_type))


def check(
    plan: PlanFile,
    *,
    aliases: Annotated[
        Path | None,
        typer.Option(
            help="Write names of places that are not listed to this new file, each beside the "
            "listed place that it is most like, and name the file in the plan."
        ),
    ] = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Explain plan and data, and every problem in them, before any budget is touched.

    What it prints is for the steward's own screen: it counts rows, and none of it is released.
    """
    from hushway.cli.keys import ask_passphrase
    from hushway.steward.aliases import write_aliases
    from hushway.steward.check import check as check_plan
    from hushway.steward.check import universe_of
    from hushway.steward.facts import check_facts, large_delta_text
    from hushway.steward.jobs import job_of

    job = job_of(plan, rows=True, step=step)
    notice(universe_of(job))
    with working() as show:
        checked = check_plan(job, progress=show, passphrase=ask_passphrase)
    problems = checked.everything
    if as_json:
        answer_json(check_facts(checked))
    else:
        if checked.found is not None:
            _say_found(checked.found)
            _say_names(checked.found.places)
        _say_problems(problems)
        say(f"{job.wording.universe} The {job.wording.rows} {_verdict(problems)}.")
        if checked.worth is not None:
            say(f"What would be known of so many (your screen only): {checked.worth}")
        if job.plan.privacy.large_delta:
            say(large_delta_text(job.plan.privacy))
        if job.plan.engine.encrypt_spills is False:
            say("Rows that do not fit into memory go to disk unencrypted, as the plan says.")
    if aliases is not None:
        names = write_aliases(plan, checked, aliases)
        notice(f"{names:,} names are in {aliases}, which the plan reads now. Look at them.")
    if any(problem.refused for problem in problems):
        raise typer.Exit(1)


def _verdict(problems: "Sequence[Problem]") -> str:
    from hushway.tables.check import UNOPENED

    if any(problem.refused for problem in problems):
        return "cannot be published as the plan says"
    if any(problem.kind == UNOPENED for problem in problems):
        return "can be published once the account is open"
    return "can be published"


def _say_problems(problems: "Sequence[Problem]") -> None:
    if not problems:
        say("No problems found.")
        return
    table(
        "Problems (your screen only: nothing of this is released)",
        ["problem", "#rows", "plan says", "what to do"],
        [
            [p.message, "" if p.count is None else f"{p.count:,}", p.rule, p.advice]
            for p in problems
        ],
    )


def _say_found(found: "RowsFound") -> None:
    """Prints what the rows are like, beside what the plan says."""
    from hushway.steward.facts import ONLY_HERE

    lines = [
        ["rows read", f"{found.read:,}", ""],
        ["rows that can be counted", _of(found.kept, found.read), ""],
        ["rows dropped", _of(found.dropped, found.read), "reasons below"],
    ]
    if found.times is not None:
        lines += _times(found.times)
    for places in found.places:
        other = f", and {places.unknown:,} that are not listed" if places.unknown else ""
        lines.append([f"{places.what} named", f"{places.found:,}{other}", f"{places.listed:,}"])
    if found.people is not None:
        lines += _people(found.people)
    lines += [_limit(limit) for limit in found.limits]
    table(f"What was found ({ONLY_HERE})", ["what", "found", "plan"], lines)


def _say_names(found: "Sequence[PlacesFound]") -> None:
    """Prints names that the public list does not have, and what each is most like."""
    names = [(one, places.what) for places in found for one in places.names]
    if not names:
        return
    names.sort(key=lambda named: -named[0].rows)
    table(
        "Names of places that are not listed (your screen only)",
        ["name", "#rows", "as", "most like"],
        [[one.name, f"{one.rows:,}", what, one.nearest or ""] for one, what in names[:_SHOWN]],
    )
    more = f"{len(names) - _SHOWN:,} more are not shown. " if len(names) > _SHOWN else ""
    say(f"{more}A file of them that the plan reads: hushway check PLAN --aliases aliases.csv")


def _of(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})"


def _times(times: "TimesFound") -> list[list[str]]:
    first, last = times.window
    used = [hour for hour, rows in enumerate(times.hours) if rows]
    opens, closes = (f"{m // _HOUR_MINUTES:02d}:{m % _HOUR_MINUTES:02d}" for m in times.service)
    return [
        ["days", f"{times.first_day} to {times.last_day}", f"{first} to {last}"],
        ["days of the window with rows", f"{times.days_with_rows:,}", f"{times.window_days:,}"],
        ["hours of the day", f"{used[0]:02d}:00 to {used[-1] + 1:02d}:00", f"{opens} to {closes}"],
    ]


def _people(people: "PeopleFound") -> list[list[str]]:
    counts = [f"{share} have at most {n:,}" for share, n in people.quantiles.items()][:-1]
    most = people.quantiles.get("most")
    spread = "none" if most is None else f"{', '.join(counts)}; the most is {most:,}"
    return [
        ["people", f"{people.people:,}", ""],
        ["rows of a person", spread, ""],
        ["ids with implausibly many rows", f"{people.implausible_ids:,}", f"{people.plausible:,}"],
    ]


def _limit(limit: "LimitFound") -> list[str]:
    above = f"{limit.owners_above:,} of {limit.owners:,} exceed it"
    return [
        f"contribution limit {limit.option}",
        f"{above}; it leaves out {limit.cut_off:.1%} of the {limit.what}",
        f"{limit.limit:,}",
    ]


def publish(
    plan: PlanFile,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Spend without asking first.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Do all but spend: check plan, rows, place and account."),
    ] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Spend even if next to nothing would be known.")
    ] = False,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Spend budget on a release, measure it with noise, and write the release folder."""
    from hushway.cli.keys import ask_passphrase
    from hushway.release.wording import claim_text, guarantee
    from hushway.steward.facts import dry_run_facts, published_facts
    from hushway.steward.price_tag import Price
    from hushway.steward.publish import publish as publish_plan

    with working() as show:
        done = publish_plan(
            plan,
            dry_run=dry_run,
            anyway=anyway,
            progress=show,
            tell=notice,
            passphrase=ask_passphrase,
            confirm=partial(_confirm, ask=not (yes or dry_run)),
            step=step,
        )
    if isinstance(done, Price):
        if as_json:
            answer_json(dry_run_facts(done))
        else:
            say(f"{_what_it_takes(done)} Nothing was spent: this was a dry run.")
        return
    if as_json:
        answer_json(published_facts(done))
        return
    certificate = done.certificate
    if certificate.banner:
        say(f"{certificate.banner}. {guarantee(certificate)}")
    say(f"Published {certificate.release_id} in {done.folder}: {claim_text(certificate)}.")
    say(f"Check it with: hushway verify {done.folder}")


def _confirm(job: "Job", *, ask: bool) -> None:
    """Prints warnings, and asks whether to spend."""
    from hushway.cli.keys import notice_old_encryption
    from hushway.engine.spilling import spill_notes
    from hushway.steward.ledger import connect

    with connect(job) as book:
        say_cautions(book.cautions())
    notes = spill_notes(job.plan.engine.encrypt_spills)
    say_cautions([f"{note.message} {note.advice}" for note in notes])
    key = job.plan.release.signing_key
    notice_old_encryption(job.plan.path(key) if key else None)
    if ask:
        ask_to_spend(job)


def ask_to_spend(job: "Job") -> None:
    """Names the budget and asks whether to spend it, if the account can.

    Raises:
        BudgetError: There is no terminal to ask on.
        Exit: The answer is no.
    """
    from hushway.steward.price_tag import price_tag

    tag = price_tag(job)
    if not tag.affordable:
        # What follows refuses it, and says why.
        return
    if not has_terminal():
        raise BudgetError(
            "Budget would be spent, and there is no terminal on which to ask whether that is "
            "meant. Nothing was spent.",
            advice="Say so with --yes: hushway publish PLAN --yes. --dry-run does all but spend.",
        )
    notice(_what_it_takes(tag))
    try:
        agreed = typer.confirm("Spend it?", err=True)
    except typer.Abort:  # Ctrl-C, or end of input
        agreed = False
    if not agreed:
        notice("Nothing was spent.")
        raise typer.Exit(1)


def has_terminal() -> bool:
    """Whether a person sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _what_it_takes(tag: "Price") -> str:
    """Says what a release that can be afforded takes out of its account."""
    from hushway.steward.facts import large_delta_text

    account, charge, privacy = tag.account, tag.charge, tag.job.plan.privacy
    assert account is not None and charge is not None  # noqa: S101, PT018  it is affordable
    warning = f"{large_delta_text(privacy)} " if privacy.large_delta else ""
    return (
        f"{warning}This release takes {account.budget_limit.measure.symbol} = {number(charge)} "
        f"out of account {tag.job.account}, for good: {number(account.remaining)} of its budget "
        f"limit of {number(account.budget_limit.amount)} is left, and "
        f"{number(account.remaining - charge)} will be."
    )
