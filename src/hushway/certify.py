"""The words and numbers of a certificate."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from hushway import __version__
from hushway.errors import PrivacyError
from hushway.job import Job
from hushway.privacy.accounting import best_epsilon
from hushway.privacy.certificate import (
    AccountStatement,
    Certificate,
    Contribution,
    Domain,
    EpsilonDelta,
    MechanismRecord,
    Randomness,
)
from hushway.privacy.events import Event
from hushway.privacy.ledger import Account
from hushway.privacy.loss import PureLoss, amount_in, total
from hushway.privacy.randomness import BitSource, os_source

_SAMPLER = "certified inversion tables of the discrete Laplace and discrete Gaussian laws"
_FLOATING_POINT = (
    "Counts and noise are whole numbers; every comparison that shapes a law is between whole "
    "numbers, and ties are settled with more random bits. No float takes part before the noise is "
    "in; what follows is post-processing."
)
_TUNING = "The plan's parameters were chosen without looking at the protected rows; tuning cost 0."
# A second epsilon that differs in the third digit only confuses.
_WORTH_SAYING = 0.99


def draft_certificate(job: Job, account: Account, source: BitSource) -> Certificate:
    """Writes the certificate of a release before it is paid for, from public facts alone.

    Whatever cannot stand on a certificate is refused here, while it costs nothing.
    """
    plan = job.plan
    events = job.mechanism.events(job.geography, job.bound)
    claim = total(event.loss for event in events)
    moment = datetime.now(UTC)
    return Certificate(
        release_id=_release_id(plan.family, moment),
        title=plan.release.title,
        family=plan.family,
        mechanism=MechanismRecord(name=job.mechanism.name, parameters=job.mechanism.parameters),
        unit=plan.privacy.unit,
        contribution=Contribution(words=job.wording.contribution, limits=job.wording.limits),
        events=events,
        claim=claim,
        epsilon_delta=_epsilon_delta(events, plan.privacy.delta),
        domain=Domain(
            cells=job.geography.name,
            size=job.geography.size,
            digest=job.geography.digest,
            assumed_public=job.wording.assumed_public,
        ),
        not_protected=job.wording.not_protected,
        randomness=Randomness(sampler=_SAMPLER, source=source.name, private=source.private),
        floating_point=_FLOATING_POINT,
        tuning=_TUNING,
        post_processing=job.mechanism.post_processing,
        error=job.wording.error,
        account=_statement(
            account, spent=account.spent + amount_in(claim, account.cap.measure), entry_hash="draft"
        ),
        software=f"hushway {__version__}",
        created_at=moment.isoformat(timespec="seconds"),
        approver=plan.release.approver,
    )


def _release_id(family: str, moment: datetime) -> str:
    """Names a release once and for all, also when its noise can be drawn again from a seed.

    In small letters, as the ledger writes names.
    """
    return f"{family}-{moment:%Y%m%dt%H%M%Sz}-{int(os_source().words(1)[0]):016x}"


def certify(
    draft: Certificate, *, events: tuple[Event, ...], account: Account, entry_hash: str
) -> Certificate:
    """Completes a draft with what was really charged, and with the entry that paid for it.

    A mechanism that goes by noisy answers may stop early: then the certificate claims what was
    charged, and the ledger keeps what was reserved.
    """
    claim = total(event.loss for event in events)
    delta = None if draft.epsilon_delta is None else Fraction(draft.epsilon_delta.delta)
    return replace(
        draft,
        events=events,
        claim=claim,
        epsilon_delta=_epsilon_delta(events, delta),
        account=_statement(account, spent=account.spent, entry_hash=entry_hash),
    )


def check_as_planned(
    planned: tuple[Event, ...], charged: tuple[Event, ...], *, adaptive: bool
) -> None:
    """Makes sure that what was measured is what was announced.

    Raises:
        PrivacyError: Something else was measured.
    """
    announced = planned[: len(charged)] if adaptive else planned
    if adaptive:
        announced = tuple(
            replace(event, cells=done.cells)
            for event, done in zip(announced, charged, strict=False)
        )
    if announced != charged or not charged:
        raise PrivacyError(
            "Something else was measured than the plan says.",
            advice="Report this as a bug; nothing was published.",
        )


def _statement(account: Account, *, spent: Fraction, entry_hash: str) -> AccountStatement:
    return AccountStatement(
        dataset=account.key.dataset,
        period=account.key.period,
        measure=account.cap.measure,
        spent=spent,
        cap=account.cap.amount,
        ledger_entry=entry_hash,
    )


def _epsilon_delta(events: Sequence[Event], delta: Fraction | None) -> EpsilonDelta | None:
    """States (epsilon, delta) if asked for, and if it says more than the pure sum does."""
    if delta is None:
        return None
    found = best_epsilon(events, delta)
    claim = total(event.loss for event in events)
    hardly_less = isinstance(claim, PureLoss) and found.epsilon > _WORTH_SAYING * claim.epsilon
    if found.method == "pure" or hardly_less:
        return None
    millionths = max(1, math.ceil(found.epsilon * 10**6))
    return EpsilonDelta(epsilon=f"{millionths / 10**6:.6f}", delta=str(delta), method=found.method)
