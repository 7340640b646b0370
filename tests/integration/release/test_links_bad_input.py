"""Bad input to links: one clear error, exit code 1, nothing half-written and nothing spent."""

import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from hushway.cities.road_city import road_city
from hushway.cities.traces_simulate import simulate_traces
from hushway.cli.app import app
from hushway.cli.plans import publish as publish_verb
from hushway.errors import HushwayError
from hushway.privacy.ledger import Ledger

Edit = Callable[[Path], None]
PRIVATE = "car-private-007"
HEADER = "person,trip,time,lon,lat\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small town of traces as text, its plan and an open account."""
    folder = tmp_path_factory.mktemp("traces")
    made = simulate_traces(road_city(3, links=1000), 3, people=20)
    made.write(folder)
    (folder / "roads").mkdir()
    for name in ("node.csv", "link.csv"):
        (folder / name).rename(folder / "roads" / name)
    traces = pq.read_table(folder / "traces.parquet").select(
        ["person", "trip", "time", "lon", "lat"]
    )
    pc.write_csv(traces, folder / "traces.csv")
    (folder / "traces.parquet").unlink()
    text = (files("hushway") / "templates" / "links.toml").read_text(encoding="utf-8")
    for old, new in (
        ("traces.parquet", "traces.csv"),
        ("America/Los_Angeles", made.zone),
        ("first_day = 2019-01-14", f"first_day = {made.first_day}"),
        ("last_day = 2019-01-14", f"last_day = {made.last_day}"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    words = ["ledger", "open", str(folder / "plan.toml"), "--epsilon", "1", "--delta", "1e-6"]
    assert CliRunner().invoke(app, words).exit_code == 0
    return folder


@pytest.fixture
def city(prepared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(prepared, tmp_path / "city"))


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


def position(
    person: str = PRIVATE,
    time: str = "2026-03-02T08:00:00",
    lon: str = "-30.0",
    lat: str = "45.0",
) -> Edit:
    def edit(city: Path) -> None:
        with (city / "traces.csv").open("a", encoding="utf-8") as file:
            file.write(f"{person},1,{time},{lon},{lat}\n")

    return edit


def refuse(kind: str, edit: Edit) -> Edit:
    return all_of(swap(f'{kind} = "drop"', f'{kind} = "refuse"'), edit)


def write(name: str, text: str) -> Edit:
    def edit(city: Path) -> None:
        (city / name).write_text(text, encoding="utf-8")

    return edit


def first_link_again(city: Path) -> None:
    file = city / "roads" / "link.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([*lines, lines[1]]) + "\n", encoding="utf-8")


EPSILON = 'epsilon = "1"                  # in'
CASES: dict[str, tuple[Edit, str]] = {
    "a missing column": (swap('lon = "lon" ', 'lon = "easting" '), "easting"),
    "a missing column of persons": (swap('person = "person"', 'person = "who"'), "who"),
    "a missing traces file": (lambda city: (city / "traces.csv").unlink(), "traces"),
    "an empty traces file": (write("traces.csv", ""), "empty"),
    "a header without positions": (write("traces.csv", HEADER), "empty"),
    "a null person": (refuse("null_value", position(person="")), "null"),
    "a position far from all roads": (
        refuse("unknown_location", position(lon="-29.0")),
        "unknown location",
    ),
    "a position that is not on earth": (
        refuse("impossible_position", position(lat="145.0")),
        "impossible position",
    ),
    "a time outside the window": (
        refuse("outside_window", position(time="2031-01-01T08:00:00")),
        "outside window",
    ),
    "a time that cannot be read": (
        refuse("unparsable_time", position(time="half past eight")),
        "unparsable time",
    ),
    "a row with too many fields": (
        refuse("malformed_row", position(lat="45.0,1,2,3")),
        "malformed row",
    ),
    "a quote that is not closed": (position(lat='"45.0'), "a quote is not closed"),
    "missing roads": (lambda city: shutil.rmtree(city / "roads"), "roads"),
    "roads without links": (lambda city: (city / "roads" / "link.csv").unlink(), "link.csv"),
    "an empty file of links": (write("roads/link.csv", ""), "link.csv"),
    "a link id that appears twice": (first_link_again, "more than once"),
    "roads that are no roads": (
        all_of(write("map.geojson", "hello"), swap('file = "roads" ', 'file = "map.geojson" ')),
        "map.geojson",
    ),
    "an epsilon of zero": (swap(EPSILON, 'epsilon = "0" # in'), "privacy.epsilon"),
    "a negative epsilon": (swap(EPSILON, 'epsilon = "-1" # in'), "privacy.epsilon"),
    "an epsilon that is not a number": (swap(EPSILON, "epsilon = nan # in"), "privacy.epsilon"),
    "an epsilon too small for any noise": (swap(EPSILON, 'epsilon = "1e-9" # in'), "sigma"),
    "an overspent ledger": (swap(EPSILON, 'epsilon = "1.1" # in'), "left"),
    "an account that is not open": (
        swap('period = "2019-01-14"', 'period = "2019-01-15"'),
        "no account",
    ),
    "a folder that is in use": (lambda city: (city / "release").mkdir(), "already"),
    "periods that do not fill the day": (swap("minutes = 1440 ", "minutes = 1000 "), "1000"),
    "an unknown time zone": (swap('zone = "UTC"', 'zone = "Europe/Pari"'), "time zone"),
    "shares that leave nothing": (
        all_of(
            swap('classes = "0.1" ', 'classes = "0.5" '), swap('speeds = "0" ', 'speeds = "0.5" ')
        ),
        "leave nothing",
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
    position(time='"half past eight')(city)
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
