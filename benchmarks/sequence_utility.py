"""How long the utility of published sequences takes to measure, on the matched synthetic cities.

The opponent of the pattern search is the package `prefixspan`, on a sample that it can handle: both
must find the same supports. The paper's cities are measured whole.
"""

from functools import partial

import numpy as np
from prefixspan import PrefixSpan

from harness import print_figures, timed, warm_seconds
from hushway.families.sequences.city.cards import CardCity, bus, metro
from hushway.families.sequences.study.data import WeightedSequences, distinct
from hushway.families.sequences.study.patterns import top_patterns
from hushway.families.sequences.study.queries import count_queries, paper_queries

RUNS = 5
HEIGHT = 12
TOP = 300
SAMPLE, SAMPLE_TOP = 20_000, 100

median_seconds = partial(warm_seconds, runs=RUNS)


def whole_city(name: str, city: CardCity) -> dict[str, float]:
    """Times grouping, 40,000 queries and the top 300 patterns."""
    data = distinct(city.start, city.stops)
    queries = paper_queries(len(city.locations), height=HEIGHT, seed=1)
    return {
        f"{name}_distinct_sequences": float(len(data)),
        f"{name}_distinct_seconds": median_seconds(lambda: distinct(city.start, city.stops)),
        f"{name}_queries_seconds": median_seconds(
            lambda: [count_queries(data, each) for each in queries]
        ),
        f"{name}_patterns_seconds": median_seconds(lambda: top_patterns(data, TOP)),
        f"{name}_support_at_{TOP}": float(top_patterns(data, TOP)[-1].support),
    }


def against_prefixspan() -> dict[str, float]:
    """Times the patterns of a small metro, ours with the grouping that it needs."""
    city = metro(seed=1, records=SAMPLE)
    records = [part.tolist() for part in np.split(city.stops, city.start[1:-1])]

    def ours() -> list[int]:
        data: WeightedSequences = distinct(city.start, city.stops)
        return [pattern.support for pattern in top_patterns(data, SAMPLE_TOP)]

    miner = PrefixSpan(records)
    miner.minlen = 2
    their_seconds, theirs = timed(lambda: [support for support, _ in miner.topk(SAMPLE_TOP)])
    if ours() != theirs:
        message = "prefixspan finds other supports"
        raise AssertionError(message)
    our_seconds = median_seconds(ours)
    return {
        "sample_seconds": our_seconds,
        "sample_prefixspan_seconds": their_seconds,
        "times_faster_than_prefixspan": their_seconds / our_seconds,
    }


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    figures: dict[str, float] = {}
    for name, make in (("metro", metro), ("bus", bus)):
        figures[f"{name}_city_seconds"], city = timed(partial(make, seed=1))
        figures |= whole_city(name, city)
    figures |= against_prefixspan()
    print_figures(figures)
    return figures


if __name__ == "__main__":
    main()
