"""Privacy events: immutable descriptions of what was measured, which accountants read."""

import math
import re
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss


@dataclass(frozen=True, kw_only=True)
class _Measurement:
    query: str
    cells: int
    bound: Bound


@dataclass(frozen=True, kw_only=True)
class LaplaceEvent(_Measurement):
    """Discrete Laplace noise of one scale on every cell of a query.

    Privacy:
        Inusah and Kozubowski's law, P(z) proportional to exp(-|z|/scale), on integer counts of L1
        sensitivity `bound.l1` is (l1/scale)-DP.
    """

    scale: Fraction
    kind: ClassVar[str] = "discrete_laplace"

    @property
    def loss(self) -> Loss:
        """The loss, recomputed from the noise and the bound."""
        return PureLoss(self.bound.l1 / self.scale)


@dataclass(frozen=True, kw_only=True)
class GaussianEvent(_Measurement):
    """Discrete Gaussian noise of one sigma on every cell of a query.

    Privacy:
        Canonne, Kamath and Steinke 2020, theorem 14: rho = l2_squared / (2 sigma^2).
    """

    sigma_squared: Fraction
    kind: ClassVar[str] = "discrete_gaussian"

    @property
    def loss(self) -> Loss:
        """The loss, recomputed from the noise and the bound."""
        return ZCDPLoss(self.bound.l2_squared / (2 * self.sigma_squared))


@dataclass(frozen=True, kw_only=True)
class SelectEvent(_Measurement):
    """One candidate chosen by the exponential mechanism, weights exp(-rate * score).

    Privacy:
        With scores of sensitivity D it is (2 rate D)-DP (McSherry and Talwar 2007).
    """

    rate: Fraction
    kind: ClassVar[str] = "exponential"

    @property
    def loss(self) -> Loss:
        """The loss, recomputed from the rate and the bound."""
        return PureLoss(2 * self.rate * self.bound.each)


@dataclass(frozen=True, kw_only=True)
class CutEvent(_Measurement):
    """Where each of several series is cut, by one exponential mechanism a series.

    The scores of a series are norms of its tails, in whole numbers, so a series that moves by d in
    the Euclidean norm moves its scores by at most d + 2 (see `hushway.privacy.query`).

    Privacy:
        An exponential mechanism with weights exp(-rate * score) and scores of sensitivity D is
        (rate^2 D^2 / 2)-zCDP (Cesar and Rogers 2021). One unit moves the series by d_1, d_2, ...,
        at most `bound.cells` of them, with squares that sum to `bound.l2_squared` at most. So the
        squares of d_i + 2 sum to at most (sqrt(l2_squared) + 2 sqrt(cells))^2, which is `spread`
        squared: the cuts of all series together cost rate^2 spread^2 / 2, however many series there
        are.
    """

    rate: Fraction
    kind: ClassVar[str] = "exponential_cuts"

    @property
    def loss(self) -> Loss:
        """The loss, recomputed from the rate and the bound."""
        return ZCDPLoss(self.rate**2 * spread_of_cuts(self.bound) ** 2 / 2)


def spread_of_cuts(bound: Bound) -> int:
    """Returns how far one unit moves the scores of all series together, in the Euclidean norm."""
    return _root_above(bound.l2_squared) + _root_above(4 * bound.cells)


def _root_above(number: int) -> int:
    """Returns the least whole number that is not below the square root."""
    return math.isqrt(number - 1) + 1


Event = LaplaceEvent | GaussianEvent | SelectEvent | CutEvent

_FRACTION = re.compile(r"[1-9][0-9]*(/[1-9][0-9]*)?")
_KINDS: dict[str, tuple[type[Any], str]] = {
    LaplaceEvent.kind: (LaplaceEvent, "scale"),
    GaussianEvent.kind: (GaussianEvent, "sigma_squared"),
    SelectEvent.kind: (SelectEvent, "rate"),
    CutEvent.kind: (CutEvent, "rate"),
}


def event_to_json(event: Event) -> dict[str, Any]:
    """Returns an event as plain JSON values; fractions become text such as "10" or "1/3"."""
    _, parameter = _KINDS[event.kind]
    return {
        "kind": event.kind,
        "query": event.query,
        "cells": event.cells,
        "bound": asdict(event.bound),
        parameter: str(getattr(event, parameter)),
    }


def event_from_json(facts: dict[str, Any]) -> Event:
    """Reads an event back."""
    try:
        kind, parameter = _KINDS[facts["kind"]]
        event: Event = kind(
            query=str(facts["query"]),
            cells=int(facts["cells"]),
            bound=Bound(**facts["bound"]),
            **{parameter: _positive(facts[parameter])},
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        raise PrivacyError(
            "A privacy event is not one that this version understands.",
            advice="Verify the release with the hushway version named in its certificate.",
        ) from None
    return event


def _positive(text: str) -> Fraction:
    """Reads what `event_to_json` writes, and nothing that takes long to expand."""
    if not _FRACTION.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)


class Budget(Protocol):
    """Something that must agree before anything is counted."""

    def charge(self, event: Event) -> None:
        """Takes the event's loss out of the budget.

        Privacy:
            Called before any row is counted. It either takes the whole loss or raises and takes
            nothing.
        """
