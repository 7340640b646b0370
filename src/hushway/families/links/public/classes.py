"""From what sources call a road to its functional class, usual speed and usual lanes."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is assumed about a road of some kind where its source says no more.

    Attributes:
        road_class: Functional class, from 1 (motorways) to 5 (residential streets).
        speed: Usual speed in km/h.
        lanes: Usual number of lanes in one direction.
    """

    road_class: int
    speed: float
    lanes: float = 1.0


SERVICE: Final = "service"

# The values of `highway` in OpenStreetMap that cars may use.
HIGHWAYS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "motorway": Kind(road_class=1, speed=110, lanes=2),
        "motorway_link": Kind(road_class=1, speed=60),
        "trunk": Kind(road_class=1, speed=90, lanes=2),
        "trunk_link": Kind(road_class=1, speed=50),
        "primary": Kind(road_class=2, speed=60),
        "primary_link": Kind(road_class=2, speed=45),
        "secondary": Kind(road_class=3, speed=50),
        "secondary_link": Kind(road_class=3, speed=40),
        "tertiary": Kind(road_class=4, speed=45),
        "tertiary_link": Kind(road_class=4, speed=35),
        "unclassified": Kind(road_class=5, speed=40),
        "residential": Kind(road_class=5, speed=30),
        "living_street": Kind(road_class=5, speed=10),
        "road": Kind(road_class=5, speed=40),
        SERVICE: Kind(road_class=5, speed=15),
    }
)

# Roads of a source that gives the class as a number.
NUMBERED: Final[Mapping[int, Kind]] = MappingProxyType(
    {
        1: HIGHWAYS["motorway"],
        2: HIGHWAYS["primary"],
        3: HIGHWAYS["secondary"],
        4: HIGHWAYS["tertiary"],
        5: HIGHWAYS["residential"],
    }
)

# What planning agencies call their roads.
_AGENCY_WORDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "freeway": 1,
        "expressway": 1,
        "interstate": 1,
        "ramp": 1,
        "on_ramp": 1,
        "off_ramp": 1,
        "highway": 2,
        "principal_arterial": 2,
        "major_arterial": 2,
        "arterial": 3,
        "minor_arterial": 3,
        "collector": 4,
        "major_collector": 4,
        "minor_collector": 4,
        "local": 5,
        "street": 5,
        "connector": 5,
        "centroid_connector": 5,
    }
)


def kind_of(word: str) -> Kind | None:
    """Returns the kind of a word or a number from 1 to 5; None if it is not in the tables."""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    if plain in HIGHWAYS:
        return HIGHWAYS[plain]
    number = int(plain) if plain.isdecimal() else _AGENCY_WORDS.get(plain, 0)
    return NUMBERED.get(number)


def kind_or_least(word: str) -> tuple[Kind, bool]:
    """Returns the kind of a word, or residential streets; and whether the word is known."""
    kind = kind_of(word)
    return (NUMBERED[5], False) if kind is None else (kind, True)
