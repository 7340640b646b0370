"""The parts of a certificate: what was run, on whom, over which cells, with which noise."""

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NoReturn

from hushway.errors import PrivacyError
from hushway.privacy.accounting import is_large
from hushway.privacy.ledger.span import Span
from hushway.privacy.loss import Measure, exact, loss_of
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import OsSource

_ENTRY = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
# "1e999999999" is quickly written, but reading it alone would keep a verifier busy for days. The
# digits are as many as Python turns into a whole number without being asked twice.
_NUMBER = re.compile(r"\d{1,4300}(/\d{1,4300}|(\.\d{1,4000})?([eE]-?\d{1,2})?)", re.ASCII)


class _SameAsWritten:
    """Equal if they stand on a certificate alike: Python would take 5.0 for 5, and 1 for true."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _as_written(self) == _as_written(other)

    __hash__ = None  # type: ignore[assignment]  # they hold dictionaries


@dataclass(frozen=True, kw_only=True, eq=False)
class MechanismRecord(_SameAsWritten):
    """What was run: a name and public parameters, as plain JSON."""

    name: str
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_text("mechanism name", self.name)
        object.__setattr__(self, "parameters", _named("mechanism parameters", self.parameters))


@dataclass(frozen=True, kw_only=True, eq=False)
class Contribution(_SameAsWritten):
    """How much one unit may contribute, in words and as named limits (plain JSON)."""

    words: str
    limits: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_text("contribution bound", self.words)
        object.__setattr__(self, "limits", _named("contribution limits", self.limits))


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
        check_text("domain", self.cells)
        check_text("geography digest", self.digest)
        check_texts("public assumptions", self.assumed_public)
        check_whole("domain size", self.size)


@dataclass(frozen=True, kw_only=True)
class Randomness:
    """Where the noise came from.

    Attributes:
        source: Name of the bit source.
        private: False when someone else could draw the same bits again, as from a seed. Then
            nothing is protected.
    """

    source: str
    private: bool

    def __post_init__(self) -> None:
        check_text("source of randomness", self.source)
        if not isinstance(self.private, bool):
            raise PrivacyError("private is neither true nor false.", advice="Give a bool.")
        if self.private != (self.source == OsSource.name):
            raise PrivacyError(
                "Only bits that the operating system's key draws are private.",
                advice="Name the source that the release was drawn from.",
            )


@dataclass(frozen=True, kw_only=True)
class EpsilonDelta:
    """The same guarantee as (epsilon, delta), for readers who compare.

    Attributes:
        epsilon: The claimed epsilon as text, rounded up.
        delta: The delta it holds for, as text.
        method: "zcdp" (from rho), "pld" (privacy loss distributions of the events) or "pure" (the
            sum of epsilons, which holds for every delta).
        people: How many people the data may be about, if the publisher has stated it.
    """

    epsilon: str
    delta: str
    method: str
    people: int | None = None

    def __post_init__(self) -> None:
        for name, text in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not (isinstance(text, str) and _NUMBER.fullmatch(text) and exact(text) > 0):
                raise PrivacyError(
                    f"The {name} of the claim is not a positive number.",
                    advice='Give it as text, such as "1.02" or "1e-6".',
                )
        if exact(self.delta) >= 1:
            raise PrivacyError(
                "A delta of 1 or more guarantees nothing.", advice="Choose one far below 1."
            )
        if self.people is not None:
            check_whole("number of people", self.people)
        if self.method not in ("zcdp", "pld", "pure"):
            raise PrivacyError(
                "The conversion to (epsilon, delta) is not one that can be rechecked.",
                advice='Use "zcdp", "pld" or "pure".',
            )

    @property
    def is_large(self) -> bool:
        """Whether the delta is one that somebody had to say was meant."""
        return is_large(exact(self.delta), self.people)

    def to_json(self) -> dict[str, Any]:
        """Returns the claim as it stands on a certificate."""
        facts = {"epsilon": self.epsilon, "delta": self.delta, "method": self.method}
        return facts if self.people is None else {**facts, "people": self.people}


@dataclass(frozen=True, kw_only=True)
class AccountStatement:
    """Where the release stands in the ledger.

    Attributes:
        dataset: Name of the protected data set.
        period: Name of the stretch of time that the account covers.
        measure: Currency of the account.
        spent: All losses charged to the account, this release included.
        budget_limit: The most that may ever be charged.
        ledger_entry: Hash of the ledger's entry that charged for this release.
        span: What a rolling limit is about, such as "12 month"; None if it is for good. Then
            `spent` is what the fullest span holds that this release lies in.
        lifetime: With a rolling limit, all losses ever charged to the account.
    """

    dataset: str
    period: str
    measure: Measure
    spent: Fraction
    budget_limit: Fraction
    ledger_entry: str
    span: str | None = None
    lifetime: Fraction | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "period", "ledger_entry"):
            check_text(name.replace("_", " "), getattr(self, name))
        for amount in (self.spent, self.budget_limit, self.ever):
            loss_of(self.measure, amount)
        if (self.span is None) != (self.lifetime is None) or self.ever < self.spent:
            raise PrivacyError(
                "A rolling limit is stated with its span and with all that was ever charged.",
                advice="Give both, and no less than the span holds.",
            )
        if self.span is not None:
            Span.from_text(self.span)
        if not _ENTRY.fullmatch(self.ledger_entry):
            raise PrivacyError(
                "The hash of the ledger's entry is not a SHA-256.",
                advice="Name the entry that charged for the release by its SHA-256.",
            )

    @property
    def ever(self) -> Fraction:
        """All losses ever charged to the account."""
        return self.spent if self.lifetime is None else self.lifetime

    @property
    def around(self) -> str:
        """What the limit is about, in words; nothing if it is for good."""
        return "" if self.span is None else f" in {Span.from_text(self.span)}"


def _named(name: str, values: Mapping[str, Any]) -> Any:
    """Returns plain values by name, and refuses anything else."""
    if not isinstance(values, Mapping):
        raise PrivacyError(
            f"The {name} are not values with names.", advice="Give a dictionary of plain values."
        )
    return plain(name, values)


def _as_written(part: object) -> bytes:
    return canonical_json(plain("parameters and limits", vars(part)))


_PATH = re.compile(r"""(^|[\s"'(\[=,:])(~?(/[\w.~@+-]+){2,}|~/|[A-Za-z]:\\|\\\\\w|file:/)""")
_MOST_DEEP = 20
# As many points as the shapes of a release may have: each is a list of two numbers.
_MOST_PARTS = 1 << 21
_LONGEST_NUMBER = 400


def canonical_json(facts: Mapping[str, Any]) -> bytes:
    """Returns the one way to write facts as JSON: sorted keys, two spaces, a last newline."""
    text = json.dumps(facts, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def parsed_json(data: bytes) -> Any:
    """Reads JSON without its extensions (no NaN, no infinity) and within limits.

    Three bytes can open and close a list, which takes sixty in memory: so lists and objects are
    counted before any is made.
    """
    if data.count(b"[") + data.count(b"{") > _MOST_PARTS:
        raise ValueError("more lists and objects than any file of hushway has")
    try:
        return json.loads(
            data.decode(), parse_constant=_refuse_number, parse_int=_whole, parse_float=_decimal
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _whole(text: str) -> int:
    return int(text) if len(text) <= _LONGEST_NUMBER else _refuse_number("A long number")


def _decimal(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number("A number too large for a float")


def _refuse_number(name: str) -> NoReturn:
    message = f"{name} is not a number that hushway writes"
    raise ValueError(message)


def check_whole(name: str, number: object) -> None:
    """Refuses anything but a whole number above 0."""
    if type(number) is not int or number < 1:
        raise PrivacyError(f"The {name} is not a whole number above 0.", advice="Count again.")


def check_moment(text: str) -> None:
    """Refuses anything but a UTC time to the second."""
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


def check_texts(name: str, texts: Sequence[str], *, may_be_empty: bool = False) -> None:
    """Refuses anything but a tuple of texts that may be published."""
    if not isinstance(texts, tuple) or (not texts and not may_be_empty):
        raise PrivacyError(
            f"The certificate's {name} must be a tuple of sentences.", advice="Say at least one."
        )
    for text in texts:
        check_text(name, text)


def check_text(name: str, text: object) -> None:
    """Refuses anything but one line of text without a path in it."""
    if isinstance(text, Internal):
        refuse_internal(name)
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


def plain(name: str, value: Any, depth: int = 0) -> Any:
    """Returns a copy made of plain JSON values only, and refuses anything else."""
    if isinstance(value, Internal):
        refuse_internal(name)
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
            check_text(name, value)
        return str(value)
    if isinstance(value, Mapping):
        for key in value:
            check_text(f"key in {name}", key)
        return {str(key): plain(name, part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(name, part, depth + 1) for part in value]
    raise PrivacyError(
        f"The {name} hold a {type(value).__name__}, which is not plain JSON.",
        advice="Use text, whole numbers, lists and dictionaries; write fractions as text.",
    )


def refuse_internal(name: str) -> NoReturn:
    """Refuses a value that saw exact data."""
    raise PrivacyError(
        f"The certificate's {name} hold a value that was computed against the truth.",
        advice="Internal values carry no guarantee and never leave the building.",
    )
