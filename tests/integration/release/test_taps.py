"""OD counts of journeys that are made of single taps and a timetable."""

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from hushway.errors import GeographyError, PlanError
from hushway.families.load import load_plan, plan_from, prepare
from hushway.families.od.public.cells import ODCells
from hushway.families.verify import verify
from hushway.geography.locations import NOT_KNOWN
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.release.job import Job, settings_of
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


def read_stops(feed: Path) -> list[tuple[str, str, str]]:
    lines = (feed / "stops.txt").read_text(encoding="utf-8").splitlines()[1:]
    return [(stop, lon, lat) for stop, _, lon, lat, _ in (line.split(",") for line in lines)]


STOPS = {"person": "card", "time": "when", "stop": "stop"}
VEHICLES = {"person": "card", "time": "when", "vehicle": "line"}


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


FARES = """transaction_id,event_timestamp,fare_action,vehicle_id,device_id,stop_id,token_id
1,2026-03-02T08:00:00,Enter,bus,v1,E1,a
2,2026-03-02T17:00:00,Enter,bus,v1,W4,a
3,2026-03-02T17:05:00,Purchase,,v2,W4,a
"""


@pytest.mark.parametrize(
    ("rows", "means"),
    [(FARES, ()), (FARES.replace("fare_action", "kind"), ("--type", "od"))],
    ids=["TIDES", "an export"],
)
def test_init_tells_taps_and_asks_for_a_timetable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str, means: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fares.csv").write_text(rows, encoding="utf-8")
    bus_feed(tmp_path / "feed")
    window = "--zone Europe/Lisbon --first-day 2026-03-02 --last-day 2026-03-02 --epsilon 1 --yes"
    words = ["init", "fares.csv", *means, *window.split()]
    done = CliRunner().invoke(app, words)
    assert "so set them: taps.timetable, places.file." in done.output.replace("\n", " ")
    assert "--unit person" not in done.output
    (tmp_path / "plan.toml").unlink()
    files = ["--places", "feed", "--set", "taps.timetable=feed"]
    assert CliRunner().invoke(app, [*words, *files]).exit_code == 0
    plan = load_plan(tmp_path / "plan.toml")
    assert plan.privacy.unit is Unit.DEVICE
    found = counted(prepare(plan))
    # The card is "token_id"; the validator in "device_id" is nobody's. What was bought is no ride.
    assert found["E1", "E4"] == 1
    assert sum(found.values()) == (2 if rows == FARES else 3)


def test_transfers_are_places_of_their_own(tmp_path: Path) -> None:
    plan = taps_plan(tmp_path, count="rides", transfers=True)
    job = prepare(plan_from(plan, folder=tmp_path))
    assert counted(job) == {
        ("E1", "transfer at E3"): 1,
        ("transfer at N2", NOT_KNOWN): 1,
        ("E1", "E4"): 1,
        ("W4", "W1"): 2,
        ("E2", NOT_KNOWN): 1,
    }


def test_boardings_by_line(tmp_path: Path) -> None:
    """Whoever names no line, or one that does not call there, gets on at the stop alone."""
    options = {"count": "rides", "lines": True, "transfers": True}
    plan = taps_plan(tmp_path, **options) | {
        "published_totals": {"lines": {"places": "line", "side": "origin"}},
        "mechanism": {"name": "learned", "published_totals": ["total", "origins", "lines"]},
    }
    more = "d,2026-03-02T08:00,E1,\nd,2026-03-02T17:00,W4,20\n"
    (tmp_path / "taps.csv").write_text(TAPS + more, encoding="utf-8")
    job = prepare(plan_from(plan, folder=tmp_path))
    assert counted(job) == {
        ("line 10 at E1", "transfer at line 10 at E3"): 1,
        ("transfer at line 20 at N2", NOT_KNOWN): 1,
        ("line 10 at E1", "line 10 at E4"): 1,
        ("line 10 at W4", "line 10 at W1"): 2,
        ("line 10 at E2", NOT_KNOWN): 1,
        ("E1", "E4"): 1,
        ("W4", NOT_KNOWN): 1,
    }
    assert isinstance(job.geography, ODCells)
    places = set(job.geography.locations.ids)
    # The station and its platforms are one place; the bus does not call there.
    assert {"line M at MA", "transfer at line M at MA"} <= places
    assert "line 10 at MA" not in places
    folder = released(job)
    assert verify(folder).intact
    rows = csv.DictReader((folder / "margins.csv").read_text(encoding="utf-8").splitlines())
    assert {"10", "20", "M", NOT_KNOWN} <= {value for row in rows for value in row.values()}
    ridership = (folder / "gtfs-ride" / "ridership.txt").read_text(encoding="utf-8")
    found = {(row["route_id"], row["stop_id"]) for row in csv.DictReader(ridership.splitlines())}
    assert {("", ""), ("10", ""), ("", "E1"), ("10", "E1")} <= found


def test_rides_and_journeys_of_several_in_one_release(tmp_path: Path) -> None:
    """Journeys of one ride are rides; a limit of one card holds for all of its rows together."""
    plan = taps_plan(tmp_path, count="both")
    taps = TAPS.replace("17:00,W4,10", "18:00,N3,20", 1)
    (tmp_path / "taps.csv").write_text(taps, encoding="utf-8")
    assert counted(prepare(plan_from(plan, folder=tmp_path))) == {
        ("E1", "transfer at E3"): 1,
        ("transfer at N2", "N3"): 1,
        ("journey at E1", "journey at N3"): 1,
        ("N3", NOT_KNOWN): 1,
        ("E1", "E4"): 1,
        ("W4", "W1"): 1,
        ("E2", NOT_KNOWN): 1,
    }
    plan["privacy"] |= {"max_trips": 1}
    limited = counted(prepare(plan_from(plan, folder=tmp_path)))
    assert sum(limited.values()) == len({"a", "b", "c"})


def test_places_are_joined_with_their_transfers(tmp_path: Path) -> None:
    plan = taps_plan(tmp_path, count="rides", transfers=True)
    stops = read_stops(tmp_path / "feed")
    rows = [f"{stop},{stop},{lon},{lat},{stop[0]}" for stop, lon, lat in stops]
    (tmp_path / "stops.csv").write_text("\n".join(["id,name,lon,lat,side", *rows]), "utf-8")
    plan["places"] = {"file": "stops.csv", "group": "side", "include_intrazonal": True}
    assert counted(prepare(plan_from(plan, folder=tmp_path))) == {
        ("E", "transfer at E"): 1,
        ("transfer at N", NOT_KNOWN): 1,
        ("E", "E"): 1,
        ("W", "W"): 2,
        ("E", NOT_KNOWN): 1,
    }


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


def found_of(folder: Path, taps: str, **options: Any) -> dict[str, int]:
    """Returns what a check finds, by kind."""
    plan = taps_plan(folder, **options)
    (folder / "taps.csv").write_text(taps, encoding="utf-8")
    job = prepare(plan_from(plan, folder=folder))
    found = job.rows.check(settings_of(job.plan), notes=True)
    return {problem.kind: problem.count or 0 for problem in found.problems}


def test_no_tap_is_lost_in_a_check(tmp_path: Path) -> None:
    """Every tap is a row of the check, with a reason or outside of the window."""
    more = (
        "d,2026-03-02T08:00,X9,10\nd,,E1,10\nd,2026-04-02T08:00,E1,10\n"
        ",2026-03-02T08:00,E1,10\ne,2026-03-02T08:00,E1,99\ne,2026-03-02T08:00,E1,99\n"
    )
    found = found_of(tmp_path, TAPS + more, count="journeys")
    assert found == {
        "null_value": 2,
        "outside_window": 1,
        "next_tap": 1,
        "first_stop": 2,
        "nothing_follows": 1,
        "too_far": 1,
        "unknown_line": 2,
        "unknown_stop": 1,
        "transfer": 1,
        "duplicate_rows": 1,
    }
    assert sum(found.values()) - found["duplicate_rows"] == 12


def test_a_day_that_no_feed_covers_stops_the_plan(tmp_path: Path) -> None:
    plan = taps_plan(tmp_path)
    dates = "service_id,date,exception_type\ndaily,20250303,1\ndaily,20250304,1\n"
    bus_feed(tmp_path / "feed", calendar_dates=dates)
    with pytest.raises(GeographyError, match=r"no service from 2026-03-02 to .*2025-03-03 to 2025"):
        prepare(plan_from(plan, folder=tmp_path))


def test_days_on_which_clocks_change(tmp_path: Path) -> None:
    """An hour is skipped on the wall clock, and instants lie on the right service day."""
    plan = taps_plan(tmp_path, count="rides")
    plan["time"] |= {"zone": "Europe/Berlin", "first_day": "2026-03-29", "last_day": "2026-03-29"}
    plan["time"] |= {"opens": "00:00", "closes": "24:00"}
    local = "card,when,stop,line\na,2026-03-29T02:30,E1,10\na,2026-03-29T17:00,W4,10\n"
    (tmp_path / "taps.csv").write_text(local, encoding="utf-8")
    job = prepare(plan_from(plan, folder=tmp_path))
    found = job.rows.check(settings_of(job.plan), notes=True)
    assert {each.kind for each in found.problems} >= {"impossible_time"}
    # Half past two by the clock of winter is half past three by that of summer.
    instants = local.replace("02:30", "01:30:00Z").replace("17:00", "15:00:00Z")
    (tmp_path / "taps.csv").write_text(instants, encoding="utf-8")
    plan["data"]["clock"] = "utc"
    assert counted(prepare(plan_from(plan, folder=tmp_path))) == {("E1", "E4"): 1, ("W4", "W1"): 1}


def test_stops_follow_from_visits_of_vehicles(tmp_path: Path) -> None:
    plan = taps_plan(tmp_path)
    columns = {"person": "card", "time": "when", "vehicle": "line"}
    plan["taps"] |= {"columns": columns, "stop_visits": "visits.csv"}
    (tmp_path / "visits.csv").write_text(
        "vehicle_id,actual_arrival_time,stop_id\n10,2026-03-02T07:59,E1\n10,2026-03-02T17:00,W4\n",
        encoding="utf-8",
    )
    taps = "card,when,line\na,2026-03-02T08:00,10\na,2026-03-02T17:00,10\n"
    (tmp_path / "taps.csv").write_text(taps, encoding="utf-8")
    assert counted(prepare(plan_from(plan, folder=tmp_path))) == {("E1", "E4"): 1, ("W4", "W1"): 1}


def released(job: Job) -> Path:
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.PURE, Fraction(1000)))
    return publish(job, source=SeededSource(1), anyway=True).folder


def test_a_release_of_journeys_is_verified(tmp_path: Path) -> None:
    folder = released(prepare(plan_from(taps_plan(tmp_path), folder=tmp_path)))
    assert verify(folder).intact
    certificate = (folder / "certificate.json").read_text(encoding="utf-8")
    assert "taps of one device alone" in certificate
    ridership = folder / "gtfs-ride" / "ridership.txt"
    lines = ridership.read_text(encoding="utf-8").splitlines()
    ridership.write_text("\n".join([*lines[:-1], "9,9,"]) + "\n", encoding="utf-8")
    assert not verify(folder).intact


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"taps": None}, "taps: belongs to data.format"),
        ({"privacy": {"unit": "trip", "epsilon": "1"}}, 'must be "device"'),
        ({"taps": {"timetable": "feed", "columns": STOPS, "transfers": True}}, "told of rides"),
        ({"taps": {"timetable": "feed", "columns": VEHICLES}}, "belongs to stop_visits"),
        (
            {"data": {"name": "t", "trips": "t.csv", "format": "taps", "clock": "service"}},
            "service_",
        ),
    ],
)
def test_plans_that_do_not_fit(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    plan = {k: v for k, v in (taps_plan(tmp_path) | change).items() if v is not None}
    with pytest.raises(PlanError, match=message):
        plan_from(plan, folder=tmp_path)
