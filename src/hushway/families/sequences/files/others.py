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
from hushway.release.learning import helpful_steps
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.others import OtherRelease

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
    steps = helpful_steps(
        others,
        refitting,
        helps=partial(_helps, mechanism),
        answers=lambda other, measured, *_: noisy_answers(other, measured),
    )
    return replace(mechanism, others=steps)


def _helps(mechanism: LearningSequences, other: Mechanism[Any, Any], own: SequenceUniverse) -> bool:
    """Whether as many stops of a record count, and some of the places are the same."""
    places = mechanism.universe.taxonomy.locations.index.keys()
    return (
        isinstance(other, LearningSequences)
        and other.height == mechanism.height
        and not places.isdisjoint(own.taxonomy.locations.index)
    )


def noisy_answers(mechanism: LearningSequences, measured: Measurements) -> StepAnswers:
    """Returns the noisy answers of another step about the records that were looked at closely."""
    return step_answers(mechanism.closely(measured))
