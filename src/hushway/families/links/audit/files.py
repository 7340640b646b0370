"""What a release of traces in files must not give away, counted by the engine that plans use.

A corner is a ring road that people drive on, not items that somebody has counted already: positions
are read, split into trips and matched to the roads.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.audit.files import microseconds
from hushway.audit.gaussian import gaussian_shift, rho_of
from hushway.audit.harness import Examination, Sampler, World
from hushway.audit.product import Look
from hushway.families.links.audit.looks import Sums
from hushway.families.links.audit.product import LinkProduct, LinkStage
from hushway.families.links.audit.toy import Drive, Drives, Rings, rings
from hushway.families.links.public.universe import MovementLimits
from hushway.families.links.rows.rows import TraceColumns, TracesSource

_CORNERS = 400
_TRIPS = 6
# From the middle of the first link to the middle of the fourth, three positions a link.
_LINKS, _A_LINK = 4, 3
_SECONDS_OF_A_LINK = 120
_SECONDS_BETWEEN = 3600
_SECOND_US = 1_000_000
# Reading files, and matching, is slow.
_BRIEF = Fraction(1, 4)
# What the trips of one person come to, however many there are.
_ITEMS: Drives = (*(Drive(link=i) for i in range(_LINKS)), Drive(begin=0), Drive(end=_LINKS))


def same_way(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Six trips of one person along one way: each link, and both ends, count once."""
    stage = LinkStage(
        product=product,
        rings=rings(corners=_CORNERS),
        limits=MovementLimits(max_items=len(_ITEMS)),
        spend=rho_of(epsilon),
    )
    look = Sums(stage=stage, weights=dict.fromkeys(_ITEMS, 1)).seen
    drivers = Drivers(stage=stage, look=look)
    return gaussian_shift(
        name="files: six trips of one person along one way fit rho",
        statistic="the noisy counts, added up over the way,",
        epsilon=epsilon,
        worlds=(
            World(words="the person", sample=drivers.sampler(_TRIPS)),
            World(words="nobody", sample=drivers.sampler(0)),
        ),
        tight=True,
        effort=_BRIEF,
    )


@dataclass(frozen=True, kw_only=True)
class Drivers:
    """One person on each ring, as positions in files.

    Attributes:
        stage: Where they drive.
        look: What is seen of it.
    """

    stage: LinkStage
    look: Look

    def sampler(self, trips: int) -> Sampler:
        """Returns a way to run: positions are written once, and read again for each release."""
        return self.stage.sampler_of_files(
            positions(self.stage.rings, trips),
            lambda folder: TracesSource(folder, TraceColumns()),
            self.look,
        )


def positions(where: Rings, trips: int) -> dict[str, Any]:
    """Returns the positions of one person on each ring, with so many trips along the same way."""
    roads = where.universe.roads
    along = np.arange(_A_LINK * (_LINKS - 1) + 1) / _A_LINK + 0.5
    link = np.floor(along).astype(np.int64)
    corner, trip, step = (
        grid.ravel()
        for grid in np.meshgrid(
            np.arange(where.corners), np.arange(trips), np.arange(len(along)), indexing="ij"
        )
    )
    at, share = corner * where.links + link[step], (along - link)[step]
    tail, head = roads.tail[at], roads.head[at]
    seconds = trip * _SECONDS_BETWEEN + np.rint(along[step] * _SECONDS_OF_A_LINK).astype(np.int64)
    return {
        "person": corner,
        "time": microseconds(where.universe.periods.first_day, seconds * _SECOND_US),
        "lon": roads.node_lon[tail] * (1 - share) + roads.node_lon[head] * share,
        "lat": roads.node_lat[tail] * (1 - share) + roads.node_lat[head] * share,
    }
