"""Releases of other steps, read as noisy answers about the cells of one density."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hushway.errors import PlanError
from hushway.families.density.files.check import refitting
from hushway.families.density.fit.scaling import levels_of
from hushway.families.density.fit.steps import NoisyStep, noisy_step, tells_of
from hushway.families.density.fit.totals import answers_of
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.terms import DensityMechanism
from hushway.families.density.public.visits import DensityUniverse
from hushway.release.learning import helpful_steps
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.others import OtherRelease


def learning(
    mechanism: Mechanism[Any, Any], universe: DensityUniverse, others: Sequence[OtherRelease]
) -> DensityMechanism:
    """Returns a mechanism whose fit learns from those other releases that help.

    Raises:
        PlanError: It is none that learns.
    """
    if not isinstance(mechanism, DensitySeries | DensityPeople) or mechanism.denoise != "patterns":
        raise PlanError(
            'series.learn_from: only densities with denoise = "patterns" learn from others.',
            advice='Use mechanism "series" with denoise = "patterns", or leave learn_from out.',
        )

    def helps(other: Mechanism[Any, Any], own: DensityUniverse) -> bool:
        return isinstance(other, DensitySeries | DensityPeople) and tells_of(own, universe)

    steps = helpful_steps(others, refitting, helps=helps, answers=noisy_answers)
    return replace(mechanism, others=steps)


def noisy_answers(
    mechanism: DensityMechanism,
    measured: Measurements,
    own: DensityUniverse,
    universe: DensityUniverse,
) -> NoisyStep:
    """Returns the noisy answers of another step, on the cells and hours of a density."""
    if isinstance(mechanism, DensityPeople):
        mechanism = mechanism.settled(measured)
    answers = answers_of(measured)
    return noisy_step(answers, levels_of(answers, own, mechanism.limits), own, universe)
