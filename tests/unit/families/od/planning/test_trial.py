from datetime import date

import numpy as np
import pytest

from hushway.families.od.fit.table import ODTable
from hushway.families.od.planning.trial import od_errors
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import period_feature, total_feature
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.query import ExactCounts


def small() -> ODCells:
    places = tuple(Location(id=str(i), name="", lon=0.0, lat=0.0, zone="z") for i in range(3))
    day = date(2024, 1, 15)
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=480, closes=600, minutes=60)
    return ODCells(locations=Locations(places), periods=periods)


def test_errors_are_those_of_a_table_worked_out_by_hand() -> None:
    cells = small()
    truth = ExactCounts(cells=np.array([0, 7]), values=np.array([5, 2]))
    table = ODTable(
        universe=cells,
        cells=np.array([0, 3, 8]),
        counts=np.array([6, 1, 4]),
        standard_errors=np.ones(3),
        threshold=None,
        zeros_left_out=True,
    )
    found = od_errors(truth, table, (total_feature(cells), period_feature(cells))).value
    # Cell 0 is 1 too high, 3 is 1 too high, 7 is 2 too low, 8 is 4 too high.
    assert found.cells_rmse == pytest.approx(np.sqrt((1 + 1 + 4 + 16) / 12))
    assert found.busy_cells_mae == pytest.approx((1 + 2) / 2)
    assert found.cells_l1_share == pytest.approx(8 / 7)
    assert found.total == 11
    assert found.margins_mae == pytest.approx({"total": 4.0, "period": (2 + 2) / 2})
