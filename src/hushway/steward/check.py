"""The verb `check`: what the rows are like, and everything that `publish` would refuse."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from hushway.engine.spilling import spill_notes
from hushway.errors import BudgetError, HushwayError, LedgerError
from hushway.privacy.ledger import Ledger
from hushway.privacy.ledger.connection import refuse_creation
from hushway.privacy.randomness import os_source
from hushway.privacy.signing import Passphrase
from hushway.progress import Progress, quiet
from hushway.release.job import Job
from hushway.steward.aliases import write_aliases
from hushway.steward.jobs import PlanLike, job_of
from hushway.steward.learning import learning
from hushway.steward.preflight import Preflight, Refusal
from hushway.steward.worth import worth_of_rows
from hushway.tables.check import UNOPENED, Problem, RowsChecked

# A thousand places by hour of a day have half as many.
_MANY_CELLS: Final = 50_000_000


def check(
    plan: PlanLike,
    *,
    aliases: Path | None = None,
    progress: Progress = quiet,
    passphrase: Passphrase | None = None,
    step: str | None = None,
) -> RowsChecked:
    """Returns what the rows are like, and everything for which a release would be refused.

    It asks all that `publish` asks before it spends, by the same code. An account that is still to
    be opened is no refusal here: a check usually comes first.

    Privacy:
        It counts rows: what it returns is for the steward's own eyes, and none of it is released.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        aliases: Where to write names of places that are not listed, with what each is most like;
            the plan's file will name it.
        progress: Told in a few words what is being done.
        passphrase: Asked for the signing key's passphrase if it has one.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        DataError: The rows cannot even be looked at.

    Example:
        >>> [problem.kind for problem in hushway.check("plan.toml").everything if problem.refused]
        []
    """
    job = job_of(plan, rows=True, step=step)
    with ExitStack() as stack:
        ledger, closed = _ledger_of(job)
        if ledger is not None:
            stack.enter_context(ledger)
        preflight = Preflight(
            job=learning(job, ledger, progress),
            ledger=ledger,
            source=os_source(),
            passphrase=passphrase,
            progress=progress,
            notes=True,
            may_open=True,
        )
        refusals = [*closed, *preflight.refusals()]
    checked = _with(refusals, preflight)
    if not any(problem.refused for problem in checked.everything):
        foreseen = worth_of_rows(job, checked, progress=progress)
        checked = replace(checked, worth=foreseen.sentence)
    if aliases is not None:
        write_aliases(plan, checked, aliases)
    return checked


def universe_of(job: Job) -> str:
    """Says how many places, periods and cells a plan has, before its rows are read."""
    if job.geography.size <= _MANY_CELLS:
        return job.wording.universe
    return (
        f"{job.wording.universe} So many cells are rarely meant, and take long: fewer places do "
        'with gtfs_places = "stations", group = "zone" or a shorter list, fewer periods with '
        "longer ones."
    )


def _ledger_of(job: Job) -> tuple[Ledger | None, list[Refusal]]:
    """Returns the ledger, none if it is still to be made; and why it cannot be used or made."""
    url = job.plan.ledger_url()
    try:
        try:
            return Ledger.connect(url, create=False), []
        except BudgetError:
            refuse_creation(url)
    except LedgerError as problem:
        return None, [Refusal(subject="ledger", error=problem)]
    return None, []


def _with(refusals: list[Refusal], preflight: Preflight) -> RowsChecked:
    checked = preflight.checked
    if checked is None:
        raise next(refusal.error for refusal in refusals if refusal.subject == "rows")
    rows_refused = any(problem.refused for problem in checked.everything)
    told = [
        _problem(refusal.subject, refusal.error)
        for refusal in refusals
        # What is wrong with the rows is there already, one by one and with their number.
        if not (rows_refused and refusal.subject == "rows")
    ]
    if preflight.unopened and not any(refusal.subject == "ledger" for refusal in refusals):
        told.append(_unopened(preflight.job))
    notes = spill_notes(preflight.job.plan.engine.encrypt_spills)
    return replace(
        checked,
        problems=(*checked.problems, *notes),
        verdicts=(*told, *checked.verdicts),
    )


def _problem(subject: str, error: HushwayError) -> Problem:
    return Problem(
        kind=subject, message=str(error), count=None, advice=error.advice, severity="refuse"
    )


def _unopened(job: Job) -> Problem:
    return Problem(
        kind=UNOPENED,
        message=f"Account {job.account} is not open yet.",
        count=None,
        advice="Before publishing, open it once: hushway ledger open PLAN --epsilon LIMIT",
        severity="warn",
    )
