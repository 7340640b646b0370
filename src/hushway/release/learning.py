"""Which other releases of a series help one that learns, and what they have measured."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hushway.errors import ReleaseError
from hushway.release.folder.answers import ANSWERS, measured_again
from hushway.release.mechanism import Mechanism
from hushway.release.others import OtherRelease, OtherStep

# How a family makes the mechanism of a release, and its public cells, from its files.
Refitting = Callable[..., tuple[Mechanism[Any, Any], Any]]


def helpful_steps(
    others: Iterable[OtherRelease],
    refitting: Refitting,
    *,
    helps: Callable[[Any, Any], bool],
    answers: Callable[..., Any],
) -> tuple[OtherStep, ...]:
    """Returns those other releases that help, and the one that is revised.

    Args:
        helps: Whether a mechanism has measured on its cells what can be used.
        answers: Returns what it has measured, given the mechanism, its answers, its cells, and what
            the fit that learns asks with.
    """
    return tuple(
        OtherStep(stated=other.stated, answers=partial(_answers_of, other, refitting, answers))
        for other in others
        if other.steps == 0 or _helps(other, refitting, helps)
    )


def _helps(release: OtherRelease, refitting: Refitting, helps: Callable[[Any, Any], bool]) -> bool:
    if not (release.folder / ANSWERS).exists():
        return False
    try:
        mechanism, own = refitting(release.folder, release.certificate, release.facts)
    except ReleaseError:
        # It is whole, so another version has made it.
        return False
    return helps(mechanism, own)


def _answers_of(
    release: OtherRelease, refitting: Refitting, answers: Callable[..., Any], *asked: Any
) -> Any:
    """Returns the noisy answers of a release as a fit asks for them.

    Privacy:
        The answers come from a curator that has no rows.

    Raises:
        ReleaseError: They are not those of its certificate.
    """
    mechanism, own = refitting(release.folder, release.certificate, release.facts)
    measured = measured_again(release.folder, release.certificate, mechanism, own)
    return answers(mechanism, measured, own, *asked)
