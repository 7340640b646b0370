"""The defaults for a fitted OD table, as measured: see docs/od-defaults.md."""

from collections.abc import Sequence
from fractions import Fraction

from hushway.families.od.mechanism.shares import important_shares
from hushway.families.od.mechanism.weights import Weights
from hushway.families.od.public.features import Feature
from hushway.privacy.loss import Measure

# Share of the cells, of the total and of the periods; the other features divide up the rest.
_CELLS, _TOTAL, _PERIOD, _OTHERS = 0.5, 0.04, 0.08, 0.38


def recommended_weights() -> Weights:
    """Returns the weighting that measured best."""
    return Weights.SIZE_OVER_VARIANCE


def recommended_shares(features: Sequence[Feature], measure: Measure) -> tuple[Fraction, ...]:
    """Returns the shares of the features and, last, of the cells that measured best.

    They are those of `important_shares` for the importance that we put on each feature.
    """
    others = sum(1 for f in features if f.title not in ("total", "period"))
    fixed = {"total": _TOTAL, "period": _PERIOD}
    wanted = [fixed.get(f.title, _OTHERS / max(1, others)) for f in features] + [_CELLS]
    importance = [share**3 for share in wanted]
    return important_shares(importance, measure)
