"""Sequences month by month: alone, learning from months before, and revised with all others.

The default mechanism protects a person in every month with Laplace noise; a year costs twelve times
the epsilon of a month. Two things that a practitioner would do: a Kalman filter of every prefix of
the separate releases ("smoothed"), with the gain that foretells them best; and, for who wants pairs
of first and second stop alone, Laplace noise on each of at most 4 records of a person, scaled to a
noisy number of records, and a Kalman filter of each with the most likely drift ("pairs alone").
"cards" are drawn anew every month from the ways of a synthetic metro, by people who repeat theirs,
while stations drift by 5% a month and the city by seasons; constants were chosen on it. "other
cards" is held out: another seed, twice the people, 8% a month. In scenes "with changes" the busiest
station closes in month 9 and the second busiest opens then: "places" are prefixes that call there.
Errors are those of all records: L1 and RMSE of the thousand busiest prefixes of the year, L1 of
those of one stop ("firsts") and of three or more ("long"), and of records by first and second stop
("pairs"); "within" is how often 95% intervals of the published prefixes hold, "sure" how many there
are. Run by hand: `python benchmarks/sequence_series.py [runs] [epsilons] [scenes]`.
"""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from harness import keep, positional
from hushway.families.sequences.city.cards import metro
from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.files.others import noisy_answers
from hushway.families.sequences.fit.steps import StepAnswers
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.people import PeopleSequences, record_ladder
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep
from sequence_scenes import JudgedScene, cards

Counts = NDArray[np.float64]
Indices = NDArray[np.int64]
Figures = dict[str, float]
MONTHS, CHANGE, LATE = 12, 8, 5
DAYS, HABIT, TOP = 30, 0.6, 1000
PEER_LIMIT, TOTAL_SHARE = 4, 0.05
GAINS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
DRIFTS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


@dataclass(frozen=True, kw_only=True)
class Town:
    """What a series of cards is drawn from."""

    seed: int
    people: int
    drift: float
    season: float


LOOKED_AT = Town(seed=77, people=4_000, drift=0.05, season=0.15)
HELD_OUT = Town(seed=2031, people=8_000, drift=0.08, season=0.25)


def months_of(town: Town, *, changes: bool) -> tuple[list[JudgedScene], Indices]:
    """Returns a year of cards, and the two places that change in month 9."""
    ways = cards(metro(town.seed, records=40_000))
    ends = np.column_stack([ways.stops[ways.start[:-1]], ways.stops[ways.start[1:] - 1]])
    busiest = np.argsort(-np.bincount(ends.ravel(), minlength=ways.places), kind="stable")[:2]
    calls = [_calls(ways, place) for place in busiest]
    months, level = [], np.zeros(ways.places)
    rng = np.random.default_rng(town.seed)
    for month in range(MONTHS):
        level = level + town.drift * rng.normal(size=ways.places)
        weight = np.exp(level[ends].sum(axis=1))
        if changes:
            weight = weight * ~calls[0 if month >= CHANGE else 1]
        many = round(town.people * (1 + town.season * np.sin(2 * np.pi * month / MONTHS)))
        months.append(_month(ways, weight / weight.sum(), many, rng))
    return months, busiest


def _calls(ways: JudgedScene, place: int) -> NDArray[np.bool_]:
    """Returns which ways call at a place."""
    return np.add.reduceat(ways.stops == place, ways.start[:-1]) > 0


def _month(ways: JudgedScene, share: Counts, people: int, rng: np.random.Generator) -> JudgedScene:
    """Returns what people do in a month: most repeat a way of theirs."""
    each = 1 + rng.binomial(DAYS - 1, rng.uniform(0.05, 0.5, people))
    person = np.repeat(np.arange(people), each)
    own = rng.choice(len(share), people, p=share)[person]
    chosen = np.where(
        rng.random(len(person)) < HABIT, own, rng.choice(len(share), len(person), p=share)
    )
    length = np.diff(ways.start)[chosen]
    start = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(ways.start[chosen] - start[:-1], length) + np.arange(start[-1])
    return replace(ways, start=start, stops=ways.stops[at], person=person, max_records=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Month:
    """A month as it was measured."""

    scene: JudgedScene
    mechanism: PeopleSequences
    measured: Measurements

    def fitted(self, others: Sequence[tuple[int, "Month"]]) -> RecordTable:
        """Fits the month again with what other months, so many away, say."""
        steps = tuple(
            OtherStep(stated={"steps_away": away}, answers=lambda _, other=other: other.answers)
            for away, other in others
        )
        mechanism = replace(self.mechanism, others=steps)
        return mechanism.fit(self.measured, mechanism.universe)

    @cached_property
    def answers(self) -> StepAnswers:
        """Its noisy answers, for another month."""
        return noisy_answers(self.mechanism, self.measured)


def measured(scene: JudgedScene, epsilon: str, seed: int) -> Month:
    """Measures a month with the default mechanism."""
    inner = LearnedSequences(
        universe=SequenceUniverse(taxonomy=scene.taxonomy),
        height=scene.height,
        spends=learned_spends(PureLoss(Fraction(epsilon))),
    )
    made = PeopleSequences(inner=inner, ladder=record_ladder(DAYS, None), limit=None)
    counter = scene.counted_with(made.ladder)
    curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))
    found = made.measure(curator, made.universe)
    return Month(scene=scene, mechanism=made, measured=found)


def prefixes_of(scene: JudgedScene) -> Counter[tuple[int, ...]]:
    """Returns how many records begin with each prefix."""
    found: Counter[tuple[int, ...]] = Counter()
    short = np.minimum(np.diff(scene.start), scene.height)
    for begin, length in zip(scene.start[:-1].tolist(), short.tolist(), strict=True):
        found[tuple(scene.stops[begin : begin + length].tolist())] += 1
    begun: Counter[tuple[int, ...]] = Counter()
    for stops, many in found.items():
        for size in range(1, len(stops) + 1):
            begun[stops[:size]] += many
    return begun


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge:
    """The truth of a year, about prefixes that are the same in every month.

    Attributes:
        asked: The busiest prefixes of the year, as a table without numbers.
        there: Which of them call at a place that changes.
        depth: How many stops each has.
    """

    asked: RecordTable
    there: NDArray[np.bool_]
    depth: Indices

    def judged(self, table: RecordTable, scene: JudgedScene) -> Figures:
        """Returns the figures of a month."""
        each = np.abs(table.prefix_counts - _true(table, scene))
        held = each <= 1.96 * table.prefix_errors
        pairs = np.abs(
            first_two(table.start, table.stops, table.counts, scene.places)
            - first_two(scene.start, scene.stops, None, scene.places)
        )
        return {
            **self.off(table_counts(self.asked, table), scene),
            "pairs": float(pairs.sum() / (len(scene.start) - 1)),
            "sure": float(len(held)),
            "within": float(held.mean()) if len(held) else 1.0,
        }

    def off(self, counts: Counts, scene: JudgedScene) -> Figures:
        """Returns how far the prefixes that are asked about are from the truth."""
        truth = _true(self.asked, scene)
        off = (counts - truth).astype(np.float64)

        def share(some: NDArray[np.bool_]) -> float:
            return float(np.abs(off[some]).sum() / truth[some].sum())

        return {
            "L1": share(self.depth > 0),
            "firsts": share(self.depth == 1),
            "long": share(self.depth > 2),
            "rmse": float(np.sqrt((off**2).mean())),
            "places": float(np.sqrt((off[self.there] ** 2).mean())),
        }


def table_counts(asked: RecordTable, table: RecordTable) -> Counts:
    """Returns how many published records begin with each prefix that is asked about."""
    found = begun_with(asked, table.start, table.stops, table.counts)
    return np.asarray(found, dtype=np.float64)


def smoothed(years: Sequence[Counts]) -> list[Counts]:
    """Returns a Kalman filter of each number, with the gain that foretells the next ones best."""

    def run(gain: float) -> tuple[float, list[Counts]]:
        found, missed = [years[0]], 0.0
        for seen in years[1:]:
            missed += float(((seen - found[-1]) ** 2).sum())
            found.append(found[-1] + gain * (seen - found[-1]))
        return missed, found

    return min((run(gain) for gain in GAINS), key=lambda one: one[0])[1]


def _true(table: RecordTable, scene: JudgedScene) -> Indices:
    length = np.minimum(np.diff(scene.start), scene.height)
    start = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(scene.start[:-1] - start[:-1], length) + np.arange(start[-1])
    return begun_with(table, start, scene.stops[at], np.ones(len(length), dtype=np.int64))


def judge_of(months: Sequence[JudgedScene], changed: Indices) -> Judge:
    """Returns the judge of a year."""
    year: Counter[tuple[int, ...]] = Counter()
    for scene in months:
        year.update(prefixes_of(scene))
    top = sorted(year, key=lambda stops: (-year[stops], len(stops), stops))[:TOP]
    number = {stops: at for at, stops in enumerate(top)}
    one = months[0]
    asked = RecordTable(
        taxonomy=one.taxonomy,
        height=one.height,
        start=np.zeros(1, dtype=np.int64),
        stops=np.zeros(0, dtype=np.int64),
        counts=np.zeros(0, dtype=np.int64),
        parent=np.array([number.get(stops[:-1], -1) for stops in top], dtype=np.int64),
        place=np.array([stops[-1] for stops in top], dtype=np.int64),
        prefix_counts=np.array([year[stops] for stops in top], dtype=np.int64),
        prefix_errors=np.ones(len(top)),
        questions=(),
    )
    there = np.array([any(place in stops for place in changed) for stops in top])
    return Judge(asked=asked, there=there, depth=np.array([len(stops) for stops in top]))


def first_two(start: Indices, stops: Indices, counts: Indices | None, places: int) -> Counts:
    """Returns records by first and second stop; the last column is for those of one stop."""
    length = np.diff(start)
    second = np.where(length > 1, stops[np.minimum(start[:-1] + 1, len(stops) - 1)], places)
    cell = stops[start[:-1]] * (places + 1) + second
    return np.bincount(cell, counts, places * (places + 1)).astype(np.float64)


def filtered(months: Sequence[JudgedScene], epsilon: str, seed: int) -> list[Figures]:
    """Returns the errors of a Kalman filter of every noisy pair, with the most likely drift.

    The noise of peers is drawn as floats: they are no releases.
    """
    rng, scale = np.random.default_rng(seed), PEER_LIMIT / float(Fraction(epsilon))
    truth, noisy, grown = [], [], []
    for scene in months:
        person = np.asarray(scene.person)
        # Records of a person are in no order.
        rank = np.arange(len(person)) - np.searchsorted(person, person)
        some = np.flatnonzero(rank < PEER_LIMIT)
        truth.append(first_two(scene.start, scene.stops, None, scene.places))
        pick = np.zeros(len(person), dtype=np.int64)
        pick[some] = 1
        counts = first_two(scene.start, scene.stops, pick, scene.places)
        whole = len(rank) + rng.laplace(0, scale / PEER_LIMIT * DAYS / TOTAL_SHARE)
        grown.append(whole / counts.sum())
        noisy.append((counts + rng.laplace(0, scale / (1 - TOTAL_SHARE), counts.shape)) * grown[-1])
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

    best = max((run(drift) for drift in DRIFTS), key=lambda one: one[0])[1]
    return [
        {"pairs": float(np.abs(one - true).sum() / true.sum())}
        for one, true in zip(best, truth, strict=True)
    ]


def releases(
    months: Sequence[JudgedScene], judge: Judge, epsilon: str, run: int
) -> Iterator[tuple[str, int, Figures]]:
    """Yields the figures of each month of each kind of release."""
    every = [measured(scene, epsilon, 100 * run + number) for number, scene in enumerate(months)]
    separate: list[Counts] = []
    for number, month in enumerate(every):
        away = [(number - other, each) for other, each in enumerate(every) if other != number]
        before = [(steps, each) for steps, each in away if steps > 0]
        for name, others in (("alone", []), ("first", before), ("revised", away)):
            table = month.fitted(others)
            if not others and len(separate) == number:
                separate.append(table_counts(judge.asked, table))
            yield name, number, judge.judged(table, month.scene)
    for number, counts in enumerate(smoothed(separate)):
        yield "smoothed", number, judge.off(counts, months[number])
    for number, figures in enumerate(filtered(months, epsilon, run)):
        yield "pairs alone", number, figures


def lines(
    name: str, year: tuple[list[JudgedScene], Indices], epsilon: str, runs: int
) -> Iterator[dict[str, object]]:
    """Prints the mean figures of months 6 to 12, and how many times smaller errors of each are."""
    months, changed = year
    judge = judge_of(months, changed)
    found: dict[str, list[list[Figures]]] = {}
    for run in range(runs):
        for release, number, figures in releases(months, judge, epsilon, run):
            found.setdefault(release, [[] for _ in months])[number].append(figures)
    each = {release: [mean(one) for one in years] for release, years in found.items()}
    for release, of_months in each.items():
        late = mean(of_months[LATE:])
        words = " ".join(f"{key} {value:.3g}" for key, value in late.items())
        print(f"epsilon {epsilon} {release:<11}, months 6 to 12: {words}", flush=True)
        facts = {"scene": name, "epsilon": epsilon, "release": release, "months": of_months}
        yield {**facts, **late}
    for release in ("first", "revised"):
        pairs = list(zip(each["alone"], each[release], strict=True))
        words = "; ".join(
            key + " " + " ".join(f"{one[key] / other[key]:.2f}" for one, other in pairs)
            for key in ("L1", "rmse", "pairs", "places")
        )
        print(f"epsilon {epsilon} {release:<11}, alone over it: {words}", flush=True)


def mean(figures: Sequence[Figures]) -> Figures:
    return {key: statistics.mean(one[key] for one in figures) for key in figures[0]}


def main(runs: int, epsilons: Sequence[str], which: Sequence[str]) -> list[dict[str, object]]:
    """Prints lines for every scene and epsilon of a month, and returns them."""
    rows: list[dict[str, object]] = []
    for name, town in (("cards", LOOKED_AT), ("other cards", HELD_OUT)):
        for changes in (False, True):
            scene = f"{name} with changes" if changes else name
            if scene not in which and which != [""]:
                continue
            year = months_of(town, changes=changes)
            records = sum(len(month.start) - 1 for month in year[0])
            print(f"\n{scene}: {records:,} records in {MONTHS} months")
            for epsilon in epsilons:
                rows += lines(scene, year, epsilon, runs)
    return rows


if __name__ == "__main__":
    asked, *lists = positional("1", "1/4,1", "")
    keep("sequence_series", main(int(asked), *(one.split(",") for one in lists)))
