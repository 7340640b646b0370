"""Releases of other steps, read as noisy answers that learnt sequences can learn from."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hushway.errors import PlanError
from hushway.families.sequences.files.check import refitting
from hushway.families.sequences.fit.steps import StepAnswers, step_answers
from hushway.families.sequences.mechanism.learned import LearnedSequences
from hushway.families.sequences.mechanism.people import PeopleSequences
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.release.folder.answers import measured_again, refitted
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.others import OtherRelease, OtherStep

LearningSequences = LearnedSequences | PeopleSequences


def learning(mechanism: Mechanism[Any, Any], others: Sequence[OtherRelease]) -> LearningSequences:
    """Returns a mechanism whose fit learns from those other releases that help.

    Raises:
        PlanError: It is none that learns.
    """
    if not isinstance(mechanism, LearningSequences):
        raise PlanError(
            "series.learn_from: only sequences that are learnt learn from other releases.",
            advice='Use mechanism "learned", or leave learn_from out.',
        )
    steps = (
        OtherStep(stated=other.stated, answers=partial(answers_on, other))
        for other in others
        if other.steps == 0 or helps(other, mechanism)
    )
    return replace(mechanism, others=tuple(steps))


def helps(release: OtherRelease, mechanism: LearningSequences) -> bool:
    """Whether sequences can learn from a release: as many stops count, and it has some places."""
    found = refitted(release, refitting)
    if found is None:
        return False
    other, own = found
    places = mechanism.universe.taxonomy.locations.index.keys()
    return (
        isinstance(other, LearningSequences)
        and other.height == mechanism.height
        and not places.isdisjoint(own.taxonomy.locations.index)
    )


def answers_on(release: OtherRelease, _universe: SequenceUniverse) -> StepAnswers:
    """Returns the noisy answers of a release.

    Privacy:
        The answers come from a curator that has no rows.

    Raises:
        ReleaseError: They are not those of its certificate.
    """
    certificate = release.certificate
    mechanism, own = refitting(release.folder, certificate, release.facts)
    assert isinstance(mechanism, LearningSequences)  # noqa: S101  whoever helps is
    return noisy_answers(mechanism, measured_again(release.folder, certificate, mechanism, own))


def noisy_answers(mechanism: LearningSequences, measured: Measurements) -> StepAnswers:
    """Returns the noisy answers of another step about the records that were looked at closely."""
    return step_answers(mechanism.closely(measured))
