"""Counts of road links for researchers: mechanisms, scenes, errors, and synthetic roads and traces.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

__all__ = [
    "Devices",
    "Habits",
    "LinkErrors",
    "LinkScene",
    "LinkTable",
    "LinkUniverse",
    "RoadNetwork",
    "berkeley",
    "drives_of",
    "link_counts",
    "link_errors",
    "road_city",
    "simulate_traces",
    "smaller_noise",
]

if TYPE_CHECKING:
    from hushway.families.links.city.berkeley import berkeley
    from hushway.families.links.city.road_city import road_city
    from hushway.families.links.city.simulate import Devices, Habits, simulate_traces
    from hushway.families.links.fit.table import LinkTable
    from hushway.families.links.mechanism.counts import link_counts, smaller_noise
    from hushway.families.links.public.roads import RoadNetwork
    from hushway.families.links.public.universe import LinkUniverse
    from hushway.families.links.study.methods import LinkErrors, link_errors
    from hushway.families.links.study.scene import LinkScene, drives_of
else:
    __getattr__, __dir__ = attach(__name__, __all__)
