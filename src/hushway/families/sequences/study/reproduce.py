"""Runs the experiments of the prefix-tree paper on the matched synthetic card cities."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.fit.completion import complete
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.steps import (
    PaperThresholds,
    paper_grain_shares,
    uniform_shares,
)
from hushway.families.sequences.mechanism.terms import SequenceMechanism
from hushway.families.sequences.mechanism.tree import PrefixTree, prefix_tree
from hushway.families.sequences.study.data import (
    Grown,
    SequenceScene,
    WeightedSequences,
    card_scene,
    grow,
)
from hushway.families.sequences.study.patterns import Pattern, compare_patterns, top_patterns
from hushway.families.sequences.study.queries import (
    CountQueries,
    count_queries,
    paper_queries,
    sanity_bound,
)
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress
from hushway.study.results import Figures, Interval

EPSILONS = ("0.5", "0.75", "1", "1.25", "1.5")
HEIGHTS = (6, 8, 10, 12, 14, 16, 18, 20)
PATTERNS = (100, 150, 200, 250, 300)
HEIGHT, EPSILON, MOST_PATTERNS = 12, "1", 300
QUERY_LENGTHS = (3, 6, 9, 12)
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
RUNTIME_HEIGHT = 20

_CITY_SEED = 2012
_QUERY_SEED = 2012
# A simple tree with the paper's thresholds multiplies its false nodes; beyond this it is stopped.
_MOST_NODES = 2_000_000

Maker = Callable[[SequenceScene, str, int], SequenceMechanism]


def _hybrid(scene: SequenceScene, epsilon: str, height: int) -> PrefixTree:
    return prefix_tree(
        scene.hybrid,
        budget=PureLoss(Fraction(epsilon)),
        height=height,
        level_shares=uniform_shares(height),
        grain_shares=paper_grain_shares(scene.taxonomy),
        thresholds=PaperThresholds(),
    )


def _simple(scene: SequenceScene, epsilon: str, height: int) -> PrefixTree:
    return prefix_tree(
        scene.simple,
        budget=PureLoss(Fraction(epsilon)),
        height=height,
        level_shares=uniform_shares(height),
        thresholds=PaperThresholds(),
        most_nodes=_MOST_NODES,
        supercritical=True,
    )


def _tree(scene: SequenceScene, epsilon: str, height: int) -> PrefixTree:
    return prefix_tree(scene.hybrid, budget=PureLoss(Fraction(epsilon)), height=height)


def _learned(scene: SequenceScene, epsilon: str, height: int) -> LearnedSequences:
    spends = learned_spends(PureLoss(Fraction(epsilon)))
    return LearnedSequences(universe=scene.hybrid, height=height, spends=spends)


@dataclass(frozen=True)
class Method:
    """How records are published, and whether those of a tree are completed afterwards."""

    make: Maker
    completed: bool = False


METHODS: dict[str, Method] = {
    "Hybrid": Method(_hybrid),
    "Simple": Method(_simple),
    "tree": Method(_tree),
    "completed": Method(_tree, completed=True),
    "learned": Method(_learned),
}


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth.

    A setting of `figures` is the data, a method, a budget and the height of the tree.
    """

    runs: int
    records: dict[str, int]
    figures: Figures
    seconds_by_records: dict[str, dict[int, float]]
    seconds_by_locations: dict[int, float]

    def of(self, data: str, method: str, epsilon: str, height: int, figure: str) -> Interval | None:
        """Returns one figure, such as "patterns.300" or "queries.3", if it was measured."""
        return self.figures.get(data, method, epsilon, height, figure)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Truth:
    """What the original data answer, worked out once."""

    scene: SequenceScene
    patterns: tuple[Pattern, ...]
    queries: dict[int, CountQueries]
    answers: dict[int, IntArray]


def reproduce_prefix_tree(
    *, runs: int, records: int | None = None, progress: Progress
) -> Internal[Reproduction]:
    """Runs every method at every budget and height on both data sets, then times growing data.

    One record is protected, as in the paper; noise comes from fixed seeds.
    """
    progress("Making the cities")
    scenes = {
        "Metro": card_scene(metro(_CITY_SEED, records=records)),
        "Bus": card_scene(bus(_CITY_SEED, records=records)),
    }
    settings = [(epsilon, HEIGHT) for epsilon in EPSILONS]
    settings += [(EPSILON, height) for height in HEIGHTS if height != HEIGHT]
    figures = Figures("data", "method", "epsilon", "height")
    steps = len(scenes) * len(settings) * len(METHODS)
    done = 0
    for name, scene in scenes.items():
        truth = _truth(scene)
        for epsilon, height in settings:
            for method, how in METHODS.items():
                progress(f"{name}: {method}, ε = {epsilon}, h = {height}", done / steps)
                mechanism = how.make(scene, epsilon, height)
                rows = [
                    _measured(truth, mechanism, run, completed=how.completed) for run in range(runs)
                ]
                figures.add(name, method, epsilon, height, rows=rows)
                done += 1
    progress("Timing")
    return Internal(
        Reproduction(
            runs=runs,
            records={name: len(scene.start) - 1 for name, scene in scenes.items()},
            figures=figures,
            seconds_by_records={name: _seconds_by_records(scene) for name, scene in scenes.items()},
            seconds_by_locations=_seconds_by_locations(scenes["Bus"]),
        )
    )


def _truth(scene: SequenceScene) -> _Truth:
    sets = paper_queries(len(scene.taxonomy.locations), height=HEIGHT, seed=_QUERY_SEED)
    queries = dict(zip(QUERY_LENGTHS, sets, strict=True))
    return _Truth(
        scene=scene,
        patterns=top_patterns(scene.truth, MOST_PATTERNS),
        queries=queries,
        answers={longest: count_queries(scene.truth, asked) for longest, asked in queries.items()},
    )


def _measured(
    truth: _Truth, mechanism: SequenceMechanism, run: int, *, completed: bool
) -> dict[str, float]:
    grown: Grown = grow(truth.scene, mechanism, SeededSource(run)).value
    released = _completed(grown) if completed else grown.released
    found = top_patterns(released, MOST_PATTERNS)
    sanity = sanity_bound(truth.scene.truth)
    row = {
        f"patterns.{k}": float(compare_patterns(truth.patterns[:k], found[:k]).value.true_positives)
        for k in PATTERNS
    }
    for longest, asked in truth.queries.items():
        exact = truth.answers[longest]
        error = np.abs(count_queries(released, asked) - exact) / np.maximum(exact, sanity)
        row[f"queries.{longest}"] = float(error.mean())
    row["seconds"] = grown.seconds
    row["nodes"] = float(len(grown.table.parent))
    row["stopped"] = float(grown.table.diagnostics.get("stopped") == "too_many_nodes")
    return row


def _completed(grown: Grown) -> WeightedSequences:
    assert isinstance(grown.table, SequenceTable)  # noqa: S101  only trees break off
    found = complete(grown.table)
    return WeightedSequences(start=found.start, stops=found.stops, weights=found.counts)


def _seconds_by_records(scene: SequenceScene) -> dict[int, float]:
    whole = len(scene.start) - 1
    return {
        count: _seconds(scene.sample(count)) for count in (round(share * whole) for share in SHARES)
    }


def _seconds_by_locations(scene: SequenceScene) -> dict[int, float]:
    """Times smaller universes: stops outside are removed from the records, as in the paper."""
    places = len(scene.taxonomy.locations)
    return {count: _seconds(scene.within(count)) for count in (round(s * places) for s in SHARES)}


def _seconds(scene: SequenceScene) -> float:
    mechanism = _learned(scene, EPSILON, RUNTIME_HEIGHT)
    return float(
        np.median([grow(scene, mechanism, SeededSource(run)).value.seconds for run in range(3)])
    )
