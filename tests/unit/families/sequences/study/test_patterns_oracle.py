"""Frequent patterns, beside those that the `prefixspan` package finds."""

from itertools import pairwise

import numpy as np
import pytest
from prefixspan import PrefixSpan

from hushway.families.sequences.study.data import distinct
from hushway.families.sequences.study.patterns import top_patterns


@pytest.mark.parametrize("seed", range(5))
def test_the_supports_are_those_of_the_prefixspan_package(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, 300)
    start = np.concatenate([[0], np.cumsum(lengths)])
    stops = rng.choice(8, size=int(start[-1]), p=np.arange(8, 0, -1) / 36)
    peer = PrefixSpan([stops[a:b].tolist() for a, b in pairwise(start)])
    peer.minlen = 2
    theirs = sorted((count for count, _ in peer.topk(40)), reverse=True)
    ours = top_patterns(distinct(start.astype(np.int64), stops.astype(np.int64)), 40)
    assert [pattern.support for pattern in ours] == theirs[:40]
    supports = {tuple(pattern): count for count, pattern in peer.frequent(ours[-1].support)}
    assert all(supports[pattern.locations] == pattern.support for pattern in ours)
