from itertools import pairwise

import numpy as np

from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import nested, refines
from hushway.families.od.public.features import Feature

Features = tuple[Feature, ...]


def test_each_level_refines_the_one_above_it(features: Features) -> None:
    assert not refines(features[3], features[2])
    levels = nested(features)
    assert [level.title for level in levels] == ["total", "period", "zones", "modes"]
    assert all(refines(finer, coarser) for coarser, finer in pairwise(levels))


def test_the_last_level_is_the_common_refinement_and_names_both_labels(
    cells: ODCells, features: Features
) -> None:
    zones, modes = features[2:]
    last = nested(features)[-1]
    every = np.arange(cells.size)
    pairs = set(zip(zones.of(every).tolist(), modes.of(every).tolist(), strict=True))
    assert last.size == len(pairs)
    for cell in (0, 17, 89):
        one = np.array([cell])
        period, label = last.labels(int(last.of(one)[0]))
        assert label == (
            f"{zones.labels(int(zones.of(one)[0]))[1]}, {modes.labels(int(modes.of(one)[0]))[1]}"
        )
        assert period == zones.labels(int(zones.of(one)[0]))[0]


def test_features_that_are_nested_already_stay_as_they_are(features: Features) -> None:
    total, period, zones, _ = features
    levels = nested([total, period, zones])
    assert levels[2].pairs is zones.pairs
    assert levels[2].size == zones.size
