"""Peers of published sequences: what is published at the same budget, with the same unit.

The product's own tree bounds persons by itself. All others protect one record; they are given the
bounded records, and so much less for each as a person may have.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from hushway.families.sequences.fit.completion import complete
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.mechanism.tree import prefix_tree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.study.data import WeightedSequences
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from sequence_adatrace import ada_trace
from sequence_chains import Chain, symbols_of, with_sums, written
from sequence_ngrams import gram_chain
from sequence_scenes import JudgedScene

Release = Callable[[JudgedScene, Fraction, int], WeightedSequences | None]
"""Publishes a scene with a budget and a seed; None if it cannot take part."""


def grown(scene: JudgedScene, epsilon: Fraction, seed: int) -> SequenceTable:
    """Returns the prefix tree of the product, with its defaults."""
    universe = SequenceUniverse(taxonomy=scene.taxonomy)
    mechanism = prefix_tree(universe, budget=PureLoss(epsilon), height=scene.height)
    curator = Curator(counter=scene.counter, budget=StudyBudget(), source=SeededSource(seed))
    return mechanism.fit(mechanism.measure(curator, universe), universe)


def tree(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences:
    start, stops, counts = grown(scene, epsilon, seed).sequences()
    return WeightedSequences(start=start, stops=np.ascontiguousarray(stops), weights=counts)


def completed_tree(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences:
    whole = complete(grown(scene, epsilon, seed))
    return WeightedSequences(start=whole.start, stops=whole.stops, weights=whole.counts)


def markov(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences:
    """Draws records from noisy counts of all steps, from the start to the end."""
    chain = markov_chain(scene, epsilon / scene.max_records, seed)
    return written(chain, scene.height, np.random.default_rng(seed))


def markov_chain(scene: JudgedScene, epsilon: Fraction, seed: int) -> Chain:
    """Returns a chain whose state is the last place.

    Privacy:
        A record has at most as many steps as the height, the one to its end included if it is
        shorter: the counts cost `epsilon` for one record.
    """
    places = scene.places
    symbols, left = symbols_of(scene.bounded, scene.height, places)
    at = np.flatnonzero(left > 1)
    # The start takes the row that the end, after which nothing comes, does not need.
    before = np.minimum(symbols[at], places)
    exact = np.bincount(before * (places + 1) + symbols[at + 1], minlength=(places + 1) ** 2)
    noise = DiscreteLaplace(scene.height / epsilon).draw(SeededSource(seed), len(exact))
    steps = (exact + noise).reshape(places + 1, places + 1).astype(np.float64)
    steps[places, places] = 0
    rows = with_sums(steps, np.maximum(steps.sum(axis=1), 0))
    return Chain(
        shares=rows,
        after=np.broadcast_to(np.arange(places, dtype=np.int32), (places + 1, places)),
        first=places,
        records=round(float(rows[places].sum())),
    )


def grams(order: int) -> Release:
    def release(scene: JudgedScene, epsilon: Fraction, seed: int) -> WeightedSequences:
        chain = gram_chain(scene, epsilon / scene.max_records, seed, order=order)
        return written(chain, scene.height, np.random.default_rng(seed))

    return release


PEERS: dict[str, Release] = {
    "tree": tree,
    "tree, completed": completed_tree,
    "Markov": markov,
    "3-grams": grams(3),
    "4-grams": grams(4),
    "AdaTrace": ada_trace,
}
