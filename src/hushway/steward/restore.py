"""A restored ledger, and the releases that it has forgotten: read back, or charged by hand.

What a user has seen of a ledger is known to the ledger itself. What others have published since the
copy was made stands on the certificates of their releases.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.sealed import sealed_release, witness_of
from hushway.privacy.ledger import EntryKind, Ledger, LostRelease, Window
from hushway.privacy.ledger.entries import readable
from hushway.privacy.loss import cost_on
from hushway.release.folder.published_file import PERIODS
from hushway.release.folder.seal import SEAL
from hushway.release.formats.places import published_periods
from hushway.release.job import Job, window_of_periods
from hushway.release.plans.sections import TimedRowsPlan
from hushway.steward.certify import release_name

_BY_HAND = "Lost when the ledger was restored; stated by the steward"


def settle_restored(
    job: Job, ledger: Ledger, *, folders: Sequence[Path] = (), charge: Fraction | None = None
) -> Iterator[str]:
    """Charges a restored ledger for what it has lost; says what it did.

    Privacy:
        What was lost was spent. It is charged again, in full, before anything else can be spent: a
        release for its own days, and what was spent besides for the days of the plan.

    Args:
        job: A plan of the ledger; its own release is read back if there is one.
        ledger: The ledger.
        folders: Other releases of the plan's account; of a series, of any of its steps.
        charge: What was spent besides, in the currency of the plan's account.

    Raises:
        ReleaseError: A folder is not a whole release of the plan's account.
        BudgetError: Nothing is missing.
        LedgerError: Nobody knows what was lost, or the ledger is out of reach.
    """
    own = job.plan.path(job.plan.release.folder)
    places = [own, *folders] if (own / SEAL).is_file() else folders
    found = [_lost_release(job, folder) for folder in places]
    if charge is not None:
        found.append(_by_hand(job, charge))
    for entry in ledger.restore(found):
        if entry.kind == EntryKind.RESERVE:
            measure = ledger.account(entry.key).budget_limit.measure
            spent = readable(measure, entry.amount)
            yield f"{spent} of account {entry.key} is charged again for {entry.release}."
        elif entry.kind == EntryKind.RESTORE:
            yield f"Account {entry.key} has noted that the ledger was restored."


def _lost_release(job: Job, folder: Path) -> LostRelease:
    certificate, seal = sealed_release(folder)
    # Of a revision, the release that it revises: that one was charged for.
    paid = witness_of(certificate, seal.digest)
    if paid.key != job.account:
        raise ReleaseError(
            f"The release {folder.name} was charged to account {paid.key}, and the plan is of "
            f"account {job.account}.",
            advice="Name it with a plan of its own account.",
        )
    losses = [event.loss for event in certificate.terms.reserved]
    return LostRelease(
        key=paid.key,
        release=paid.release,
        amount=cost_on(losses, paid.measure),
        window=_days(job, folder),
        purpose=certificate.title,
        entry_hash=paid.entry_hash,
        reference=paid.reference,
    )


def _days(job: Job, folder: Path) -> Window:
    """Returns the days whose rows a release of the plan's account may have counted.

    Raises:
        ReleaseError: It is of a series, elsewhere than its step would be, and names no days.
    """
    data, plan = job.plan.data, job.plan
    if job.window == Window.always():
        return job.window
    if (folder / PERIODS).is_file():
        in_service = isinstance(data, TimedRowsPlan) and data.clock == "service"
        return window_of_periods(
            published_periods(folder), clock="service" if in_service else job.window.clock
        )
    if plan.series is not None and folder != plan.path(plan.release.folder):
        raise ReleaseError(
            f"The release {folder.name} holds no times, so that it is not known which "
            f"{plan.series.step} it is of.",
            advice="Put it where the plan has the release of its step, and name the step: --step",
        )
    return job.window


def _by_hand(job: Job, charge: Fraction) -> LostRelease:
    return LostRelease(
        key=job.account,
        release=release_name("restored"),
        amount=charge,
        window=job.window,
        purpose=_BY_HAND,
    )
