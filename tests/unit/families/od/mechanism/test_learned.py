"""Tables that learn. Every draw has a seed, so nothing here is left to luck."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.errors import GeographyError, PrivacyError
from hushway.families.od.files.guard import check_margins, check_table
from hushway.families.od.fit.learned import distance_classes
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism import learned as learned_module
from hushway.families.od.mechanism.learned import Learned, od_learned
from hushway.families.od.mechanism.shares import learned_shares, worth_measuring
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    destinations_feature,
    origins_feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
    without_idle,
)
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event, LaplaceEvent
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import SeededSource
from support.long import often

ONE_TRIP = Bound(cells=1, each=1, total=1)
THREE_TRIPS = Bound.of_records(3)
EPSILON = PureLoss(Fraction(1))


class Town:
    """Given counts, and a budget without bottom."""

    unit = Unit.PERSON

    def __init__(self, counts: IntArray, bound: Bound) -> None:
        self.counts = counts
        self._bound = bound

    def bound(self, _query: Query) -> Bound:
        return self._bound

    def count(self, _query: Query) -> ExactCounts:
        cells = np.flatnonzero(self.counts)
        return ExactCounts(cells=cells, values=self.counts[cells])

    def charge(self, event: Event) -> None:
        assert event.cells > 0


def universe(where: Iterable[tuple[float, float]], periods: int) -> ODCells:
    """Places at some positions in units of a tenth of a degree, in zones by quarter."""
    places = tuple(
        Location(id=f"p{i}", name="", lon=x / 10, lat=y / 10, zone=f"{x >= 0.5} {y >= 0.5}")
        for i, (x, y) in enumerate(where)
    )
    day = date(2024, 1, 15)
    hours = Periods(
        zone="UTC", first_day=day, last_day=day, opens=0, closes=60 * periods, minutes=60
    )
    return ODCells(locations=Locations(places), periods=hours)


def all_features(cells: ODCells) -> tuple[Feature, ...]:
    """What a plan without features measures."""
    zones = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"))
    return without_idle(
        (
            total_feature(cells),
            period_feature(cells),
            origins_feature(cells),
            destinations_feature(cells),
            pair_feature(cells, "zones", zones),
        )
    )


def city(places: int = 16, periods: int = 6, trips: int = 6000) -> tuple[ODCells, IntArray]:
    """A made-up city: near places have more trips, and every pair and cell has its own way."""
    rng = np.random.default_rng(11)
    where = rng.random((places, 2))
    cells = universe(map(tuple, where.tolist()), periods)
    near = np.exp(-3 * np.hypot(*(where[:, None] - where).transpose(2, 0, 1)))
    between = (near * rng.gamma(1, 1, (places, places)))[~np.eye(places, dtype=bool)]
    rates = rng.gamma(3, 1, (periods, 1)) * between * rng.gamma(0.5, 2, (periods, cells.pairs))
    return cells, rng.poisson(trips * rates / rates.sum()).ravel()


def publish(
    cells: ODCells,
    counts: IntArray,
    *,
    budget: Loss = EPSILON,
    bound: Bound = ONE_TRIP,
    features: tuple[Feature, ...] | None = None,
    seed: int = 5,
    lazy: bool = False,
) -> ODTable:
    chosen = all_features(cells) if features is None else features
    shares = learned_shares(chosen, budget, bound)
    mechanism = od_learned(cells, chosen, budget=budget, shares=shares, lazy=lazy)
    town = Town(counts, bound)
    curator = Curator(counter=town, budget=town, source=SeededSource(seed))
    table = mechanism.fit(mechanism.measure(curator, cells), cells)
    check_table(table)
    check_margins(table)
    return table


def dense(table: ODTable) -> IntArray:
    counts = np.zeros(table.universe.size, dtype=np.int64)
    counts[table.cells] = table.counts
    return counts


def sums(feature: Feature, counts: IntArray) -> IntArray:
    found = np.zeros(feature.size, dtype=np.int64)
    np.add.at(found, feature.of(np.arange(len(counts))), counts)
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("budget", "bound"),
    [
        (EPSILON, ONE_TRIP),
        (EPSILON, THREE_TRIPS),
        (ZCDPLoss(Fraction(1, 8)), ONE_TRIP),
        (ZCDPLoss(Fraction(1, 8)), THREE_TRIPS),
        (PureLoss(Fraction(1, 10_000)), ONE_TRIP),
        (PureLoss(Fraction(60)), ONE_TRIP),
    ],
    ids=["Laplace", "Laplace, a person", "Gaussian", "Gaussian, a person", "blind", "plenty"],
)
def test_counts_are_whole_and_their_sums_stay_near_the_fitted_ones(
    budget: Loss, bound: Bound
) -> None:
    table = publish(*city(), budget=budget, bound=bound)
    assert table.counts.dtype == np.int64
    assert np.all(table.counts > 0)
    assert np.all(np.diff(table.cells) > 0)
    assert table.zeros_left_out
    for margin in table.margins:
        off = np.abs(sums(margin.feature, dense(table)) - margin.fitted)
        # Two chains of sums are rounded up or down; a third family may be off by a little more.
        assert off.max() < (1 if table.diagnostics["every_sum_rounded_up_or_down"] else 3)
        assert margin.errors is not None
        assert margin.errors.min() > 0


def test_the_same_seed_gives_the_same_table_to_the_last_bit() -> None:
    one, again, other = (publish(*city(), seed=seed) for seed in (1, 1, 2))
    assert one.cells.tobytes() == again.cells.tobytes() != other.cells.tobytes()
    assert one.counts.tobytes() == again.counts.tobytes()
    assert one.standard_errors.tobytes() == again.standard_errors.tobytes()
    assert one.diagnostics == again.diagnostics
    for left, right in zip(one.margins, again.margins, strict=True):
        assert left.errors is not None
        assert right.errors is not None
        assert left.errors.tobytes() == right.errors.tobytes()


def test_a_large_budget_gives_the_truth_back() -> None:
    cells, counts = city()
    table = publish(cells, counts, budget=PureLoss(Fraction(90)))
    np.testing.assert_array_equal(dense(table), counts)


@pytest.mark.parametrize("budget", [EPSILON, ZCDPLoss(Fraction(1, 8))], ids=["Laplace", "Gaussian"])
def test_where_most_cells_are_empty_learning_beats_noise_cut_off_at_zero(budget: Loss) -> None:
    # All of the budget for the cells of the one, and a part of it for those of the other.
    cells, counts = city(places=24, trips=600)
    found = dense(publish(cells, counts, budget=budget))
    town = Town(counts, ONE_TRIP)
    curator = Curator(counter=town, budget=town, source=SeededSource(5))
    noisy = curator.counts(Query(name=cells.name, cells=cells), budget).values
    error, plain = (np.sqrt(np.mean((e - counts) ** 2)) for e in (found, np.maximum(noisy, 0)))
    assert error < 0.85 * plain


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_two_standard_errors_hold_most_counts_and_sums(epsilon: Fraction) -> None:
    # With a normal law 95 of 100 would be held; errors of counts have longer tails.
    cells, counts = city()
    table = publish(cells, counts, budget=PureLoss(epsilon))
    off = np.abs(table.counts - counts[table.cells])
    assert np.mean(off <= 2 * table.standard_errors) > 0.9
    assert np.sqrt(np.mean((off / table.standard_errors) ** 2)) < 1.6
    for margin in table.margins:
        assert margin.errors is not None
        off = np.abs(sums(margin.feature, dense(table) - counts))
        # One sum by itself may be off by more than two of them now and then.
        assert np.mean(off <= (3 if len(off) == 1 else 2) * margin.errors) > 0.8
        # What is published lies between cells and measured sum, not always at the best place.
        assert np.mean(margin.errors) <= 1.3 * margin.standard_error + 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_random_effects_hold_sums_that_nobody_measured(epsilon: Fraction) -> None:
    cells, counts = city()
    odd = labels_of_codes("odd", np.arange(cells.pairs) % 5, [str(i) for i in range(5)])
    feature = pair_feature(cells, "odd", odd)
    held = []
    for seed in range(4):
        table = publish(cells, counts, budget=PureLoss(epsilon), seed=seed)
        assert table.effects is not None
        off = np.abs(sums(feature, dense(table) - counts))
        varies = table.effects.variances_of_rows(
            cells, table.cells, table.standard_errors, feature.of(table.cells), feature.size
        )
        held.append(np.mean(off <= 2 * np.sqrt(varies)))
    assert np.mean(held) > 0.9


@pytest.mark.parametrize("budget", [EPSILON, ZCDPLoss(Fraction(1, 8)), PureLoss(Fraction(90))])
def test_data_without_a_single_trip_are_published_like_any_other(budget: Loss) -> None:
    cells, counts = city()
    table = publish(cells, np.zeros_like(counts), budget=budget)
    assert table.counts.sum() < 100


@pytest.mark.parametrize(
    ("places", "periods", "titles"),
    [
        (5, 1, ["total", "origins", "destinations", "zones"]),
        (2, 3, ["total", "period"]),
        (2, 1, ["total"]),
    ],
)
def test_few_places_or_periods_leave_few_sums_and_are_published(
    places: int, periods: int, titles: list[str]
) -> None:
    cells = universe([(i / 5, (i * i % 5) / 5) for i in range(places)], periods)
    features = all_features(cells)
    assert [feature.title for feature in features] == titles
    counts = np.arange(cells.size) * 9
    found = dense(publish(cells, counts, budget=PureLoss(Fraction(60))))
    np.testing.assert_array_equal(found, counts)
    publish(cells, counts)


def test_places_that_lie_nowhere_in_particular_are_published() -> None:
    cells = universe([(0, 0)] * 6, 2)
    assert set(distance_classes(cells).tolist()) == {0}
    counts = np.arange(cells.size)
    assert dense(publish(cells, counts)).sum() > 0


def test_pairs_at_about_the_same_distance_share_a_class() -> None:
    cells = universe([(x, y) for x in range(7) for y in range(7)], 1)
    classes = distance_classes(cells)
    origin, destination = np.divmod(np.arange(49 * 49), 49)
    apart = origin != destination
    x, y = ((origin // 7 - destination // 7)[apart], (origin % 7 - destination % 7)[apart])
    far = np.hypot(x, y)
    assert classes.shape == (cells.pairs,)
    assert 8 <= len(np.unique(classes)) <= 17
    assert classes[far <= 1].max() < classes[far > 2].min()
    assert np.corrcoef(classes, far)[0, 1] > 0.9


def test_the_shorter_way_round_the_world_counts() -> None:
    cells = universe([(-1799, 0), (1799, 0), (1790, 0), (1700, 0)], 1)
    classes = distance_classes(cells)
    # From the first place: the second is just over the line, the last far away.
    assert classes[0] < classes[1] < classes[2]


def test_features_are_measured_in_the_order_given_after_the_cells() -> None:
    cells, _ = city()
    features = (origins_feature(cells), total_feature(cells))
    mechanism = od_learned(cells, features, budget=EPSILON)
    events = mechanism.events(cells, THREE_TRIPS)
    assert [event.cells for event in events] == [cells.size, features[0].size, 1]
    for event in events:
        assert isinstance(event, LaplaceEvent)
        assert event.scale == 3 * 3
        assert event.bound.l1 == 3
    assert sum(loss.amount for loss in mechanism.losses) == 1


@pytest.mark.parametrize(
    ("epsilon", "bound"),
    [(Fraction(3, 10), ONE_TRIP), (Fraction(1), THREE_TRIPS), (Fraction(4), ONE_TRIP)],
)
def test_measured_sums_are_met_within_their_noise(epsilon: Fraction, bound: Bound) -> None:
    cells, counts = city()
    met: list[float] = []
    for seed in range(3):
        table = publish(cells, counts, budget=PureLoss(epsilon), bound=bound, seed=seed)
        for margin in table.margins:
            off = np.abs(sums(margin.feature, dense(table)) - margin.measured)
            # Laplace noise itself passes 3.26 deviations one time in a hundred.
            met.extend(off <= 3.26 * margin.standard_error + 1)
    assert np.mean(met) > 0.985


@pytest.mark.parametrize("titles", [["origins"], ["zones", "total"], ["destinations", "period"]])
def test_any_features_will_do(titles: list[str]) -> None:
    cells, counts = city()
    known = {feature.title: feature for feature in all_features(cells)}
    features = tuple(known[title] for title in titles)
    table = publish(cells, counts, features=features)
    assert [margin.feature.title for margin in table.margins] == titles
    assert abs(int(dense(table).sum()) - int(counts.sum())) < 1000


def test_the_larger_the_budget_the_more_of_it_goes_to_the_cells() -> None:
    features = all_features(city()[0])
    found = [
        learned_shares(features, PureLoss(Fraction(epsilon)), ONE_TRIP)
        for epsilon in ("1/100", "1/10", "1", "10", "100")
    ]
    assert all(sum(shares) == 1 for shares in found)
    cells = [float(shares[-1]) for shares in found]
    assert cells == sorted(cells)
    assert cells[0] == pytest.approx(0.69, abs=0.01)
    assert cells[-1] == pytest.approx(0.98, abs=0.01)
    # A person with three trips has a third of the budget for each.
    thirds = learned_shares(features, PureLoss(Fraction(3)), THREE_TRIPS)
    assert float(thirds[-1]) == pytest.approx(cells[2], abs=0.01)


def test_beside_ends_of_trips_other_sums_than_the_total_get_less() -> None:
    features = all_features(city()[0])
    others = tuple(f for f in features if f.title not in ("origins", "destinations"))
    with_ends = dict(zip(features, learned_shares(features, EPSILON, ONE_TRIP), strict=False))
    without = learned_shares(others, EPSILON, ONE_TRIP)
    assert float(without[-1]) == pytest.approx(1 - 0.2 * 0.64, abs=0.005)
    for feature, share in zip(others, without[:-1], strict=True):
        less = 1.0 if feature.title == "total" else 0.4
        assert float(with_ends[feature]) == pytest.approx(less * float(share), abs=0.001)


@pytest.mark.parametrize(
    ("places", "budget", "kept"),
    [
        (16, EPSILON, False),
        (400, EPSILON, True),
        (400, PureLoss(Fraction(8)), False),
        (200, EPSILON, True),
        (130, EPSILON, False),
        (130, PureLoss(Fraction(1, 20)), False),
        (400, ZCDPLoss(Fraction(1, 200)), True),
        (16, ZCDPLoss(Fraction(8)), False),
    ],
)
def test_ends_are_measured_where_adding_up_cells_is_worse(
    places: int, budget: Loss, kept: bool
) -> None:
    cells = universe(((i / places, 0.0) for i in range(places)), 2)
    found = worth_measuring(all_features(cells), budget, ONE_TRIP)
    titles = [feature.title for feature in found]
    assert ("origins" in titles) == kept
    assert ("destinations" in titles) == kept
    assert {"total", "period"} <= set(titles)


def test_features_that_tell_nothing_are_refused() -> None:
    cells, _ = city()
    with pytest.raises(GeographyError, match="same cells together"):
        od_learned(cells, [total_feature(cells)] * 2, budget=EPSILON)
    with pytest.raises(PrivacyError, match="without sums"):
        od_learned(cells, [], budget=EPSILON)


def test_a_table_that_is_too_large_is_learnt_lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    cells, _ = city()
    monkeypatch.setattr(learned_module, "MOST_LEARNED", cells.size)
    assert not od_learned(cells, all_features(cells), budget=EPSILON).lazy
    monkeypatch.setattr(learned_module, "MOST_LEARNED", cells.size - 1)
    assert od_learned(cells, all_features(cells), budget=EPSILON).lazy
    with pytest.raises(PrivacyError, match="too large to look at every one") as refusal:
        od_learned(cells, all_features(cells), budget=EPSILON, lazy=False)
    assert "lazy" in refusal.value.advice


def test_its_parameters_name_what_it_measures() -> None:
    cells, _ = city()
    mechanism = od_learned(cells, all_features(cells), budget=EPSILON)
    assert isinstance(mechanism, Learned)
    assert mechanism.name == "learned"
    titles = [entry["title"] for entry in mechanism.parameters["published_totals"]]
    assert titles == ["total", "period", "origins", "destinations", "zones"]
    assert mechanism.parameters["noise"] == "discrete Laplace"


def refuse(_event: Event) -> None:
    raise AssertionError("paid")


def _error(table: ODTable, counts: IntArray) -> float:
    published = np.zeros(len(counts))
    published[table.cells] = table.counts
    return float(np.abs(published - counts).sum() / counts.sum())


@pytest.mark.long
@pytest.mark.parametrize("epsilon", often(["1/4", "1", "4"]))
def test_looking_only_at_what_stands_out_costs_little(epsilon: str) -> None:
    cells, counts = city()
    budget = PureLoss(Fraction(epsilon))
    runs = range(4)
    lazily = [
        _error(publish(cells, counts, budget=budget, seed=s, lazy=True), counts) for s in runs
    ]
    densely = [_error(publish(cells, counts, budget=budget, seed=s), counts) for s in runs]
    assert np.mean(lazily) < 1.25 * np.mean(densely)


def test_a_lazy_table_keeps_the_sums_it_measured_well() -> None:
    cells, counts = city(trips=20_000)
    table = publish(cells, counts, budget=PureLoss(Fraction(4)), lazy=True)
    for margin in table.margins:
        truth = np.bincount(margin.feature.of(np.arange(cells.size)), weights=counts)
        own = np.bincount(
            margin.feature.of(table.cells), weights=table.counts, minlength=margin.feature.size
        )
        assert margin.errors is not None
        held = np.abs(own - truth) <= 3 * margin.errors
        assert held.mean() > 0.9, margin.feature.title


def test_a_lazy_table_without_any_trips_is_all_but_empty() -> None:
    cells, counts = city()
    table = publish(cells, 0 * counts, budget=PureLoss(Fraction(4)), lazy=True)
    assert table.counts.sum() < 60


def test_the_lazy_form_takes_gaussian_noise_and_persons() -> None:
    cells, counts = city()
    table = publish(cells, counts, budget=ZCDPLoss(Fraction(1, 2)), bound=THREE_TRIPS, lazy=True)
    assert table.counts.sum() == pytest.approx(counts.sum(), rel=0.1)


def test_labels_of_single_pairs_cannot_be_learnt_lazily() -> None:
    cells, _ = city()
    kinds = labels_of_codes("kind", np.arange(cells.pairs, dtype=np.int32) % 3, ["a", "b", "c"])
    features = (*all_features(cells), pair_feature(cells, "kinds", kinds))
    od_learned(cells, features, budget=EPSILON, lazy=False)
    with pytest.raises(PrivacyError, match="one by one"):
        od_learned(cells, features, budget=EPSILON, lazy=True)


def test_a_lazy_table_that_cannot_be_learnt_is_refused_before_anything_is_paid() -> None:
    cells, counts = city()
    kinds = labels_of_codes("kind", np.arange(cells.pairs, dtype=np.int32) % 3, ["a", "b", "c"])
    features = (pair_feature(cells, "kinds", kinds),)
    mechanism = replace(od_learned(cells, features, budget=EPSILON), lazy=True)
    town = Town(counts, ONE_TRIP)
    town.charge = refuse  # type: ignore[assignment, method-assign]
    curator = Curator(counter=town, budget=town, source=SeededSource(1))
    with pytest.raises(PrivacyError, match="one by one"):
        mechanism.measure(curator, cells)
