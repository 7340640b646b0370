"""What sequences of people say of all of their records, with limits given and chosen.

Three scenes of people with several records each: a week and a month of generated cards, with habits
and with days that depend on where somebody sets out, and days of check-ins in New York. Releases
with a limit on records, and one whose limit is chosen, are held against *all* records. Run by hand:
`python benchmarks/sequence_people.py [runs] [epsilons]`, which saves build/sequence-people.json.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.city.cards import metro
from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.people import PeopleSequences, record_ladder
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.numerics.chance import generator
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from sequence_scenes import METRO_SEED, JudgedScene, cards, check_ins_of_people

CARDS, HABIT, TOP, LARGE = 30_000, 0.6, 200, 500
WEEK, MONTH = 7, 30


def days_of_cards(days: int) -> JudgedScene:
    """Returns days of cards: most repeat a way of theirs, or set out where they always do."""
    rng, day = generator(METRO_SEED, 35), cards(metro(METRO_SEED, records=CARDS))
    first = day.stops[day.start[:-1]]
    keen = rng.uniform(0.15, 0.75, day.places)[first]
    person = np.repeat(np.arange(CARDS), 1 + rng.binomial(days - 1, keen))
    order = np.argsort(first, kind="stable")
    begin, number = np.searchsorted(first[order], first), np.bincount(first)[first]
    like = begin[person] + np.floor(rng.random(len(person)) * number[person]).astype(np.int64)
    own = rng.random(len(person)) < HABIT
    return replace(_records(day, np.where(own, person, order[like])), person=person)


def _records(scene: JudgedScene, chosen: IntArray) -> JudgedScene:
    length = np.diff(scene.start)[chosen]
    start = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(scene.start[chosen] - start[:-1], length) + np.arange(start[-1])
    return replace(scene, start=start, stops=scene.stops[at])


def learnt(
    scene: JudgedScene, days: int | None, epsilon: str, limit: int | None, seed: int
) -> RecordTable:
    """Returns a release that completes what its limit leaves out; nobody has more than `days`."""
    ladder = record_ladder(days, limit)
    made = PeopleSequences(inner=_inner(scene, epsilon), ladder=ladder, limit=limit)
    curator = _curator(replace(scene, max_records=1), seed, made.ladder)
    return made.fit(made.measure(curator, made.universe), made.universe)


def _inner(scene: JudgedScene, epsilon: str) -> LearnedSequences:
    universe = SequenceUniverse(taxonomy=scene.taxonomy)
    spends = learned_spends(PureLoss(Fraction(epsilon)))
    return LearnedSequences(universe=universe, height=scene.height, spends=spends)


def _curator(scene: JudgedScene, seed: int, ladder: tuple[int, ...]) -> Curator:
    counter = scene.counted_with(ladder)
    return Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))


def true_table(scene: JudgedScene) -> RecordTable:
    """Returns the busiest prefixes of all records, as a table without errors."""
    short = np.minimum(np.diff(scene.start), scene.height)
    counts: dict[tuple[int, ...], int] = {}
    for begin, length in zip(scene.start[:-1].tolist(), short.tolist(), strict=True):
        stops = tuple(scene.stops[begin : begin + length].tolist())
        for size in range(1, length + 1):
            counts[stops[:size]] = counts.get(stops[:size], 0) + 1
    # A prefix has no fewer records than what continues it, so those above come along.
    top = sorted(counts, key=lambda stops: (-counts[stops], len(stops), stops))[:TOP]
    number = {stops: at for at, stops in enumerate(top)}
    return RecordTable(
        taxonomy=scene.taxonomy,
        height=scene.height,
        start=scene.start,
        stops=scene.stops,
        counts=np.ones(len(scene.start) - 1, dtype=np.int64),
        parent=np.array([number.get(stops[:-1], -1) for stops in top], dtype=np.int64),
        place=np.array([stops[-1] for stops in top], dtype=np.int64),
        prefix_counts=np.array([counts[stops] for stops in top], dtype=np.int64),
        prefix_errors=np.ones(len(top)),
        questions=(),
    )


def judged(table: RecordTable, truth: RecordTable) -> dict[str, float]:
    """Returns how near a release is to all records, and how many of its intervals hold."""
    begun = begun_with(truth, table.start, table.stops, table.counts)
    true = begun_with(table, truth.start, truth.stops, truth.counts)
    held = np.abs(table.prefix_counts - true) <= 1.96 * table.prefix_errors
    large, firsts = table.prefix_counts >= LARGE, table.parent < 0
    l1 = float(np.abs(begun - truth.prefix_counts).sum()) / float(truth.prefix_counts.sum())
    return {
        "total": float(table.counts.sum()) / len(truth.counts) - 1,
        "top_prefixes_l1": l1,
        "prefixes": float(len(held)),
        "held": float(held.sum()),
        "large": float(large.sum()),
        "large_held": float(held[large].sum()),
        "firsts": float(firsts.sum()),
        "firsts_held": float(held[firsts].sum()),
        "limit": float(table.diagnostics.get("most_records_looked_at", 0)),
    }


def averaged(found: list[dict[str, float]]) -> dict[str, float]:
    """Returns means over runs, and shares of intervals that hold over all of them."""
    means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
    for size in ("prefixes", "large", "firsts"):
        held = "held" if size == "prefixes" else f"{size}_held"
        means[held] = means[held] / means[size] if means[size] else 0.0
    return {key: round(value, 4) for key, value in means.items()}


SCENES: dict[str, tuple[Callable[[], JudgedScene | None], int | None]] = {
    "week of cards": (lambda: days_of_cards(WEEK), WEEK),
    "month of cards": (lambda: days_of_cards(MONTH), MONTH),
    # Nobody knows how many days of check-ins anybody may have.
    "check-ins": (check_ins_of_people, None),
}
LIMITS = (1, 2, 4, 8, 16, 32, None)


COLUMNS = {
    "total": "{:+.1%}",
    "top_prefixes_l1": "{:.3f}",
    "limit": "{:.0f}",
    "prefixes": "{:,.0f}",
    "held": "{:.1%}",
    "large": "{:,.0f}",
    "large_held": "{:.1%}",
    "firsts": "{:,.0f}",
    "firsts_held": "{:.1%}",
}
SAVED = Path("build/sequence-people.json")


def main(runs: int, epsilons: list[str]) -> None:
    rows: list[dict[str, str | float]] = []
    print(f"| scene | ε | given | {' | '.join(COLUMNS)} |\n|---|---|---|{'---|' * len(COLUMNS)}")
    for name, (made, days) in SCENES.items():
        scene = made()
        if scene is None:
            continue
        truth = true_table(scene)
        for epsilon, limit in product(epsilons, LIMITS):
            if limit is not None and days is not None and limit > days:
                continue
            tables = (learnt(scene, days, epsilon, limit, run) for run in range(runs))
            found = averaged([judged(table, truth) for table in tables])
            given = "auto" if limit is None else str(limit)
            rows.append({"scene": name, "epsilon": epsilon, "given": given, **found})
            words = [form.format(found[key]) for key, form in COLUMNS.items()]
            print(f"| {name} | {epsilon} | {given} | {' | '.join(words)} |", flush=True)
    SAVED.parent.mkdir(exist_ok=True)
    SAVED.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        int(given[0]) if given else 1, given[1].split(",") if len(given) > 1 else ["0.5", "1", "4"]
    )
