from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.auditing.product import blind
from hushway.errors import BudgetError, PrivacyError
from hushway.families.od.audit.laplace import (
    SharedNoise,
    difference_of_two,
    no_split,
    smaller_of_two,
)
from hushway.families.od.audit.stage import ODProduct, ODStage, Part, equal_shares, toy_universe
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import os_source

ONE = PureLoss(Fraction(1))
TOY = toy_universe(places=3, periods=1)
QUERY = Query(name="trips", cells=TOY.cells)


def stage(**parts: Any) -> ODStage:
    return ODStage(product=ODProduct(**parts), toy=TOY, spend=ONE, max_trips=2)


def counter(*scene: Part) -> Counter:
    return stage().count(stage().play(scene), os_source())


def test_the_audited_parts_are_those_of_a_release() -> None:
    assert type(stage().opened(())) is Curator
    assert ODProduct().source() is os_source()


def test_the_real_counter_enforces_the_cap_that_it_states() -> None:
    real = counter(Part(times=50))
    assert real.bound(QUERY).l1 == 2
    assert real.count(QUERY).values.tolist() == [2] * 6


def test_where_a_trip_is_protected_no_trip_is_dropped() -> None:
    place = replace(stage(), unit=Unit.TRIP, max_trips=1)
    real = place.count(place.play((Part(times=5),)), os_source())
    assert real.bound(QUERY) == Bound(cells=1, each=1, total=1)
    assert real.count(QUERY).values.tolist() == [5] * 6


def test_shares_of_a_split_add_up_to_the_spend() -> None:
    assert sum(share.epsilon for share in equal_shares(ONE, 3)) == 1


def test_the_real_budget_stops_a_missing_split_by_itself() -> None:
    place = stage(split=no_split)
    curator = place.opened(())
    with pytest.raises(BudgetError):
        smaller_of_two(place, curator)
    assert len(curator.events) == 1


def test_a_blind_budget_lets_a_missing_split_pass() -> None:
    place = stage(split=no_split, budget=blind)
    assert len(smaller_of_two(place, place.opened(()))) == TOY.corners


def test_a_sampler_returns_as_many_runs_as_asked_for() -> None:
    sample = stage().sampler((), difference_of_two)
    assert len(sample(20)) == 20
    assert sample(20).dtype == np.int64


def test_the_repeating_source_repeats_itself() -> None:
    source = SharedNoise()
    first = source.words(4)
    assert source.words(6)[:4].tolist() == first.tolist()


def test_rows_are_bounded_once_a_release_however_often_they_are_counted() -> None:
    real = counter(Part(times=50), Part(times=50, person=1))
    assert real.count(QUERY) is real.count(QUERY)


def test_a_counter_that_has_counted_still_refuses_other_cells() -> None:
    real = counter()
    real.count(QUERY)
    with pytest.raises(PrivacyError):
        real.count(Query(name="trips", cells=toy_universe(places=4, periods=1).cells))


def test_the_budget_of_gaussian_noise_is_filled_with_a_rho() -> None:
    rho = ZCDPLoss(Fraction(1, 2))
    curator = replace(stage(), spend=rho).opened(())
    assert curator.counts(QUERY, rho).event.loss == rho
    with pytest.raises(BudgetError):
        curator.counts(QUERY, rho)
