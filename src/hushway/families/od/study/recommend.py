"""Which mechanism, features and cap suit a plan: tried on a synthetic twin, not on the data.

The twin is invented from public geography and two guesses, so nothing here costs budget. What is
recommended depends on public facts alone and may be printed anywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.od.mechanism.catalogue import od_cbdp, od_learned
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.learned import LEARNED, Learned
from hushway.families.od.mechanism.shares import Weights, learned_shares, recommended_shares
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import DESTINATIONS, ORIGINS, Feature
from hushway.families.od.rows.bounding import trip_bound
from hushway.families.od.study.scene import Outcome, TripArrays, trips_scene, try_out
from hushway.privacy.bound import Unit
from hushway.privacy.loss import Loss
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress
from hushway.study.chance import draw, generator

_CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to run a plan.

    Attributes:
        mechanism: "learned" or "cbdp".
        features: Titles of the coarse features.
        max_trips: Most trips of one person that are counted.
    """

    mechanism: str
    features: tuple[str, ...]
    max_trips: int


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A candidate and how it did on the twin.

    Attributes:
        candidate: What was tried.
        misplaced: Sum of absolute errors as a share of all trips, for each figure that a reader
            looks up: by the title of the feature, and "cells".
        score: The mean of these; less is better.
    """

    candidate: Candidate
    misplaced: dict[str, float]
    score: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Twin:
    """The twin of a plan, and the terms under which it is published.

    Attributes:
        cells: The public universe.
        features: All features that the public files allow, the coarsest first.
        budget: What the release may cost.
        unit: Who is protected.
        trips: The invented trips.
        runs: How often each candidate is tried.
    """

    cells: ODCells
    features: tuple[Feature, ...]
    budget: Loss
    unit: Unit
    trips: TripArrays
    runs: int = 1

    def attempt(self, candidate: Candidate) -> Tried:
        """Publishes the twin as the candidate says and compares it with the twin's truth."""
        chosen = [f for f in self.features if f.title in candidate.features]
        mechanism = self._mechanism(candidate, chosen)
        scene = trips_scene(
            self.cells,
            self.features,
            self.trips,
            unit=self.unit,
            max_trips=candidate.max_trips,
        )
        outcomes = [try_out(mechanism, scene, SeededSource(run)).value for run in range(self.runs)]
        misplaced = self._misplaced(outcomes)
        score = sum(misplaced.values()) / len(misplaced)
        return Tried(candidate=candidate, misplaced=misplaced, score=score)

    def _mechanism(self, candidate: Candidate, features: Sequence[Feature]) -> Learned | CBDP:
        if candidate.mechanism == LEARNED:
            bound = trip_bound(self.unit, candidate.max_trips)
            shares = learned_shares(features, self.budget, bound)
            return od_learned(self.cells, features, budget=self.budget, shares=shares)
        return od_cbdp(
            self.cells,
            features,
            budget=self.budget,
            shares=recommended_shares(features, self.budget.measure),
            weights=Weights.SIZE_OVER_VARIANCE,
        )

    def _misplaced(self, outcomes: Sequence[Outcome]) -> dict[str, float]:
        everything = len(self.trips.period)
        shares = {
            f.title: np.mean([o.errors.margins_mae[f.title] for o in outcomes])
            * f.size
            / everything
            for f in self.features
        }
        shares["cells"] = np.mean([o.errors.cells_l1_share for o in outcomes])
        return {title: float(share) for title, share in shares.items()}


def make_twin(
    cells: ODCells,
    features: Sequence[Feature],
    *,
    budget: Loss,
    unit: Unit,
    trips: int,
    people: int,
    runs: int = 1,
) -> Twin:
    """Invents the twin of a plan from guesses of the number of trips and of people."""
    made = twin(cells, trips=trips, people=people)
    return Twin(
        cells=cells,
        features=tuple(features),
        budget=budget,
        unit=unit,
        trips=TripArrays(
            person=made.person,
            period=made.period,
            origin=made.origin,
            destination=made.destination,
        ),
        runs=runs,
    )


def recommend(twin_of: Twin, *, progress: Progress) -> list[Tried]:
    """Returns everything that was tried, the best first.

    One choice at a time: the cap with all features, then the features, then the mechanism that does
    not learn, without origins and destinations.
    """
    every = tuple(feature.title for feature in twin_of.features)
    tried: dict[Candidate, Tried] = {}

    def best() -> Candidate:
        return min(tried.values(), key=lambda one: one.score).candidate

    def attempt(candidates: Iterator[Candidate], step: str) -> None:
        fresh = [candidate for candidate in candidates if candidate not in tried]
        for done, candidate in enumerate(fresh):
            progress(step, done / len(fresh))
            tried[candidate] = twin_of.attempt(candidate)

    start = Candidate(mechanism=LEARNED, features=every, max_trips=1)
    caps = _CAPS if twin_of.unit.has_many_records else (1,)
    attempt((replace(start, max_trips=cap) for cap in caps), "Trying caps")
    attempt((replace(best(), features=some) for some in _subsets(every)), "Trying features")
    fitted = tuple(title for title in every if title not in (ORIGINS, DESTINATIONS))
    attempt(
        (replace(best(), mechanism="cbdp", features=some) for some in (fitted,)),
        "Trying a fit that does not learn",
    )
    return sorted(tried.values(), key=lambda one: one.score)


def _subsets(titles: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yields the features without one of them; never none at all."""
    for left_out in titles:
        rest = tuple(title for title in titles if title != left_out)
        if rest:
            yield rest


def plan_lines(candidate: Candidate, budget: Loss) -> str:
    """Returns the recommendation as lines for a plan."""
    features = ", ".join(f'"{title}"' for title in candidate.features)
    noise = budget.measure.noise.removeprefix("discrete ").lower()
    return (
        f"[privacy]\nmax_trips = {candidate.max_trips}\n\n"
        f'[mechanism]\nname = "{candidate.mechanism}"\nfeatures = [{features}]\n'
        f'noise = "{noise}"\n'
    )


# A synthetic twin: invented trips over somebody's own public geography.
#
# To choose a mechanism one needs something like the data, and looking at the data costs budget. A
# twin knows the places, the periods and a guess of how many people travel; everything else is the
# general shape of cities: a few busy places, short trips more likely than long ones, a morning peak
# out and an evening peak back, habits that repeat.

# Popularity of the place of rank r goes as r^-0.8: the busy few of most stop and zone data.
_RANK_POWER = 0.8
# How many habitual corridors a traveller has, on average.
_CORRIDORS = 2.5
# Trips are spread over people with a long tail: how keen they are follows a Weibull law of this
# shape.
_TAIL_SHAPE = 0.8
_PEAKS_H = ((8.0, 1.2, 1.0), (13.0, 3.5, 0.5), (17.5, 1.6, 0.25))
_FLOOR = 0.02
_WAY_BACK = 0.5
_METRES_PER_DEGREE = 111_320.0


@dataclass(frozen=True, kw_only=True)
class TwinTrips:
    """Invented trips as arrays of one length.

    Attributes:
        person: Number of the traveller.
        period: Index of the period.
        origin: Index of the origin.
        destination: Index of the destination.
    """

    person: IntArray
    period: IntArray
    origin: IntArray
    destination: IntArray


def twin(cells: ODCells, *, trips: int, people: int, seed: int = 1) -> TwinTrips:
    """Returns invented trips of about the asked number.

    Args:
        cells: The public universe.
        trips: A guess of the number of trips in the window.
        people: A guess of the number of people who make them.
        seed: Chooses the twin.

    Raises:
        PlanError: The guesses are not those of a city.
    """
    if not 1 <= people <= trips:
        raise PlanError(
            "A twin needs at least one person, and at least as many trips as people.",
            advice="Give rough numbers: trips in the window, and people who made them.",
        )
    rng = generator(seed, 0)
    person = _travellers(rng, trips, people)
    corridor = person * round(2 * _CORRIDORS) + _habit(rng, len(person))
    used, which = np.unique(corridor, return_inverse=True)
    home, away = _ends(rng, cells, len(used))
    back = rng.random(len(person)) < _WAY_BACK
    origin = np.where(back, away[which], home[which])
    destination = np.where(back, home[which], away[which])
    hours = _hours(cells)
    period = np.where(
        back,
        draw(rng, _rhythm(hours[::-1]), len(person)),
        draw(rng, _rhythm(hours), len(person)),
    )
    return TwinTrips(person=person, period=period, origin=origin, destination=destination)


def _travellers(rng: np.random.Generator, trips: int, people: int) -> IntArray:
    """Returns the person of each trip; everybody makes one, some make many."""
    eager = (-np.log(np.maximum(rng.random(people), 1e-300))) ** (1 / _TAIL_SHAPE)
    more = draw(rng, np.asarray(eager), trips - people)
    return np.concatenate([np.arange(people, dtype=np.int64), more])


def _habit(rng: np.random.Generator, count: int) -> IntArray:
    """Returns which of a person's corridors each trip takes; the first is the commonest."""
    ranks = np.arange(1, round(2 * _CORRIDORS) + 1, dtype=np.float64)
    return draw(rng, ranks**-1.5, count)


def _ends(rng: np.random.Generator, cells: ODCells, count: int) -> tuple[IntArray, IntArray]:
    """Draws corridors: both ends by popularity, kept with a chance that falls with distance."""
    places = cells.locations.places
    lon = np.array([place.lon for place in places])
    lat = np.array([place.lat for place in places])
    order = np.argsort(rng.random(len(places)))
    popularity = np.asarray((1.0 + order) ** -_RANK_POWER, dtype=np.float64)
    home, away = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    reach = _reach_m(rng, lon, lat)
    while len(home) < count:
        wanted = 4 * (count - len(home)) + 16
        start, end = draw(rng, popularity, wanted), draw(rng, popularity, wanted)
        near = np.exp(-_distance_m(lon, lat, start, end) / reach)
        kept = (rng.random(wanted) < near) & (cells.same_place | (start != end))
        home = np.concatenate([home, start[kept]])
        away = np.concatenate([away, end[kept]])
    return home[:count], away[:count]


def _reach_m(rng: np.random.Generator, lon: FloatArray, lat: FloatArray) -> float:
    """Returns the length by which trips become rarer: half of what two places are apart."""
    uniform = np.ones(len(lon))
    start, end = draw(rng, uniform, 1000), draw(rng, uniform, 1000)
    return float(max(1.0, np.median(_distance_m(lon, lat, start, end)) / 2))


def _distance_m(lon: FloatArray, lat: FloatArray, start: IntArray, end: IntArray) -> FloatArray:
    east = (lon[end] - lon[start]) * np.cos(np.radians(lat[start]))
    return np.asarray(np.hypot(east, lat[end] - lat[start]) * _METRES_PER_DEGREE)


def _hours(cells: ODCells) -> FloatArray:
    """Returns the hour of day in the middle of each period, also where a week has them all."""
    periods = cells.periods
    parts = (periods.closes - periods.opens) // periods.minutes
    part = np.arange(len(periods)) % parts
    return np.asarray((periods.opens + periods.minutes * (part + 0.5)) / 60.0, dtype=np.float64)


def _rhythm(hours: FloatArray) -> FloatArray:
    bumps = [height * np.exp(-(((hours - at) / wide) ** 2) / 2) for at, wide, height in _PEAKS_H]
    return np.asarray(_FLOOR + np.sum(bumps, axis=0))
