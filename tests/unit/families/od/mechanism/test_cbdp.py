from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.errors import GeographyError, PrivacyError
from hushway.families.od.fit.reconciliation import reconcile as joining
from hushway.families.od.fit.table import ODTable
from hushway.families.od.fit.weights import Weights
from hushway.families.od.mechanism import cbdp
from hushway.families.od.mechanism.cbdp import CBDP, od_cbdp
from hushway.families.od.mechanism.hierarchical import Hierarchical, od_hierarchical
from hushway.families.od.mechanism.shares import spends_of, uniform_shares
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    destinations_feature,
    origins_feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import labels_of_codes
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event, LaplaceEvent
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import SeededSource

BOUND = Bound(cells=2, each=2, total=2)
EPSILON = PureLoss(Fraction(1))


class Town:
    """A few busy cells, and a budget without bottom."""

    unit = Unit.PERSON

    def bound(self, query: Query) -> Bound:
        assert query.cells.size > 0
        return BOUND

    def count(self, query: Query) -> ExactCounts:
        assert query.cells.size > 50
        cells = np.array([3, 14, 33, 50], dtype=np.int64)
        return ExactCounts(cells=cells, values=np.array([40, 7, 25, 1], dtype=np.int64))

    def charge(self, event: Event) -> None:
        assert event.cells > 0


def publish(mechanism: CBDP | Hierarchical, cells: ODCells, seed: int = 5) -> ODTable:
    curator = Curator(counter=Town(), budget=Town(), source=SeededSource(seed))
    return mechanism.fit(mechanism.measure(curator, cells), cells)


def sums(table: ODTable, feature: Feature) -> IntArray:
    found = np.zeros(feature.size, dtype=np.int64)
    np.add.at(found, feature.of(table.cells), table.counts)
    return found


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("weights", list(Weights))
def test_every_sum_is_the_floor_or_the_ceiling_of_its_fitted_value(
    weights: Weights, lazy: bool, cells: ODCells, features: tuple[Feature, ...]
) -> None:
    table = publish(od_cbdp(cells, features, budget=EPSILON, weights=weights, lazy=lazy), cells)
    assert table.diagnostics["every_sum_rounded_up_or_down"] is True
    for margin in table.margins:
        published = sums(table, margin.feature)
        assert np.all(np.abs(published - margin.fitted) < 1)
        assert np.all(published >= 0)


def test_the_fit_is_certified_at_every_run(cells: ODCells, features: tuple[Feature, ...]) -> None:
    table = publish(od_cbdp(cells, features, budget=EPSILON), cells)
    assert 0 <= table.diagnostics["relative_to_total"] <= 1e-9
    assert table.diagnostics["distance_to_optimum_at_most"] >= 0


def test_a_cell_without_a_row_is_zero_and_rows_are_not(
    cells: ODCells, features: tuple[Feature, ...]
) -> None:
    table = publish(od_cbdp(cells, features, budget=EPSILON), cells)
    assert table.zeros_left_out
    assert np.all(table.counts > 0)
    assert np.all(np.diff(table.cells) > 0)


def test_with_a_large_budget_the_truth_comes_back(
    cells: ODCells, features: tuple[Feature, ...]
) -> None:
    generous = PureLoss(Fraction(400))
    table = publish(od_cbdp(cells, features, budget=generous), cells)
    assert dict(zip(table.cells.tolist(), table.counts.tolist(), strict=True)) == {
        3: 40,
        14: 7,
        33: 25,
        50: 1,
    }


def test_features_may_cross_and_need_no_total(cells: ODCells) -> None:
    origin = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"), side="origin")
    odd = labels_of_codes("odd", np.arange(cells.pairs) % 2, ["even", "odd"])
    crossing = (
        pair_feature(cells, "origins", origin),
        pair_feature(cells, "odd", odd, by_period=False),
    )
    table = publish(od_cbdp(cells, crossing, budget=EPSILON), cells)
    for margin in table.margins:
        assert np.all(np.abs(sums(table, margin.feature) - margin.fitted) < 1)


def test_plain_rounding_is_only_an_option(cells: ODCells, features: tuple[Feature, ...]) -> None:
    plain = od_cbdp(cells, features, budget=EPSILON, controlled=False)
    table = publish(plain, cells)
    assert "every_sum_rounded_up_or_down" not in table.diagnostics
    assert plain.parameters["rounding"] == "plain"


def test_each_feature_is_charged_with_noise_for_all_trips_of_a_person(
    cells: ODCells, features: tuple[Feature, ...]
) -> None:
    mechanism = od_cbdp(cells, features, budget=EPSILON)
    events = mechanism.events(cells, BOUND)
    assert [event.cells for event in events] == [cells.size] + [f.size for f in features]
    for event in events:
        assert isinstance(event, LaplaceEvent)
        assert event.scale == 2 * 5
        assert event.bound.l1 == 2


def test_gaussian_noise_is_paid_in_rho(cells: ODCells, features: tuple[Feature, ...]) -> None:
    mechanism = od_cbdp(cells, features, budget=ZCDPLoss(Fraction(1, 20)))
    assert mechanism.parameters["noise"] == "discrete Gaussian"
    assert sum(loss.amount for loss in mechanism.losses) == Fraction(1, 20)
    assert publish(mechanism, cells).margins


@pytest.mark.parametrize("titles", [("total", "total"), ("period", "period")])
def test_the_same_partition_twice_is_refused(
    titles: Sequence[str], cells: ODCells, features: tuple[Feature, ...]
) -> None:
    known = {feature.title: feature for feature in features}
    with pytest.raises(GeographyError):
        od_cbdp(cells, [known[title] for title in titles], budget=EPSILON)


def test_spends_in_two_currencies_are_refused(
    cells: ODCells, features: tuple[Feature, ...]
) -> None:
    spends = (*spends_of(EPSILON, uniform_shares(features))[:-1], ZCDPLoss(Fraction(1)))
    with pytest.raises(PrivacyError, match="one currency"):
        CBDP(universe=cells, features=features, spends=spends)


def test_a_hierarchy_publishes_whole_leaves_that_are_not_negative(
    cells: ODCells, features: tuple[Feature, ...]
) -> None:
    mechanism = od_hierarchical(cells, features, budget=EPSILON)
    assert sum(loss.amount for loss in mechanism.losses) == 1
    table = publish(mechanism, cells)
    assert np.all(table.counts > 0)
    assert [margin.feature.title for margin in table.margins] == [
        "total",
        "period",
        "zones",
        "modes",
    ]


def test_a_hierarchy_with_a_large_budget_gives_the_truth_back(
    cells: ODCells, features: tuple[Feature, ...]
) -> None:
    table = publish(od_hierarchical(cells, features, budget=PureLoss(Fraction(400))), cells)
    assert table.cells.tolist() == [3, 14, 33, 50]
    assert table.counts.tolist() == [40, 7, 25, 1]


def ends(cells: ODCells) -> tuple[Feature, ...]:
    return (
        total_feature(cells),
        period_feature(cells),
        origins_feature(cells),
        destinations_feature(cells),
    )


@pytest.mark.parametrize("weights", list(Weights))
def test_features_that_cross_finely_are_joined_to_the_same_table(
    weights: Weights, cells: ODCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    projected = publish(od_cbdp(cells, ends(cells), budget=EPSILON, weights=weights), cells)
    monkeypatch.setattr(cbdp, "_LARGE", 0)
    joined = publish(od_cbdp(cells, ends(cells), budget=EPSILON, weights=weights), cells)
    assert "rounds" in projected.diagnostics
    assert "rounds" not in joined.diagnostics
    assert 0 <= joined.diagnostics["relative_to_total"] <= 1e-9
    for one, other in zip(projected.margins, joined.margins, strict=True):
        np.testing.assert_allclose(one.fitted, other.fitted, rtol=0, atol=1e-5)
        assert np.all(np.abs(sums(joined, other.feature) - other.fitted) < 1)


def test_where_joining_does_not_reach_the_tolerance_the_projection_does(
    cells: ODCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    projected = publish(od_cbdp(cells, ends(cells), budget=EPSILON), cells)
    monkeypatch.setattr(cbdp, "_LARGE", 0)
    monkeypatch.setattr(joining, "_MOST_STEPS", 1)
    found = publish(od_cbdp(cells, ends(cells), budget=EPSILON), cells)
    assert np.array_equal(found.counts, projected.counts)
    assert found.diagnostics == projected.diagnostics


def test_only_dense_tables_whose_features_cross_finely_are_joined(
    cells: ODCells, features: tuple[Feature, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cbdp, "_LARGE", 0)
    assert od_cbdp(cells, ends(cells), budget=EPSILON).crosses
    assert not od_cbdp(cells, ends(cells)[:3], budget=EPSILON).crosses
    lazy = publish(od_cbdp(cells, ends(cells), budget=EPSILON, lazy=True), cells)
    assert "rounds" in lazy.diagnostics
    monkeypatch.setattr(cbdp, "_SMALL", 1)
    assert not od_cbdp(cells, features, budget=EPSILON).crosses
    monkeypatch.undo()
    assert not od_cbdp(cells, ends(cells), budget=EPSILON).crosses
