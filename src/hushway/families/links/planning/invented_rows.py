"""Invented drives in the place of a plan's rows: its release is tried on them.

People drive fastest routes between nodes that are rather near each other, more of them by day than
by night. That is the general shape of traffic and no fact about anybody.
"""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.study.scene import random_drives
from hushway.numerics.chance import draw, generator
from hushway.privacy.query import Counter
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job

# Routing so many drives takes some seconds on the roads of a large city.
MOST_DRIVES: Final = 50_000
_SEED: Final = 1
_STREAM: Final = 161
_SAMPLE: Final = 200
_LIVELY_H: Final = 14.0
_SPREAD_H: Final = 5.0


def invented_links(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented drives, about so many links in all, each person bounded.

    Privacy:
        Reads no row: the drives follow from public roads and the guess.

    Raises:
        PlanError: The guess makes no sense, or takes too long to try.
    """
    universe, mechanism = job.geography, job.mechanism
    assert isinstance(universe, LinkUniverse)  # noqa: S101  what a links plan makes
    assert isinstance(mechanism, LinkCounts)  # noqa: S101  what a links plan makes
    roads = universe.roads
    sample = random_drives(roads, _SAMPLE, _SEED)
    links_a_drive = max(1.0, len(sample.item) / _SAMPLE)
    drives = max(1, round(crowd.trips / links_a_drive))
    people = drives if crowd.people is None else crowd.people
    if drives > MOST_DRIVES:
        raise PlanError(
            f"No more than {MOST_DRIVES:,} drives are invented, and this guess asks for more.",
            advice=f"Try a guess of at most {MOST_DRIVES * links_a_drive:,.0f} links travelled.",
        )
    driven = random_drives(roads, drives, _SEED)
    rng = generator(_SEED, _STREAM)
    period = draw(rng, _rhythm(universe), drives)
    return ArrayMovements(
        universe=universe,
        limits=mechanism.limits,
        key=BoundingKey.draw(SeededSource(_SEED)),
        # A drive is called after its driver where people are few.
        person=driven.person % people,
        period=period[driven.person],
        item=driven.item,
        steps=np.zeros_like(driven.item),
    )


def _rhythm(universe: LinkUniverse) -> FloatArray:
    """Returns how much is driven in each period, also where a week has them all."""
    periods = universe.periods
    middles = np.array([(part.starts + part.ends) / 2 for part in periods.day_parts]) / 60.0
    hours = np.tile(middles % 24.0, len(periods) // periods.parts)
    return np.asarray(0.1 + np.exp(-(((hours - _LIVELY_H) / _SPREAD_H) ** 2) / 2))
