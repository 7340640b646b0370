"""How far a published road network is from the truth, in the DP-ANI paper's measures and others."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import CLASSES, RoadNetwork
from hushway.privacy.measured import Internal

# Of all links, the busiest ones: what a city calls its major routes.
BUSIEST = 0.05


def counts_distance(one: FloatArray, other: FloatArray) -> float:
    """Returns the Wasserstein distance of two heaps of equally many numbers."""
    return float(np.abs(np.sort(one) - np.sort(other)).mean())


def class_distance(one: FloatArray, other: FloatArray, roads: RoadNetwork) -> float:
    """Returns the Wasserstein distance of the classes of links with a count above 0.

    Classes are numbers, a step apart from the next one. A network without links is as far away as
    the classes reach.
    """
    shares = [_class_shares(counts, roads) for counts in (one, other)]
    if any(share.sum() == 0 for share in shares):
        return float(CLASSES[-1] - CLASSES[0])
    return float(np.abs(np.cumsum(shares[0] - shares[1])).sum())


@dataclass(frozen=True, kw_only=True)
class LinkErrors:
    """Errors of the counts of links.

    Attributes:
        length_ratio: Length of the links with a count above 0, over that of the truth.
        counts_distance: Wasserstein distance between the counts of all links of the map, taken as
            two heaps of numbers (which link has which count does not matter), over the mean of
            the truth.
        class_distance: Wasserstein distance between the classes of links with a count above 0.
        top_share: Share of the truly busiest links that are among the busiest published ones.
        major_share: Share of the kilometres driven on the truly busiest links that is published on
            these same links, at most 1.
        relative_error: Absolute errors of all links together, over the sum of the truth. It is 1 if
            nothing is published.
        rmse: Root mean square error over all links of the map.
    """

    length_ratio: float
    counts_distance: float
    class_distance: float
    top_share: float
    major_share: float
    relative_error: float
    rmse: float


def link_errors(
    truth: FloatArray, published: FloatArray, roads: RoadNetwork
) -> Internal[LinkErrors]:
    """Compares published counts of links with true ones, one for each link of the map."""
    most = max(1, round(BUSIEST * len(truth)))
    truly, seemingly = busiest(truth, most), busiest(published, most)
    length = roads.length
    driven = truth[truly] @ length[truly]
    found = np.minimum(published[truly], truth[truly]) @ length[truly]
    apart = np.abs(published - truth)
    return Internal(
        LinkErrors(
            length_ratio=network_length(published, roads) / network_length(truth, roads),
            counts_distance=counts_distance(truth, published) / float(truth.mean()),
            class_distance=class_distance(truth, published, roads),
            top_share=len(np.intersect1d(truly, seemingly)) / len(truly),
            major_share=float(found / driven),
            relative_error=float(apart.sum() / truth.sum()),
            rmse=float(np.sqrt((apart**2).mean())),
        )
    )


def network_length(counts: FloatArray, roads: RoadNetwork) -> float:
    """Returns the metres of all links with a count above 0, each direction by itself."""
    return float(roads.length[counts > 0].sum())


def busiest(counts: FloatArray, most: int) -> IntArray:
    """Returns the links with the largest counts, the first ones of equals, none without a count."""
    order = np.argsort(-counts, kind="stable")[:most]
    return order[counts[order] > 0].astype(np.int64)


def _class_shares(counts: FloatArray, roads: RoadNetwork) -> FloatArray:
    numbers = np.bincount(roads.road_class[counts > 0], minlength=CLASSES[-1] + 1)
    return np.asarray(numbers / max(1, numbers.sum()))
