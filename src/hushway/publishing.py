"""From a plan to a release folder: the only place where rows, noise, ledger and files meet."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hushway.artefact.destination import check_destination
from hushway.artefact.write import write_release
from hushway.certify import as_measured, certify, check_bounds, draft_certificate
from hushway.engine.key import BoundingKey
from hushway.errors import HushwayError
from hushway.job import Job
from hushway.job.job import Means, settings_of
from hushway.privacy.certificate import Certificate
from hushway.privacy.curator import Curator
from hushway.privacy.ledger import Ledger
from hushway.privacy.randomness import BitSource, os_source
from hushway.privacy.signing import Passphrase, SigningKey, load_signing_key
from hushway.tables.check import refuse_problems

_COUNTING = "Counting with noise"


class Progress(Protocol):
    """Told what is being done and, if known, how much of it is done (0 to 1)."""

    def __call__(self, step: str, share: float | None = None, /) -> None:
        """Takes note of a step."""
        ...


def _silent(_step: str, _share: float | None = None, /) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Published:
    """A release that was written, paid for and noted in the ledger."""

    folder: Path
    certificate: Certificate


def publish(
    job: Job,
    *,
    source: BitSource | None = None,
    progress: Progress = _silent,
    passphrase: Passphrase | None = None,
) -> Published:
    """Publishes a release: check, pay, count with noise, fit, write, note.

    Privacy:
        The ledger is charged before any row is counted, and keeps the charge whatever happens
        afterwards. With a `source` that is not private the release is stamped NOT PRIVATE.

    Args:
        job: The prepared plan.
        source: Random bits; the operating system's unless a test gives its own.
        progress: Told in a few words what is being done.
        passphrase: Asked for the signing key's passphrase if it has one.

    Raises:
        HushwayError: Something was wrong; the message says what, and what to do.
    """
    source = os_source() if source is None else source
    folder = job.plan.path(job.plan.release.folder)
    key = _signing_key(job, passphrase)
    check_destination(folder, job.geography.size)
    job.check_writable()
    settings = settings_of(job.plan)
    progress(f"Checking the {job.wording.rows}")
    refuse_problems(job.rows.check(settings, notes=False))
    bounding = BoundingKey.draw(source)
    means = Means(
        key=bounding,
        bits=source,
        settings=settings,
        progress=lambda share: progress(_COUNTING, share),
    )
    counter = job.rows.counter(means)
    check_bounds(job, counter)
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        draft = draft_certificate(job, ledger.account(job.account), source)
        reservation = ledger.reserve(
            job.account,
            release=draft.release_id,
            losses=job.mechanism.losses,
            purpose=draft.title,
            window=job.window,
            secret=bounding.to_text(),
        )
        try:
            curator = Curator(counter=counter, budget=reservation, source=source)
            table = _measure(job, curator, progress)
            certificate = certify(
                draft,
                terms=as_measured(draft.terms, curator.events, adaptive=job.mechanism.adaptive),
                account=ledger.account(job.account),
                entry_hash=reservation.entry_hash,
            )
            write_release(
                folder, table=table, certificate=certificate, signing_key=key, progress=progress
            )
        except BaseException as failure:
            # Also when interrupted: the money is spent, and the ledger should say what for.
            with suppress(HushwayError):
                ledger.abandon(reservation, reason=f"failed: {type(failure).__name__}")
            raise
        ledger.publish(reservation, reference=certificate.digest)
    return Published(folder=folder, certificate=certificate)


def _measure(job: Job, curator: Curator, progress: Progress) -> Any:
    progress(_COUNTING)
    measured = job.mechanism.measure(curator, job.geography)
    progress("Fitting")
    return job.mechanism.fit(measured, job.geography)


def _signing_key(job: Job, passphrase: Passphrase | None) -> SigningKey | None:
    name = job.plan.release.signing_key
    return None if name is None else load_signing_key(job.plan.path(name), passphrase=passphrase)
