"""A restored ledger, and the releases that it has forgotten: read back, or charged by hand.

What a user has seen of a ledger is known to the ledger itself. What others have published since the
copy was made stands on the certificates of their releases.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.sealed import sealed_release
from hushway.privacy.ledger import AccountKey, EntryKind, Ledger, LostRelease
from hushway.privacy.ledger.entries import readable
from hushway.privacy.loss import cost_on
from hushway.release.folder.seal import SEAL
from hushway.release.job import Job
from hushway.steward.certify import release_name

_BY_HAND = "Lost when the ledger was restored; stated by the steward"


def settle_restored(
    job: Job, ledger: Ledger, *, folders: Sequence[Path] = (), charge: Fraction | None = None
) -> Iterator[str]:
    """Charges a restored ledger for what it has lost; says what it did.

    Privacy:
        What was lost was spent. It is charged again, in full, for the days of the plan, before
        anything else can be spent.

    Args:
        job: A plan of the ledger; its own release is read back if there is one.
        ledger: The ledger.
        folders: Other releases of the plan's account and days.
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
    account = certificate.account
    key = AccountKey(dataset=account.dataset, unit=certificate.terms.unit, period=account.period)
    if key != job.account:
        raise ReleaseError(
            f"The release {folder.name} was charged to account {key}, and the plan is of account "
            f"{job.account}.",
            advice="Name it with a plan of its own account and days.",
        )
    losses = [event.loss for event in certificate.terms.reserved]
    return LostRelease(
        key=key,
        release=certificate.release_id,
        amount=cost_on(losses, account.measure),
        window=job.window,
        purpose=certificate.title,
        entry_hash=account.ledger_entry,
        reference=seal.digest,
    )


def _by_hand(job: Job, charge: Fraction) -> LostRelease:
    return LostRelease(
        key=job.account,
        release=release_name("restored"),
        amount=charge,
        window=job.window,
        purpose=_BY_HAND,
    )
