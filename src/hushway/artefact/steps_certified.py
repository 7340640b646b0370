"""Makes sure that a certificate paid for every step of a prefix tree."""

import math
from collections.abc import Sequence

from hushway.errors import ReleaseError
from hushway.geography.sequences import SequenceUniverse
from hushway.privacy.calibration import noise_for
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import Event, SelectEvent
from hushway.releases.sequences.table import StepSummary

_ROUNDING = 1e-9


def check_domain(certificate: Certificate, universe: SequenceUniverse) -> None:
    """Makes sure that a certificate was made for these public lists.

    Raises:
        ReleaseError: It was made for others.
    """
    domain = certificate.domain
    if (domain.digest, domain.size) != (universe.digest, universe.size):
        raise ReleaseError(
            "The places, groups and periods are not those that the certificate was made for.",
            advice="Write each table with its own certificate.",
        )


def check_steps(
    certificate: Certificate, steps: Sequence[StepSummary], queries: Sequence[str]
) -> None:
    """Makes sure that an event of the certificate measured each step, with the noise it says.

    Args:
        certificate: The certificate.
        steps: The steps of a tree.
        queries: What each of them asked for.

    Raises:
        ReleaseError: A step has no event of its own.
    """
    left = [event for event in certificate.events if not isinstance(event, SelectEvent)]
    for step, query in zip(steps, queries, strict=True):
        found = [event for event in left if _measured(event, step, query)]
        if not found:
            raise ReleaseError(
                f"No event of the certificate measured {query} with the noise that the step says.",
                advice="Write each table with its own certificate.",
            )
        left.remove(found[0])


def _measured(event: Event, step: StepSummary, query: str) -> bool:
    return (event.query, event.cells) == (query, step.candidates) and math.isclose(
        math.sqrt(noise_for(event.loss, event.bound).variance),
        step.standard_error,
        rel_tol=_ROUNDING,
    )
