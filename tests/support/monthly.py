"""Four months of a little city, published as a series."""

from collections.abc import Mapping
from pathlib import Path

import hushway
from hushway.families.load import load_plan
from support.little_city import write_table

PLAN = """
release_type = "od"
[data]
trips = "trips-{step}.csv"
name = "trips"
[data.columns]
person = "rider"
origin = "from"
destination = "to"
time = "at"
[places]
file = "places.csv"
[time]
zone = "Europe/Paris"
minutes = 720
[privacy]
unit = "person"
epsilon = "8"
max_trips = 2
[mechanism]
name = "laplace"
[series]
step = "month"
steps_per_span = 12
budget = "96"
[ledger]
period = "monthly"
[release]
folder = "releases/{step}"
title = "Trips in {step}"
[engine]
threads = 1
encrypt_spills = false
"""
PLACES = [("a", "A", 2.30, 48.80), ("b", "B", 2.31, 48.81), ("c", "C", 2.32, 48.82)]
USUAL = 200
RIDERS = {"2025-12": USUAL, "2026-01": USUAL, "2026-03": USUAL, "2026-04": 3 * USUAL}


def plan_with(changes: Mapping[str, str]) -> str:
    """Returns the plan with some of its lines told otherwise."""
    plan = PLAN
    for told, otherwise in changes.items():
        assert plan.count(told) == 1, told
        plan = plan.replace(told, otherwise)
    return plan


def publish_months(folder: Path, text: str = PLAN) -> Path:
    """Publishes four months; February is missing, in April there are more riders and a new stop.

    Returns:
        The folder of the releases.
    """
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    for month, riders in RIDERS.items():
        new = [("d", "D", 2.33, 48.83)] if month == "2026-04" else []
        write_table(folder / "places.csv", "id,name,lon,lat", [*PLACES, *new])
        rows = [
            (f"r{n}", "a", "bc"[n % 2 and riders == USUAL], f"{month}-1{n % 9}T08:00:00")
            for n in range(riders)
        ]
        write_table(folder / f"trips-{month}.csv", "rider,from,to,at", rows)
        if month == "2025-12":
            hushway.ledger.open(load_plan(plan, step=month))
        hushway.publish(plan, step=month, anyway=True)
    return folder / "releases"
