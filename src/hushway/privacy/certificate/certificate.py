"""The certificate of a release: the guarantee, in words for people and in data to recompute.

A certificate is canonical JSON: the same facts always give the same bytes, and bytes that this
module would not have written itself are refused as edited. What follows from other facts is never
taken from the file. The loss is computed from the events, the sentences on composition, sampling,
floating point and tuning stand here, and the `Terms` are computed again by a verifier from the
mechanism and the public lists. Changing one of those sentences means a new `VERSION`.

Privacy:
    A certificate is public. It carries no path, no user name and no number that was counted in the
    protected rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from hashlib import sha256
from typing import Any, ClassVar

from hushway.errors import HushwayError, PrivacyError, ReleaseError, damaged
from hushway.privacy.accounting import LARGE_DELTA, epsilon_by_pld, epsilon_by_zcdp
from hushway.privacy.bound import Unit
from hushway.privacy.certificate.parts import (
    AccountStatement,
    Contribution,
    Domain,
    EpsilonDelta,
    MechanismRecord,
    Randomness,
    canonical_json,
    check_moment,
    check_text,
    parsed_json,
    plain,
    refuse_internal,
)
from hushway.privacy.certificate.terms import Terms
from hushway.privacy.events import Event, event_from_json, event_to_json
from hushway.privacy.loss import Loss, Measure, cost_on, exact
from hushway.privacy.measured import Internal
from hushway.privacy.tuning import Tuning
from hushway.version import __version__

VERSION = 3
SOFTWARE = f"hushway {__version__}"
STAMP = "NOT PRIVATE"

# The longest plan is a tree of 200 stops in 65 granularities, and has an event for each.
MOST_EVENTS = 1 << 14

_FRACTION = re.compile(r"\d{1,4300}(/\d{1,4300})?", re.ASCII)
# Conversions are floating point: printed to six digits, and computed to nine.
_ROUNDING = 1e-9
_PRINTED = 2e-6

_COMPOSITION = {
    Measure.PURE: (
        "Adaptive sequential composition by sums of exact epsilons: the loss of the release is "
        "the sum of the epsilons of all events that were charged, also when a later question was "
        "chosen after an earlier answer was seen."
    ),
    Measure.ZCDP: (
        "Adaptive sequential composition by sums of exact rhos: the loss of the release is the sum "
        "of the rhos of all events that were charged, also when a later question was chosen after "
        "an earlier answer was seen. An event with a pure epsilon counts as a rho of epsilon "
        "squared over two."
    ),
}
# What a publisher may say about a release, and nobody can compute.
_STATED = ("publisher", "contact", "licence", "region", "approver", "intended_use")
_UNTRUSTED = "Do not trust this release; ask its publisher for one that adds up."


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The guarantee of one release.

    Attributes:
        release_id: Name of the release, unique for its publisher.
        title: What a reader calls it.
        terms: What is guaranteed, and of what.
        epsilon_delta: The claim as (epsilon, delta), when asked for.
        randomness: Where the noise came from.
        tuning: How the parameters were chosen, as far as anybody answers for it.
        account: Where the release stands in the ledger.
        software: Name and version of the software.
        created_at: When, as UTC to the second: 2026-03-01T12:00:00+00:00.
        approver: Who approved the release, if anyone is to be named.
        publisher: Who publishes it, if anyone is to be named.
        contact: Where readers may ask: a mail address or a web address.
        licence: On what terms it may be used: a name of the SPDX list or a web address.
        region: Which part of the world it describes.
        intended_use: What it is meant for.
    """

    sampler: ClassVar[str] = (
        "certified inversion tables of the discrete Laplace and discrete Gaussian laws"
    )
    floating_point: ClassVar[str] = (
        "Counts and noise are whole numbers; every comparison that shapes a law is between whole "
        "numbers, and ties are settled with more random bits. No float takes part before the noise "
        "is in; what follows is post-processing."
    )
    input_digest: ClassVar[str] = (
        "No digest of the input is published: a plain digest of private rows would let anyone "
        "confirm a guess of them."
    )
    release_id: str
    title: str
    terms: Terms
    randomness: Randomness
    tuning: Tuning = Tuning.NOT_STATED
    account: AccountStatement
    software: str
    created_at: str
    epsilon_delta: EpsilonDelta | None = None
    approver: str | None = None
    publisher: str | None = None
    contact: str | None = None
    licence: str | None = None
    region: str | None = None
    intended_use: str | None = None

    def __post_init__(self) -> None:
        for record in fields(self):
            if isinstance(getattr(self, record.name), Internal):
                refuse_internal(record.name)
        for name in ("release_id", "title", "software"):
            check_text(name.replace("_", " "), getattr(self, name))
        for name in _STATED:
            if getattr(self, name) is not None:
                check_text(name.replace("_", " "), getattr(self, name))
        check_moment(self.created_at)
        if self.tuning is Tuning.WITHOUT_THESE_ROWS and self.approver is None:
            raise PrivacyError(
                "Nobody is named who states that the parameters were chosen without the rows.",
                advice="Name the approver, or leave open how the parameters were chosen.",
            )

    @property
    def claim(self) -> Loss:
        """The loss of the release: of all events that were charged for."""
        return self.terms.claim

    @property
    def stamp(self) -> str | None:
        """NOT PRIVATE when the noise can be drawn again, else nothing."""
        return None if self.randomness.private else STAMP

    @property
    def banner(self) -> str | None:
        """What must be read before all else: NOT PRIVATE, or LARGE DELTA."""
        large = self.epsilon_delta is not None and self.epsilon_delta.is_large
        return self.stamp or (LARGE_DELTA if large else None)

    @property
    def composition(self) -> str:
        """The composition rule in words."""
        return _COMPOSITION[self.claim.measure]

    def check_epsilon_delta(self) -> None:
        """Checks that the claimed (epsilon, delta) is what the events cost."""
        if self.epsilon_delta is None:
            return
        claimed = float(exact(self.epsilon_delta.epsilon))
        recomputed = _converted(self.terms.reserved, self.epsilon_delta)
        if not recomputed * (1 - _ROUNDING) <= claimed <= recomputed * (1 + _ROUNDING) + _PRINTED:
            raise ReleaseError(
                f"At delta {self.epsilon_delta.delta} the events cost an epsilon of "
                f"{recomputed:.6g}, but the certificate claims {self.epsilon_delta.epsilon}.",
                advice=_UNTRUSTED,
            )

    def check_account(self) -> None:
        """Checks that the account has spent on this release and has not passed its limit."""
        account = self.account
        try:
            cost = cost_on((event.loss for event in self.terms.reserved), account.measure)
        except PrivacyError:
            raise ReleaseError(
                "The account is in a currency that cannot spend on this release.", advice=_UNTRUSTED
            ) from None
        if account.spent < cost:
            raise ReleaseError(
                "The account has been charged less than this release costs.",
                advice="Compare the certificate with the publisher's ledger.",
            )
        if account.spent > account.budget_limit:
            raise ReleaseError(
                "The account has passed its budget limit.",
                advice="Compare the certificate with the publisher's ledger.",
            )

    @property
    def digest(self) -> str:
        """The digest that a ledger notes when the release is published."""
        return "sha256:" + sha256(self.to_json()).hexdigest()

    def to_json(self) -> bytes:
        """Returns the canonical bytes of the certificate."""
        terms, account, conversion = self.terms, self.account, self.epsilon_delta
        return canonical_json(
            {
                "certificate_version": VERSION,
                "stamp": self.stamp,
                "release_id": self.release_id,
                "title": self.title,
                "release_type": terms.release_type,
                **{name: getattr(self, name) for name in _STATED},
                "created_at": self.created_at,
                "software": self.software,
                "mechanism": {
                    "name": terms.mechanism.name,
                    "parameters": plain("mechanism parameters", terms.mechanism.parameters),
                },
                "dp_variant": str(self.claim.measure),
                "unit": str(terms.unit),
                "adjacency": terms.unit.adjacency,
                "contribution": {
                    "words": terms.contribution.words,
                    "limits": plain("contribution limits", terms.contribution.limits),
                },
                "events": [event_to_json(event) for event in terms.events],
                "events_not_taken": [event_to_json(event) for event in terms.not_taken],
                "composition": self.composition,
                "claim": {
                    "measure": str(self.claim.measure),
                    "amount": str(self.claim.amount),
                    "epsilon_delta": None if conversion is None else conversion.to_json(),
                },
                "domain": {
                    "cells": terms.domain.cells,
                    "size": terms.domain.size,
                    "digest": terms.domain.digest,
                    "assumed_public": list(terms.domain.assumed_public),
                },
                "not_protected": list(terms.not_protected),
                "randomness": {
                    "sampler": self.sampler,
                    "source": self.randomness.source,
                    "private": self.randomness.private,
                },
                "floating_point": self.floating_point,
                "tuning": {"parameters_chosen": str(self.tuning), "words": self.tuning.sentence},
                "post_processing": list(terms.post_processing),
                "error": terms.error,
                "account": {
                    "dataset": account.dataset,
                    "period": account.period,
                    "measure": str(account.measure),
                    "spent": str(account.spent),
                    "budget_limit": str(account.budget_limit),
                    "ledger_entry": account.ledger_entry,
                    **_rolling(account),
                },
                "input_digest": {"value": None, "note": self.input_digest},
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> "Certificate":
        """Reads a certificate and refuses one that was edited."""
        facts = _certificate_facts(data)
        try:
            certificate = _certificate_of(facts)
            written = certificate.to_json()
            stated = facts["claim"]["measure"], facts["claim"]["amount"]
        except (
            HushwayError,
            ValueError,
            TypeError,
            LookupError,
            ArithmeticError,
            AttributeError,
            RecursionError,
        ):
            raise damaged("The certificate cannot be understood.") from None
        claim = certificate.claim
        if stated != (str(claim.measure), str(claim.amount)):
            raise ReleaseError(
                f"The events cost {claim.measure} {claim.amount} together, but the certificate "
                "claims something else.",
                advice=_UNTRUSTED,
            )
        if written != data:
            raise damaged("The certificate was edited after it was written.")
        return certificate


def _certificate_facts(data: bytes) -> dict[str, Any]:
    try:
        facts = parsed_json(data)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise damaged("The certificate is not JSON.")
    if facts.get("certificate_version") != VERSION:
        raise ReleaseError(
            "The certificate is of a version that this software does not know.",
            advice="Use the version of hushway that the certificate names as its software.",
        )
    return facts


def _certificate_of(facts: dict[str, Any]) -> Certificate:
    account, conversion = facts["account"], facts["claim"]["epsilon_delta"]
    return Certificate(
        release_id=facts["release_id"],
        title=facts["title"],
        **{name: facts[name] for name in _STATED},
        created_at=facts["created_at"],
        software=facts["software"],
        terms=_terms_of(facts),
        epsilon_delta=None if conversion is None else EpsilonDelta(**conversion),
        randomness=Randomness(
            source=facts["randomness"]["source"], private=facts["randomness"]["private"]
        ),
        tuning=Tuning(facts["tuning"]["parameters_chosen"]),
        account=AccountStatement(
            dataset=account["dataset"],
            period=account["period"],
            measure=Measure(account["measure"]),
            spent=_fraction(account["spent"]),
            budget_limit=_fraction(account["budget_limit"]),
            ledger_entry=account["ledger_entry"],
            span=account.get("span"),
            lifetime=_fraction(account["lifetime"]) if "lifetime" in account else None,
        ),
    )


def _rolling(account: AccountStatement) -> dict[str, str]:
    """Returns what is said of a rolling limit only."""
    if account.span is None:
        return {}
    return {"span": account.span, "lifetime": str(account.lifetime)}


def _terms_of(facts: dict[str, Any]) -> Terms:
    domain = facts["domain"]
    if len(facts["events"]) + len(facts["events_not_taken"]) > MOST_EVENTS:
        raise PrivacyError("There are more events than any plan has.", advice="Count again.")
    return Terms(
        release_type=facts["release_type"],
        mechanism=MechanismRecord(**facts["mechanism"]),
        unit=Unit(facts["unit"]),
        contribution=Contribution(**facts["contribution"]),
        events=tuple(_event(event) for event in facts["events"]),
        not_taken=tuple(_event(event) for event in facts["events_not_taken"]),
        domain=Domain(**{**domain, "assumed_public": tuple(domain["assumed_public"])}),
        not_protected=tuple(facts["not_protected"]),
        post_processing=tuple(facts["post_processing"]),
        error=facts["error"],
    )


def _converted(events: Sequence[Event], conversion: EpsilonDelta) -> float:
    """Returns the epsilon that the events cost at the claim's delta, by the claim's method."""
    if conversion.method == "pure":
        return float(cost_on((event.loss for event in events), Measure.PURE))
    delta = exact(conversion.delta)
    if conversion.method == "zcdp":
        return epsilon_by_zcdp(events, delta)
    epsilon = epsilon_by_pld(events, delta)
    if epsilon is None:
        raise ReleaseError(
            "Privacy loss distributions cannot account for these events.",
            advice="Claim the epsilon that follows from rho.",
        )
    return epsilon


def _event(facts: dict[str, Any]) -> Event:
    for name in ("scale", "sigma_squared", "rate"):
        if name in facts:
            _fraction(facts[name])
    return event_from_json(facts)


def _fraction(text: str) -> Fraction:
    if not _FRACTION.fullmatch(text):
        raise PrivacyError("An amount is not a fraction.", advice='Write it as "10" or "1/3".')
    return Fraction(text)
