"""Speeds, lanes and directions as sources write them."""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

SpeedUnit = Literal["km/h", "mph"]

KMH_PER_MILE: Final = 1.609344
NOT_SAID: Final = math.nan

_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
# Signs without a number, and what limits of a country amount to nearly everywhere.
_WORDS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "none": 130.0,
        "walk": 7.0,
        "living_street": 10.0,
        "urban": 50.0,
        "rural": 90.0,
        "trunk": 100.0,
        "motorway": 120.0,
    }
)
_ALONG = frozenset({"yes", "true", "1", "forward", "f", "ft", "along"})
_BACK = frozenset({"-1", "reverse", "backward", "back", "b", "tf"})


def speed_of(text: Any, unit: SpeedUnit = "km/h") -> float:
    """Returns a speed in km/h, or NaN if there is none above 0.

    Args:
        text: A number, or a text such as "50", "30 mph", "50;70" or "DE:urban".
        unit: What a number without a unit means.
    """
    if isinstance(text, int | float):
        return _in_kmh(float(text), unit)
    words = str(text or "").strip().lower()
    number = _NUMBER.search(words)
    # A zone such as DE:30 or DE:zone30 has a number too.
    if number is not None:
        said: SpeedUnit = "mph" if "mph" in words else "km/h" if "km" in words else unit
        return _in_kmh(float(number.group().replace(",", ".")), said)
    return _WORDS.get(words.rsplit(":", maxsplit=1)[-1], NOT_SAID)


def lanes_of(text: Any) -> float:
    """Returns a number of lanes, or NaN if there is none above 0."""
    if isinstance(text, int | float):
        return _above_0(float(text))
    number = _NUMBER.search(str(text or ""))
    return NOT_SAID if number is None else _above_0(float(number.group().replace(",", ".")))


def directions_of(text: Any, unsaid: tuple[bool, bool]) -> tuple[bool, bool]:
    """Returns whether a line may be driven along, and back.

    Args:
        text: What the source says about one-way traffic.
        unsaid: What holds where it says nothing.
    """
    word = str("" if text is None else text).strip().lower()
    if word in ("", "nan"):
        return unsaid
    if word in _ALONG:
        return True, False
    if word in _BACK:
        return False, True
    # No one-way street, or one whose direction changes with the hour.
    return True, True


def per_direction(lanes: float, directions: tuple[bool, bool]) -> float:
    """Returns the lanes of one direction from those of the whole street."""
    return max(lanes / 2, 1.0) if all(directions) and not math.isnan(lanes) else lanes


def _in_kmh(number: float, unit: SpeedUnit) -> float:
    return _above_0(number * KMH_PER_MILE if unit == "mph" else number)


def _above_0(number: float) -> float:
    return number if math.isfinite(number) and number > 0 else NOT_SAID
