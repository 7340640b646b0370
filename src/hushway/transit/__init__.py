"""Evaluates OD releases by the fleet that a city would buy on them, or by traffic: for research."""

from typing import TYPE_CHECKING

from hushway.lazy_exports import attach

__all__ = [
    "ServiceRules",
    "draw_trips",
    "in_order",
    "itineraries",
    "judge_fleet",
    "operate",
    "size_fleet",
]

if TYPE_CHECKING:
    from hushway.geography.itineraries import itineraries
    from hushway.transit.fleet import size_fleet
    from hushway.transit.judge import judge_fleet
    from hushway.transit.legs import draw_trips, in_order
    from hushway.transit.operations import ServiceRules, operate
else:
    __getattr__, __dir__ = attach(__name__, __all__)
