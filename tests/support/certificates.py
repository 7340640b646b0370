"""Certificates of made-up releases: real terms, and an account that could have spent."""

import math
from dataclasses import fields, replace
from typing import Any

from hushway.privacy.calibration import noise_for
from hushway.privacy.certificate import (
    SOFTWARE,
    AccountStatement,
    Certificate,
    Randomness,
    Terms,
)
from hushway.privacy.events import GaussianEvent, LaplaceEvent
from hushway.privacy.randomness import OsSource, SeededSource

PRIVATE = Randomness(source=OsSource.name, private=True)
UNPROTECTED = Randomness(source=SeededSource.name, private=False)
ENTRY = "sha256:" + "f" * 64


def certificate_of(terms: Terms, **changes: Any) -> Certificate:
    """Returns a certificate of some terms, with changes to itself or to its terms."""
    of_terms = {record.name for record in fields(Terms)} & changes.keys()
    terms = replace(terms, **{name: changes.pop(name) for name in of_terms})
    facts: dict[str, Any] = {
        "release_id": "small-city-2026-03",
        "title": "Trips in a <small> city & around",
        "terms": terms,
        "randomness": PRIVATE,
        "account": AccountStatement(
            dataset="cards",
            period="2026-03",
            measure=terms.claim.measure,
            spent=terms.claim.amount + 1,
            budget_limit=terms.claim.amount + 2,
            ledger_entry=ENTRY,
        ),
        "software": SOFTWARE,
        "created_at": "2026-04-02T09:30:00+00:00",
        "publisher": "The small city",
    }
    return Certificate(**(facts | changes))


def noise_in(terms: Terms) -> dict[str, float]:
    """Returns the standard deviation of the noise in each measurement, by what was asked."""
    return {
        event.query: math.sqrt(noise_for(event.loss, event.bound).variance)
        for event in terms.events
        if isinstance(event, LaplaceEvent | GaussianEvent)
    }
