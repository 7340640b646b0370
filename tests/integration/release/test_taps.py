"""OD counts of journeys that are made of single taps and a timetable."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.load import plan_from, prepare
from hushway.families.verify import verify
from hushway.geography.locations import NOT_KNOWN
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.release.job import settings_of
from hushway.steward.publish import publish
from integration.release.test_standards import counted, device_plan
from support.bus_feed import bus_feed

TAPS = """card,when,stop,line
a,2026-03-02T08:00,E1,10
a,2026-03-02T08:20,N2,20
a,2026-03-02T17:00,W4,10
b,2026-03-02T08:00,E1,10
b,2026-03-02T17:00,W4,10
c,2026-03-02T09:00,E2,10
"""


def taps_plan(folder: Path, **options: Any) -> dict[str, Any]:
    plan = device_plan(folder, "taps", "taps.csv")
    (folder / "taps.csv").write_text(TAPS, encoding="utf-8")
    bus_feed(folder / "feed")
    columns = {"person": "card", "time": "when", "stop": "stop", "line": "line"}
    plan["taps"] = {"timetable": "feed", "columns": columns, "walk_m": 500, **options}
    plan["places"] = {"file": "feed"}
    return plan


def test_journeys_and_rides(tmp_path: Path) -> None:
    journeys = counted(prepare(plan_from(taps_plan(tmp_path), folder=tmp_path)))
    # Nobody knows where the bus 20 was left, nor where c went.
    assert journeys == {
        ("E1", NOT_KNOWN): 1,
        ("E1", "E4"): 1,
        ("W4", "W1"): 2,
        ("E2", NOT_KNOWN): 1,
    }
    rides = counted(prepare(plan_from(taps_plan(tmp_path, count="rides"), folder=tmp_path)))
    assert rides["E1", "E3"] == rides["N2", NOT_KNOWN] == 1


def test_check_says_how_ends_are_known(tmp_path: Path) -> None:
    job = prepare(plan_from(taps_plan(tmp_path, count="rides"), folder=tmp_path))
    found = job.rows.check(settings_of(job.plan), notes=True)
    kinds = {problem.kind: problem.count for problem in found.problems}
    assert {kind: kinds.get(kind) for kind in ("next_tap", "first_stop", "nothing_follows")} == {
        "next_tap": 2,
        "first_stop": 2,
        "nothing_follows": 1,
    }
    assert found.found is not None
    assert found.found.kept == 6


def test_a_release_of_journeys_is_verified(tmp_path: Path) -> None:
    job = prepare(plan_from(taps_plan(tmp_path), folder=tmp_path))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.PURE, Fraction(1000)))
    folder = publish(job, source=SeededSource(1), anyway=True).folder
    assert verify(folder).intact
    certificate = (folder / "certificate.json").read_text(encoding="utf-8")
    assert "taps of one device alone" in certificate


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"taps": None}, "taps: belongs to data.format"),
        ({"privacy": {"unit": "trip", "epsilon": "1"}}, 'must be "device"'),
    ],
)
def test_plans_that_do_not_fit(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    plan = {k: v for k, v in (taps_plan(tmp_path) | change).items() if v is not None}
    with pytest.raises(PlanError, match=message):
        plan_from(plan, folder=tmp_path)
