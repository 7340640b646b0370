"""Bad input to a density: one clear error, exit code 1, nothing half-written and nothing spent."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cities.paris import paris
from hushway.cli.app import app
from hushway.cli.plans import publish as publish_verb
from hushway.errors import HushwayError
from hushway.privacy.ledger import Ledger

Edit = Callable[[Path], None]
PRIVATE = "phone-private-007"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small city of calls as text, its plan and an open account."""
    folder = tmp_path_factory.mktemp("calls")
    paris(3, people=100, towers=20, areas=10).write(folder, format="csv")
    text = (files("hushway") / "templates" / "density.toml").read_text(encoding="utf-8")
    for old, new in (("events.parquet", "events.csv"), ('cache = ".hushway" ', "# ")):
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    words = ["ledger", "open", str(folder / "plan.toml"), "--epsilon", "1", "--delta", "2e-6"]
    assert CliRunner().invoke(app, words).exit_code == 0
    return folder


@pytest.fixture
def city(prepared: Path, tmp_path: Path) -> Path:
    for file in prepared.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def swap(old: str, new: str, name: str = "plan.toml") -> Edit:
    def edit(city: Path) -> None:
        text = (city / name).read_text(encoding="utf-8")
        assert old in text
        (city / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def all_of(*edits: Edit) -> Edit:
    def edit(city: Path) -> None:
        for part in edits:
            part(city)

    return edit


def event(tower: str = "", time: str = "2007-09-12T08:00:00", person: str = PRIVATE) -> Edit:
    """Adds an event; without a tower, at the first one of the list."""

    def edit(city: Path) -> None:
        first = (city / "towers.csv").read_text(encoding="utf-8").splitlines()[1].split(",")[0]
        with (city / "events.csv").open("a", encoding="utf-8") as file:
            file.write(f"{person},{tower or first},{time}\n")

    return edit


def refuse(kind: str, edit: Edit) -> Edit:
    return all_of(swap(f'{kind} = "drop"', f'{kind} = "refuse"'), edit)


def tower(line: str) -> Edit:
    def edit(city: Path) -> None:
        with (city / "towers.csv").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    return edit


def write(name: str, text: str) -> Edit:
    def edit(city: Path) -> None:
        (city / name).write_text(text, encoding="utf-8")

    return edit


def repeat_area(*, new_id: str | None) -> Edit:
    """Adds the first area again, under its own id or another one."""

    def edit(city: Path) -> None:
        areas = json.loads((city / "areas.geojson").read_text(encoding="utf-8"))
        again = json.loads(json.dumps(areas["features"][0]))
        again["properties"]["id"] = new_id or again["properties"]["id"]
        areas["features"].append(again)
        (city / "areas.geojson").write_text(json.dumps(areas), encoding="utf-8")

    return edit


def in_metres(city: Path) -> None:
    """Moves the areas to coordinates that are no degrees, and does not say so."""
    areas = json.loads((city / "areas.geojson").read_text(encoding="utf-8"))
    areas.pop("crs")

    def moved(part: list) -> list:
        if isinstance(part[0], list):
            return [moved(inner) for inner in part]
        return [part[0] * 74_000, part[1] * 111_000]

    for feature in areas["features"]:
        feature["geometry"]["coordinates"] = moved(feature["geometry"]["coordinates"])
    (city / "areas.geojson").write_text(json.dumps(areas), encoding="utf-8")


EPSILON = 'epsilon = "0.3" '
CASES: dict[str, tuple[Edit, str]] = {
    "a missing column": (swap('location = "tower" ', 'location = "cell" '), "cell"),
    "a missing column of persons": (swap('person = "person"', 'person = "who"'), "who"),
    "a missing events file": (lambda city: (city / "events.csv").unlink(), "events"),
    "an empty events file": (write("events.csv", ""), "empty"),
    "a header without events": (write("events.csv", "person,tower,time\n"), "empty"),
    "a null person": (refuse("null_value", event(person="")), "null"),
    "an unknown tower": (refuse("unknown_location", event(tower="nowhere")), "unknown location"),
    "a time outside the window": (
        refuse("outside_window", event(time="2031-01-01T08:00:00")),
        "outside window",
    ),
    "a time that cannot be read": (
        refuse("unparsable_time", event(time="half past eight")),
        "unparsable time",
    ),
    "a time that the clock skipped": (
        all_of(
            swap("first_day = 2007-09-10", "first_day = 2026-03-28"),
            swap("# last_day = 2007-09-16", "last_day = 2026-03-29"),
            refuse("impossible_time", event(time="2026-03-29T02:30:00")),
        ),
        "impossible time",
    ),
    "a row with too many fields": (
        refuse("malformed_row", event(time="2007-09-12T08:00:00,1,2,3")),
        "malformed row",
    ),
    "a quote that is not closed": (event(time='"2007-09-12T08:00:00'), "a quote is not closed"),
    "a missing towers file": (lambda city: (city / "towers.csv").unlink(), "towers.csv"),
    "a tower outside": (tower("T-away,Away,9.1,45.4,x"), "outside all areas"),
    "a tower in another CRS": (tower("T-metres,Metres,652000,6862000,x"), "degrees"),
    "a missing areas file": (lambda city: (city / "areas.geojson").unlink(), "areas.geojson"),
    "an empty areas file": (write("areas.geojson", ""), "empty"),
    "an areas file that is no GeoJSON": (write("areas.geojson", "hello"), "areas.geojson"),
    "a duplicate area id": (repeat_area(new_id=None), "more than once"),
    "areas that overlap": (repeat_area(new_id="again"), "overlap"),
    "areas in a CRS that nobody names": (in_metres, "CRS"),
    "a CRS that does not exist": (
        swap('# crs = "EPSG:2154"', 'crs = "EPSG:999999"'),
        "EPSG:999999",
    ),
    "a wrong CRS": (swap('# crs = "EPSG:2154"', 'crs = "EPSG:2154"'), "areas"),
    "a property that is not there": (
        swap('id = "id"                      # the', 'id = "code" # the'),
        "code",
    ),
    "an epsilon of zero": (swap(EPSILON, 'epsilon = "0" '), "privacy.epsilon"),
    "a negative epsilon": (swap(EPSILON, 'epsilon = "-1" '), "privacy.epsilon"),
    "an epsilon that is not a number": (swap(EPSILON, "epsilon = nan "), "privacy.epsilon"),
    "an epsilon too small for any noise": (swap(EPSILON, 'epsilon = "1e-9" '), "sigma"),
    "an overspent ledger": (swap(EPSILON, 'epsilon = "1.1" '), "left"),
    "an account that is not open": (swap('period = "2007-37"', 'period = "2007-38"'), "no account"),
    "a folder that is in use": (lambda city: (city / "release").mkdir(), "already"),
    "bins that do not fill the day": (swap("minutes = 60 ", "minutes = 50 "), "50 minutes"),
    "an unknown time zone": (swap("Europe/Paris", "Europe/Pari"), "time zone"),
    "shares that leave nothing": (
        swap('# shares = { histogram = "0.06"', 'shares = { histogram = "0.995"'),
        "shares",
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
        publish_verb(city / "plan.toml")
    error = caught.value
    assert word in str(error)
    assert error.advice
    assert PRIVATE not in f"{error}{error.advice}{error.__cause__}"
    left = {path.name for path in city.iterdir()} - before - planted
    assert left <= {"ledger.db-wal", "ledger.db-shm"}
    with Ledger.connect(city / "ledger.db") as ledger:
        assert all(account.spent == 0 for account in ledger.accounts())
        assert ledger.check() == []


def test_the_exit_code_says_that_it_failed(city: Path) -> None:
    event(time='"half past eight')(city)
    done = CliRunner().invoke(app, ["publish", str(city / "plan.toml")])
    assert done.exit_code != 0
    assert CliRunner().invoke(app, ["check", str(city / "plan.toml")]).exit_code == 1


def test_what_fails_after_paying_stays_paid_and_says_so(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("hushway.publishing.write_sealed", broken)
    with pytest.raises(OSError, match="the disk is gone"):
        publish_verb(city / "plan.toml")
    assert not (city / "release").exists()
    with Ledger.connect(city / "ledger.db") as ledger:
        (account,) = ledger.accounts()
        assert account.spent > 0
        (pending,) = ledger.unpublished()
        assert pending.state == "abandoned"
        assert ledger.check() == []
