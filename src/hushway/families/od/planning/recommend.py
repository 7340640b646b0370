"""Which mechanism, features and limit suit a plan: tried on a synthetic stand-in, not on the data.

The stand-in is invented from public geography and two guesses, so nothing here costs budget. What
is recommended depends on public facts alone and may be printed anywhere.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hushway.families.od.fit.weights import Weights
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.learned import od_learned
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.people import LearnedPeople, caps_for
from hushway.families.od.mechanism.shares import learned_shares, recommended_shares
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.planning.trial import Outcome, TripArrays, trips_scene, try_out
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import LEARNED
from hushway.families.od.public.features import DESTINATIONS, ORIGINS, Feature
from hushway.families.od.rows.bounding import trip_bound
from hushway.privacy.bound import Unit
from hushway.privacy.loss import Loss
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to run a plan."""

    mechanism: str
    features: tuple[str, ...]
    max_trips: int | Literal["auto"]
    noise: str


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A candidate and how it did on the stand-in.

    Attributes:
        misplaced: Sum of absolute errors as a share of all trips, for each figure that a reader
            looks up: by the title of the feature, and "cells".
        score: The mean of these; less is better.
    """

    candidate: Candidate
    misplaced: dict[str, float]
    score: float


@dataclass(frozen=True, kw_only=True, eq=False)
class StandIn:
    """The stand-in of a plan, and the terms under which it is published.

    Attributes:
        features: All features that the public files allow, the coarsest first.
        budgets: What the release may cost with each kind of noise that it may draw.
    """

    cells: ODCells
    features: tuple[Feature, ...]
    budgets: Mapping[str, Loss]
    unit: Unit
    trips: TripArrays
    runs: int = 1

    def attempt(self, candidate: Candidate) -> Tried:
        """Publishes the stand-in as the candidate says and compares it with its truth."""
        chosen = tuple(f for f in self.features if f.title in candidate.features)
        mechanism = self._mechanism(candidate, chosen)
        scene = trips_scene(
            self.cells,
            self.features,
            self.trips,
            unit=self.unit,
            ladder=mechanism.ladder,
            caps=mechanism.caps,
        )
        outcomes = [try_out(mechanism, scene, SeededSource(run)).value for run in range(self.runs)]
        misplaced = self._misplaced(outcomes)
        score = sum(misplaced.values()) / len(misplaced)
        return Tried(candidate=candidate, misplaced=misplaced, score=score)

    def _mechanism(self, candidate: Candidate, features: tuple[Feature, ...]) -> ODMechanism:
        budget = self.budgets[candidate.noise]
        if candidate.max_trips == "auto":
            return LearnedPeople(
                universe=self.cells,
                features=features,
                budget=budget,
                limit=None,
                caps=caps_for(budget),
            )
        if candidate.mechanism == LEARNED:
            bound = trip_bound(self.unit, candidate.max_trips)
            shares = learned_shares(features, budget, bound)
            return od_learned(self.cells, features, budget=budget, shares=shares)
        return od_cbdp(
            self.cells,
            features,
            budget=budget,
            shares=recommended_shares(features, budget.measure),
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


def make_stand_in(
    cells: ODCells,
    features: Sequence[Feature],
    *,
    budgets: Mapping[str, Loss],
    unit: Unit,
    trips: int,
    people: int,
    runs: int = 1,
) -> StandIn:
    """Invents the stand-in of a plan from guesses of the number of trips and of people."""
    return StandIn(
        cells=cells,
        features=tuple(features),
        budgets=budgets,
        unit=unit,
        trips=stand_in(cells, trips=trips, people=people),
        runs=runs,
    )


def recommend(stand_in: StandIn, *, progress: Progress) -> list[Tried]:
    """Returns everything that was tried, the best first.

    One choice at a time: the noise; the features; then, where trips are protected, the mechanism
    that does not learn, without origins and destinations. Limits on people are chosen by the
    release itself.
    """
    every = tuple(feature.title for feature in stand_in.features)
    tried: dict[Candidate, Tried] = {}

    def best() -> Candidate:
        return min(tried.values(), key=lambda one: one.score).candidate

    def attempt(candidates: Iterator[Candidate], step: str) -> None:
        fresh = [candidate for candidate in candidates if candidate not in tried]
        for done, candidate in enumerate(fresh):
            progress(step, done / len(fresh))
            tried[candidate] = stand_in.attempt(candidate)

    people = stand_in.unit.has_many_records
    start = (
        Candidate(mechanism=LEARNED, features=every, max_trips="auto" if people else 1, noise=noise)
        for noise in stand_in.budgets
    )
    attempt(start, "Trying all published totals")
    attempt((replace(best(), features=some) for some in _subsets(every)), "Trying published totals")
    if not people:
        fitted = tuple(title for title in every if title not in (ORIGINS, DESTINATIONS))
        attempt(
            iter((replace(best(), mechanism="cbdp", features=fitted),)),
            "Trying a fit that does not learn",
        )
    return sorted(tried.values(), key=lambda one: one.score)


def _subsets(titles: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yields the features without one of them; never none at all."""
    for left_out in titles:
        rest = tuple(title for title in titles if title != left_out)
        if rest:
            yield rest


def plan_lines(candidate: Candidate) -> str:
    """Returns the recommendation as lines for a plan."""
    features = ", ".join(json.dumps(title) for title in candidate.features)
    return (
        f"[privacy]\nmax_trips = {json.dumps(candidate.max_trips)}\n\n"
        f'[mechanism]\nname = "{candidate.mechanism}"\npublished_totals = [{features}]\n'
        f'noise = "{candidate.noise}"\n'
    )
