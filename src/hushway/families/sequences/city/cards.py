"""Two synthetic card cities, Metro and Bus, that add up to published figures.

The figures are those of Chen, Fung, Desai and Sossou (KDD 2012). The public geography never
changes. Records depend on the seed, and add up to the published figures whatever the seed is. See
docs/cities.md.
"""

from dataclasses import replace
from datetime import date

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.sequences.city.city import CardCity
from hushway.families.sequences.city.clock import seconds_of
from hushway.families.sequences.city.days import live
from hushway.families.sequences.city.demand import CardDemand, card_demand
from hushway.families.sequences.city.figures import (
    BUS,
    BUS_HABITS,
    METRO,
    METRO_HABITS,
    CardFigures,
    CardHabits,
)
from hushway.families.sequences.city.network import Network, bus_network, metro_network
from hushway.families.sequences.city.taps import matched, taps_of
from hushway.study.chance import generator

__all__ = ["CardCity", "bus", "metro"]

_ZONE = "America/Toronto"
_DAY = date(2026, 3, 3)
_FEWEST_RECORDS = 100

# Streams of a seed: corridors, and then one for each time that the figures are made again.
_CORRIDORS = 0


def metro(seed: int, *, scale: int = 1, records: int | None = None) -> CardCity:
    """Returns a synthetic metro: 4 lines, 68 stations, 847,668 records.

    Args:
        seed: Chooses the records. The same seed gives the same city.
        scale: How many times to make the records; each time has the published figures.
        records: A smaller number of records, with the same longest one and the same mean length.

    Raises:
        PlanError: A size is out of range.
    """
    return _city("Metro (synthetic)", metro_network(), METRO, METRO_HABITS, (seed, scale, records))


def bus(seed: int, *, scale: int = 1, records: int | None = None) -> CardCity:
    """Returns a synthetic bus network: 60 lines, 944 stops, 778,724 records.

    Args:
        seed: Chooses the records. The same seed gives the same city.
        scale: How many times to make the records; each time has the published figures.
        records: A smaller number of records, with the same longest one and the same mean length.

    Raises:
        PlanError: A size is out of range.
    """
    return _city("Bus (synthetic)", bus_network(), BUS, BUS_HABITS, (seed, scale, records))


def _city(
    name: str,
    network: Network,
    published: CardFigures,
    habits: CardHabits,
    wanted: tuple[int, int, int | None],
) -> CardCity:
    seed, scale, records = wanted
    figures = published if records is None else replace(published, records=records)
    _check(seed=seed, scale=scale, records=figures.records)
    demand = card_demand(network, habits, generator(seed, _CORRIDORS))
    parts = [
        _records(network, demand, habits, figures, generator(seed, _CORRIDORS + 1 + number))
        for number in range(scale)
    ]
    length = np.concatenate([np.diff(start) for start, _, _ in parts])
    return CardCity(
        name=name,
        zone=_ZONE,
        day=_DAY,
        taxonomy=network.taxonomy,
        start=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)]),
        stops=np.concatenate([stops for _, stops, _ in parts]),
        seconds=np.concatenate([seconds for _, _, seconds in parts]),
        person=np.arange(len(length), dtype=np.int64),
    )


def _records(
    network: Network,
    demand: CardDemand,
    habits: CardHabits,
    figures: CardFigures,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray, IntArray]:
    """Returns where records begin, their stops and the second of each stop."""
    trips = live(network, demand, habits=habits, figures=figures, rng=rng)
    taps = matched(taps_of(trips, network, habits, rng), figures, rng)
    return taps.start, taps.stop, seconds_of(taps, trips, network, rng)


def _check(*, seed: int, scale: int, records: int) -> None:
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    if scale < 1:
        raise PlanError(
            f"The city cannot be made {scale} times its size.", advice="Give a scale of 1 or more."
        )
    if records < _FEWEST_RECORDS:
        raise PlanError(
            f"The city cannot have {records} records.",
            advice=f"Give {_FEWEST_RECORDS} or more, or none for the published number.",
        )
