"""What tests need of the family: a little plan with its rows, and what can be wrong with them."""

from pathlib import Path
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.privacy.bound import Unit
from hushway.privacy.query import Counter
from support.bad_input import PLACE_CASES, Case, option, row
from support.little_city import SOON, TIME, hour, write_table

PLAN: dict[str, Any] = {
    "data": {"name": "taps", "taps": "taps.csv", "columns": {"person": "person"}},
    "places": {"file": "places.csv"},
    "taxonomy": {"columns": ["zone"]},
    # As many days as leave a limit on records something to leave out.
    "time": TIME | {"last_day": "2026-03-05"},
    "records": {"max_stops": 3},
    "privacy": {"max_records": 2, "epsilon": "1"},
    "mechanism": {"name": "prefix_tree"},
}
# The file of protected rows, and one row that counts, column by column.
ROWS = "taps.csv"
ROW = {"person": "p0", "place": "a", "time": SOON}
# Values to try of options that cannot be listed.
OPTION_VALUES: dict[str, tuple[Any, ...]] = {"expected_false_prefixes": (0.4,), "ratio": ("1/2",)}
# What must be said besides, for a plan with such an option to make sense.
COMPANIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("ratio", "1/2"): {"levels": "geometric"},
    ("levels", "geometric"): {"ratio": "1/2"},
}
# The section that names its public file.
PUBLIC = "places"
# Changes to the little plan whose releases have kept digests, and others that are replayed only.
SEEDED_PLANS: dict[str, dict[str, Any]] = {
    "sequences as they are": {
        "data": {"name": "rows", "sequences": "sequences.csv"},
        "privacy": {"unit": "record", "epsilon": "1"},
    },
    # So few records that nothing is sure: such a release is whole too.
    "sequences learnt": {"mechanism": {"name": "learned"}},
    "sequences with Gaussian noise": {
        "mechanism": {"noise": "gaussian"},
        "privacy": {"max_records": 2, "epsilon": "1", "delta": "1e-6"},
    },
}
REPLAYED_PLANS: dict[str, dict[str, Any]] = {
    "sequences with times": {"records": {"max_stops": 2, "times": True}},
    "sequences of a whole window": {
        "records": {"max_stops": 3, "span": "window"},
        "privacy": {"epsilon": "8"},
        "mechanism": {"name": "prefix_tree"},
    },
    "sequences without groups": {"taxonomy": {}},
}
# How rows tell who made them: columns of the plan, by unit.
_PERSONS, _READY = {"person": "person"}, {"person": "person", "stops": "stops"}
IDENTIFIED_BY: dict[Unit, tuple[dict[str, str], ...]] = {
    Unit.PERSON: (_PERSONS, _READY),
    Unit.RECORD: (_PERSONS, _READY, {"stops": "stops"}),
}


def write(folder: Path) -> None:
    """Writes the files that the little plan names, beside the places."""
    taps = ((f"p{i % 6}", "abcd"[i * i % 4], hour(i % 20)) for i in range(36))
    write_table(folder / "taps.csv", "person,place,time", taps)
    sequences = (("abcd"[i % 4] + " " + "abcd"[i // 4 % 4],) for i in range(24))
    write_table(folder / "sequences.csv", "stops", sequences)


BAD_INPUT = (
    *PLACE_CASES,
    Case("no such stop", row(refuse="unknown_place", place="z"), "unknown place"),
    Case("a bound that is a truth", option("privacy.max_records", True), "max_records"),
    Case("no such grouping", option("taxonomy.columns", ["moon"]), "moon"),
    Case("a timetable that is not there", option("taxonomy", {"gtfs": "g.zip"}), "g.zip"),
    Case("a tree without height", option("records.max_stops", 0), "records.max_stops"),
)


def in_memory(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    """Returns a counter of the rows that are kept of those that a generator draws."""
    rng, universe = np.random.default_rng(2), job.geography
    taxonomy = universe.taxonomy
    stops = [rng.integers(0, len(taxonomy.locations), rng.integers(1, 6)) for _ in person]
    own = [one for one, is_kept in zip(stops, kept, strict=True) if is_kept]
    return ArraySequences(
        taxonomy=taxonomy,
        unit=job.plan.privacy.unit,
        max_records=job.bound.total,
        max_stops=job.plan.records.max_stops,
        key=key,
        ladder=job.rows.ladder,
        start=np.cumsum([0, *map(len, own)]),
        stops=np.concatenate(own),
        person=person[kept],
    )
