"""What a density asks, what it spends, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.errors import HushwayError, PlanError, PrivacyError
from hushway.families.density.fit.totals import answers_of
from hushway.families.density.mechanism.recommended import Shares, Spends, spends_of
from hushway.families.density.mechanism.series import DensitySeries, density_series, naive_laplace
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitLimits,
)
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from support.announced import is_as_announced

LIMITS = VisitLimits(max_visits=30, max_visits_in_total=200)
RHO, EPSILON = ZCDPLoss(Fraction(1, 7)), PureLoss(Fraction(2, 3))
ANY = Bound(cells=1, each=1, total=1)

WAYS: dict[str, DensitySeries] = {
    "default": density_series(LIMITS, budget=RHO),
    "sure": density_series(LIMITS, budget=RHO, denoise="sure"),
    "cuts": density_series(LIMITS, budget=RHO, denoise="cuts"),
    "none": density_series(LIMITS, budget=RHO, denoise="none"),
    "no clustering": density_series(LIMITS, budget=RHO, clustering=False),
    "no scaling": density_series(LIMITS, budget=RHO, scaling=False),
    "neither": density_series(LIMITS, budget=RHO, scaling=False, clustering=False),
    "night": density_series(LIMITS, budget=RHO, night=True),
    "laplace": density_series(LIMITS, budget=EPSILON),
    "naive": naive_laplace(LIMITS, budget=EPSILON),
}


@pytest.fixture(params=WAYS.values(), ids=WAYS.keys())
def way(request: pytest.FixtureRequest) -> DensitySeries:
    found: DensitySeries = request.param
    return found


def test_all_questions_together_cost_exactly_the_budget(way: DensitySeries) -> None:
    budget: Loss = RHO if isinstance(way.losses[0], ZCDPLoss) else EPSILON
    assert total(way.losses) == budget


def test_it_pays_what_it_said_and_asks_what_it_announced(
    way: DensitySeries, towers_town: Any
) -> None:
    _, budget, curator = towers_town.measure(way)
    assert tuple(event.loss for event in curator.events) == way.losses
    assert tuple(budget.charged) == curator.events
    planned = way.events(towers_town.universe, ANY)
    assert len(planned) == len(curator.events)
    assert is_as_announced(planned, curator.events, adaptive=True)


def test_clusters_can_only_shrink_what_was_announced(towers_town: Any) -> None:
    way = replace(WAYS["default"], cluster_error=0.0005)
    _, _, curator = towers_town.measure(way)
    planned = way.events(towers_town.universe, ANY)
    assert curator.events[-1].cells < planned[-1].cells
    assert [event.cells for event in curator.events[:-1]] == [e.cells for e in planned[:-1]]


def test_a_smaller_allowed_error_never_makes_more_clusters(little_paris: Any) -> None:
    numbers = [
        little_paris.release(
            density_series(LIMITS, budget=RHO, denoise="none", cluster_error=error)
        ).diagnostics["clusters"]
        for error in (0.002, 0.01, 0.05, 0.2, 0.9)
    ]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1] == len(little_paris.universe.cover)


def test_without_clustering_every_cell_is_its_own(towers_town: Any) -> None:
    table = towers_town.release(WAYS["no clustering"])
    assert table.cluster.tolist() == list(range(len(towers_town.universe.cover)))


def test_which_questions_are_asked_follows_from_the_options(towers_town: Any) -> None:
    def asked(name: str) -> list[type]:
        measured, _, _ = towers_town.measure(WAYS[name])
        return [type(one.query.cells) for one in measured]

    assert SiteHistogram in asked("default")
    assert asked("no scaling") == [ClusterTotals, ClusterSeries]
    assert asked("neither") == [ClusterSeries]
    assert asked("naive") == [ClusterSeries]


def test_the_noise_of_a_series_does_not_depend_on_the_clusters(towers_town: Any) -> None:
    variances = set()
    for error in (0.0005, 0.9):
        way = replace(WAYS["default"], cluster_error=error)
        measured, _, _ = towers_town.measure(way)
        variances.add(measured[-1].variance)
    assert len(variances) == 1


def test_its_forecast_is_the_noise_that_it_draws(towers_town: Any) -> None:
    way = WAYS["default"]
    measured, _, _ = towers_town.measure(way)
    series, _, histogram, activity, visits, left = way.forecast(towers_town.universe, ANY)
    assert series.standard_error == pytest.approx(float(measured[-1].variance) ** 0.5 / way.quanta)
    people = float(measured[1].variance) ** 0.5 / PERSON_PARTS
    assert histogram.standard_error == pytest.approx(people)
    asked = zip((activity, visits, left), (measured[0], measured[2], measured[3]), strict=True)
    for one, answer in asked:
        assert one.standard_error == pytest.approx(float(answer.variance) ** 0.5)


def test_words_for_the_certificate_follow_the_options() -> None:
    words = {name: " ".join(way.post_processing) for name, way in WAYS.items()}
    assert "merged" in words["default"]
    assert "merged" not in words["no clustering"]
    assert "scaled" not in words["no scaling"]
    assert "exponential curves" in words["night"]
    assert len({words[name] for name in ("default", "sure", "cuts", "none")}) == 4


@pytest.mark.parametrize(
    "make",
    [
        lambda: DensitySeries(limits=LIMITS, spends=Spends(series=RHO), denoise="magic"),
        lambda: DensitySeries(limits=LIMITS, spends=Spends(series=RHO), cluster_error=0.0),
        lambda: DensitySeries(limits=LIMITS, spends=Spends(series=RHO), cluster_error=1.0),
        lambda: DensitySeries(limits=LIMITS, spends=Spends(series=RHO), cluster_error=np.nan),
        lambda: DensitySeries(limits=LIMITS, spends=Spends(series=RHO), denoise="cuts"),
        lambda: DensitySeries(limits=LIMITS, spends=Spends(series=RHO, cuts=RHO)),
        lambda: Spends(series=RHO, histogram=RHO),
        lambda: Spends(series=RHO, total=RHO),
        lambda: spends_of(EPSILON, Shares(cuts=Fraction(1, 5))),
        lambda: density_series(LIMITS, budget=EPSILON, denoise="cuts"),
    ],
    ids=["way", "0", "1", "nan", "no cuts", "cuts", "histogram", "total", "pure", "pure cuts"],
)
def test_what_makes_no_sense_is_refused_with_advice(make: Callable[[], object]) -> None:
    with pytest.raises((PrivacyError, PlanError)) as caught:
        make()
    assert isinstance(caught.value, HushwayError)
    assert caught.value.advice


def test_a_density_cannot_be_fitted_without_a_series(towers_town: Any) -> None:
    measured, _, _ = towers_town.measure(WAYS["default"])
    with pytest.raises(PrivacyError, match="without a series"):
        answers_of(measured[:-1])


def test_cuts_cannot_be_fitted_from_measurements_without_cuts(towers_town: Any) -> None:
    measured, _, _ = towers_town.measure(WAYS["sure"])
    with pytest.raises(PrivacyError, match="No cuts"):
        WAYS["cuts"].fit(measured, towers_town.universe)
