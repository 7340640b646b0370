"""Numbers and sentences that the page, the label, the package and the picture share."""

import math
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal, localcontext
from fractions import Fraction

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PrivacyError
from hushway.privacy.accounting import LARGE_DELTA
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Certificate, EpsilonDelta
from hushway.privacy.loss import Loss, Measure, exact

VARIANTS = {
    Measure.PURE: "Pure differential privacy",
    Measure.ZCDP: "Zero-concentrated differential privacy (zCDP)",
}

_DIGITS = 6
_SHOWN = 3
_MOST_WHOLE = 10**9
_LARGE_EPSILON = 700.0


def decimal_of(value: Fraction, *, digits: int = _DIGITS) -> Decimal:
    """Returns a number of at most so many digits, rounded up: a loss is never flattered."""
    with localcontext() as context:
        context.prec = digits
        context.rounding = ROUND_UP
        return Decimal(value.numerator) / Decimal(value.denominator)


def number_text(value: Fraction) -> str:
    """Returns a loss for readers: as it is, such as 0.5, or of three digits, rounded up: 0.334.

    The exact number is in the certificate.
    """
    rounded = decimal_of(value, digits=_SHOWN)
    # A whole number is known by all of its digits.
    return str(value) if value.denominator == 1 and value < _MOST_WHOLE else plain_text(rounded)


def delta_text(delta: str) -> str:
    """Returns a delta for readers, such as 1e-6."""
    return f"{decimal_of(exact(delta), digits=_SHOWN).normalize():e}"


def conversion_text(conversion: EpsilonDelta) -> str:
    """Returns a claim at a delta for readers, such as ε = 0.866 at δ = 1e-6."""
    text = budget_text(exact(conversion.epsilon), exact(conversion.delta))
    return f"{text}, a {LARGE_DELTA}" if conversion.is_large else text


def budget_text(epsilon: Fraction, delta: Fraction | None) -> str:
    """Returns an epsilon together with the delta that it holds at, if there is one."""
    return f"ε = {number_text(epsilon)}{at_delta_text(delta)}"


def at_delta_text(delta: Fraction | None) -> str:
    """Returns what follows an epsilon that holds at a delta only; nothing if it holds without."""
    return "" if delta is None else f" at δ = {delta_text(str(delta))}"


def plain_text(value: Decimal) -> str:
    """Returns a decimal without exponent or trailing zeros, unless it would be very long."""
    text = f"{value.normalize():f}"
    return text if len(text) <= 2 * _DIGITS else f"{value.normalize():e}"


def loss_text(loss: Loss) -> str:
    """Returns a loss for readers, such as ε = 0.5."""
    return f"{loss.measure.symbol} = {number_text(loss.amount)}"


def claim_text(certificate: Certificate) -> str:
    """Returns the claim in one line, such as ε = 0.5 per person."""
    text = loss_text(certificate.claim)
    conversion = certificate.epsilon_delta
    if conversion is not None:
        text += f" ({conversion_text(conversion)})"
    text = f"{text} per {certificate.terms.unit}"
    return text if certificate.stamp is None else f"{certificate.stamp}, whatever the {text}"


def counted_sentence(certificate: Certificate) -> str:
    """Returns what was counted, over which days, of which data, and what unit is protected.

    It stands beside published numbers everywhere: on page, picture, site and answers.
    """
    cells, account = certificate.terms.domain.cells, certificate.account
    return (
        f"{cells[:1].upper()}{cells[1:]}. Data: {account.dataset}, {account.period}. "
        f"Protected unit: one {certificate.terms.unit}."
    )


def epsilon_of(certificate: Certificate) -> Fraction | None:
    """Returns the epsilon that readers compare: pure if there is one, else that of the delta."""
    if certificate.claim.measure is Measure.PURE:
        return certificate.claim.amount
    if certificate.epsilon_delta is not None:
        return exact(certificate.epsilon_delta.epsilon)
    return None


def guarantee(certificate: Certificate) -> str:
    """Returns what is protected, in one plain sentence."""
    if certificate.stamp is not None:
        return (
            "This release protects nobody: its noise can be drawn again by others and taken off. "
            "It is for tests and demonstrations on made-up data."
        )
    large = ""
    if certificate.epsilon_delta is not None and certificate.epsilon_delta.is_large:
        delta = delta_text(certificate.epsilon_delta.delta)
        large = (
            f" {LARGE_DELTA}: with a chance of up to {delta} the epsilon bounds nothing, and all "
            f"about one {certificate.terms.unit} may show."
        )
    return (
        f"The best possible guess whether any one {certificate.terms.unit} is in the data is right "
        f"at most {_best_guess(certificate)} times out of 100. A coin is right 50 times.{large}"
    )


def _best_guess(certificate: Certificate) -> str:
    """Returns how often the best test between two neighbouring data sets is right, in percent.

    The total variation of two neighbours is at most (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)
    under (epsilon, delta) (Kairouz, Oh and Viswanath 2015, theorem 3.1), and at most sqrt(rho / 2)
    under zCDP (Pinsker's inequality; Bun and Steinke 2016 bound the KL divergence by rho).
    """
    variation = 1.0
    if certificate.claim.measure is Measure.PURE:
        variation = math.tanh(min(float(certificate.claim.amount), _LARGE_EPSILON) / 2)
    else:
        variation = min(variation, math.sqrt(float(certificate.claim.amount) / 2))
    if certificate.epsilon_delta is not None:
        epsilon = min(float(exact(certificate.epsilon_delta.epsilon)), _LARGE_EPSILON)
        delta = float(exact(certificate.epsilon_delta.delta))
        odds = math.exp(epsilon)
        variation = min(variation, (odds - 1 + 2 * delta) / (odds + 1))
    percent = min(100.0, math.ceil((1 + variation) / 2 * 1000) / 10)
    return f"{percent:g}"


_NOT_PROTECTED = (
    "That the data set exists, who holds it and which period it covers.",
    "What is true of the city as a whole: busy places and busy hours show, and are meant to.",
    "That it was published: rows that the plan refuses, or too many that do not count, stop it.",
    "What other sources tell, or other releases of the same people that this ledger does not know.",
)
_SINGLE = (
    "A person with many {unit}s: only single {unit}s are protected, so what somebody did with or "
    "in many of them, such as a habit, can show."
)


def check_unit(unit: Unit, *allowed: Unit, most: int = 1) -> None:
    """Makes sure that a family bounds a unit, and single ones to one of each."""
    if unit not in allowed or (most > 1 and not unit.has_many_records):
        raise PrivacyError(
            f"A {unit} cannot be protected here, or not with more than one of each.",
            advice=f"Choose one of {', '.join(allowed)}, and count a single one once.",
        )


def not_protected(unit: Unit, *further: str) -> tuple[str, ...]:
    """Returns what releases do not protect where this unit is protected, one sentence each."""
    single = () if unit is Unit.PERSON else (_SINGLE.format(unit=unit),)
    return (*_NOT_PROTECTED, *single, *further)


def plural(number: int, noun: str) -> str:
    """Writes a number of things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Sums of published counts by some key.

    Attributes:
        standard_errors: Standard deviation of the noise in each sum, if cells err independently.
    """

    keys: IntArray
    totals: FloatArray
    standard_errors: FloatArray
