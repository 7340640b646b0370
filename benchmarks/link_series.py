"""Link counts month by month: alone, learning from months before, and revised with all others.

The default mechanism protects a person in every month, with a delta of 1e-6; a year costs twelve
times the epsilon of a month (in pure epsilon) or less. What a practitioner would write: at most 60
links of a person, the smaller noise on every link and period, scaled to a noisy total; and a Kalman
filter of each of these with the most likely drift. Months are generated: people who drive in a
city, drawn anew every month, while places where they live and work drift and the number of people
goes with the seasons. The method was chosen on "city", "other city" and "third city", of which the
others lay days over each other in parts of the day; "last city" is held out. In scenes "with
changes" the busiest street closes in month 9 and the second busiest opens then: "places" is the
RMSE of these links. Errors are against all persons, "rmse" and "L1" of links and periods as
published, 0 where nothing is; for "even" the rest of each group is shared evenly among links that
do not show. "groups" is the L1 of sums by class, zone and period, "total" of all; "within" is how
often 95% intervals of shown links hold, and "sums" the same of groups as `hushway ask` says them.

Run by hand: `python benchmarks/link_series.py [runs] [epsilons] [scenes]`.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from harness import keep, positional
from hushway.engine.key import BoundingKey
from hushway.families.links.city.plans import Devices, Ground, Habits, ground_of
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import Scene, traces_of_part
from hushway.families.links.files.atlas import travellers_asked
from hushway.families.links.files.others import noisy_answers
from hushway.families.links.fit.publication import hidden_links
from hushway.families.links.fit.steps import NoisyStep
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.catalogue import limits_of
from hushway.families.links.mechanism.counts import link_counts, smaller_noise
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.public.roads import grid_zones
from hushway.families.links.public.universe import (
    ClassZones,
    LinkUniverse,
    MovementCells,
    MovementLimits,
    bound_within,
)
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.geography.periods import Periods
from hushway.numerics.chance import generator
from hushway.privacy.curator import Curator
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep

Counts = NDArray[np.float64]
Links = NDArray[np.int64]
Figures = dict[str, float]
MONTHS, CHANGE, LATE = 12, 8, 5
DELTA = Fraction(1, 10**6)
PEER_LIMIT, TOTAL_SHARE = 60, Fraction(1, 20)
ZONE_M = 2000.0
DRIFTS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
ATTRACTIONS = ("homes", "offices", "shops")


@dataclass(frozen=True, kw_only=True)
class Town:
    """What a series of drives is drawn from."""

    seed: int
    people: int
    links: int
    days: int
    parts: int
    drift: float
    season: float


TOWNS = {
    "city": Town(seed=31, people=20_000, links=2_000, days=1, parts=1, drift=0.05, season=0.15),
    "other city": Town(seed=77, people=8_000, links=3_000, days=7, parts=4, drift=0.1, season=0.25),
    "third city": Town(
        seed=101, people=15_000, links=2_500, days=2, parts=2, drift=0.08, season=0.2
    ),
    "last city": Town(
        seed=211, people=12_000, links=2_200, days=3, parts=3, drift=0.06, season=0.2
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Drives:
    """What people did in a month, by period and item."""

    universe: LinkUniverse
    person: Links
    period: Links
    item: Links

    @cached_property
    def truth(self) -> Counts:
        """Exact persons by (period, link)."""
        links, items = self.universe.roads.links, self.universe.items
        cell = self.period * items + self.item
        _, who = np.unique(self.person, return_inverse=True)
        size = items * len(self.universe.periods)
        once = np.unique(who * size + cell) % size
        return np.bincount(once, minlength=size).reshape(-1, items)[:, :links].astype(np.float64)

    def bounded(self, limits: MovementLimits, seed: int) -> ArrayMovements:
        """Cuts every person down, as a release does."""
        return ArrayMovements(
            universe=self.universe,
            limits=limits,
            key=BoundingKey.draw(SeededSource(seed)),
            person=self.person,
            period=self.period,
            item=self.item,
        )

    def without(self, links: Links) -> "Drives":
        """Returns what is seen if nobody is counted on some links."""
        there = ~np.isin(self.item, links)
        columns = {name: getattr(self, name)[there] for name in ("person", "period", "item")}
        return replace(self, **columns)


def year(town: Town, *, changes: bool) -> list[Drives]:
    """Returns a year of drives in a town, without what is on streets that are closed."""
    roads = road_city(town.seed, links=town.links)
    zone, zones = grid_zones(roads, ZONE_M)
    habits = Habits(days=town.days)
    clock = Periods(
        zone=habits.zone,
        first_day=habits.first_day,
        last_day=habits.first_day,
        opens=0,
        closes=1440,
        minutes=1440 // town.parts,
    )
    universe = LinkUniverse(roads=roads, periods=clock, zone=zone, zones=zones)
    ground, rng = ground_of(roads, generator(town.seed, 1)), np.random.default_rng(town.seed)
    months: list[Drives] = []
    level = np.zeros((len(ATTRACTIONS), roads.links))
    for month in range(MONTHS):
        level = level + town.drift * rng.normal(size=level.shape)
        many = round(town.people * (1 + town.season * np.sin(2 * np.pi * month / MONTHS)))
        now = drifted(ground, level)
        months.append(driven(now, universe, habits, many, 1000 * town.seed + month))
    if not changes:
        return months
    closed, opened = busiest(universe, np.sum([month.truth for month in months], axis=0))
    return [one.without(closed if month >= CHANGE else opened) for month, one in enumerate(months)]


def drifted(ground: Ground, level: Counts) -> Ground:
    """Returns a city whose places have become more or less attractive."""
    moved = {
        name: getattr(ground, name) * np.exp(one)
        for name, one in zip(ATTRACTIONS, level, strict=True)
    }
    return replace(ground, **moved)


def driven(
    ground: Ground, universe: LinkUniverse, habits: Habits, people: int, seed: int
) -> Drives:
    """Returns what so many people do, who are drawn by the seed."""
    scene = Scene(ground=ground, seed=seed, habits=habits, devices=Devices(), name="a month")
    city = traces_of_part(scene, 0, 0, people)
    roads, ways = universe.roads, city.truth
    length = np.diff(ways.start)
    some = np.flatnonzero(length)
    first, last = ways.start[some], ways.start[some + 1] - 1
    second = np.concatenate([ways.entered, ways.entered[first], ways.left[last]])
    begins = roads.links + roads.tail[ways.link[first]]
    ends = roads.links + roads.nodes + roads.head[ways.link[last]]
    part = 86_400 // len(universe.periods)
    return Drives(
        universe=universe,
        person=np.concatenate(
            [np.repeat(city.person, length), city.person[some], city.person[some]]
        ),
        period=(second % 86_400 // part).astype(np.int64),
        item=np.concatenate([ways.link, begins, ends]),
    )


def busiest(universe: LinkUniverse, truth: Counts) -> tuple[Links, Links]:
    """Returns the links of the busiest and of the second busiest street."""
    street = universe.roads.street
    order = np.argsort(-np.bincount(street, truth.sum(axis=0)))
    return np.flatnonzero(street == order[0]), np.flatnonzero(street == order[1])


def scenes() -> Iterator[tuple[str, Callable[[], list[Drives]]]]:
    """Yields names of scenes, and how to make each."""
    for name, town in TOWNS.items():
        yield name, partial(year, town, changes=False)
        yield f"{name} with changes", partial(year, town, changes=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Month:
    """A month as it was measured."""

    drives: Drives
    mechanism: LinkPeople
    measured: Measurements

    def fitted(self, others: Sequence[tuple[int, "Month"]]) -> LinkTable:
        """Fits the month again with what other months, so many away, say."""
        steps = tuple(
            OtherStep(stated={"steps_away": away}, answers=lambda _, other=other: other.answers)
            for away, other in others
        )
        planned = replace(self.mechanism.planned, others=steps)
        mechanism = replace(self.mechanism, planned=planned)
        return mechanism.fit(self.measured, self.drives.universe)

    @cached_property
    def answers(self) -> NoisyStep:
        """Its noisy answers, for another month of the same roads."""
        universe = self.drives.universe
        return noisy_answers(self.mechanism, self.measured, universe, universe)


def measured(drives: Drives, epsilon: str, seed: int) -> Month:
    """Measures a month with the default mechanism."""
    limits = limits_of("auto")
    budget = smaller_noise(Fraction(epsilon), DELTA, limits)
    mechanism = LinkPeople(planned=link_counts(limits, budget=budget))
    counter = drives.bounded(limits, seed)
    curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))
    return Month(
        drives=drives, mechanism=mechanism, measured=mechanism.measure(curator, drives.universe)
    )


def filtered(months: Sequence[Drives], epsilon: str, seed: int) -> list[Counts]:
    """Returns a Kalman filter of every noisy count, with the most likely drift.

    The noise of peers is drawn as floats: they are no releases.
    """
    limits = MovementLimits(max_items=PEER_LIMIT, left_out=False)
    universe = months[0].universe
    rng = np.random.default_rng(seed)
    epsilon_of_total = Fraction(epsilon) * TOTAL_SHARE
    loss = smaller_noise(Fraction(epsilon) - epsilon_of_total, DELTA, limits)
    query = link_counts(limits, budget=loss, classes=Fraction(0), left_out=Fraction(0))
    links = MovementCells(universe=universe)
    sd = query.forecast(universe, bound_within(links, limits))[0].standard_error
    noisy, grown = [], []
    for drives in months:
        counter = drives.bounded(limits, seed)
        counts = counter.count(Query(name=links.name, cells=links))
        values = np.zeros(links.size)
        values[counts.cells] = counts.values
        own = values.reshape(-1, universe.items)[:, : universe.roads.links]
        seen = own + rng.normal(0, sd, own.shape)
        whole = drives.truth.sum() + rng.laplace(0, PEER_LIMIT / float(epsilon_of_total))
        grown.append(whole / own.sum())
        noisy.append(seen * grown[-1])
    variance = (sd * statistics.mean(grown)) ** 2

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


def judged(truth: Counts, counts: Counts, errors: Counts | None, places: Links) -> Figures:
    """Returns the figures of a month; a count of 0 without an error is not published."""
    off = counts - truth
    found = {
        "rmse": float(np.sqrt((off**2).mean())),
        "L1": float(np.abs(off).sum() / truth.sum()),
        "places": float(np.sqrt((off[:, places] ** 2).mean())),
        "shown": float((counts > 0).mean()),
    }
    if errors is None:
        return found
    shown = errors > 0
    return found | {"within": float((np.abs(off) <= 1.96 * errors)[shown].mean())}


def published(table: LinkTable, truth: Counts) -> tuple[Counts, Counts]:
    counts, errors = np.zeros_like(truth), np.zeros_like(truth)
    counts[table.period, table.link] = table.counts
    errors[table.period, table.link] = table.standard_error
    return counts, errors


def of_groups(table: LinkTable, truth: Counts) -> Figures:
    """Returns how far sums by class and zone are off, and how often their intervals hold."""
    asked = travellers_asked(table.universe, table, table.rest)  # type: ignore[arg-type]
    group, used = ClassZones(universe=table.universe).links
    links, periods = asked.dimension("links"), asked.dimension("periods")
    kind = np.append(group[np.unique(table.link)], np.arange(len(used)))[links.position]
    place, size = periods.position * len(used) + kind, len(truth) * len(used)
    true = np.bincount((np.arange(len(truth))[:, None] * len(used) + group).ravel(), truth.ravel())
    off = np.bincount(place, asked.counts, size) - true
    error = np.sqrt(asked.variances(place, size))
    counts, _ = published(table, truth)
    hidden = hidden_links(table.period, table.link, ClassZones(universe=table.universe))
    of_link = np.arange(len(truth))[:, None] * len(used) + group
    each = (table.rest.counts / np.maximum(hidden, 1))[of_link]
    even = np.where(counts > 0, counts, each) - truth
    return {
        "even": float(np.sqrt((even**2).mean())),
        "groups": float(np.abs(off).sum() / truth.sum()),
        "sums": float((np.abs(off) <= 1.96 * error)[error > 0].mean()),
        "total": float(abs(off.sum()) / truth.sum()),
    }


def releases(
    months: Sequence[Drives], epsilon: str, run: int
) -> Iterator[tuple[str, int, Figures]]:
    """Yields the figures of each month of each kind of release."""
    places = changed(months)
    every = [measured(drives, epsilon, 100 * run + number) for number, drives in enumerate(months)]
    for number, month in enumerate(every):
        away = [(number - other, each) for other, each in enumerate(every) if other != number]
        before = [(steps, each) for steps, each in away if steps > 0]
        truth = month.drives.truth
        for name, others in (("alone", []), ("first", before), ("revised", away)):
            table = month.fitted(others)
            found = judged(truth, *published(table, truth), places)
            yield name, number, found | of_groups(table, truth)
    for number, counts in enumerate(filtered(months, epsilon, run)):
        yield "Kalman", number, judged(months[number].truth, counts, None, places)


def changed(months: Sequence[Drives]) -> Links:
    """Returns the four links that month 9 changes most, relative to what they were."""
    links = np.array([month.truth.sum(axis=0) for month in months])
    before, after = links[:CHANGE].mean(axis=0), links[CHANGE:].mean(axis=0)
    return np.argsort(-np.abs(before - after))[:4]


def lines(
    name: str, months: Sequence[Drives], epsilon: str, runs: int
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
            for key in ("rmse", "L1", "even", "groups", "places")
        )
        print(f"epsilon {epsilon} {release:<7}, alone over it: {words}", flush=True)


def mean(figures: Sequence[Figures]) -> Figures:
    return {key: statistics.mean(one[key] for one in figures) for key in figures[0]}


def main(runs: int, epsilons: Sequence[str], which: Sequence[str]) -> list[dict[str, object]]:
    """Prints lines for every scene and epsilon of a month, and returns them."""
    rows: list[dict[str, object]] = []
    for name, make in scenes():
        if which != [""] and name not in which:
            continue
        months = make()
        people = round(sum(month.truth.sum() for month in months))
        print(f"\n{name}: {people:,} persons on links, {months[0].truth.size:,} counts a month")
        for epsilon in epsilons:
            rows += lines(name, months, epsilon, runs)
    return rows


if __name__ == "__main__":
    asked, *lists = positional("2", "1/4,1", "")
    keep("link_series", main(int(asked), *(one.split(",") for one in lists)))
