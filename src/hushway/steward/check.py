"""The verb `check`: what the rows are like, and everything that `publish` would refuse."""

from contextlib import ExitStack
from dataclasses import replace

from hushway.engine.spilling import spill_notes
from hushway.errors import BudgetError, HushwayError, LedgerError
from hushway.privacy.ledger import Ledger
from hushway.privacy.ledger.connection import refuse_creation
from hushway.privacy.randomness import os_source
from hushway.privacy.signing import Passphrase
from hushway.progress import Progress, quiet
from hushway.release.job import Job
from hushway.steward.jobs import PlanLike, job_of
from hushway.steward.preflight import Preflight, Refusal
from hushway.tables.check import UNOPENED, Problem, RowsChecked


def check(
    plan: PlanLike, *, progress: Progress = quiet, passphrase: Passphrase | None = None
) -> RowsChecked:
    """Returns what the rows are like, and everything for which a release would be refused.

    It asks all that `publish` asks before it spends, by the same code. An account that is still to
    be opened is no refusal here: a check usually comes first.

    Privacy:
        It counts rows: what it returns is for the steward's own eyes, and none of it is released.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        progress: Told in a few words what is being done.
        passphrase: Asked for the signing key's passphrase if it has one.

    Raises:
        DataError: The rows cannot even be looked at.

    Example:
        >>> [problem.kind for problem in hushway.check("plan.toml").everything if problem.refused]
        []
    """
    job = job_of(plan, rows=True)
    with ExitStack() as stack:
        ledger, closed = _ledger_of(job)
        if ledger is not None:
            stack.enter_context(ledger)
        preflight = Preflight(
            job=job,
            ledger=ledger,
            source=os_source(),
            passphrase=passphrase,
            progress=progress,
            notes=True,
            may_open=True,
        )
        refusals = [*closed, *preflight.refusals()]
    return _with(refusals, preflight)


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
