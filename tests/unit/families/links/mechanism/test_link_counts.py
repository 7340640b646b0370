"""What links ask, what they spend, and what they refuse."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.errors import PlanError, PrivacyError
from hushway.families.links.mechanism.counts import (
    LinkCounts,
    Spends,
    link_counts,
    smaller_noise,
    spends_of,
)
from hushway.families.links.public.universe import (
    ClassZones,
    LeftOutCells,
    LeftOutClasses,
    MovementCells,
    MovementLimits,
    SpeedSums,
)
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from support.announced import is_as_announced

LIMITS = MovementLimits(max_items=60)
RHO, EPSILON = ZCDPLoss(Fraction(1, 7)), PureLoss(Fraction(2, 3))
ANY = Bound(cells=1, each=1, total=1)
NOTHING = Fraction(0)

WAYS: dict[str, LinkCounts] = {
    "default": link_counts(LIMITS, budget=RHO),
    "laplace": link_counts(LIMITS, budget=EPSILON),
    "no classes": link_counts(LIMITS, budget=RHO, classes=NOTHING),
    "speeds": link_counts(LIMITS, budget=RHO, speeds=Fraction(1, 4)),
    "speeds alone": link_counts(LIMITS, budget=EPSILON, classes=NOTHING, speeds=Fraction(1, 3)),
    "plain": link_counts(
        LIMITS, budget=RHO, left_out=NOTHING, shrink_to_class=False, conserve=False
    ),
    "every link": link_counts(LIMITS, budget=RHO, publish_above_se=0.0),
}


@pytest.fixture(params=WAYS.values(), ids=WAYS.keys())
def way(request: pytest.FixtureRequest) -> LinkCounts:
    found: LinkCounts = request.param
    return found


def test_all_questions_together_cost_exactly_the_budget(way: LinkCounts) -> None:
    budget: Loss = RHO if isinstance(way.losses[0], ZCDPLoss) else EPSILON
    assert total(way.losses) == budget


def test_it_pays_what_it_said_and_asks_what_it_announced(way: LinkCounts, town: Any) -> None:
    _, budget, curator = town.measure(way)
    assert tuple(event.loss for event in curator.events) == way.losses
    assert tuple(budget.charged) == curator.events
    assert is_as_announced(way.events(town.universe, ANY), curator.events, adaptive=False)


def test_every_link_and_node_gets_noise(way: LinkCounts, town: Any) -> None:
    answers, _, _ = town.measure(way)
    assert len(answers[0].values) == town.universe.items
    used = np.zeros(town.universe.items, dtype=np.bool_)
    used[town.item] = True
    # Sigma is above 10, so far more than half of the unused cells are not 0.
    assert np.count_nonzero(answers[0].values[~used]) > 0.5 * np.count_nonzero(~used) > 0


def test_the_bounds_are_those_of_items_sums_and_steps(town: Any) -> None:
    way = link_counts(MovementLimits(max_items=9, speed_steps=4), budget=RHO, speeds=Fraction(1, 3))
    bounds = [event.bound for event in way.events(town.universe, ANY)]
    assert [(bound.l1, bound.l2_squared) for bound in bounds] == [
        (9, 9),
        (9, 81),
        (9, 9),
        (9, 81),
        (36, 144),
    ]


def test_parameters_name_the_spends_and_the_options(way: LinkCounts) -> None:
    parameters = way.parameters
    assert parameters["noise"] == way.spends.links.measure.noise
    assert parameters["max_items"] == 60
    assert parameters["spends"]["links"] == str(way.spends.links.amount)
    assert (parameters["spends"]["speeds"] is None) == (way.spends.speeds is None)
    assert (parameters["shrink_to_class"], parameters["conserve"]) == (
        way.shrink_to_class,
        way.conserve,
    )


def test_post_processing_is_told_as_it_is_done() -> None:
    words = " ".join(WAYS["default"].post_processing)
    assert "mean of its class and zone" in words
    assert "made to leave" in words
    assert "leaves out is put back" in words
    assert "noise alone" in words
    bare = " ".join(WAYS["plain"].post_processing)
    assert "mean of its class and zone" not in bare
    assert "made to leave" not in bare
    assert "put back" not in bare
    assert "noise alone" not in " ".join(WAYS["every link"].post_processing)


def test_the_forecast_is_the_noise_of_every_question_but_speeds(way: LinkCounts, town: Any) -> None:
    answers, _, _ = town.measure(way)
    noise = [one for one in answers if not isinstance(one.query.cells, SpeedSums)]
    figures = way.forecast(town.universe, ANY)
    assert [figure.standard_error**2 for figure in figures] == pytest.approx(
        [float(one.variance) for one in noise]
    )
    assert ("travellers of a class and zone" in [figure.figure for figure in figures]) == (
        way.spends.classes is not None
    )


def test_what_is_left_out_is_counted_where_it_is_paid_for() -> None:
    with pytest.raises(PrivacyError, match="not counted"):
        replace(WAYS["default"], limits=replace(LIMITS, left_out=False))
    with pytest.raises(PrivacyError, match="or not at all"):
        Spends(links=RHO, left_out=RHO)


@pytest.mark.parametrize("publish_above_se", [-1.0, float("nan"), float("inf")])
def test_a_threshold_must_be_a_number_of_standard_errors(publish_above_se: float) -> None:
    with pytest.raises(PrivacyError, match="standard errors"):
        link_counts(LIMITS, budget=RHO, publish_above_se=publish_above_se)


@pytest.mark.parametrize(
    ("classes", "speeds", "left_out"),
    [
        (Fraction(1), NOTHING, NOTHING),
        (Fraction(1, 2), Fraction(1, 2), NOTHING),
        (Fraction(-1, 10), NOTHING, NOTHING),
        (Fraction(1, 2), NOTHING, Fraction(1, 2)),
        (NOTHING, NOTHING, Fraction(-1, 10)),
    ],
)
def test_shares_that_leave_nothing_for_the_links_are_refused(
    classes: Fraction, speeds: Fraction, left_out: Fraction
) -> None:
    with pytest.raises(PlanError, match="leave something for the links"):
        spends_of(RHO, classes=classes, speeds=speeds, left_out=left_out)


def test_the_smaller_noise_is_chosen() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 10**6)
    assert smaller_noise(epsilon, None, LIMITS) == PureLoss(epsilon)
    assert smaller_noise(epsilon, delta, LIMITS) == ZCDPLoss(rho_for(epsilon, delta))
    # One item: Laplace noise has a deviation of 1.4, Gaussian noise one of 4.5.
    assert smaller_noise(epsilon, delta, MovementLimits(max_items=1)) == PureLoss(epsilon)


def test_a_fit_needs_the_counts_of_links(town: Any) -> None:
    way = WAYS["speeds"]
    answers, _, _ = town.measure(way)
    assert {type(answer.query.cells) for answer in answers} == {
        MovementCells,
        ClassZones,
        LeftOutCells,
        LeftOutClasses,
        SpeedSums,
    }
    with pytest.raises(PrivacyError, match="without their counts"):
        way.fit(answers[1:], town.universe)
