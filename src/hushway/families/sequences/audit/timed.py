"""What a tree whose stops keep their times must not give away.

A stop is a place and an hour, and no stop of a record is before the one before it.
"""

from fractions import Fraction

from hushway.audit.harness import Examination, Trial, World
from hushway.audit.product import Look
from hushway.families.sequences.audit.looks import FirstStep, PathEvidence, PublishedPath
from hushway.families.sequences.audit.measured import for_all_steps
from hushway.families.sequences.audit.product import HOURS, TIMED, SequenceProduct, TreeStage
from hushway.families.sequences.audit.toy import Walk
from hushway.privacy.loss import PureLoss

_PATH, _PERIODS = (0, 1), (1, 2)
_RECORD = Walk(stops=_PATH, periods=_PERIODS)
_BRIEF = Fraction(1, 4)


def one_record(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none: what places and times give away must add up to epsilon, no more."""
    stage = TreeStage(product=product, form=TIMED, spend=PureLoss(epsilon))
    look = PathEvidence(stage=stage, path=_PATH, periods=_PERIODS)
    return Trial(
        name=f"{TIMED.words}: one record or none",
        statistic="the evidence of all steps together, in thousandths,",
        epsilon=epsilon,
        worlds=_against_none(stage, look.seen),
        tight=True,
        effort=for_all_steps(TIMED, epsilon, 1),
    )


def two_periods(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none, looked for at two hours: it may count at one of them only."""
    stage = TreeStage(product=product, form=HOURS, spend=PureLoss(epsilon))
    look = FirstStep(stage=stage, places=(0, 0), periods=(1, 2))
    return Trial(
        name=f"{HOURS.words}: a record at one of two hours or at none",
        statistic="the smaller noisy count of two hours (0 unless both are kept)",
        epsilon=epsilon,
        worlds=_against_none(stage, look.smaller, Walk(stops=(0,), periods=(1,))),
    )


def unseen_prefix(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A prefix with one record against one that nobody took, published with their times."""
    stage = TreeStage(product=product, form=TIMED, spend=PureLoss(epsilon))
    look = PublishedPath(stage=stage, path=_PATH, periods=_PERIODS)
    return Trial(
        name=f"{TIMED.words}, published: a prefix with one record or one that nobody took",
        statistic="1 plus the published counts along its path (0 if it is not published)",
        epsilon=epsilon,
        worlds=_against_none(stage, look.seen),
        effort=_BRIEF,
    )


def _against_none(stage: TreeStage, look: Look, record: Walk = _RECORD) -> tuple[World, World]:
    return stage.worlds(look, ("the person", (record,)))
