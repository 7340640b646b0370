"""What decides the numbers of the transit study, so that runs of two studies are never mixed."""

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import hushway
from hushway.families.od.city.figures import Day
from hushway.geography.network_text import network_toml
from hushway.transit.study.day import CITY_SEED, COSTS, DAYS, RULES, TARGET_S, WINDOW_S, study_day

# The code that turns the days into numbers: a version alone does not tell apart what is being
# worked on.
CODE: Final = (
    "engine/*.py",
    "evaluation/od_scene.py",
    "evaluation/reproduce/cbdp.py",
    "evaluation/reproduce/odmts_day.py",
    "evaluation/reproduce/odmts_run.py",
    "evaluation/transit/*.py",
    "fitting/**/*.py",
    "geography/*.py",
    "matching/*.py",
    "privacy/**/*.py",
    "releases/**/*.py",
)


def fingerprint() -> dict[str, Any]:
    """Returns everything that decides the numbers of a run, as plain values."""
    return {
        "hushway": hushway.__version__,
        "code": code_digest(Path(hushway.__file__).parent),
        "city_seed": CITY_SEED,
        "rules": asdict(RULES),
        "mean_wait_s": TARGET_S,
        "window_s": list(WINDOW_S),
        "rider_costs": asdict(COSTS),
        "days": {day: _day_digest(day) for day in DAYS},
    }


def code_digest(package: Path) -> str:
    """Returns a digest of the code that decides the numbers, except for how pictures are drawn."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in CODE for path in package.glob(pattern)}):
        if "picture" not in path.name:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _day_digest(day: Day) -> str:
    """Returns a digest of the places, the network over them and the trips of the window."""
    here = study_day(day)
    digest = hashlib.sha256(here.scene.cells.digest.encode())
    digest.update(network_toml(here.routes.network).encode())
    trips = here.operated
    for column in (trips.depart_s, trips.origin, trips.destination):
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()
