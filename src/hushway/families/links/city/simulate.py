"""Traces of people and fleets on a road network, with the truth beside them. See docs/cities.md."""

from collections.abc import Iterator
from typing import Final

from hushway.errors import PlanError
from hushway.families.links.city.join import joined
from hushway.families.links.city.part import Scene, traces_of_part
from hushway.families.links.city.people import ground_of
from hushway.families.links.city.settings import Devices, Habits
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.public.roads import RoadNetwork
from hushway.study.chance import generator

__all__ = ["Devices", "Habits", "TraceCity", "simulate_traces", "trace_parts"]

# Parts do not depend on each other, so that memory is bounded and a few people are made quickly.
PEOPLE_OF_PART: Final = 5_000

_NAME = "Road city (synthetic)"
_STREAM = 150


def simulate_traces(
    roads: RoadNetwork,
    seed: int,
    *,
    people: int,
    habits: Habits | None = None,
    devices: Devices | None = None,
    name: str = _NAME,
) -> TraceCity:
    """Returns the traces of so many people and vehicles.

    Args:
        roads: The road network.
        seed: Chooses people and their trips. The same seed gives the same traces.
        people: How many persons, vehicles of fleets included.
        habits: How they live, and on which days.
        devices: What their devices record.
        name: What the city is called.

    Raises:
        PlanError: The seed is negative, or there are no people.
    """
    parts = trace_parts(roads, seed, people=people, habits=habits, devices=devices, name=name)
    return joined(list(parts))


def trace_parts(
    roads: RoadNetwork,
    seed: int,
    *,
    people: int,
    habits: Habits | None = None,
    devices: Devices | None = None,
    name: str = _NAME,
) -> Iterator[TraceCity]:
    """Yields the same traces in parts of 5,000 people, for more than memory would hold at once.

    Args:
        roads: The road network.
        seed: Chooses people and their trips.
        people: How many persons, vehicles of fleets included.
        habits: How they live, and on which days.
        devices: What their devices record.
        name: What the city is called.

    Raises:
        PlanError: The seed is negative, or there are no people.
    """
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    if people < 1:
        raise PlanError("There is nobody to drive.", advice="Give at least one person.")
    scene = Scene(
        ground=ground_of(roads, generator(seed, _STREAM)),
        seed=seed,
        habits=habits or Habits(),
        devices=devices or Devices(),
        name=name,
    )
    for part, first in enumerate(range(0, people, PEOPLE_OF_PART)):
        yield traces_of_part(scene, part, first, min(PEOPLE_OF_PART, people - first))
