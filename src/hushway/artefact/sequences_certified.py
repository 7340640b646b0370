"""Makes sure that a certificate is that of a prefix tree, and has paid for every step of it."""

import math

from hushway.artefact.stated import check_family, check_terms, is_noise, refuse_numbers
from hushway.geography.sequences import SequenceUniverse
from hushway.privacy.certificate import Certificate
from hushway.releases.sequences.steps import PlannedStep
from hushway.releases.sequences.table import SequenceTable, StepSummary
from hushway.releases.sequences.terms import FAMILY, stated_terms


def check_stated(certificate: Certificate, table: SequenceTable) -> None:
    """Makes sure that a certificate states the terms of a tree.

    Privacy:
        Every step was announced, with its noise and its threshold, before anything was measured;
        steps that were not taken are paid for and stand apart.

    Raises:
        ReleaseError: It states other terms, or a step has other noise or another threshold.
    """
    check_family(certificate, FAMILY)
    universe = SequenceUniverse(taxonomy=table.taxonomy, periods=table.periods)
    planned, mechanism = stated_terms(certificate, universe)
    if not 0 < len(table.steps) <= len(planned.events):
        raise refuse_numbers("steps")
    check_terms(certificate, planned.measured([step.candidates for step in table.steps]))
    steps = mechanism.steps(universe, planned.events[0].bound)
    if not all(map(_as_planned, table.steps, steps)):
        raise refuse_numbers("steps")


def _as_planned(step: StepSummary, planned: PlannedStep) -> bool:
    return (step.stop, step.grain, step.threshold) == (
        planned.stop,
        planned.grain,
        planned.threshold,
    ) and is_noise(step.standard_error, math.sqrt(planned.law.variance))
