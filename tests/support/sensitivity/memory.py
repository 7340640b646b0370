"""Counters of arrays in memory, with rows of people of whom some have very many."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.density.rows.counts import ArrayVisits
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.families.sequences.rows.memory import ArraySequences
from hushway.privacy.query import Counter

PEOPLE = 6
_ROWS = 150

# Counts the rows that are kept of those that a generator draws.
InMemory = Callable[[Any, BoundingKey, Any, Any], Counter]


def skewed_people(rng: np.random.Generator) -> Any:
    """Returns whose each row is; the first has most, the last has one alone."""
    return np.append(rng.zipf(1.7, _ROWS) % (PEOPLE - 1), PEOPLE - 1)


def _trips(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    rng, cells, rows = np.random.default_rng(1), job.geography, len(person)
    places = len(cells.locations)
    columns = {
        "period": rng.integers(-1, len(cells.periods) + 1, rows),
        "origin": rng.integers(0, places, rows),
        "destination": rng.integers(0, places, rows),
        "since_us": rng.integers(0, 9, rows),
        "person": person,
    }
    limits = {"unit": job.plan.privacy.unit, "max_trips": job.bound.total}
    own = {name: column[kept] for name, column in columns.items()}
    return ArrayCounter(cells=cells, key=key, **limits, **own)


def _sequences(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    rng, universe = np.random.default_rng(2), job.geography
    taxonomy = universe.taxonomy
    stops = [rng.integers(0, len(taxonomy.locations), rng.integers(1, 6)) for _ in person]
    own = [one for one, is_kept in zip(stops, kept, strict=True) if is_kept]
    return ArraySequences(
        taxonomy=taxonomy,
        unit=job.plan.privacy.unit,
        max_records=job.bound.total,
        max_stops=job.plan.records.max_stops,
        key=key,
        start=np.cumsum([0, *map(len, own)]),
        stops=np.concatenate(own),
        person=person[kept],
    )


def _visits(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    rng, universe = np.random.default_rng(3), job.rows.universe
    site = rng.integers(0, universe.site_count, len(person))
    bins = rng.integers(0, universe.bins, len(person))
    return ArrayVisits(
        universe=universe,
        limits=job.rows.limits,
        key=key,
        person=person[kept],
        site=site[kept],
        bin=bins[kept],
    )


def _movements(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    rng, universe = np.random.default_rng(4), job.rows.universe
    period = rng.integers(0, len(universe.periods), len(person))
    item = rng.integers(0, universe.items, len(person))
    return ArrayMovements(
        universe=universe,
        limits=job.rows.limits,
        key=key,
        person=person[kept],
        period=period[kept],
        item=item[kept],
        steps=rng.integers(-50, 50, len(person))[kept],
    )


IN_MEMORY: dict[str, InMemory] = {
    "od": _trips,
    "sequences": _sequences,
    "density": _visits,
    "links": _movements,
}
