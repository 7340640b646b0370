"""Evaluates OD releases by the shuttle fleet that a city would buy on them; for researchers."""

from typing import Any

from hushway.lazy_exports import face

__all__ = [
    "ServiceRules",
    "draw_trips",
    "in_order",
    "itineraries",
    "judge_fleet",
    "operate",
    "size_fleet",
]

_find = face(
    __name__,
    {
        "geography.itineraries": ("itineraries",),
        "transit.fleet": ("size_fleet",),
        "transit.judge": ("judge_fleet",),
        "transit.operations": ("ServiceRules", "operate"),
        "transit.rider_trips": ("draw_trips", "in_order"),
    },
    below="hushway",
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return __all__
