from fractions import Fraction
from typing import Any

import pytest

from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.events import (
    Event,
    GaussianEvent,
    LaplaceEvent,
    SelectEvent,
    event_from_json,
    event_to_json,
)
from hushway.privacy.loss import PureLoss, ZCDPLoss

BOUND = Bound(cells=3, each=2, total=5)
EVENTS: list[Event] = [
    LaplaceEvent(query="q", cells=10**12, bound=BOUND, scale=Fraction(10)),
    GaussianEvent(query="zones, by hour", cells=7, bound=BOUND, sigma_squared=Fraction(25, 3)),
    SelectEvent(query="é", cells=1, bound=BOUND, rate=Fraction(1, 40)),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_an_event_survives_being_written_and_read(event: Event) -> None:
    assert event_from_json(event_to_json(event)) == event


def test_losses_are_recomputed_from_noise_and_bound() -> None:
    laplace, gaussian, choice = EVENTS
    assert laplace.loss == PureLoss(Fraction(5, 10))  # l1 / scale
    assert gaussian.loss == ZCDPLoss(Fraction(9) / (2 * Fraction(25, 3)))  # l2_squared / 2 sigma^2
    assert choice.loss == PureLoss(Fraction(1, 10))  # 2 rate * each


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "gumbel"},
        {"kind": ["discrete_laplace"]},
        {"scale": "0"},
        {"scale": "-1"},
        {"scale": "1/0"},
        {"scale": 0.1},
        {"scale": 10},
        {"scale": None},
        {"scale": "1e999999999"},
        {"scale": "1e5"},
        {"scale": "inf"},
        {"scale": "9" * 5000},
        {"cells": "many"},
        {"cells": float("inf")},
        {"bound": {"cells": 1, "each": 1}},
        {"bound": {"cells": 1, "each": 1, "total": 0}},
        {"bound": {"cells": 1, "each": 1, "total": 1.5}},
        {"bound": {"cells": 1, "each": 1, "total": float("nan")}},
        {"bound": {"cells": 1, "each": 1, "total": 1, "more": 1}},
        {"bound": None},
    ],
    ids=str,
)
def test_a_damaged_event_is_refused(change: dict[str, Any]) -> None:
    facts = event_to_json(EVENTS[0]) | change
    with pytest.raises(PrivacyError):
        event_from_json(facts)


@pytest.mark.parametrize("missing", ["kind", "query", "cells", "bound", "scale"])
def test_an_event_with_a_missing_part_is_refused(missing: str) -> None:
    facts = event_to_json(EVENTS[0])
    del facts[missing]
    with pytest.raises(PrivacyError, match="understands"):
        event_from_json(facts)


def test_an_event_without_positive_noise_has_no_loss_to_offer() -> None:
    backwards = LaplaceEvent(query="q", cells=1, bound=BOUND, scale=Fraction(-1))
    with pytest.raises(PrivacyError):
        _ = backwards.loss
