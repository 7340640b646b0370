"""Releases of other steps, read as noisy answers about the cells of one density."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
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
from hushway.release.folder.answers import measured_again, refitted
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.others import OtherRelease, OtherStep


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
    steps = (
        OtherStep(stated=other.stated, answers=partial(answers_on, other))
        for other in others
        if other.steps == 0 or helps(other, universe)
    )
    return replace(mechanism, others=tuple(steps))


def helps(release: OtherRelease, universe: DensityUniverse) -> bool:
    """Whether a density can learn from a release: it measured some of its cells at its hours."""
    found = refitted(release, refitting)
    if found is None:
        return False
    mechanism, own = found
    return isinstance(mechanism, DensitySeries | DensityPeople) and tells_of(own, universe)


def answers_on(release: OtherRelease, universe: DensityUniverse) -> NoisyStep:
    """Returns the noisy answers of a release, on the cells and hours of a density.

    Privacy:
        The answers come from a curator that has no rows.

    Raises:
        ReleaseError: They are not those of its certificate.
    """
    certificate = release.certificate
    mechanism, own = refitting(release.folder, certificate, release.facts)
    measured = measured_again(release.folder, certificate, mechanism, own)
    return noisy_answers(mechanism, measured, own, universe)


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
