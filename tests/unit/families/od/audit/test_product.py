from fractions import Fraction

import numpy as np
import pytest

from hushway.audit.product import BlindBudget
from hushway.errors import BudgetError, PrivacyError
from hushway.families.od.audit.dense import Repeated
from hushway.families.od.audit.product import (
    NOBODY,
    REAL,
    Part,
    Product,
    Stage,
    Terms,
    equal_shares,
    toy_universe,
)
from hushway.families.od.audit.suite import SharedNoise, no_split
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

ONE = PureLoss(Fraction(1))
TOY = toy_universe(places=3, periods=1)
QUERY = Query(name="trips", cells=TOY.cells)


def stage(product: Product = REAL) -> Stage[PureLoss]:
    return Stage(product=product, toy=TOY, spend=ONE, max_trips=2)


def opened(product: Product = REAL) -> Curator:
    place = stage(product)
    return product.open(place.toy.play(NOBODY), place.terms, ONE)


def test_the_audited_parts_are_those_of_a_release() -> None:
    assert type(opened()) is Curator
    assert REAL.source() is os_source()


def test_the_real_counter_enforces_the_cap_that_it_states() -> None:
    trips = TOY.play((Part(times=50),))
    counter = REAL.counter(trips, stage().terms, os_source())
    assert counter.bound(QUERY).l1 == 2
    assert counter.count(QUERY).values.tolist() == [2] * 6


def test_where_a_trip_is_protected_no_trip_is_dropped() -> None:
    terms = Terms(cells=TOY.cells, unit=Unit.TRIP, max_trips=1)
    counter = REAL.counter(TOY.play((Part(times=5),)), terms, os_source())
    assert counter.bound(QUERY) == Bound(cells=1, each=1, total=1)
    assert counter.count(QUERY).values.tolist() == [5] * 6


def test_shares_of_a_split_add_up_to_the_spend() -> None:
    assert sum(share.epsilon for share in equal_shares(ONE, 3)) == 1


def test_the_real_budget_stops_a_missing_split_by_itself() -> None:
    place = stage(Product(split=no_split))
    curator = opened(place.product)
    with pytest.raises(BudgetError):
        Repeated(place).smaller(curator)
    assert len(curator.events) == 1


def test_a_blind_budget_lets_a_missing_split_pass() -> None:
    place = stage(Product(split=no_split, budget=lambda _terms, _spend: BlindBudget()))
    assert len(Repeated(place).smaller(opened(place.product))) == TOY.corners


def test_a_sampler_returns_as_many_runs_as_asked_for() -> None:
    place = stage()
    sample = place.sampler(NOBODY, Repeated(place).difference)
    assert len(sample(20)) == 20
    assert sample(20).dtype == np.int64


def test_the_repeating_source_repeats_itself() -> None:
    source = SharedNoise()
    first = source.words(4)
    assert source.words(6)[:4].tolist() == first.tolist()


def test_rows_are_bounded_once_a_release_however_often_they_are_counted() -> None:
    trips = TOY.play((Part(times=50, period=0), Part(times=50, person=1)))
    counter = REAL.counter(trips, stage().terms, os_source())
    assert counter.count(QUERY) is counter.count(QUERY)


def test_a_counter_that_has_counted_still_refuses_other_cells() -> None:
    counter = REAL.counter(TOY.play(NOBODY), stage().terms, os_source())
    counter.count(QUERY)
    with pytest.raises(PrivacyError):
        counter.count(Query(name="trips", cells=toy_universe(places=4, periods=1).cells))


def test_the_budget_of_gaussian_noise_is_filled_with_a_rho() -> None:
    rho = ZCDPLoss(Fraction(1, 2))
    curator = REAL.open(TOY.play(NOBODY), stage().terms, rho)
    assert curator.counts(QUERY, rho).event.loss == rho
    with pytest.raises(BudgetError):
        curator.counts(QUERY, rho)
