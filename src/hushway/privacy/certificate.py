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

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NoReturn

from hushway.errors import HushwayError, PrivacyError, ReleaseError
from hushway.privacy.events import Event, event_from_json, event_to_json
from hushway.privacy.internal import Internal
from hushway.privacy.loss import Loss, Measure, amount_in, exact, loss_of, total
from hushway.privacy.unit import Unit

VERSION = 1
STAMP = "NOT PRIVATE"

# "1e999999999" is quickly written, but reading it alone would keep a verifier busy for days. The
# digits are as many as Python turns into a whole number without being asked twice.
_NUMBER = re.compile(r"\d{1,4300}(/\d{1,4300}|(\.\d{1,4000})?([eE]-?\d{1,2})?)", re.ASCII)
_FRACTION = re.compile(r"\d{1,4300}(/\d{1,4300})?", re.ASCII)
_PATH = re.compile(r"""(^|[\s"'(\[=,:])(~?(/[\w.~@+-]+){2,}|~/|[A-Za-z]:\\|\\\\\w|file:/)""")
_MOST_DEEP = 20
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


def canonical_json(facts: Mapping[str, Any]) -> bytes:
    """Returns the one way to write facts as JSON: sorted keys, two spaces, a last newline."""
    text = json.dumps(facts, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def parsed_json(data: bytes) -> Any:
    """Reads JSON without its extensions: no NaN, no infinity.

    Raises:
        ValueError: The bytes are not JSON.
    """

    def refuse(name: str) -> NoReturn:
        message = f"{name} is not JSON"
        raise ValueError(message)

    return json.loads(data.decode(), parse_constant=refuse)


@dataclass(frozen=True, kw_only=True)
class MechanismRecord:
    """What was run: a name and public parameters, as plain JSON."""

    name: str
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        _check_text("mechanism name", self.name)
        object.__setattr__(self, "parameters", _plain("mechanism parameters", self.parameters))


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """How much one unit may contribute, in words and as named limits (plain JSON)."""

    words: str
    limits: Mapping[str, Any]

    def __post_init__(self) -> None:
        _check_text("contribution bound", self.words)
        object.__setattr__(self, "limits", _plain("contribution limits", self.limits))


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The public cells of the release.

    Attributes:
        cells: What one cell stands for.
        size: Number of cells.
        digest: Digest of the public geography that the cells are made of.
        assumed_public: What is taken to be known to everyone, one sentence each.
    """

    cells: str
    size: int
    digest: str
    assumed_public: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_text("domain", self.cells)
        _check_text("geography digest", self.digest)
        _check_texts("public assumptions", self.assumed_public)
        _check_whole("domain size", self.size)


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Where the noise came from.

    Attributes:
        sampler: Name of the sampler.
        source: Name of the bit source.
        private: False when someone else could draw the same bits again, as from a seed. Then
            nothing is protected.
    """

    sampler: str
    source: str
    private: bool

    def __post_init__(self) -> None:
        _check_text("sampler", self.sampler)
        _check_text("source of randomness", self.source)
        if not isinstance(self.private, bool):
            raise PrivacyError("Randomness is private or it is not.", advice="Give True or False.")


@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """The same promise as (epsilon, delta), for readers who compare.

    Attributes:
        epsilon: The claimed epsilon as text, rounded up.
        delta: The delta it holds for, as text.
        method: "zcdp" (from rho), "pld" (privacy loss distributions of the events) or "pure" (the
            sum of epsilons, which holds for every delta).
    """

    epsilon: str
    delta: str
    method: str

    def __post_init__(self) -> None:
        for name, text in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not (isinstance(text, str) and _NUMBER.fullmatch(text) and exact(text) > 0):
                raise PrivacyError(
                    f"The {name} of the claim is not a positive number.",
                    advice='Give it as text, such as "1.02" or "1e-6".',
                )
        if exact(self.delta) >= 1:
            raise PrivacyError(
                "A delta of 1 or more promises nothing.", advice="Choose one far below 1."
            )
        if self.method not in ("zcdp", "pld", "pure"):
            raise PrivacyError(
                "The conversion to (epsilon, delta) is not one that can be rechecked.",
                advice='Use "zcdp", "pld" or "pure".',
            )


@dataclass(frozen=True, kw_only=True)
class AccountStatement:
    """Where the release stands in the ledger.

    Attributes:
        dataset: Name of the protected data set.
        period: Name of the stretch of time that the account covers.
        measure: Currency of the account.
        spent: All losses charged to the account, this release included.
        cap: The most that may ever be charged.
        ledger_entry: Hash of the ledger's entry that paid for this release.
    """

    dataset: str
    period: str
    measure: Measure
    spent: Fraction
    cap: Fraction
    ledger_entry: str

    def __post_init__(self) -> None:
        for name in ("dataset", "period", "ledger_entry"):
            _check_text(name.replace("_", " "), getattr(self, name))
        for amount in (self.spent, self.cap):
            loss_of(self.measure, amount)


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
                _refuse_internal(record.name)
        for name in (
            "release_id",
            "title",
            "family",
            "floating_point",
            "tuning",
            "error",
            "software",
        ):
            _check_text(name.replace("_", " "), getattr(self, name))
        for name in ("approver", "publisher", "intended_use", "input_digest"):
            if getattr(self, name) is not None:
                _check_text(name.replace("_", " "), getattr(self, name))
        _check_texts("not protected", self.not_protected)
        _check_texts("post-processing", self.post_processing, may_be_empty=True)
        _check_moment(self.created_at)
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
                    "parameters": _plain("mechanism parameters", self.mechanism.parameters),
                },
                "dp_variant": str(self.claim.measure),
                "unit": str(self.unit),
                "adjacency": self.unit.adjacency,
                "contribution": {
                    "words": self.contribution.words,
                    "limits": _plain("contribution limits", self.contribution.limits),
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
            _refuse_internal("events")
        _check_text("query", event.query)
        bound = event.bound
        for number in (event.cells, bound.cells, bound.each, bound.total):
            _check_whole("number in an event", number)
        try:
            _ = event.loss
        except ZeroDivisionError:
            raise PrivacyError(
                "An event added no noise.", advice="Give it a positive scale."
            ) from None


def _check_whole(name: str, number: object) -> None:
    if type(number) is not int or number < 1:
        raise PrivacyError(f"The {name} is not a whole number above 0.", advice="Count again.")


def _check_moment(text: str) -> None:
    try:
        moment = datetime.fromisoformat(text)
        fits = moment.utcoffset() == timedelta(0) and moment.microsecond == 0 and "." not in text
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise PrivacyError(
            "The time of creation is not a UTC time to the second.",
            advice='Use datetime.now(UTC).isoformat(timespec="seconds").',
        )


def _check_texts(name: str, texts: Sequence[str], *, may_be_empty: bool = False) -> None:
    if not isinstance(texts, tuple) or (not texts and not may_be_empty):
        raise PrivacyError(
            f"The certificate's {name} must be a tuple of sentences.", advice="Say at least one."
        )
    for text in texts:
        _check_text(name, text)


def _check_text(name: str, text: object) -> None:
    if isinstance(text, Internal):
        _refuse_internal(name)
    if not isinstance(text, str) or not text.strip():
        raise PrivacyError(
            f"The certificate's {name} must be a text.",
            advice="Write it in words; do not leave it empty.",
        )
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise PrivacyError(
            f"The certificate's {name} holds a control character.", advice="Write it on one line."
        )
    if _PATH.search(text):
        raise PrivacyError(
            f"The certificate's {name} seems to hold a path of a private machine.",
            advice="A certificate is public: name the data set instead of its file.",
        )


def _plain(name: str, value: Any, depth: int = 0) -> Any:
    """Returns a copy made of plain JSON values only, and refuses anything else."""
    if isinstance(value, Internal):
        _refuse_internal(name)
    if depth > _MOST_DEEP:
        raise PrivacyError(f"The {name} are nested too deeply.", advice="Flatten them.")
    if (
        value is None
        or type(value) in (bool, int)
        or (type(value) is float and math.isfinite(value))
    ):
        return value
    if isinstance(value, str):
        if value:
            _check_text(name, value)
        return str(value)
    if isinstance(value, Mapping):
        for key in value:
            _check_text(f"key in {name}", key)
        return {str(key): _plain(name, part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(name, part, depth + 1) for part in value]
    raise PrivacyError(
        f"The {name} hold a {type(value).__name__}, which is not plain JSON.",
        advice="Use text, whole numbers, lists and dictionaries; write fractions as text.",
    )


def _refuse_internal(name: str) -> NoReturn:
    raise PrivacyError(
        f"The certificate's {name} hold a value that was computed against the truth.",
        advice="Internal values carry no guarantee and never leave the building.",
    )
