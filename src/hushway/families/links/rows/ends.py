"""What is done to the ends of trips before they are matched: nothing, or noise of their own.

Noise on every count protects a whole person, and needs nothing of this. Metric privacy of the ends
is an extra: it blurs the first and the last position of a trip, and says nothing about the others.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt

from hushway.errors import PrivacyError
from hushway.privacy.noise.laplace import DiscreteLaplace

_FINENESS = 1 << 20
# Above the square root of 2, by less than one part in 2^40.
_ROOT_2 = Fraction(isqrt(2 << 80) + 1, 1 << 40)
# Two independent Laplace numbers of scale 1 are together no longer than this, 95 times in 100.
_MOSTLY = 3.9


@dataclass(frozen=True, kw_only=True)
class NoEnds:
    """Ends of trips are matched as they are."""


@dataclass(frozen=True, kw_only=True)
class MetricEnds:
    """Both ends of every trip are moved by noise, and what is near the noisy ends is left out.

    Each end goes to the nearest point of a public grid and moves from there by discrete Laplace
    noise along both axes. Positions of the trip within a disc around the noisy end are left out;
    the disc is as wide as the noise, and holds some streets of the public map besides, read at the
    noisy point. The noisy end is put onto the nearest road, and the trip is matched with it.

    Privacy:
        Promised for one end, all else being equal: moving it by d metres within the surroundings of
        the network changes the probability of whatever is counted by a factor of at most
        exp(epsilon * d / radius), where d is measured between points of the grid. All else are the
        other positions, all times and all other trips; PRIVACY.md of the family has the proof. The
        rest of the trip is no part of this promise: positions beyond the disc are matched as they
        are, and they may lead to the true end. Noise is drawn afresh for each trip of each person,
        so trips from one home spend again: together the ends of one person lose `loss_per_metre`
        for every metre that all of them move. At most `max_trips` trips of a person count, so that
        this is finite.
        The bound on a person's counts, and with it the guarantee of the release, does not depend on
        any of this.

    Attributes:
        epsilon: What one end loses when it moves by `radius`.
        radius: Metres.
        step: Metres between the points of the grid.
        max_trips: Most trips of one person, a uniform choice.
    """

    epsilon: Fraction
    radius: int
    step: int = 10
    max_trips: int

    def __post_init__(self) -> None:
        lengths = (self.radius, self.step, self.max_trips)
        if not (
            isinstance(self.epsilon, Fraction)
            and self.epsilon > 0
            and all(type(n) is int and n >= 1 for n in lengths)
        ):
            raise PrivacyError(
                "Noise at the ends of trips needs an epsilon above 0, and a radius, a step and a "
                "number of trips of at least 1.",
                advice="Give epsilon as a fraction, and the others as whole numbers.",
            )
        # Refuses scales that cannot be drawn, before any trip is looked at.
        DiscreteLaplace(self.scale)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in steps of the grid, rounded up.

        A move by d has at most sqrt(2) * d along both axes together, hence the square root.
        """
        exactly = _ROOT_2 * self.radius / (self.epsilon * self.step)
        return Fraction(ceil(exactly * _FINENESS), _FINENESS)

    @property
    def reach(self) -> float:
        """Metres: at least 95 times in 100 the noisy end is no further from the true one.

        With a = exp(-1 / scale), |Z| of the noise is k or more with probability 2 a^k / (1 + a),
        which is at most a^(k - 1/2): it is no larger than a continuous Laplace number and half a
        step. Half a step along both axes is sqrt(1/2) steps, and the way to the grid as much again.
        """
        return self.step * (_MOSTLY * float(self.scale) + sqrt(2.0))

    @property
    def loss_per_metre(self) -> Fraction:
        """What all ends of one person lose together for every metre that each of them moves."""
        return 2 * self.max_trips * self.epsilon / self.radius


EndTreatment = NoEnds | MetricEnds
