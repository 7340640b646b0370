"""The certificate of a release: drafted before it is charged for, completed when measured."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

from hushway.errors import PrivacyError
from hushway.privacy.accounting import best_epsilon
from hushway.privacy.certificate import (
    SOFTWARE,
    AccountStatement,
    Certificate,
    EpsilonDelta,
    Randomness,
    Terms,
)
from hushway.privacy.curator import bound_of
from hushway.privacy.events import Event
from hushway.privacy.ledger import Account
from hushway.privacy.loss import PureLoss, cost_on, total
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource, os_source
from hushway.release.job import Job
from hushway.release.mechanism import Measurements
from hushway.release.plans.sections import LossPlan

# A second epsilon that differs in the third digit only confuses.
_WORTH_SAYING = 0.99
# The hash of an entry that is still to be written.
_NO_ENTRY = "sha256:" + "0" * 64


def draft_certificate(job: Job, account: Account, source: BitSource) -> Certificate:
    """Writes the certificate of a release before it is charged for, from public facts alone.

    Whatever cannot stand on a certificate is refused here, while it costs nothing.
    """
    plan, terms = job.plan, job.terms
    moment = datetime.now(UTC)
    cost = cost_on(job.mechanism.losses, account.budget_limit.measure)
    draft = Certificate(
        release_id=release_name(plan.release_type, moment),
        title=plan.release.title,
        terms=terms,
        epsilon_delta=_epsilon_delta(terms.events, plan.privacy),
        randomness=Randomness(source=source.name, private=source.private),
        tuning=plan.release.parameters_chosen,
        account=_statement(account, also=cost, entry_hash=_NO_ENTRY),
        software=SOFTWARE,
        created_at=moment.isoformat(timespec="seconds"),
        approver=plan.release.approver,
        publisher=plan.release.publisher,
        contact=plan.release.contact,
        licence=plan.release.licence,
        region=plan.release.region,
        intended_use=plan.release.intended_use,
    )
    draft.check_epsilon_delta()
    return draft


def check_bounds(job: Job, counter: Counter) -> None:
    """Makes sure that whoever counts bounds every question as the certificate says.

    Raises:
        PrivacyError: It states another bound, for which the noise would be wrong.
    """
    queries = job.mechanism.queries(job.geography)
    stated = [bound_of(counter, query) for query in queries]
    if counter.unit is not job.terms.unit or stated != [event.bound for event in job.terms.events]:
        raise PrivacyError(
            "The engine bounds contributions otherwise than the certificate would say.",
            advice="Report this as a bug; nothing was spent.",
        )


def as_measured(job: Job, measured: Measurements, events: Sequence[Event]) -> Terms:
    """Returns the terms of what was measured, which must be what was announced.

    The claim stays that of all that was reserved: a mechanism that goes by noisy answers may stop
    early, and what it then did not measure stands apart; or it may divide its budget by them, and
    then spends all of it.

    Raises:
        PrivacyError: Something else was measured.
    """
    terms = job.terms
    if job.settled_terms is not None:
        terms = job.settled_terms(measured)
    elif job.mechanism.adaptive:
        terms = terms.measured([event.cells for event in events])
    if terms.events != tuple(events) or terms.claim != job.terms.claim:
        raise PrivacyError(
            "Something else was measured than the plan says.",
            advice="Report this as a bug; nothing was published.",
        )
    return terms


def certify(draft: Certificate, *, terms: Terms, account: Account, entry_hash: str) -> Certificate:
    """Completes a draft with what was measured, and with the entry that charged for it."""
    return replace(
        draft,
        terms=terms,
        account=_statement(account, also=Fraction(0), entry_hash=entry_hash),
    )


def release_name(kind: str, moment: datetime | None = None) -> str:
    """Names a release once and for all, also when its noise can be drawn again from a seed.

    In small letters, as the ledger writes names.

    Args:
        kind: What the name begins with: the release type.
        moment: When it was made; now, if left out.
    """
    moment = moment or datetime.now(UTC)
    return f"{kind}-{moment:%Y%m%dt%H%M%Sz}-{int(os_source().words(1)[0]):016x}"


def _statement(account: Account, *, also: Fraction, entry_hash: str) -> AccountStatement:
    span = account.span
    return AccountStatement(
        dataset=account.key.dataset,
        period=account.key.period,
        measure=account.budget_limit.measure,
        spent=account.spent + also,
        budget_limit=account.budget_limit.amount,
        ledger_entry=entry_hash,
        span=None if span is None else span.to_text(),
        lifetime=None if span is None else account.lifetime + also,
    )


def _epsilon_delta(events: Sequence[Event], plan: LossPlan) -> EpsilonDelta | None:
    """States (epsilon, delta) if asked for, and if it says more than the pure sum does."""
    delta = plan.delta
    if delta is None:
        return None
    found = best_epsilon(events, delta)
    claim = total(event.loss for event in events)
    hardly_less = isinstance(claim, PureLoss) and found.epsilon > _WORTH_SAYING * claim.epsilon
    if found.method == "pure" or hardly_less:
        return None
    millionths = max(1, math.ceil(found.epsilon * 10**6))
    return EpsilonDelta(
        epsilon=f"{millionths / 10**6:.6f}",
        delta=str(delta),
        method=found.method,
        people=plan.people,
    )
