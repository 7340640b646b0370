"""Which features, split and cap suit a plan: tried out on a synthetic twin, not on the data.

The twin is invented from public geography and two guesses, so nothing here costs budget. What is
recommended depends on public facts alone and may be printed anywhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hushway.families.od.city.twin import twin
from hushway.families.od.mechanism.catalogue import od_cbdp
from hushway.families.od.mechanism.shares import Weights, recommended_shares, uniform_shares
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.study.scene import Outcome, TripArrays, trips_scene, try_out
from hushway.privacy.bound import Unit
from hushway.privacy.loss import Loss
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress

_CAPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to run a plan.

    Attributes:
        features: Titles of the coarse features.
        split: "optimised" or "uniform".
        max_trips: Most trips of one person that are counted.
    """

    features: tuple[str, ...]
    split: str
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
    runs: int = 3

    def attempt(self, candidate: Candidate) -> Tried:
        """Publishes the twin as the candidate says and compares it with the twin's truth."""
        chosen = [f for f in self.features if f.title in candidate.features]
        optimised = candidate.split == "optimised"
        mechanism = od_cbdp(
            self.cells,
            chosen,
            budget=self.budget,
            shares=recommended_shares(chosen, self.budget.measure)
            if optimised
            else uniform_shares(chosen),
            weights=Weights.SIZE_OVER_VARIANCE,
        )
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
    runs: int = 3,
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

    One choice at a time: the cap with all features, then the features, then the split, then the cap
    once more.
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

    start = Candidate(features=every, split="optimised", max_trips=1)
    caps = _CAPS if twin_of.unit.has_many_records else (1,)
    attempt((replace(start, max_trips=cap) for cap in caps), "Trying caps")
    attempt((replace(best(), features=some) for some in _subsets(every)), "Trying features")
    attempt((replace(best(), split=split) for split in ("uniform", "optimised")), "Trying splits")
    attempt((replace(best(), max_trips=cap) for cap in caps), "Trying caps again")
    return sorted(tried.values(), key=lambda one: one.score)


def _subsets(titles: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yields the features without one of them, and the first few of them; never none at all."""
    for left_out in titles:
        rest = tuple(title for title in titles if title != left_out)
        if rest:
            yield rest
    for length in range(1, len(titles)):
        yield titles[:length]


def plan_lines(candidate: Candidate, budget: Loss) -> str:
    """Returns the recommendation as lines for a plan."""
    features = ", ".join(f'"{title}"' for title in candidate.features)
    noise = budget.measure.noise.removeprefix("discrete ").lower()
    return (
        f"[privacy]\nmax_trips = {candidate.max_trips}\n\n"
        f'[mechanism]\nname = "cbdp"\nfeatures = [{features}]\n'
        f'split = "{candidate.split}"\nnoise = "{noise}"\n'
    )
