"""Makes sure that a certificate is that of a prefix tree, and has paid for every step of it."""

import math
from collections.abc import Sequence

from hushway.families.sequences.files.tree_shape import TreeShape
from hushway.families.sequences.mechanism.steps import PlannedStep
from hushway.families.sequences.mechanism.table import SequenceTable, StepSummary
from hushway.families.sequences.mechanism.terms import FAMILY, stated_terms
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.universe import SequenceUniverse
from hushway.privacy.certificate import Certificate
from hushway.release.stated import check_domain, check_family, check_terms, is_noise, refuse_numbers


def check_stated(certificate: Certificate, table: SequenceTable, shape: TreeShape) -> None:
    """Makes sure that a certificate states the terms of a tree.

    Privacy:
        Every step was announced, with its noise and its threshold, before anything was measured;
        steps that were not taken are paid for and stand apart.

    Args:
        certificate: The certificate.
        table: The tree.
        shape: What follows from its nodes.

    Raises:
        ReleaseError: It states other terms, a step has other noise or another threshold, or the
            tree goes on where it must stop, or stops where it must go on.
    """
    check_family(certificate, FAMILY)
    universe = SequenceUniverse(taxonomy=table.taxonomy, periods=table.periods)
    check_domain(certificate, universe)
    planned, mechanism = stated_terms(certificate, universe)
    if not 0 < len(table.steps) <= len(planned.events):
        raise refuse_numbers("steps")
    check_terms(certificate, planned.measured([step.candidates for step in table.steps]))
    steps = mechanism.steps(universe, planned.events[0].bound)
    if not all(map(_as_planned, table.steps, steps)) or not _goes_as_far(
        mechanism, table, steps, shape.beyond
    ):
        raise refuse_numbers("steps")


def _goes_as_far(
    mechanism: PrefixTree, table: SequenceTable, steps: Sequence[PlannedStep], beyond: int
) -> bool:
    """Whether every step was one to take, and the one after the last, if any, was not."""
    kept = [step.kept for step in table.steps]
    candidates = [*(step.candidates for step in table.steps[1:]), beyond]
    taken = [
        nodes > 0 and mechanism.may_take(step, nodes=nodes, candidates=size)
        for step, nodes, size in zip(steps[1:], kept, candidates, strict=False)
    ]
    done = len(table.steps) - 1
    return all(taken[:done]) and not any(taken[done:])


def _as_planned(step: StepSummary, planned: PlannedStep) -> bool:
    return (step.stop, step.grain, step.threshold) == (
        planned.stop,
        planned.grain,
        planned.threshold,
    ) and is_noise(step.standard_error, math.sqrt(planned.law.variance))
