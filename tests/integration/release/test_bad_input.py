"""Bad input of every kind: one clear error, exit code 1, nothing half-written or spent."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.cli.plans import publish as publish_verb
from hushway.demo import PLAN
from hushway.errors import HushwayError
from hushway.plan import load_plan
from hushway.privacy.ledger import Ledger

Edit = Callable[[Path], None]


def swap(name: str, old: str, new: str) -> Edit:
    def edit(city: Path) -> None:
        text = (city / name).read_text(encoding="utf-8")
        assert old in text
        (city / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def add_line(name: str, line: str) -> Edit:
    def edit(city: Path) -> None:
        with (city / name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    return edit


def empty(name: str) -> Edit:
    return lambda city: (city / name).write_text("", encoding="utf-8") and None


def remove(name: str) -> Edit:
    return lambda city: (city / name).unlink()


def refuse(kind: str, edit: Edit) -> Edit:
    """Lets the plan refuse a kind of row, then plants such a row."""

    def both(city: Path) -> None:
        swap(PLAN, f'{kind} = "drop"', f'{kind} = "refuse"')(city)
        edit(city)

    return both


def all_of(*edits: Edit) -> Edit:
    def edit(city: Path) -> None:
        for part in edits:
            part(city)

    return edit


PRIVATE = "rider-private-007"
ROW = "9999999,{person},{origin},{destination},{time}"


def row(
    person: str = PRIVATE,
    origin: str = "L0001",
    destination: str = "L0002",
    time: str = "2026-03-03T08:04:31",
) -> Edit:
    return add_line(
        "trips.csv",
        ROW.format(person=person, origin=origin, destination=destination, time=time),
    )


CASES: dict[str, tuple[Edit, str]] = {
    "a missing column": (swap(PLAN, 'person = "rider"', 'person = "nobody"'), "nobody"),
    "a missing trips file": (remove("trips.csv"), "trips"),
    "an empty trips file": (empty("trips.csv"), "empty"),
    "a trips file with a header only": (
        lambda city: (
            (city / "trips.csv").write_text(
                "trip_id,rider,origin,destination,departed_at\n", encoding="utf-8"
            )
            and None
        ),
        "empty",
    ),
    "a null person": (refuse("null_value", row(person="")), "null"),
    "an unknown stop": (refuse("unknown_location", row(origin="nowhere")), "unknown location"),
    "a time outside the window": (
        refuse("outside_window", row(time="2031-01-01T08:00:00")),
        "outside window",
    ),
    "a time that cannot be read": (
        refuse("unparsable_time", row(time="half past eight")),
        "unparsable time",
    ),
    "a trip that ends where it began": (
        refuse("same_place", row(destination="L0001")),
        "same place",
    ),
    "a time that the clock skipped": (
        all_of(
            swap(PLAN, "first_day = 2026-03-03", "first_day = 2026-03-08"),
            swap(PLAN, "last_day = 2026-03-03", "last_day = 2026-03-08"),
            swap(PLAN, 'opens = "06:00"', 'opens = "00:00"'),
            refuse("impossible_time", row(time="2026-03-08T02:30:00")),
        ),
        "impossible time",
    ),
    "a trip id that appears twice": (
        all_of(
            swap(PLAN, '# trip_id = "trip_id"', 'trip_id = "trip_id"'),
            refuse("duplicate_trip_id", all_of(row(), row())),
        ),
        "duplicate trip id",
    ),
    "a row with too many fields": (
        refuse("malformed_row", add_line("trips.csv", "1,2,3,4,5,6,7,8,9")),
        "malformed row",
    ),
    "a quote that is not closed": (add_line("trips.csv", '"1,2,3,4'), "a quote is not closed"),
    "a missing locations file": (remove("locations.csv"), "locations.csv"),
    "an empty locations file": (empty("locations.csv"), "empty"),
    "a duplicate location id": (
        add_line("locations.csv", "L0001,Again,-83.7,42.3,North"),
        "L0001",
    ),
    "a location in another CRS": (
        add_line("locations.csv", "L9999,Metres,273000.5,4685000.5,North"),
        "degrees",
    ),
    "a location without a position": (
        add_line("locations.csv", "L9999,Lost,,,North"),
        "L9999",
    ),
    "an epsilon of zero": (swap(PLAN, 'epsilon = "1"', 'epsilon = "0"'), "privacy.epsilon"),
    "a negative epsilon": (swap(PLAN, 'epsilon = "1"', 'epsilon = "-1"'), "privacy.epsilon"),
    "an epsilon that is not a number": (
        swap(PLAN, 'epsilon = "1"', "epsilon = nan"),
        "privacy.epsilon",
    ),
    "an infinite epsilon": (swap(PLAN, 'epsilon = "1"', "epsilon = inf"), "privacy.epsilon"),
    "an overspent ledger": (swap(PLAN, 'epsilon = "1"', 'epsilon = "4.000001"'), "left"),
    "an account that is not open": (
        swap(PLAN, 'period = "2026-03"', 'period = "2026-04"'),
        "no account",
    ),
    "a folder that is in use": (lambda city: (city / "release").mkdir(), "already"),
    "an unknown time zone": (swap(PLAN, "America/Detroit", "America/Detriot"), "time zone"),
    "a window that ends before it starts": (
        swap(PLAN, "last_day = 2026-03-03", "last_day = 2026-03-01"),
        "window",
    ),
    "a signing key that is not there": (
        swap(PLAN, '# signing_key = "steward.pem"', 'signing_key = "steward.pem"'),
        "steward.pem",
    ),
    "a ledger that is not a ledger": (
        lambda city: (city / "ledger.db").write_text("hello " * 1000, encoding="utf-8") and None,
        "ledger",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_publishing_is_refused_with_one_clear_error_and_nothing_is_spent(
    city: Path, case: str
) -> None:
    edit, word = CASES[case]
    before = {path.name for path in city.iterdir()}
    edit(city)
    planted = {path.name for path in city.iterdir()} - before
    with pytest.raises(HushwayError) as caught:
        publish_verb(city / PLAN)
    error = caught.value
    assert word in str(error)
    assert error.advice
    assert PRIVATE not in f"{error}{error.advice}"
    assert PRIVATE not in str(error.__cause__)
    left = {path.name for path in city.iterdir()} - before - planted
    assert left <= {"ledger.db-wal", "ledger.db-shm"}
    if "ledger that is not" not in case:
        with Ledger.connect(city / "ledger.db") as ledger:
            assert all(account.spent == 0 for account in ledger.accounts())
            assert ledger.check() == []


def test_rows_that_the_plan_drops_do_not_stop_a_release(city: Path) -> None:
    row(person="")(city)
    row(origin="nowhere")(city)
    row(time="2031-01-01T08:00:00")(city)
    row(destination="L0001")(city)
    publish_verb(city / PLAN)
    assert (city / "release" / "certificate.json").is_file()
    assert load_plan(city / PLAN).release.folder == "release"


def test_a_full_disk_is_noticed_before_anything_is_spent(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(city)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: full)
    with pytest.raises(HushwayError, match="Nothing was spent"):
        publish_verb(city / PLAN)
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.accounts()[0].spent == 0
    assert not (city / "release").exists()
