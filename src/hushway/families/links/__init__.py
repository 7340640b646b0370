"""Counts of road links for researchers: mechanisms, scenes, errors, and synthetic roads and traces.

What was computed against the truth comes wrapped in `Internal`, and cannot be published.
"""

from typing import Any

from hushway.lazy_exports import face

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

_find = face(
    __name__,
    {
        "city.berkeley": ("berkeley",),
        "city.road_city": ("road_city",),
        "city.simulate": ("Devices", "Habits", "simulate_traces"),
        "fit.table": ("LinkTable",),
        "mechanism.counts": ("link_counts", "smaller_noise"),
        "public.roads": ("RoadNetwork",),
        "public.universe": ("LinkUniverse",),
        "study.methods": ("LinkErrors", "link_errors"),
        "study.scene": ("LinkScene", "drives_of"),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__
