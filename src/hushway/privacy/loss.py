"""Privacy loss as exact fractions: pure epsilon, and rho of zero-concentrated privacy.

Epsilons add up and rhos add up, also when later choices depend on earlier answers; an epsilon can
be turned into a rho (Bun and Steinke 2016, proposition 1.4), never the other way round. Conversion
to (epsilon, delta) is the business of `accounting` alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

from hushway.errors import PrivacyError

_LONGEST_NUMBER = 400
_MOST_BITS = 1 << 16


class Measure(StrEnum):
    """The currency of a loss."""

    PURE = "pure"
    ZCDP = "zcdp"

    @property
    def symbol(self) -> str:
        """The letter that readers know it by."""
        return "ε" if self is Measure.PURE else "ρ"

    @property
    def noise(self) -> str:
        """The noise that it buys."""
        return "discrete Laplace" if self is Measure.PURE else "discrete Gaussian"


@dataclass(frozen=True)
class PureLoss:
    """epsilon of pure differential privacy."""

    epsilon: Fraction
    measure: ClassVar[Measure] = Measure.PURE

    def __post_init__(self) -> None:
        _check_positive("epsilon", self.epsilon)

    @property
    def amount(self) -> Fraction:
        """The loss in its own currency."""
        return self.epsilon


@dataclass(frozen=True)
class ZCDPLoss:
    """rho of zero-concentrated differential privacy."""

    rho: Fraction
    measure: ClassVar[Measure] = Measure.ZCDP

    def __post_init__(self) -> None:
        _check_positive("rho", self.rho)

    @property
    def amount(self) -> Fraction:
        """The loss in its own currency."""
        return self.rho


Loss = PureLoss | ZCDPLoss


def loss_of(measure: Measure, amount: Fraction) -> Loss:
    """Returns the loss of an amount in a currency."""
    return PureLoss(amount) if measure is Measure.PURE else ZCDPLoss(amount)


def amount_in(loss: Loss, measure: Measure) -> Fraction:
    """Returns what a loss costs in a currency, exactly."""
    if loss.measure is measure:
        return loss.amount
    if isinstance(loss, PureLoss):
        return loss.epsilon**2 / 2
    raise PrivacyError(
        "Gaussian noise has no pure epsilon.",
        advice="Use Laplace noise, or an account whose budget limit is a rho or an (epsilon, "
        "delta).",
    )


def cost_on(losses: Iterable[Loss], measure: Measure) -> Fraction:
    """Returns what measurements cost together on an account in a currency, exactly.

    The one place that says so: prices, reservations and certificates all ask here. In rho, pure
    losses count one by one: the sum of squares is less than the square of the sum.
    """
    cost = Fraction(0)
    for loss in losses:
        cost += amount_in(loss, measure)
        if cost.denominator.bit_length() > _MOST_BITS:
            raise PrivacyError(
                "The losses have no common denominator of reasonable length.",
                advice="Spend amounts such as 1/10 and 1/100 rather than long decimals.",
            )
    return cost


def total(losses: Iterable[Loss]) -> Loss:
    """Returns the loss of all together: a sum of epsilons if all are pure, else a sum of rhos."""
    parts = list(losses)
    if not parts:
        raise PrivacyError("No loss to add up.", advice="Measure something first.")
    measure = Measure.PURE if all(isinstance(p, PureLoss) for p in parts) else Measure.ZCDP
    return loss_of(measure, cost_on(parts, measure))


def exact(number: str | float | Fraction | Decimal) -> Fraction:
    """Reads a number exactly as written: "0.1" is one tenth, and so is the literal 0.1."""
    text = str(number).strip()
    # "1e999999999" is quickly written and takes days to expand.
    exponent = re.search(r"[eE]([+-]?\d+)$", text)
    long = len(text) > _LONGEST_NUMBER or (exponent and abs(int(exponent[1])) > _LONGEST_NUMBER)
    try:
        return Fraction("long" if long else text)
    except (ValueError, ZeroDivisionError):
        raise PrivacyError(
            "A privacy parameter is not a finite number.",
            advice='Write it as a decimal or a fraction in quotes, such as "0.5" or "1/3".',
        ) from None


def _check_positive(name: str, value: Fraction) -> None:
    if not isinstance(value, Fraction):
        raise PrivacyError(
            f"{name} must be an exact fraction, not a {type(value).__name__}.",
            advice='Use hushway.privacy.loss.exact("0.1"): a float has already been rounded.',
        )
    if value <= 0:
        raise PrivacyError(
            f"{name} must be greater than 0.", advice="A loss of 0 would publish nothing at all."
        )
