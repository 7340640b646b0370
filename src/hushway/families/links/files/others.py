"""Releases of other steps, read as noisy answers about the links of one release."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hushway.families.links.files.check import refitting
from hushway.families.links.fit.answers import told_apart, told_by
from hushway.families.links.fit.missing_shares import expected_of
from hushway.families.links.fit.steps import NoisyStep, noisy_step, tells_of
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.mechanism.terms import LinksMechanism
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.release.learning import helpful_steps
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.others import OtherRelease


def learning(
    mechanism: Mechanism[Any, Any], universe: LinkUniverse, others: Sequence[OtherRelease]
) -> LinksMechanism:
    """Returns a mechanism whose fit learns from those other releases that help."""
    steps = helpful_steps(
        others,
        refitting,
        helps=lambda _other, own: tells_of(own, universe),
        answers=noisy_answers,
    )
    assert isinstance(mechanism, LinksMechanism)  # noqa: S101  all of the family learn
    if isinstance(mechanism, LinkPeople):
        return replace(mechanism, planned=replace(mechanism.planned, others=steps))
    return replace(mechanism, others=steps)


def noisy_answers(
    mechanism: LinksMechanism, measured: Measurements, own: LinkUniverse, universe: LinkUniverse
) -> NoisyStep:
    """Returns the noisy answers of another step, on the links of a universe."""
    expected, most = None, mechanism.limits.max_items
    if isinstance(mechanism, LinkPeople):
        settled = mechanism.settled(measured)
        most = settled.chosen.limits.max_items
        expected = expected_of(settled.crowd, most)
    told = told_by(told_apart(measured, expected, most), ClassZones(universe=own))
    return noisy_step(told, own, universe)
