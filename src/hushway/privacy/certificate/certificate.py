"""The certificate of a release: the promise, in words for people and in data to recompute.

A certificate is canonical JSON: the same facts always give the same bytes, and bytes that this
module would not have written itself are refused as edited. Every sentence that follows from the
data (the neighbouring relation, the composition rule, the stamp on unprotected releases) is derived
here and never stored, so a certificate cannot contradict its own numbers. Changing one of those
sentences means a new `VERSION`.

Privacy:
    A certificate is public. It carries no path, no user name and no number that was counted in the
    protected rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from hushway.errors import HushwayError, PrivacyError, ReleaseError
from hushway.privacy.certificate.parts import (
    AccountStatement,
    Contribution,
    Domain,
    EpsilonDelta,
    MechanismRecord,
    Randomness,
)
from hushway.privacy.certificate.plain import (
    canonical_json,
    check_moment,
    check_text,
    check_texts,
    check_whole,
    parsed_json,
    plain,
    refuse_internal,
)
from hushway.privacy.events import Event, event_from_json, event_to_json
from hushway.privacy.internal import Internal
from hushway.privacy.loss import Loss, Measure, amount_in, exact, loss_of, total
from hushway.privacy.unit import Unit

VERSION = 1
STAMP = "NOT PRIVATE"

_FRACTION = re.compile(r"\d{1,4300}(/\d{1,4300})?", re.ASCII)
_ROUNDING = 1e-9

_COMPOSITION = {
    Measure.PURE: (
        "Adaptive sequential composition by sums of exact epsilons: the loss of the release is "
        "the sum of the epsilons of its events, also when a later question was chosen after an "
        "earlier answer was seen."
    ),
    Measure.ZCDP: (
        "Adaptive sequential composition by sums of exact rhos: the loss of the release is the sum "
        "of the rhos of its events, also when a later question was chosen after an earlier answer "
        "was seen. An event with a pure epsilon counts as a rho of epsilon squared over two."
    ),
}
_NO_DIGEST = (
    "No digest of the input is published: a plain digest of private rows would let anyone confirm "
    "a guess of them."
)
_KEYED_DIGEST = "A keyed digest: only the holder of its key can compare it with the input."


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The promise of one release.

    Attributes:
        release_id: Name of the release, unique for its publisher.
        title: What a reader calls it.
        family: Which family of releases: "od", "sequences", "density" or "links".
        mechanism: What was run.
        unit: Who is protected.
        contribution: How much one unit may contribute.
        events: Everything that was measured on the protected rows.
        claim: The loss claimed for all events together.
        epsilon_delta: The claim as (epsilon, delta), when asked for.
        domain: The public cells.
        not_protected: What the release does not protect, one sentence each.
        randomness: Where the noise came from.
        floating_point: Why no rounding of floats can leak, as a sentence.
        tuning: What choosing the parameters cost, as a sentence.
        post_processing: Steps after the noise, none of which saw the protected rows.
        error: Typical error of one published cell, as a sentence.
        account: Where the release stands in the ledger.
        input_digest: Keyed digest of the input, if any.
        software: Name and version of the software.
        created_at: When, as UTC to the second: 2026-03-01T12:00:00+00:00.
        approver: Who approved the release, if anyone is to be named.
        publisher: Who publishes it, if anyone is to be named.
        intended_use: What it is meant for.
    """

    release_id: str
    title: str
    family: str
    mechanism: MechanismRecord
    unit: Unit
    contribution: Contribution
    events: tuple[Event, ...]
    claim: Loss
    domain: Domain
    not_protected: tuple[str, ...]
    randomness: Randomness
    floating_point: str
    tuning: str
    post_processing: tuple[str, ...]
    error: str
    account: AccountStatement
    software: str
    created_at: str
    epsilon_delta: EpsilonDelta | None = None
    input_digest: str | None = None
    approver: str | None = None
    publisher: str | None = None
    intended_use: str | None = None

    def __post_init__(self) -> None:
        for record in fields(self):
            if isinstance(getattr(self, record.name), Internal):
                refuse_internal(record.name)
        for name in (
            "release_id",
            "title",
            "family",
            "floating_point",
            "tuning",
            "error",
            "software",
        ):
            check_text(name.replace("_", " "), getattr(self, name))
        for name in ("approver", "publisher", "intended_use", "input_digest"):
            if getattr(self, name) is not None:
                check_text(name.replace("_", " "), getattr(self, name))
        check_texts("not protected", self.not_protected)
        check_texts("post-processing", self.post_processing, may_be_empty=True)
        check_moment(self.created_at)
        _check_events(self.events)
        if self.input_digest is not None and self.input_digest.startswith("sha256:"):
            raise PrivacyError(
                "A plain digest of private rows would let anyone confirm a guess of them.",
                advice="Give a keyed digest, such as an HMAC, or none.",
            )

    @property
    def stamp(self) -> str | None:
        """NOT PRIVATE when the noise can be drawn again, else nothing."""
        return None if self.randomness.private else STAMP

    @property
    def composition(self) -> str:
        """The composition rule in words."""
        return _COMPOSITION[self.claim.measure]

    @property
    def input_digest_note(self) -> str:
        """What the input digest is, or why there is none."""
        return _NO_DIGEST if self.input_digest is None else _KEYED_DIGEST

    def recomputed_loss(self) -> Loss:
        """Returns the loss of all events, recomputed from their noise and bounds.

        Raises:
            ReleaseError: It is not the loss that the certificate claims.
        """
        recomputed = total(event.loss for event in self.events)
        if recomputed != self.claim:
            raise ReleaseError(
                f"The events add up to {recomputed.measure} {recomputed.amount}, but the "
                f"certificate claims {self.claim.measure} {self.claim.amount}.",
                advice="Do not trust this release; ask its publisher for one that adds up.",
            )
        return recomputed

    def check_cells(self) -> None:
        """Checks that a question about every public cell was asked of that many cells.

        Raises:
            ReleaseError: An event that names the domain has another number of cells.
        """
        for event in self.events:
            if event.query == self.domain.cells and event.cells != self.domain.size:
                raise ReleaseError(
                    f"An event asked for {event.query} in {event.cells} cells, but the public "
                    f"domain has {self.domain.size}.",
                    advice="The certificate and the geography do not belong together.",
                )

    def check_epsilon_delta(self) -> None:
        """Checks that the claimed (epsilon, delta) is not smaller than what the events cost.

        Raises:
            ReleaseError: The claim is too small.
        """
        if self.epsilon_delta is None:
            return
        claimed = float(exact(self.epsilon_delta.epsilon))
        recomputed = _converted(self.events, self.epsilon_delta)
        if not claimed >= recomputed * (1 - _ROUNDING):
            raise ReleaseError(
                f"At delta {self.epsilon_delta.delta} the events cost an epsilon of "
                f"{recomputed:.6g}, but the certificate claims {self.epsilon_delta.epsilon}.",
                advice="Do not trust this release; ask its publisher for one that adds up.",
            )

    def check_account(self) -> None:
        """Checks that the account has paid for this release and has not passed its cap.

        Raises:
            ReleaseError: The statement cannot be true of an account that paid for these events.
        """
        account = self.account
        if account.spent < amount_in(self.claim, account.measure):
            raise ReleaseError(
                "The account has been charged less than this release costs.",
                advice="Compare the certificate with the publisher's ledger.",
            )
        if account.spent > account.cap:
            raise ReleaseError(
                "The account has passed its cap.",
                advice="Compare the certificate with the publisher's ledger.",
            )

    def to_json(self) -> bytes:
        """Returns the canonical bytes of the certificate."""
        account = self.account
        conversion = self.epsilon_delta
        return canonical_json(
            {
                "certificate_version": VERSION,
                "stamp": self.stamp,
                "release_id": self.release_id,
                "title": self.title,
                "family": self.family,
                "publisher": self.publisher,
                "approver": self.approver,
                "intended_use": self.intended_use,
                "created_at": self.created_at,
                "software": self.software,
                "mechanism": {
                    "name": self.mechanism.name,
                    "parameters": plain("mechanism parameters", self.mechanism.parameters),
                },
                "dp_variant": str(self.claim.measure),
                "unit": str(self.unit),
                "adjacency": self.unit.adjacency,
                "contribution": {
                    "words": self.contribution.words,
                    "limits": plain("contribution limits", self.contribution.limits),
                },
                "events": [event_to_json(event) for event in self.events],
                "composition": self.composition,
                "claim": {
                    "measure": str(self.claim.measure),
                    "amount": str(self.claim.amount),
                    "epsilon_delta": None
                    if conversion is None
                    else {
                        "epsilon": conversion.epsilon,
                        "delta": conversion.delta,
                        "method": conversion.method,
                    },
                },
                "domain": {
                    "cells": self.domain.cells,
                    "size": self.domain.size,
                    "digest": self.domain.digest,
                    "assumed_public": list(self.domain.assumed_public),
                },
                "not_protected": list(self.not_protected),
                "randomness": {
                    "sampler": self.randomness.sampler,
                    "source": self.randomness.source,
                    "private": self.randomness.private,
                },
                "floating_point": self.floating_point,
                "tuning": self.tuning,
                "post_processing": list(self.post_processing),
                "error": self.error,
                "account": {
                    "dataset": account.dataset,
                    "period": account.period,
                    "measure": str(account.measure),
                    "spent": str(account.spent),
                    "cap": str(account.cap),
                    "ledger_entry": account.ledger_entry,
                },
                "input_digest": {"value": self.input_digest, "note": self.input_digest_note},
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> "Certificate":
        """Reads a certificate and refuses one that was edited.

        Raises:
            ReleaseError: The bytes are not a certificate, or not the bytes `to_json` would write.
        """
        facts = _certificate_facts(data)
        try:
            certificate = _certificate_of(facts)
            written = certificate.to_json()
        except (
            HushwayError,
            ValueError,
            TypeError,
            LookupError,
            ArithmeticError,
            AttributeError,
            RecursionError,
        ):
            raise ReleaseError(
                "The certificate cannot be understood.",
                advice="Ask the publisher for an intact copy of the release.",
            ) from None
        if written != data:
            raise ReleaseError(
                "The certificate was edited after it was written.",
                advice="Ask the publisher for an intact copy of the release.",
            )
        return certificate


def _certificate_facts(data: bytes) -> dict[str, Any]:
    try:
        facts = parsed_json(data)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise ReleaseError(
            "The certificate is not JSON.",
            advice="Ask the publisher for an intact copy of the release.",
        )
    if facts.get("certificate_version") != VERSION:
        raise ReleaseError(
            "The certificate is of a version that this software does not know.",
            advice="Use the version of hushway that the certificate names as its software.",
        )
    return facts


def _certificate_of(facts: dict[str, Any]) -> Certificate:
    claim, domain, account = facts["claim"], facts["domain"], facts["account"]
    conversion = claim["epsilon_delta"]
    return Certificate(
        release_id=facts["release_id"],
        title=facts["title"],
        family=facts["family"],
        publisher=facts["publisher"],
        approver=facts["approver"],
        intended_use=facts["intended_use"],
        created_at=facts["created_at"],
        software=facts["software"],
        mechanism=MechanismRecord(**facts["mechanism"]),
        unit=Unit(facts["unit"]),
        contribution=Contribution(**facts["contribution"]),
        events=tuple(_event(event) for event in facts["events"]),
        claim=loss_of(Measure(claim["measure"]), _fraction(claim["amount"])),
        epsilon_delta=None if conversion is None else EpsilonDelta(**conversion),
        domain=Domain(**{**domain, "assumed_public": tuple(domain["assumed_public"])}),
        not_protected=tuple(facts["not_protected"]),
        randomness=Randomness(**facts["randomness"]),
        floating_point=facts["floating_point"],
        tuning=facts["tuning"],
        post_processing=tuple(facts["post_processing"]),
        error=facts["error"],
        account=AccountStatement(
            dataset=account["dataset"],
            period=account["period"],
            measure=Measure(account["measure"]),
            spent=_fraction(account["spent"]),
            cap=_fraction(account["cap"]),
            ledger_entry=account["ledger_entry"],
        ),
        input_digest=facts["input_digest"]["value"],
    )


def _converted(events: Sequence[Event], conversion: EpsilonDelta) -> float:
    """Returns the epsilon that the events cost at the claim's delta, by the claim's method."""
    loss = total(event.loss for event in events)
    if conversion.method == "pure":
        return float(amount_in(loss, Measure.PURE))
    # Loads dp-accounting, which only a release with a delta needs.
    from hushway.privacy import accounting

    delta = exact(conversion.delta)
    if conversion.method == "zcdp":
        return accounting.epsilon_of_rho(amount_in(loss, Measure.ZCDP), delta)
    epsilon = accounting.epsilon_by_pld(events, delta)
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


def _check_events(events: Sequence[Event]) -> None:
    if not events:
        raise PrivacyError(
            "A certificate without events certifies nothing.", advice="Measure something first."
        )
    for event in events:
        if isinstance(event, Internal):
            refuse_internal("events")
        check_text("query", event.query)
        bound = event.bound
        for number in (event.cells, bound.cells, bound.each, bound.total):
            check_whole("number in an event", number)
        try:
            _ = event.loss
        except ZeroDivisionError:
            raise PrivacyError(
                "An event added no noise.", advice="Give it a positive scale."
            ) from None
