"""What is said before budget is spent: how much, of which account, and whether it is meant."""

import sys
from typing import TYPE_CHECKING

import typer

from hushway.cli.screen import answer_json, notice, number, say, say_cautions, working
from hushway.errors import BudgetError
from hushway.facts.price import large_delta_text

if TYPE_CHECKING:
    from hushway.privacy.signing import Passphrase
    from hushway.release.job import Job
    from hushway.release.plans.sections import AnyPlan
    from hushway.steward.price import Price


def ask_to_spend(job: "Job") -> None:
    """Names the budget and asks whether to spend it; not where the account cannot.

    Raises:
        BudgetError: Nobody is there to answer.
        Exit: The answer is no.
    """
    from hushway.steward.price import price

    tag = price(job)
    if not tag.affordable:
        # What follows refuses it, and says why.
        return
    if not somebody_answers():
        raise BudgetError(
            "Budget would be spent, and there is no terminal on which to ask whether that is "
            "meant. Nothing was spent.",
            advice="Say so with --yes: hushway publish PLAN --yes. --dry-run does all but spend.",
        )
    notice(_what_it_takes(job, tag))
    if not _agreed():
        notice("Nothing was spent.")
        raise typer.Exit(1)


def say_spills(plan: "AnyPlan") -> None:
    """Says that rows may lie on disk unencrypted, if the plan leaves that open."""
    from hushway.engine.spilling import spill_notes

    notes = spill_notes(plan.engine.encrypt_spills)
    say_cautions([f"{note.message} {note.advice}" for note in notes])


def _agreed() -> bool:
    try:
        return typer.confirm("Spend it?", err=True)
    except typer.Abort:  # Ctrl-C, or nothing more to read
        return False


def somebody_answers() -> bool:
    """Whether a person sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def say_rehearsed(job: "Job", passphrase: "Passphrase", *, as_json: bool) -> None:
    """Does all but spend, and says what would be spent."""
    from hushway.steward.publish import rehearse

    with working() as show:
        tag = rehearse(job, progress=show, passphrase=passphrase)
    account = tag.account
    if as_json:
        answer_json(
            {
                "spent": 0,
                "account": job.account,
                "measure": None if account is None else account.budget_limit.measure,
                "charge": tag.charge,
                "remaining": None if account is None else account.remaining,
            }
        )
        return
    say(f"{_what_it_takes(job, tag)} Nothing was spent: this was a dry run.")


def _what_it_takes(job: "Job", tag: "Price") -> str:
    """Says what a release that can be afforded takes out of its account."""
    account, charge = tag.account, tag.charge
    assert account is not None and charge is not None  # noqa: S101, PT018  it is affordable
    symbol = account.budget_limit.measure.symbol
    after = account.remaining - charge
    privacy = job.plan.privacy
    loudly = f"{large_delta_text(privacy)} " if privacy.large_delta else ""
    return (
        f"{loudly}This release takes {symbol} = {number(charge)} out of account {job.account}, "
        "for good: "
        f"{number(account.remaining)} of its budget limit of "
        f"{number(account.budget_limit.amount)} is left, "
        f"and {number(after)} will be."
    )
