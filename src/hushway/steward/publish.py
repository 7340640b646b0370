"""The verb `publish`: the only place where rows, noise, ledger and files meet."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from hushway.errors import BudgetError, ReleaseError, Told
from hushway.families.load import prepare
from hushway.families.write import publishable, write_sealed
from hushway.interruption import NOTHING_SPENT, stands, undisturbed
from hushway.privacy.certificate import Certificate
from hushway.privacy.curator import Curator
from hushway.privacy.ledger import Ledger
from hushway.privacy.ledger.entries import readable
from hushway.privacy.randomness import BitSource, os_source
from hushway.privacy.signing import Passphrase
from hushway.progress import Progress, quiet
from hushway.release.folder.answers import answers_parquet, keeping
from hushway.release.folder.grounded import on_ground
from hushway.release.folder.place import Place, claimed, hidden_folder, refuse_taken
from hushway.release.job import Job
from hushway.release.plans.missing import refuse_missing
from hushway.steward.certify import as_measured, certify
from hushway.steward.jobs import PlanLike, plan_of
from hushway.steward.learning import learning
from hushway.steward.preflight import COUNTING, Preflight, Ready
from hushway.steward.price_tag import Price, price_tag
from hushway.steward.settle import Outcome, entries_of, settle_place
from hushway.steward.worth import worth_of_rows
from hushway.tables.check import RowsChecked
from hushway.warming.background import Compiling, rehearsal_of


@dataclass(frozen=True, kw_only=True)
class Published:
    """A release that was written, spent on and noted in the ledger."""

    folder: Path
    certificate: Certificate


@overload
def publish(
    plan: PlanLike,
    *,
    dry_run: Literal[False] = False,
    anyway: bool = False,
    source: BitSource | None = None,
    progress: Progress = quiet,
    tell: Callable[[str], None] | None = None,
    passphrase: Passphrase | None = None,
    confirm: Callable[[Job], None] | None = None,
    step: str | None = None,
) -> Published: ...


@overload
def publish(
    plan: PlanLike,
    *,
    dry_run: bool,
    anyway: bool = False,
    source: BitSource | None = None,
    progress: Progress = quiet,
    tell: Callable[[str], None] | None = None,
    passphrase: Passphrase | None = None,
    confirm: Callable[[Job], None] | None = None,
    step: str | None = None,
) -> Published | Price: ...


def publish(  # noqa: PLR0913  how it spends, and who is told and asked
    plan: PlanLike,
    *,
    dry_run: bool = False,
    anyway: bool = False,
    source: BitSource | None = None,
    progress: Progress = quiet,
    tell: Callable[[str], None] | None = None,
    passphrase: Passphrase | None = None,
    confirm: Callable[[Job], None] | None = None,
    step: str | None = None,
) -> Published | Price:
    """Publishes a release: check, claim its place, spend, count with noise, fit, write, note, show.

    It does not ask: whoever calls it has decided to spend.

    Privacy:
        The ledger is charged before any row is counted, and keeps the charge whatever happens
        afterwards. With a `source` that is not private the release is stamped NOT PRIVATE. Rows
        that the plan refuses, or of which too many cannot be counted, are refused before that: it
        costs nothing, and tells whoever sees it that they were.

    Args:
        plan: A plan's file, a plan, or a prepared job. For the first two, machine code is compiled
            by other processes while rows are checked.
        dry_run: Whether to do all but spend, and return the price.
        anyway: Whether to spend even if next to nothing would be known; nobody looks then.
        source: Random bits; the operating system's unless a test gives its own.
        progress: Told in a few words what is being done.
        tell: Told what would be known, before anything is spent: for the steward's own screen.
        passphrase: Asked for the signing key's passphrase if it has one.
        confirm: Called with the prepared job before anything else; raises to stop.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        HushwayError: Something was wrong; the message says what, and what to do.
    """
    with contextlib.ExitStack() as stack:
        read = plan_of(plan, step=step)
        if isinstance(plan, Job):
            job, wait = plan, None
        else:
            refuse_missing(read, rows=True)
            wait = stack.enter_context(Compiling(rehearsal_of(read))).wait
            job = prepare(read, rows=True)
        if confirm is not None:
            confirm(job)

        def foresee(checked: RowsChecked, alone: Job = job) -> None:
            if wait is not None:
                wait(progress)
            if not anyway:
                _refuse_nothing(alone, checked, progress, tell)

        with Ledger.connect(job.plan.ledger_url(), create=False) as ledger:
            if not dry_run:
                _tidy_up(job, ledger)
            job = learning(job, ledger, progress)
            ready = Preflight(
                job=job,
                ledger=ledger,
                source=source or os_source(),
                passphrase=passphrase,
                progress=progress,
                foresee=foresee,
            ).ready()
            if dry_run:
                return price_tag(job)
            certificate = _spend(job, ledger, ready, progress)
        return Published(folder=job.plan.path(job.plan.release.folder), certificate=certificate)


def _tidy_up(job: Job, ledger: Ledger) -> None:
    """Refuses a ledger of old, and settles what an earlier publish to the same place has left."""
    folder = job.plan.path(job.plan.release.folder)
    ledger.refuse_restored()
    if os.path.lexists(hidden_folder(folder)):
        with claimed(folder) as place:
            _finish_what_was_left(place, ledger)


def _refuse_nothing(
    job: Job, checked: RowsChecked, progress: Progress, tell: Callable[[str], None] | None
) -> None:
    """Refuses to spend on a release of which next to nothing would be known.

    Privacy:
        That it is refused tells of the number of rows. The sentence does so, too, and is a note:
        no log has it.

    Raises:
        BudgetError: That little would be.
    """
    foreseen = worth_of_rows(job, checked, progress=progress)
    if foreseen.nothing:
        # The workbench knows these first words, and asks once more.
        little = "Next to nothing would be known of "
        little += (
            "single figures, by noise alone; it is too large to try what sums would say."
            if foreseen.known is None
            else "this release."
        )
        refusal = BudgetError(
            f"{little} Nothing was spent.",
            advice="hushway recommend PLAN proposes coarser places and periods. To spend all the "
            "same, say so: --anyway.",
        )
        refusal.add_note(Told(foreseen.sentence))
        raise refusal
    if tell is not None and foreseen.sentence:
        tell(f"What will be known (your screen only): {foreseen.sentence}")


def _spend(job: Job, ledger: Ledger, ready: Ready, progress: Progress) -> Certificate:
    """Claims the release's place, spends, and lets the release appear there.

    Privacy:
        The whole loss of the mechanism is reserved before the curator exists.
    """
    draft = ready.draft
    with claimed(job.plan.path(job.plan.release.folder)) as place:
        # Somebody may have published there, and been killed, since it was looked at.
        _finish_what_was_left(place, ledger)
        refuse_taken(place.folder)
        place.begin(draft.release_id)
        stands(_unknown(draft.release_id))
        with _accounted_for(ledger, draft.release_id, place):
            reservation = ledger.reserve(
                job.account,
                release=draft.release_id,
                losses=job.mechanism.losses,
                purpose=draft.title,
                window=job.window,
                secret=ready.bounding.to_text(),
            )
            curator = Curator(counter=ready.counter, budget=reservation, source=ready.source)
            progress(COUNTING)
            measured = job.mechanism.measure(curator, job.geography)
            progress("Fitting")
            table = job.mechanism.fit(measured, job.geography)
            certificate = certify(
                draft,
                terms=as_measured(job, measured, curator.events),
                account=ledger.account(job.account, job.window),
                entry_hash=reservation.entry_hash,
            )
            contents = on_ground(publishable(table, certificate), ready.ground)
            kept = curator.kept_answers if job.plan.release.noisy_answers else None
            seal = write_sealed(
                place,
                contents=keeping(contents, answers_parquet(kept)),
                certificate=certificate,
                signing_key=ready.key,
                progress=progress,
            )
            with undisturbed():
                ledger.publish(reservation, reference=seal)
                place.appear()
                spent = readable(reservation.measure, reservation.amount)
                stands(
                    _published(
                        f"{spent} of account {job.account} is spent", draft.release_id, place
                    )
                )
    return certificate


def _finish_what_was_left(place: Place, ledger: Ledger) -> None:
    """Settles what an earlier publish to the same place has left.

    Raises:
        ReleaseError: That has put a whole release there, so that there is no room for another.
    """
    settled = settle_place(place, ledger)
    if settled.outcome is Outcome.FINISHED:
        raise ReleaseError(
            f"An earlier publish to {place.folder.name} was interrupted just before its end. "
            f"Its release {settled.release} has taken its place now.",
            advice="Nothing was spent by this call. For another release, name another folder.",
        )


@contextlib.contextmanager
def _accounted_for(ledger: Ledger, release: str, place: Place) -> Iterator[None]:
    """Says what was spent if something fails, and lets the ledger say what became of it."""
    try:
        yield
    except BaseException as failure:
        with undisturbed():
            try:
                story = _account_for(ledger, release, place, type(failure).__name__)
            except Exception:  # noqa: BLE001  with no memory left even the ledger may not answer
                place.remember()
                story = f"The ledger does not answer. {_unknown(release)}"
            failure.add_note(Told(story))
            stands(story)
        raise


def _unknown(release: str) -> str:
    return (
        f"It is not known whether {release} was spent for: hushway ledger settle PLAN, or the next "
        "publish to the same folder, finds out."
    )


def _published(spent: str, release: str, place: Place) -> str:
    return f"{spent}, and the release {release} is published in {place.folder.name}."


def _account_for(ledger: Ledger, release: str, place: Place, failure: str) -> str:
    paid, end = entries_of(ledger, release)
    if paid is None:
        return NOTHING_SPENT
    spent = readable(ledger.account(paid.key).budget_limit.measure, paid.amount)
    words = f"{spent} of account {paid.key} is spent"
    if place.has_appeared:
        return _published(words, release, place)
    if place.is_sealed:
        return (
            f"{words}. The release {release} is whole and waits beside its place: hushway ledger "
            "settle PLAN, or the next publish to the same folder, finishes it."
        )
    if end is None:
        # Also when interrupted: the money is spent, and the ledger should say what for.
        ledger.abandon(release, reason=f"failed: {failure}")
    return f"{words} for {release}, and nothing was published: hushway ledger show lists it."
