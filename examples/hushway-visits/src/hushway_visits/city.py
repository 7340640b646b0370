"""A made-up town on a river: stops along two lines, and cards that are used in the rush hours."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from hushway import families as hw

DAY = "2026-03-02"
_STOPS_OF_A_LINE = 12
_WEST, _SOUTH, _STEP = -8.66, 41.14, 0.006
# Two rush hours and the time between them, in minutes of the day, with the share of each.
_RUSH = ((8 * 60, 45, 0.4), (13 * 60, 150, 0.3), (18 * 60, 60, 0.3))


def write_town(folder: Path, *, people: int, seed: int) -> int:
    """Writes stops.csv and taps.csv, and returns the number of taps."""
    draw = np.random.default_rng(seed)
    stops = [_stop(line, at) for line in ("red", "blue") for at in range(_STOPS_OF_A_LINE)]
    _write(folder / "stops.csv", ("id", "name", "lon", "lat", "zone"), stops)
    # Stops in the middle of a line are busier than its ends.
    busy = np.tile(np.hanning(_STOPS_OF_A_LINE + 2)[1:-1], 2)
    person = np.repeat(np.arange(people), 1 + draw.poisson(2, people))
    stop = draw.choice(len(stops), len(person), p=busy / busy.sum())
    centre, spread, share = np.array(_RUSH).T
    kind = draw.choice(len(_RUSH), len(person), p=share)
    minute = np.clip(draw.normal(centre[kind], spread[kind]), 0, 24 * 60 - 1).astype(int)
    taps = zip(person.tolist(), stop.tolist(), minute.tolist(), strict=True)
    rows = ((f"card{who}", stops[where][0], _time(when)) for who, where, when in taps)
    _write(folder / "taps.csv", ("person", "stop", "time"), rows)
    return len(person)


def example(folder: Path) -> hw.Example:
    """Writes the town of the demo."""
    people = 4000
    taps = write_town(folder, people=people, seed=2026)
    return hw.Example(title="Visits per stop and hour: a town on a river", rows=f"{taps:,} taps")


def little_plan(folder: Path) -> dict[str, Any]:
    """Writes a town of a few cards, and returns the tables of a plan for it."""
    write_town(folder, people=40, seed=1)
    return {
        "data": {"name": "little", "taps": "taps.csv"},
        "stops": {"file": "stops.csv"},
        "time": {"zone": "Europe/Lisbon", "first_day": DAY, "last_day": DAY, "minutes": 360},
        "privacy": {"max_visits": 2, "epsilon": "1"},
    }


def _stop(line: str, at: int) -> tuple[str, str, float, float, str]:
    east, north = (at, 4) if line == "red" else (5, at)
    lon, lat = round(_WEST + _STEP * east, 4), round(_SOUTH + _STEP * north, 4)
    return f"{line}{at + 1}", f"{line.title()} line, stop {at + 1}", lon, lat, line


def _time(minute: int) -> str:
    return f"{DAY}T{minute // 60:02d}:{minute % 60:02d}:00"


def _write(path: Path, header: tuple[str, ...], rows: Any) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
