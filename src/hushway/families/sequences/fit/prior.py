"""Prior means of pairs of places: row and column sums, and a factor for each distance class."""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.posterior import Noise, posterior
from hushway.geography.locations import Locations

# Factors of distance are learnt for so many rings an octave, of so many at most.
_RINGS: Final = 3
_MOST_RINGS: Final = 30
_ROUNDS: Final = 4
_SWEEPS: Final = 4
_TINY: Final = 1e-9
# The distance of the nearest ring: this quantile of all distances.
_NEAR: Final = 0.01
_CENTRE: Final = 8


def rings(locations: Locations) -> IntArray:
    """Returns in which ring around each place each other one lies; 0 is the place itself."""
    lon, lat = np.radians([[one.lon, one.lat] for one in locations.places]).T
    east = lon * np.cos(lat.mean())
    apart = np.hypot(east[:, None] - east, lat[:, None] - lat)
    others = apart[~np.eye(len(apart), dtype=np.bool_)]
    # Tens of thousands of distances tell a quantile as well as a million.
    sample = np.sort(others[:: max(1, len(others) // 65_536)])
    near = sample[int(_NEAR * len(sample))] if len(sample) else 0.0
    if near <= 0:
        near = others[others > 0].min(initial=1.0)
    ring = 1 + np.clip(np.floor(_RINGS * np.log2(np.maximum(apart / near, 1.0))), 0, _MOST_RINGS)
    np.fill_diagonal(ring, 0)
    whole: IntArray = ring.astype(np.int64)
    return whole


def excess_classes(found: FloatArray, expected: FloatArray) -> IntArray:
    """Returns how much more was found than was expected, in classes of half an octave."""
    ratio = np.log2((found + 0.5) / (expected + 0.5))
    classes: IntArray = np.clip(np.rint(2 * ratio) + _CENTRE, 0, 2 * _CENTRE).astype(np.int64)
    return classes


def proportional_fit(
    values: FloatArray, rows: FloatArray, columns: FloatArray, classes: tuple[IntArray, ...]
) -> FloatArray:
    """Returns a table with given sums by row and column, and a factor for each class of cells.

    Iterative proportional fitting: the sums of classes are those of the noisy values, which over
    many cells are nearly free of noise.
    """
    expected: FloatArray = np.outer(rows, columns) / max(columns.sum(), _TINY)
    sums = [class_sums(values, one, float(rows.sum())) for one in classes]
    for _ in range(_ROUNDS):
        for kind, wanted in zip(classes, sums, strict=True):
            have = np.bincount(kind.ravel(), weights=expected.ravel())
            expected *= (wanted / np.maximum(have, _TINY))[kind]
        for _ in range(_SWEEPS):
            expected *= (rows / np.maximum(expected.sum(axis=1), _TINY))[:, None]
            expected *= columns / np.maximum(expected.sum(axis=0), _TINY)
    return expected


def class_sums(values: FloatArray, kind: IntArray, total: float) -> FloatArray:
    """Returns sums of noisy values by class: none below 0, and all together the total.

    Of all such sums they are the nearest to those of the values, by the variance of their noise: as
    much is taken off every cell. If sums were only cut off at 0, noise in classes of many cells
    that are hardly ever found would come to more than everything else.
    """
    sums, cells = np.bincount(kind.ravel(), weights=values.ravel()), np.bincount(kind.ravel())
    each = sums / np.maximum(cells, 1)
    order = np.argsort(-each)
    # The classes of the largest means stay above 0: as many as agree with what is taken off.
    off = (np.cumsum(sums[order]) - total) / np.maximum(np.cumsum(cells[order]), 1)
    taken: FloatArray = np.maximum(sums - cells * off.max(), 0.0)
    return taken


def margin(values: FloatArray, noise: Noise, alike: FloatArray, total: float) -> FloatArray:
    """Returns the posterior of noisy sums by place, with a known total.

    Places with about the same value of `alike` are compared with each other.
    """
    scaled = np.maximum(alike, 1e-6) * max(total, 1.0) / max(float(alike.sum()), _TINY)
    fewest = max(20, len(values) // 8)
    found = np.maximum(posterior(values, scaled, noise, fewest=fewest, free=True).mean, 1e-6)
    scaled_back: FloatArray = found * max(total, _TINY) / found.sum()
    return scaled_back
