"""What tests need of the family: a little plan with its rows, and what can be wrong with them."""

from pathlib import Path
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.privacy.bound import Unit
from hushway.privacy.query import Counter
from support.bad_input import PLACE_CASES, Case, option, row
from support.little_city import SOON, TIME, hour, write_table
from support.scene import Scene

PLAN: dict[str, Any] = {
    "data": {"name": "trips", "trips": "trips.csv", "columns": {"person": "person"}},
    "places": {"file": "places.csv"},
    "time": TIME,
    "privacy": {"max_trips": 2, "epsilon": "1"},
    "mechanism": {"name": "cbdp", "published_totals": ["total", "period", "zones"]},
}
# The file of protected rows, and one row that counts, column by column.
ROWS = "trips.csv"
ROW = {"person": "p0", "origin": "a", "destination": "b", "time": SOON}
# Values to try of options that cannot be listed.
OPTION_VALUES: dict[str, tuple[Any, ...]] = {
    "expected_false": (3.0,),
    "published_totals": (["total", "zones"],),
    "budget_shares": ({"cells": "1/2", "total": "1/4", "zones": "1/4"},),
    "importance": ({"cells": 1.0, "total": 2.0, "zones": 3.0},),
}
# What must be said besides, for a plan with such an option to make sense.
COMPANIONS: dict[tuple[str, str], dict[str, Any]] = {
    (option, str(OPTION_VALUES[option][0])): {"published_totals": ["total", "zones"]}
    for option in ("budget_shares", "importance")
}
# The section that names its public file.
PUBLIC = "places"
# Changes to the little plan whose releases have kept digests, and others that are replayed only.
SEEDED_PLANS: dict[str, dict[str, Any]] = {
    "od of single trips": {"privacy": {"unit": "trip", "max_trips": 1, "epsilon": "1"}},
    "od by Laplace, sparse": {"mechanism": {"name": "laplace", "form": "sparse"}},
    "od of few trips in a cell": {
        "privacy": {
            "max_trips": 3,
            "max_trips_per_cell": 1,
            "epsilon": "4",
            "delta": "1e-6",
        },
        "mechanism": {"name": "learned", "noise": "gaussian"},
    },
    "od by hierarchy": {
        "mechanism": {"name": "hierarchical", "published_totals": ["total", "zones"]}
    },
}
REPLAYED_PLANS: dict[str, dict[str, Any]] = {
    "od with totals of its own": {
        "published_totals": {"quarters": {"places": "zone", "side": "origin"}},
        "mechanism": {"name": "learned", "published_totals": ["total", "quarters"]},
    },
    "od to where trips began": {"places": {"file": "places.csv", "include_intrazonal": True}},
}
# How rows tell who made them: columns of the plan, by unit.
_PERSONS, _TRIPS = {"person": "person"}, {"person": "person", "trip_id": "trip"}
IDENTIFIED_BY: dict[Unit, tuple[dict[str, str], ...]] = {
    Unit.PERSON: (_TRIPS, _PERSONS),
    Unit.TRIP: (_TRIPS, _PERSONS, {"trip_id": "trip"}),
}


def write(folder: Path) -> None:
    """Writes the files that the little plan names, beside the places."""
    trips = ((f"p{i % 5}", "abcd"[i % 4], "abcd"[(i + 1) % 4], hour(i)) for i in range(20))
    write_table(folder / "trips.csv", "person,origin,destination,time", trips)


def _with_trip_ids(scene: Scene) -> None:
    """Gives trips ids, and the last trips of some people those of their first."""
    scene.say("data.columns.trip_id", "trip")
    scene.say("problems.duplicate_trip_id", "refuse")
    header, *lines = scene.rows.read_text("utf-8").splitlines()
    ids = [f"{row},{number % 15}" for number, row in enumerate(lines)]
    scene.rows.write_text("\n".join([f"{header},trip", *ids, ""]), encoding="utf-8")


BAD_INPUT = (
    *PLACE_CASES,
    Case("no such origin", row(refuse="unknown_place", origin="z"), "unknown place"),
    Case("a trip to its origin", row(refuse="intrazonal", destination="a"), "intrazonal"),
    Case(
        "a trip id that is there twice",
        _with_trip_ids,
        "duplicate trip id",
    ),
    Case("a bound that is a truth", option("privacy.max_trips", True), "privacy.max_trips"),
    Case("a bound of none", option("privacy.max_trips", 0), "privacy.max_trips"),
    Case(
        "a cap where nothing is completed",
        option("privacy.max_trips_per_cell", 1),
        "privacy.max_trips_per_cell",
    ),
    Case("no such mechanism", option("mechanism.name", "magic"), "mechanism"),
    Case("no such feature", option("mechanism.published_totals", ["moon"]), "moon"),
    Case("pairs that are not there", option("places.pairs", "pairs.csv"), "pairs.csv"),
)


def in_memory(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    """Returns a counter of the rows that are kept of those that a generator draws."""
    rng, cells, rows = np.random.default_rng(1), job.geography, len(person)
    places = len(cells.locations)
    columns = {
        "period": rng.integers(-1, len(cells.periods) + 1, rows),
        "origin": rng.integers(0, places, rows),
        "destination": rng.integers(0, places, rows),
        "since_us": rng.integers(0, 9, rows),
        "person": person,
    }
    limits = {
        "unit": job.plan.privacy.unit,
        "max_trips": job.bound.total,
        "ladder": job.mechanism.ladder,
        "caps": job.mechanism.caps,
    }
    own = {name: column[kept] for name, column in columns.items()}
    return ArrayCounter(cells=cells, key=key, **limits, **own)
