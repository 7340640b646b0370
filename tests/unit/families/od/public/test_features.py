import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    refuse_idle,
    total_feature,
    without_idle,
)
from hushway.geography.locations import Labels, labels_of_codes
from support.small_cells import small_cells


def zones(cells: ODCells, title: str = "zones", *, by_period: bool = True) -> Feature:
    labels = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"))
    return pair_feature(cells, title, labels, by_period=by_period)


def pair_labels(cells: ODCells, *codes: int) -> Labels:
    every = np.resize(np.array(codes, dtype=np.int32), cells.pairs)
    return labels_of_codes("c", every, [f"c{i}" for i in range(max(codes) + 1)])


@pytest.mark.parametrize("include_intrazonal", [False, True])
def test_a_cell_is_in_the_element_that_has_its_labels(include_intrazonal: bool) -> None:
    cells = small_cells(5, include_intrazonal=include_intrazonal)
    feature = zones(cells)
    numbers = np.arange(cells.size, dtype=np.int64)
    zone = cells.locations.labels_in("zone")
    period, origin, destination = cells.decode(numbers)
    for element, t, o, d in zip(feature.of(numbers), period, origin, destination, strict=True):
        expected = (cells.periods.labels[t], f"{zone[o]} → {zone[d]}")
        assert feature.labels(int(element)) == expected


def test_every_element_has_cells() -> None:
    cells = small_cells(5)
    numbers = np.arange(cells.size, dtype=np.int64)
    for feature in (
        total_feature(cells),
        period_feature(cells),
        zones(cells),
        zones(cells, by_period=False),
    ):
        elements = feature.of(numbers)
        assert elements.dtype == np.int64
        assert sorted(set(elements.tolist())) == list(range(feature.size))


def test_features_say_what_an_element_stands_for() -> None:
    cells = small_cells(4)
    assert total_feature(cells).name == "all trips"
    assert total_feature(cells).labels(0) == ("", "")
    assert period_feature(cells).name == "trips by (period)"
    assert zones(cells).name == "trips by (period, zone pair)"
    assert zones(cells, by_period=False).name == "trips by (zone pair)"
    assert period_feature(cells).labels(1) == ("01:00-02:00", "")


def test_the_digest_sees_labels_names_and_universe_but_not_the_title() -> None:
    cells = small_cells(4)
    one = pair_feature(cells, "one", pair_labels(cells, 0, 1))
    others = [
        pair_feature(cells, "one", pair_labels(cells, 1, 0)),
        pair_feature(cells, "one", pair_labels(cells, 0, 1), by_period=False),
        pair_feature(small_cells(4, periods=2), "one", pair_labels(cells, 0, 1)),
        zones(cells),
        period_feature(cells),
        total_feature(cells),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 7
    assert pair_feature(cells, "two", pair_labels(cells, 0, 1)).digest == one.digest


def test_labels_of_another_universe_are_refused() -> None:
    cells, other = small_cells(4), small_cells(5, periods=4)
    with pytest.raises(GeographyError, match="'x' does not label"):
        pair_feature(cells, "x", pair_labels(other, 0, 1))
    with pytest.raises(GeographyError, match="'x' does not label"):
        Feature(title="x", universe=cells, pairs=None, periods=period_feature(other).periods)


def test_the_features_of_the_paper_are_not_idle() -> None:
    cells = small_cells(6)
    modes = pair_feature(cells, "modes", pair_labels(cells, 0, 1, 1, 2))
    features = (total_feature(cells), period_feature(cells), zones(cells), modes)
    refuse_idle(features)
    assert without_idle(features) == features


def test_a_feature_of_single_cells_is_idle() -> None:
    cells = small_cells(3)
    every = pair_feature(cells, "every", pair_labels(cells, 0, 1, 2, 3, 4, 5))
    with pytest.raises(GeographyError, match="'every' is a single cell"):
        refuse_idle([total_feature(cells), every])
    assert [f.title for f in without_idle([every, total_feature(cells)])] == ["total"]


def test_the_same_partition_under_other_names_is_idle() -> None:
    cells = small_cells(4)
    one = pair_feature(cells, "one", pair_labels(cells, 0, 1, 2))
    two = pair_feature(cells, "two", pair_labels(cells, 2, 0, 1))
    near = pair_feature(cells, "near", pair_labels(cells, 0, 1, 2, 0, 1, 1))
    with pytest.raises(GeographyError, match="'one' and 'two' put the same cells together"):
        refuse_idle([one, two])
    refuse_idle([one, near])
    assert [f.title for f in without_idle([one, near, two])] == ["one", "near"]


def test_one_label_for_all_pairs_is_idle_even_alone() -> None:
    cells = small_cells(4)
    for by_period in (False, True):
        alike = pair_feature(cells, "alike", pair_labels(cells, 0), by_period=by_period)
        with pytest.raises(GeographyError, match="'alike' gives all pairs of places the same"):
            refuse_idle([alike])
    kept = without_idle([total_feature(cells), period_feature(cells), alike])
    assert [f.title for f in kept] == ["total", "period"]


def test_periods_are_idle_beside_the_total_if_there_is_only_one() -> None:
    cells = small_cells(4, periods=1)
    with pytest.raises(GeographyError, match="'total' and 'period'"):
        refuse_idle([total_feature(cells), period_feature(cells)])
    assert len(without_idle([total_feature(cells), period_feature(cells)])) == 1


def test_a_single_cell_has_no_features() -> None:
    cells = small_cells(1, periods=1, include_intrazonal=True)
    with pytest.raises(GeographyError, match="single cell, so published totals"):
        refuse_idle([total_feature(cells)])
    assert without_idle([total_feature(cells)]) == ()
