from datetime import date
from fractions import Fraction
from tomllib import loads

import numpy as np

from hushway.families.od.planning.recommend import make_stand_in, plan_lines, recommend
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Unit
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss


def silent(_step: str, _share: float | None = None, /) -> None:
    pass


def small() -> ODCells:
    rng = np.random.default_rng(3)
    places = tuple(
        Location(id=str(i), name="", lon=rng.random(), lat=rng.random(), zone=f"z{i % 3}")
        for i in range(20)
    )
    day = date(2024, 1, 15)
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=360, closes=1200, minutes=120)
    return ODCells(locations=Locations(places), periods=periods)


def test_the_best_of_what_was_tried_comes_first_and_can_be_put_into_a_plan() -> None:
    cells = small()
    zones = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"))
    features = (total_feature(cells), period_feature(cells), pair_feature(cells, "zones", zones))
    budgets: dict[str, Loss] = {
        "laplace": PureLoss(Fraction(1)),
        "gaussian": ZCDPLoss(rho_for(Fraction(1), Fraction(1, 10**6))),
    }
    stand_in = make_stand_in(
        cells, features, budgets=budgets, unit=Unit.PERSON, trips=3000, people=700
    )
    tried = recommend(stand_in, progress=silent)
    assert [one.score for one in tried] == sorted(one.score for one in tried)
    assert len({one.candidate for one in tried}) == len(tried)
    # A person has few trips, of which several may be in one cell: Laplace noise is the smaller.
    assert {one.candidate.noise for one in tried} == {"laplace", "gaussian"}
    assert tried[0].candidate.noise == "laplace"
    lines = loads(plan_lines(tried[0].candidate))
    assert lines["privacy"] == {"max_trips": "auto"}
    assert lines["mechanism"]["noise"] == "laplace"


def test_where_trips_are_protected_there_is_no_cap_to_choose() -> None:
    cells = small()
    stand_in = make_stand_in(
        cells,
        (total_feature(cells), period_feature(cells)),
        budgets={"laplace": PureLoss(Fraction(1))},
        unit=Unit.TRIP,
        trips=500,
        people=200,
        runs=1,
    )
    assert {one.candidate.max_trips for one in recommend(stand_in, progress=silent)} == {1}
