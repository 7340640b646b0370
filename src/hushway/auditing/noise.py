"""Audits of the noise alone: the stage that everything else rests on, at a million runs."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from hushway.auditing.cases import Accounted, Case, HasVariance, Loses, cases_of
from hushway.auditing.harness import Sampler
from hushway.auditing.law import Moments, gaussian
from hushway.auditing.shift import rho_of
from hushway.auditing.suite import Suite
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.randomness import os_source

Noise = Callable[[Loss, Bound], NoiseLaw]
"""Chooses the noise that fits a spend, given how far a person moves a count."""

# Noise of this scale is no longer drawn from one table.
_WIDE = 2048


@dataclass(frozen=True, kw_only=True)
class _Count:
    """A noisy count, which everybody in the scene moves by all that the bound allows."""

    spend: Loss
    bound: Bound
    law: NoiseLaw

    def sampler(self, scene: tuple[str, ...], _look: None) -> Sampler:
        """Returns a way to draw the noisy count."""
        moved = len(scene) * self.bound.each
        return lambda runs: moved + self.law.draw(os_source(), runs)


def _count(noise: Noise, epsilon: Fraction, *, laplace: bool = False, wide: bool = False) -> _Count:
    spend = PureLoss(epsilon) if laplace else rho_of(epsilon)
    scale = epsilon if laplace else math.sqrt(2 * spend.amount)
    moved = math.ceil(_WIDE * scale) if wide else 1
    bound = Bound(cells=1, each=moved, total=moved)
    return _Count(spend=spend, bound=bound, law=noise(spend, bound))


def _moments(stage: _Count) -> Moments:
    return gaussian(stage.bound.l2_squared / (2 * stage.spend.amount))


NARROW_LAPLACE = Case(
    "discrete Laplace noise",
    "the noisy count",
    stage=partial(_count, laplace=True),
    look=None,
    one=("the person",),
    claim=Loses(tight=True),
)
WIDE_LAPLACE = replace(
    NARROW_LAPLACE,
    name="wide discrete Laplace noise",
    stage=partial(_count, laplace=True, wide=True),
)
NARROW_GAUSSIAN = replace(
    NARROW_LAPLACE,
    name="discrete Gaussian noise",
    stage=_count,
    claim=Accounted(bound=lambda stage: stage.bound),
)
WIDE_GAUSSIAN = replace(
    NARROW_GAUSSIAN, name="wide discrete Gaussian noise", stage=partial(_count, wide=True)
)
# Gaussian noise must not be wider than it needs to be either.
NARROW_GAUSSIAN_VARIANCE = Case(
    "spread of discrete Gaussian noise",
    "the noise",
    stage=_count,
    look=None,
    claim=HasVariance(_moments),
)
WIDE_GAUSSIAN_VARIANCE = replace(
    NARROW_GAUSSIAN_VARIANCE,
    name="spread of wide discrete Gaussian noise",
    stage=partial(_count, wide=True),
)

SUITE = Suite(real=noise_for, audits=cases_of(globals()))
