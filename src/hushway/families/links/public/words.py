"""Speeds, lanes and directions as sources write them, and what can be wrong with their files."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from hushway.errors import GeographyError
from hushway.escaping import some_of

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
    """Returns whether a line may be driven along, and back."""
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


_SHOWN = 5


def damaged_roads(file: Path) -> GeographyError:
    """Returns the error for a file that is not what its ending says."""
    return GeographyError(
        f"The roads file {file.name} is damaged, or not of the format that its ending says.",
        advice="Check that it is whole; open it with any map viewer.",
    )


def off_earth(file: Path) -> GeographyError:
    """Returns the error for nodes that are nowhere on Earth."""
    return GeographyError(
        f"Nodes of {file.name} have a longitude or latitude that is not on Earth.",
        advice="Correct them: lon within ±180, lat within ±90. Perhaps the two are swapped.",
    )


def no_roads(file: Path) -> GeographyError:
    """Returns the error for a file in which nothing can be driven on."""
    return GeographyError(
        f"There are no roads for cars in {file.name}.",
        advice="Give a file with streets; docs/guides/roads.md lists the kinds that are read.",
    )


def check_roads_columns(file: Path, found: Collection[str], demanded: Iterable[str]) -> None:
    """Refuses a file that lacks a column."""
    missing = [column for column in demanded if column not in found]
    if missing:
        raise GeographyError(
            f"The roads file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {some_of(found) or 'none'}. Name the ones to use.",
        )


def check_nodes(file: Path, known: Collection[str], used: Iterable[str]) -> None:
    """Refuses links between nodes that are not there."""
    unknown = sorted({node for node in used if node not in known})
    if unknown:
        raise GeographyError(
            f"Links of {file.name} name unknown nodes: {some_of(map(repr, unknown), _SHOWN)}.",
            advice='Add the nodes, or correct the links; ids are compared as text: "7" is not '
            '"7.0".',
        )


def check_named(file: Path, noun: str, ids: Iterable[str]) -> None:
    """Refuses ids that are blank."""
    if not all(key.strip() for key in ids):
        raise GeographyError(
            f"Some of the {noun} in {file.name} have no id, or a blank one.",
            advice=f"Give each of the {noun} an id of its own.",
        )


def check_unique(file: Path, noun: str, ids: Iterable[str]) -> None:
    """Refuses ids that appear more than once."""
    repeated = sorted(key for key, times in Counter(ids).items() if times > 1)
    if repeated:
        raise GeographyError(
            f"Ids of {noun} in {file.name} appear more than once: "
            f"{some_of(map(repr, repeated), _SHOWN)}.",
            advice=f"Give each of the {noun} an id of its own.",
        )
