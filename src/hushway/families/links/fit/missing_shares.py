"""The share of people that is missing from each group of links, by hierarchical shrinkage.

What the bound left out of a link is a share of what it counted there. Noise hides the share of most
links, so it is estimated for all links, then for classes, groups and sizes of links; each level is
shrunk to the one above unless noisy numbers say that shares differ there. All post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.universe import WEIGHTS
from hushway.release.contribution.crowd import Crowd

# What is usually missing by one weight, in parts of all that counted. Where noise hides more than
# that, so much is taken to be unknown.
_USUAL: Final = 0.2
# The same by the next weight, in parts of what is missing by the one before.
_OF_NEXT: Final = 1.5
# By how much shares usually differ between groups of a class and between classes, in parts of the
# share; and the least part of that, as a variance, whatever noisy numbers say.
_VARIATION: Final = 0.25
LEAST_VARIANCE: Final = 0.05
# By how much that itself differs from city to city, in parts of what is usual.
_OF_CITIES: Final = 0.5
# From so many persons on, busy links may lose another share than their group does; in steps, and
# only where noise is small enough for a link to be known to be so busy.
_SIZES: Final = (100.0, 300.0, 1000.0, 3000.0, 10_000.0)
_OVER_NOISE: Final = 5.0
_VARIATION_OF_SIZES: Final = 0.2
# And by how much shares of periods differ, where other steps are asked too.
_VARIATION_OF_PERIODS: Final = 0.5
# People of a class have about as many items as its middle: shares may be off by this part of them.
OFF_MIDDLE: Final = 0.1
# In so many classes beyond those that stand out people may hide, each with so many times the
# variance of its noise.
_HIDING: Final = 2
_HIDDEN: Final = 2.0
# In persons: keeps what is measured without noise, in tests, from dividing by 0.
LEAST_NOISE: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Nesting:
    """The class (as in `LeftOutClasses`) and the group (as in `ClassZones`) of each cell."""

    kind: IntArray
    group: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """What was counted, with the variance of its noise, in its classes and groups."""

    counts: FloatArray
    noise: float
    nesting: Nesting


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOutWeight:
    """What was measured of one weight, by cell and by class, with the variances of the noise."""

    weight: int
    cells: FloatArray
    classes: FloatArray
    noise: float
    sum_noise: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Shares:
    """How much is missing for each that counted, and the variance of that."""

    mean: FloatArray
    variance: FloatArray

    def of(self, places: IntArray) -> "Shares":
        """Returns the shares of some places."""
        return Shares(mean=self.mean[places], variance=self.variance[places])

    def times(self, factor: "Shares") -> "Shares":
        """Returns so many times the shares."""
        return Shares(
            mean=self.mean * factor.mean,
            variance=self.variance + self.mean**2 * factor.variance,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Expected:
    """What the number of people by their items tells of all cells together.

    Attributes:
        shares: How much is missing for each, by weight.
    """

    counted: float
    shares: tuple[Shares, ...]


def expected_of(crowd: Crowd, most: int) -> Expected:
    """Returns what is expected to be missing if so many items of a person count."""
    beyond = np.maximum(crowd.records_each - most, 0.0)
    counted = max(crowd.up_to(most), 1.0)
    # Noise may hide some people of the next classes, up to what would stand out.
    place = np.arange(len(beyond)) - crowd.known
    noise = crowd.variance * np.where(place < 0, 1.0, np.where(place < _HIDING, _HIDDEN, 0.0))
    found = []
    for chosen in np.eye(len(WEIGHTS)):
        each = np.minimum(beyond, most) * np.interp(beyond / most, WEIGHTS, chosen) / counted
        mean = crowd.people @ each
        off = noise @ each**2 + (OFF_MIDDLE * mean) ** 2
        found.append(Shares(mean=np.array([mean]), variance=np.array([off])))
    return Expected(counted=counted, shares=tuple(found))


def joined_shares(told: Sequence[LeftOutWeight], expected: Expected) -> list[Shares]:
    """Returns the share of all cells together by weight: as expected, and as measured."""
    found = []
    for one, share in zip(told, expected.shares, strict=True):
        noise = max(len(one.classes) * one.sum_noise, LEAST_NOISE) / expected.counted**2
        trust = share.variance / (share.variance + noise)
        apart = float(one.classes.sum()) / expected.counted - share.mean
        found.append(Shares(mean=share.mean + trust * apart, variance=trust * noise))
    return found


def common_shares(told: Sequence[LeftOutWeight], counted: float) -> list[Shares]:
    """Returns the same where nothing is known of people by their items, from the smallest on.

    Where few people have somewhat more items than count, fewer have many times as many, whatever
    noise says of them; where many have, so may be these.
    """
    found, usual = [], _USUAL
    for one in told:
        found.append(_common_share(one, counted, usual / one.weight))
        usual = (
            _OF_NEXT * one.weight * float(np.hypot(found[-1].mean, found[-1].variance ** 0.5)[0])
        )
    return found


def group_shares(ground: Counted, told: LeftOutWeight, common: Shares) -> Shares:
    """Returns the shares of all groups: from all cells to classes, and from these to groups."""
    kind, group = ground.nesting.kind, ground.nesting.group
    kinds, groups = len(told.classes), int(group.max()) + 1
    counted = _summed(kind, kinds, ground.counts)
    by_class = _shrunk(
        common.of(np.zeros(kinds, dtype=np.int64)),
        counted,
        told.classes,
        np.full(kinds, told.sum_noise),
        _summed(kind, kinds) * ground.noise,
    )
    class_of = np.zeros(groups, dtype=np.int64)
    class_of[group] = kind
    size = _summed(group, groups)
    return _shrunk(
        by_class.of(class_of),
        _summed(group, groups, ground.counts),
        _summed(group, groups, told.cells),
        size * told.noise,
        size * ground.noise,
    )


def shares_by_size(
    ground: Counted, told: LeftOutWeight, of_groups: Shares, now: Counted | None = None
) -> Shares:
    """Returns the share of each cell: its group's, and what links of its size lose more or less.

    Those whom the bound cuts most drive for others, and not mostly where most people drive.

    Args:
        now: What one of several steps counted, in which links may be larger than in most.
    """
    shares = of_groups.of(ground.nesting.group)
    size = _size(ground)
    factor = _factors(ground, told, shares, (size, len(_SIZES) + 1), _VARIATION_OF_SIZES**2)
    # Those that may be of any size are as their groups.
    factor.mean[0], factor.variance[0] = 1.0, 0.0
    return shares.times(factor.of(size if now is None else np.maximum(size, _size(now))))


def _size(ground: Counted) -> IntArray:
    known = max(_OVER_NOISE * ground.noise**0.5, _SIZES[0])
    size = np.where(ground.counts < known, 0, np.digitize(ground.counts, _SIZES))
    return size.astype(np.int64)


def shares_by_period(
    ground: Counted, told: LeftOutWeight, of_groups: Shares, period: IntArray
) -> Shares:
    """Returns the share of each group, and what its period loses more or less than others.

    Whoever has many items may drive at other hours than most people.
    """
    group, periods = ground.nesting.group, int(period.max()) + 1
    shares = of_groups.of(group)
    seen = _factors(ground, told, shares, (period, periods), _VARIATION_OF_PERIODS**2)
    scale = np.maximum(_summed(period, periods, shares.mean * ground.counts), LEAST_NOISE)
    mean = np.maximum(seen.mean, 0.0)
    # What all cells lose together is known better than that.
    mean *= scale.sum() / max(float(scale @ mean), LEAST_NOISE)
    of_group = np.zeros(len(of_groups.mean), dtype=np.int64)
    of_group[group] = period
    variance = seen.variance * (1 - scale / scale.sum())
    return of_groups.times(Shares(mean=mean, variance=variance).of(of_group))


def _factors(
    ground: Counted,
    told: LeftOutWeight,
    shares: Shares,
    kinds: tuple[IntArray, int],
    usual: float,
) -> Shares:
    """Returns how many times the expected share is missing from each kind of cells.

    Args:
        kinds: The kind of each cell, and how many there are.
    """
    expected = shares.mean * ground.counts
    apart = _summed(*kinds, told.cells - expected)
    noise = _summed(*kinds, told.noise + shares.mean**2 * ground.noise + np.abs(expected))
    scale = _summed(*kinds, expected)
    trust = usual * scale / np.maximum(noise + usual * scale**2, LEAST_NOISE)
    return Shares(mean=1 + trust * apart, variance=usual * (1 - trust * scale))


def excess_variance(
    apart: FloatArray, noise: FloatArray, squares: FloatArray, usual: float
) -> float:
    """Returns the variance of what is expected to be 0, as noisy differences show it.

    Differences say little where noise is large, so the answer is shrunk towards the usual variance.

    Args:
        noise: Their variances if all were as expected.
        squares: What one unit of the answer adds to the variance of each.
    """
    # As precise as differences are, if they are as usual.
    weight = squares / (noise + usual * squares) ** 2
    size = float(weight @ squares)
    if size <= 0:
        return usual
    seen = float(weight @ (apart**2 - noise)) / size
    varies = (_OF_CITIES * usual) ** 2
    believed = varies / (varies + 2 / size)
    return max(usual + believed * (seen - usual), LEAST_VARIANCE * usual)


def _summed(group: IntArray, groups: int, numbers: FloatArray | None = None) -> FloatArray:
    """Returns the sums of numbers by group; how many there are without numbers."""
    return np.bincount(group, numbers, minlength=groups).astype(np.float64)


def _common_share(told: LeftOutWeight, counted: float, usual: float) -> Shares:
    """Returns the share of all cells together, shrunk towards none as far as noise explains it."""
    if counted <= 0:
        return Shares(mean=np.zeros(1), variance=np.zeros(1))
    noise = len(told.classes) * told.sum_noise / counted**2
    believed = usual**2 / (usual**2 + noise)
    share = believed * float(told.classes.sum()) / counted
    return Shares(mean=np.array([share]), variance=np.array([believed * noise]))


def _shrunk(
    expected: Shares,
    counted: FloatArray,
    missing: FloatArray,
    noise: FloatArray,
    counted_noise: FloatArray,
) -> Shares:
    """Returns shares between the expected and the measured ones, by their variances."""
    apart = missing - expected.mean * counted
    noise = np.maximum(noise + expected.mean**2 * counted_noise, LEAST_NOISE)
    squares = np.maximum(counted**2 - counted_noise, 0.0)
    differ = (
        excess_variance(apart, noise, squares * expected.mean**2, _VARIATION**2) * expected.mean**2
    )
    trust = differ * counted / (noise + differ * squares)
    doubt = 1 - trust * counted
    return Shares(
        mean=expected.mean + trust * apart,
        variance=trust**2 * noise + doubt**2 * (differ + expected.variance),
    )
