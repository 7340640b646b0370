"""The judge of OD releases, for researchers: a fleet is sized by a release and serves the truth."""

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
