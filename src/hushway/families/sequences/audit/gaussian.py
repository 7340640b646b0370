"""What a tree with Gaussian noise must not give away, at the delta of the audits."""

from fractions import Fraction

from hushway.audit.chance import ChanceCheck, gaussian_tail
from hushway.audit.gaussian import DELTA, gaussian_trial, rho_of
from hushway.audit.harness import Examination
from hushway.audit.shift import ShiftCheck, most_of_rho
from hushway.families.sequences.audit.looks import FirstStep, PathEvidence
from hushway.families.sequences.audit.measured import MAX_RECORDS
from hushway.families.sequences.audit.product import GROUPED, SequenceProduct, TreeStage
from hushway.families.sequences.audit.toy import NO_WALKS, Walk

_EVIDENCE = "the evidence of all steps together, in thousandths,"


def one_record(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none: all steps together are worth what the accountant derives."""
    stage = _stage(product, epsilon)
    look = PathEvidence(stage=stage, path=(0,))
    return gaussian_trial(
        name=f"Gaussian, {GROUPED.words}: one record or none",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0,)),))),
    )


def many_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Ten identical records of one person: all that count may fall into one candidate."""
    stage = _stage(product, epsilon, max_records=MAX_RECORDS)
    look = PathEvidence(stage=stage, path=(0,), records=MAX_RECORDS)
    return ShiftCheck(
        name=f"Gaussian, {GROUPED.words}: ten records of one person fit rho",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        delta=DELTA,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0,), times=10),))),
        # Below the threshold all counts are alike, so the evidence is no sum of Gaussian numbers.
        most=most_of_rho(rho_of(epsilon).rho),
    )


def empty_group(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A group that nobody is in is kept as often as the noise of its step says."""
    stage = _stage(product, epsilon, max_records=MAX_RECORDS)
    look = FirstStep(stage=stage, places=(0, 1)).first
    rho = rho_of(epsilon).rho / GROUPED.steps
    return ChanceCheck(
        name="Gaussian, first step: a group that nobody is in",
        statistic="it is kept",
        epsilon=epsilon,
        delta=DELTA,
        chance=gaussian_tail(MAX_RECORDS**2 / (2 * rho), GROUPED.threshold),
        sample=stage.sampler(NO_WALKS, look),
    )


def _stage(product: SequenceProduct, epsilon: Fraction, max_records: int = 1) -> TreeStage:
    return TreeStage(product=product, form=GROUPED, spend=rho_of(epsilon), max_records=max_records)
