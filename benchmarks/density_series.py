"""Densities month by month: alone, learning from months before, and revised with all others.

The default mechanism protects a person in every month with Laplace noise; a year costs twelve times
the epsilon of a month. What a practitioner would write: at most 8 visits of a person, Laplace noise
on every area and hour, scaled to a noisy total, and a Kalman filter of each of these with the most
likely drift. Months are weeks of 168 hours. "callers" are a synthetic Paris whose people are drawn
anew every month while towers drift by 5% a month and the city by seasons; constants were chosen on
it. "other callers" is held out: twice the people, other towers, 8% a month. "bikes" are rented
bikes of 2014, of whom each trip is a person. In scenes "with changes" the busiest tower closes in
month 9 and the second busiest opens then: "places" are the two areas that this changes most. Errors
are those of all visits; "areas" is the L1 of areas over the window, and "within" how often 95%
intervals hold. Run by hand: `python benchmarks/density_series.py [runs] [epsilons] [scenes]`.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from density_sets import EVENTS, PEOPLE, Crowd, bike_trips, crowd_of, week
from harness import data, keep, positional
from hushway.families.density.city.ground import areas_of, towers_of
from hushway.families.density.city.paris import ZONE, events_of, visits_of_people
from hushway.families.density.city.people import people_of, tower_field
from hushway.families.density.files.others import noisy_answers
from hushway.families.density.fit.steps import NoisyStep
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.planning.trial import area_truth
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import PureLoss
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep

Counts = NDArray[np.float64]
Figures = dict[str, float]
MONTHS, CHANGE, LATE = 12, 8, 5
PEER_LIMIT = 8
TOTAL_SHARE = 0.05
DRIFTS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ATTRACTIONS = ("homes", "offices", "outings", "errands", "stations")


@dataclass(frozen=True, kw_only=True)
class Town:
    """What a series of callers is drawn from."""

    seed: int
    people: int
    towers: int
    areas: int
    drift: float
    season: float


LOOKED_AT = Town(seed=1, people=20_000, towers=60, areas=40, drift=0.05, season=0.15)
HELD_OUT = Town(seed=77, people=40_000, towers=120, areas=90, drift=0.08, season=0.25)


def callers(town: Town, *, changes: bool) -> list[Crowd]:
    """Returns a year of calls in a town, without the calls at towers that are closed."""
    places, position = towers_of(town.towers)
    field = tower_field(position, np.random.default_rng((town.seed, 1)))
    universe = density_universe(areas_of(town.areas), week(ZONE), places)
    site = universe.sites.site if universe.sites else np.arange(town.towers)
    busiest = np.argsort(-(field.homes + field.offices))
    months, level, rng = [], np.zeros(town.towers), np.random.default_rng(town.seed)
    for month in range(MONTHS):
        level = level + town.drift * rng.normal(size=town.towers)
        now = replace(field, **{name: getattr(field, name) * np.exp(level) for name in ATTRACTIONS})
        many = round(town.people * (1 + town.season * np.sin(2 * np.pi * month / MONTHS)))
        crowd = people_of(visits_of_people(many, rng), now, rng)
        person, tower, second = events_of(crowd, now, rng)
        there = tower != busiest[0 if month >= CHANGE else 1] if changes else tower >= 0
        who, hour = person[there].astype(np.int64), second[there].astype(np.int64) // 3600
        months.append(crowd_of(universe, PEOPLE, who, site[tower[there]], hour))
    return months


def scenes() -> Iterator[tuple[str, Callable[[], list[Crowd]]]]:
    """Yields names of scenes, and how to make each."""
    for name, town in (("callers", LOOKED_AT), ("other callers", HELD_OUT)):
        yield name, partial(callers, town, changes=False)
        yield f"{name} with changes", partial(callers, town, changes=True)
    if folder := data():
        months = range(1, MONTHS + 1)
        yield "bikes", lambda: [bike_trips(folder, None, EVENTS, months=(m,)) for m in months]


@dataclass(frozen=True, kw_only=True, eq=False)
class Month:
    """A month as it was measured."""

    crowd: Crowd
    mechanism: DensityPeople
    measured: Measurements

    def fitted(self, others: Sequence[tuple[int, "Month"]]) -> DensityTable:
        """Fits the month again with what other months, so many away, say."""
        steps = tuple(
            OtherStep(stated={"steps_away": away}, answers=lambda _, other=other: other.answers)
            for away, other in others
        )
        mechanism = replace(self.mechanism, others=steps)
        return mechanism.fit(self.measured, self.crowd.city.universe)

    @cached_property
    def answers(self) -> NoisyStep:
        """Its noisy answers, for another month of the same universe."""
        universe = self.crowd.city.universe
        return noisy_answers(self.mechanism, self.measured, universe, universe)


def measured(crowd: Crowd, epsilon: str, seed: int) -> Month:
    """Measures a month with the default mechanism."""
    budget = PureLoss(Fraction(epsilon))
    mechanism = DensityPeople(budget=budget, max_visits=None, max_visits_in_total=None)
    city = crowd.bounded(mechanism.limits, mechanism.ladder, seed)
    return Month(crowd=crowd, mechanism=mechanism, measured=city.measured(mechanism, seed))


def filtered(months: Sequence[Crowd], epsilon: str, seed: int) -> list[Counts]:
    """Returns a Kalman filter of every noisy count, with the most likely drift.

    The noise of peers is drawn as floats: they are no releases.
    """
    most = min(PEER_LIMIT, months[0].city.limits.max_visits)
    limits = VisitLimits(max_visits=most, max_visits_in_total=most, one_in_a_bin=False)
    rng, scale = np.random.default_rng(seed), most / float(Fraction(epsilon))
    noisy, grown = [], []
    for crowd in months:
        city = crowd.bounded(limits)
        counts = area_truth(city.universe, np.ascontiguousarray(city.bounded.series.T))
        seen = counts + rng.laplace(0, scale / (1 - TOTAL_SHARE), counts.shape)
        whole = crowd.truth.sum() + rng.laplace(0, scale * PEER_LIMIT / TOTAL_SHARE)
        grown.append(whole / counts.sum())
        noisy.append(seen * grown[-1])
    variance = 2 * (scale / (1 - TOTAL_SHARE) * statistics.mean(grown)) ** 2

    def run(drift: float) -> tuple[float, list[Counts]]:
        mean, doubt, likely, found = noisy[0], variance, 0.0, [np.maximum(noisy[0], 0.0)]
        for seen in noisy[1:]:
            doubt += drift * variance
            likely -= float(((seen - mean) ** 2 / (doubt + variance)).sum())
            likely -= seen.size * float(np.log(doubt + variance))
            mean = mean + doubt / (doubt + variance) * (seen - mean)
            doubt *= variance / (doubt + variance)
            found.append(np.maximum(mean, 0.0))
        return likely, found

    return max((run(drift) for drift in DRIFTS), key=lambda one: one[0])[1]


def changed_most(months: Sequence[Crowd]) -> NDArray[np.int64]:
    """Returns the two areas that month 9 changes most."""
    areas = np.array([crowd.truth.sum(axis=1) for crowd in months])
    ratio = (areas[CHANGE:].mean(axis=0) + 1) / (areas[:CHANGE].mean(axis=0) + 1)
    return np.argsort(-np.abs(np.log(ratio)))[:2]


def judged(
    truth: Counts, counts: Counts, errors: Counts | None, places: NDArray[np.int64]
) -> Figures:
    """Returns the figures of a month."""
    off, areas = counts - truth, counts.sum(axis=1) - truth.sum(axis=1)
    found = {
        "rmse": float(np.sqrt((off**2).mean())),
        "L1": float(np.abs(off).sum() / truth.sum()),
        "areas": float(np.abs(areas).sum() / truth.sum()),
        "places": float(np.sqrt((off[places] ** 2).mean())),
    }
    if errors is None:
        return found
    return found | {"within": float((np.abs(off) <= 1.96 * errors).mean())}


def releases(months: Sequence[Crowd], epsilon: str, run: int) -> Iterator[tuple[str, int, Figures]]:
    """Yields the figures of each month of each kind of release."""
    places = changed_most(months)
    every = [measured(crowd, epsilon, 100 * run + number) for number, crowd in enumerate(months)]
    for number, month in enumerate(every):
        away = [(number - other, each) for other, each in enumerate(every) if other != number]
        before = [(steps, each) for steps, each in away if steps > 0]
        for name, others in (("alone", []), ("first", before), ("revised", away)):
            table = month.fitted(others)
            found = judged(month.crowd.truth, table.counts, table.standard_error, places)
            yield name, number, found
    for number, counts in enumerate(filtered(months, epsilon, run)):
        yield "Kalman", number, judged(months[number].truth, counts, None, places)


def lines(
    name: str, months: Sequence[Crowd], epsilon: str, runs: int
) -> Iterator[dict[str, object]]:
    """Prints the mean figures of months 6 to 12, and how many times smaller errors of each are."""
    found: dict[str, list[list[Figures]]] = {}
    for run in range(runs):
        for release, number, figures in releases(months, epsilon, run):
            found.setdefault(release, [[] for _ in months])[number].append(figures)
    each = {release: [mean(one) for one in years] for release, years in found.items()}
    for release, of_months in each.items():
        late = mean(of_months[LATE:])
        words = " ".join(f"{key} {value:.3g}" for key, value in late.items())
        print(f"epsilon {epsilon} {release:<7}, months 6 to 12: {words}", flush=True)
        facts = {"scene": name, "epsilon": epsilon, "release": release, "months": of_months}
        yield {**facts, **late}
    for release in ("first", "revised"):
        pairs = list(zip(each["alone"], each[release], strict=True))
        words = "; ".join(
            key + " " + " ".join(f"{one[key] / other[key]:.2f}" for one, other in pairs)
            for key in ("rmse", "L1", "areas", "places")
        )
        print(f"epsilon {epsilon} {release:<7}, alone over it: {words}", flush=True)


def mean(figures: Sequence[Figures]) -> Figures:
    return {key: statistics.mean(one[key] for one in figures) for key in figures[0]}


def main(runs: int, epsilons: Sequence[str], which: Sequence[str]) -> list[dict[str, object]]:
    """Prints lines for every scene and epsilon of a month, and returns them."""
    rows: list[dict[str, object]] = []
    for name, make in scenes():
        if not name.startswith(tuple(which)):
            continue
        months = make()
        visits = round(sum(crowd.truth.sum() for crowd in months))
        print(f"\n{name}: {visits:,} visits in {MONTHS} months, {months[0].truth.size:,} counts")
        for epsilon in epsilons:
            rows += lines(name, months, epsilon, runs)
    return rows


if __name__ == "__main__":
    asked, *lists = positional("3", "1/4,1", "")
    keep("density_series", main(int(asked), *(one.split(",") for one in lists)))
