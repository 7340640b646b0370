"""Rows that name places otherwise than the public list does, to a verified release."""

import csv
import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app

NAMES = ("Abbey Road", "King's Cross", "Tower Hill", "Green Park")
# As rows have them: misspelt, shouted, of a platform, and one that nobody knows.
WRITTEN = ("ABBEY ROAD", "Kings Cross", "Towr Hill", "P3", "Zzyzx")
WINDOW = (
    *("--zone", "Europe/London", "--first-day", "2026-03-02", "--last-day", "2026-03-02"),
    *("--epsilon", "8", "--time-format", "02/03/2026 07:45", "--time-format", "%d/%m/%Y %H:%M"),
)


def run(*words: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == exit_code, done.output
    return done.stdout if "--json" in words else done.output


def feed(file: Path) -> None:
    stops = ["stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station"]
    for number, name in enumerate(NAMES):
        stops.append(f"S{number},{name},{51.5 + number / 100},-0.1,1,")
        stops.append(f"P{number},Platform,{51.5 + number / 100},-0.1,0,S{number}")
    with ZipFile(file, "w") as archive:
        archive.writestr("stops.txt", "\n".join(stops) + "\n")


def trips(file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text, delimiter=";")
        writer.writerow(["Card Ref", "From", "To", "Start Time"])
        for number in range(4_000):
            ends = WRITTEN[number % 4], WRITTEN[(number + 1 + number // 4 % 3) % 4]
            if number == 0:
                ends = WRITTEN[0], WRITTEN[4]
            writer.writerow(
                [f"c{number}", *ends, f"02/03/2026 {7 + number % 9:02d}:{number % 60:02d}"]
            )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    feed(tmp_path / "gtfs.zip")
    trips(tmp_path / "trips.csv")
    return tmp_path


def test_a_feed_and_misspelt_names_make_a_verified_release_in_five_commands(folder: Path) -> None:
    run("init", "trips.csv", "--places", "gtfs.zip", *WINDOW, "--yes")
    shown = run("check", "plan.toml", "--aliases", "aliases.csv", exit_code=1)
    assert shown.index("4 places") < shown.index("rows read")
    for name in (*WRITTEN[:3], WRITTEN[4]):
        assert name in shown
    assert "P3" not in shown
    proposed = dict(csv.reader((folder / "aliases.csv").read_text("utf-8").splitlines()[1:]))
    assert proposed == {"ABBEY ROAD": "S0", "Kings Cross": "S1", "Towr Hill": "S2", "Zzyzx": ""}
    run("ledger", "open", "plan.toml", "--epsilon", "8")
    run("publish", "plan.toml", "--yes")
    assert "adds up" in run("verify", "release")
    published = b"".join(file.read_bytes() for file in (folder / "release").rglob("*.*"))
    for name in (*WRITTEN[:3], WRITTEN[4]):
        assert name.encode() not in published


def test_aliases_count_the_rows_that_use_them(folder: Path) -> None:
    run("init", "trips.csv", "--places", "gtfs.zip", *WINDOW, "--yes")
    before = json.loads(run("check", "plan.toml", "--json", "--aliases", "one.csv", exit_code=1))
    after = json.loads(run("check", "plan.toml", "--json"))
    assert before["found"]["kept"] == 0
    assert after["found"]["kept"] == after["found"]["read"] - 1
    (unknown,) = [name for place in after["found"]["places"] for name in place["names"]]
    assert unknown == {"name": "Zzyzx", "rows": 1, "nearest": None}
    run("check", "plan.toml", "--aliases", "two.csv")
    assert "Towr Hill,S2" in (folder / "two.csv").read_text("utf-8")
