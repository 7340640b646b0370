"""Which links are published, and sums over those that are not: all post-processing."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import erfc

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.public.universe import ClassZones
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.measured import Measured

_METRES_OF_A_KM: Final = 1000.0
_DIGITS: Final = 2
# What does not show was picked by its noise, and drawn to one mean: so much of the errors goes
# together. Chosen where sums were then right within two standard errors 9 times in 10 or more.
_TOGETHER: Final = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Rest:
    """Sums over the links that do not show, by (period, class and zone). Safe for anyone to see.

    In the order of the groups of links of `ClassZones`, period by period; rounded to hundredths.

    Attributes:
        counts: Estimated persons, added up over links.
    """

    counts: FloatArray
    standard_error: FloatArray
    km: FloatArray
    km_error: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedLinks:
    """Fitted persons by (period, link), how far each may be off, and variances of group sums."""

    values: FloatArray
    errors: FloatArray
    sum_variance: FloatArray


def rest_of(fitted: FittedLinks, shown: BoolArray, groups: ClassZones) -> Rest:
    """Adds up what is fitted to links that are not shown."""
    length = groups.universe.roads.length / _METRES_OF_A_KM
    counts, errors = _sums(fitted, shown, groups, np.ones(len(length)))
    km, km_errors = _sums(fitted, shown, groups, length)
    return Rest(counts=counts, standard_error=errors, km=km, km_error=km_errors)


def hidden_links(period: IntArray, link: IntArray, groups: ClassZones) -> IntArray:
    """Returns how many links do not show, by (period, class and zone), given those that do."""
    group, used = groups.links
    periods = len(groups.universe.periods)
    shown = np.bincount(period * len(used) + group[link], minlength=periods * len(used))
    return np.tile(np.bincount(group, minlength=len(used)), periods) - shown


def _sums(
    fitted: FittedLinks, shown: BoolArray, groups: ClassZones, each: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns weighted sums over what is not shown, and their standard errors.

    Of a few links that do not show their own errors tell most; of many, the sum of the whole group
    without those that show.
    """
    group, used = groups.links
    place = (np.arange(len(shown))[:, None] * len(used) + group).ravel()

    def summed(numbers: FloatArray) -> FloatArray:
        sums = np.bincount(place, numbers.ravel(), minlength=len(shown) * len(used))
        return sums.astype(np.float64)

    hidden = np.where(shown, 0.0, each)
    persons, sums = summed(np.where(shown, 0.0, fitted.values)), summed(hidden * fitted.values)
    own = summed((hidden * fitted.errors) ** 2) + (_TOGETHER * summed(hidden * fitted.errors)) ** 2
    mean = np.divide(sums, persons, out=np.zeros_like(sums), where=persons > 0)
    apart = np.where(shown, 0.0, each - mean[place].reshape(shown.shape))
    whole = fitted.sum_variance.ravel() + summed(np.where(shown, fitted.errors, 0.0) ** 2)
    left = mean**2 * whole + summed((apart * fitted.errors) ** 2)
    off = np.sqrt(np.minimum(own, left))
    return np.asarray(np.round(sums, _DIGITS)), np.asarray(np.round(off, _DIGITS))


# Of the links that pass, at most this part is expected to be empty.
FALSE_DISCOVERY_RATE: Final = 0.1


def significant(
    items: Measured, cells: IntArray, deviations: FloatArray | None = None
) -> BoolArray:
    """Says which of some cells are significantly above noise.

    The false discovery rate of Benjamini and Hochberg (1995): of the cells that pass, at most
    `FALSE_DISCOVERY_RATE` are expected to be noise alone. Where nobody was, nothing passes but once
    in ten releases.

    Args:
        deviations: How many deviations of its noise each is above 0, if other steps were asked too.
    """
    chance = p_values(items, deviations)[cells]
    order = np.argsort(chance, kind="stable")
    allowed = FALSE_DISCOVERY_RATE * np.arange(1, len(cells) + 1) / len(cells)
    passing = np.flatnonzero(chance[order] <= allowed)
    least = chance[order[passing[-1]]] if len(passing) else -1.0
    return np.asarray(chance <= least)


def p_values(items: Measured, deviations: FloatArray | None = None) -> FloatArray:
    """Returns how likely noise alone is at least as large as each noisy count."""
    values = items.values.astype(np.float64)
    if deviations is not None:
        values = deviations * float(items.variance) ** 0.5
    event = items.event
    if isinstance(event, LaplaceEvent):
        ratio = np.exp(-1 / float(event.scale))
        above = ratio ** np.maximum(values, 1.0) / (1 + ratio)
        below = 1 - ratio ** np.maximum(1 - values, 1.0) / (1 + ratio)
        return np.asarray(np.where(values >= 1, above, below))
    # Of a discrete Gaussian as of a continuous one from half a person below.
    return np.asarray(erfc((values - 0.5) / np.sqrt(2 * float(items.variance))) / 2)
