"""How long a fitted OD table takes: beside the noise alone, and for a billion cells from a file.

The pipeline is that of a release: exact noise on cells and features, the fit, controlled rounding.
Its opponent is the drawing of the cells' noise alone, once with our exact sampler and once with
numpy. The billion cells are published from Parquet to a verified folder in a process of its own, so
that time and memory are those of a user.
"""

import tempfile
from datetime import date
from fractions import Fraction
from pathlib import Path

import numpy as np

from harness import in_process, peak_gb, print_figures, serve_job, timed, warm_seconds, whole_days
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.shares import recommended_shares, recommended_weights
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import os_source

RUNS = 15
PLACES, ZONES, MODES = 130, 4, 12
TRIPS = 37_714
HUGE_MECHANISMS = ("cbdp", "learned")
HUGE_PLACES, HUGE_TRIPS, HUGE_PEOPLE = 4_566, 1_250_000, 400_000

PLAN = """
release_type = "od"
[data]
name = "huge-{mechanism}"
trips = "trips.parquet"
[data.columns]
person = "person"
[places]
file = "places.csv"
[time]
zone = "America/Detroit"
first_day = 2026-03-03
last_day = 2026-03-03
minutes = 30
[privacy]
max_trips = 4
epsilon = "1"
[mechanism]
name = "{mechanism}"
[ledger]
period = "{mechanism}"
[release]
folder = "release-{mechanism}"
title = "A billion cells"
"""


class Known:
    """Counts that are known already: only what a mechanism adds to them is timed."""

    unit = Unit.TRIP

    def __init__(self, exact: ExactCounts) -> None:
        self._exact = exact

    def bound(self, _query: Query) -> Bound:
        """One trip."""
        return Bound(cells=1, each=1, total=1)

    def count(self, _query: Query) -> ExactCounts:
        """The known counts."""
        return self._exact

    def charge(self, _event: Event) -> None:
        """Takes nothing."""


def universe(places: int) -> ODCells:
    generator = np.random.default_rng(3)
    spots = tuple(
        Location(
            id=f"s{i}",
            name="",
            lon=-83.9 + 0.4 * generator.random(),
            lat=42.1 + 0.4 * generator.random(),
            zone=f"z{i % ZONES}",
        )
        for i in range(places)
    )
    periods = whole_days("America/Detroit", date(2026, 3, 3), 1, minutes=30)
    return ODCells(locations=Locations(spots), periods=periods, include_intrazonal=True)


def paper_features(cells: ODCells) -> tuple[Feature, ...]:
    zones = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"))
    modes = labels_of_codes(
        "mode", np.random.default_rng(4).integers(0, MODES, cells.pairs), [*map(str, range(MODES))]
    )
    return (
        total_feature(cells),
        period_feature(cells),
        pair_feature(cells, "zones", zones),
        pair_feature(cells, "modes", modes),
    )


def pipeline(epsilon: str) -> dict[str, float]:
    """Times a whole table of 811,200 cells, and the noise of its cells alone."""
    cells = universe(PLACES)
    made = stand_in(cells, trips=TRIPS, people=TRIPS // 2)
    occupied, counts = np.unique(
        cells.encode(made.period, made.origin, made.destination), return_counts=True
    )
    town = Known(ExactCounts(cells=occupied, values=counts.astype(np.int64)))
    features = paper_features(cells)
    budget = PureLoss(Fraction(epsilon))
    shares = recommended_shares(features, budget.measure)
    mechanism = od_cbdp(
        cells, features, budget=budget, shares=shares, weights=recommended_weights()
    )

    def publish() -> None:
        curator = Curator(counter=town, budget=town, source=os_source())
        mechanism.fit(mechanism.measure(curator, cells), cells)

    scale = 1 / (budget.epsilon * shares[-1])
    law, generator = DiscreteLaplace(scale), np.random.default_rng()
    whole = warm_seconds(publish, RUNS)
    exact = warm_seconds(lambda: law.draw(os_source(), cells.size), RUNS)
    inexact = warm_seconds(lambda: generator.laplace(0.0, float(scale), cells.size), RUNS)
    return {
        "pipeline_seconds": whole,
        "exact_noise_seconds": exact,
        "numpy_noise_seconds": inexact,
        "ratio_to_exact_noise": whole / exact,
        "ratio_to_numpy_noise": whole / inexact,
    }


def write_huge(folder: Path) -> dict[str, float]:
    """Writes the files of a city with a billion cells."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = universe(HUGE_PLACES)
    made = stand_in(cells, trips=HUGE_TRIPS, people=HUGE_PEOPLE)
    lines = [f"{p.id},{p.lon},{p.lat},{p.zone}" for p in cells.locations.places]
    (folder / "places.csv").write_text("\n".join(["id,lon,lat,zone", *lines]) + "\n")
    ids = pa.array(cells.locations.ids)
    minute = made.period * 30
    times = np.datetime64("2026-03-03", "us") + minute.astype("timedelta64[m]")
    table = pa.table(
        {
            "person": made.person,
            "origin": pa.DictionaryArray.from_arrays(pa.array(made.origin.astype(np.int32)), ids),
            "destination": pa.DictionaryArray.from_arrays(
                pa.array(made.destination.astype(np.int32)), ids
            ),
            "time": times,
        }
    )
    pq.write_table(table, folder / "trips.parquet")
    used = np.unique(cells.encode(made.period, made.origin, made.destination))
    return {"huge_cells": float(cells.size), "huge_occupied": float(len(used))}


def publish_huge(folder: Path, mechanism: str) -> dict[str, float]:
    """Publishes them: reading, bounding, noise, fit, rounding and writing."""
    from hushway.families.load import load_plan, prepare
    from hushway.privacy.ledger import Ledger
    from hushway.steward.publish import publish

    plan = folder / f"{mechanism}.toml"
    plan.write_text(PLAN.format(mechanism=mechanism))

    def published() -> None:
        job = prepare(load_plan(plan))
        with Ledger.connect(job.plan.ledger_url()) as ledger:
            ledger.open_account(job.account, PureLoss(Fraction(1)))
        publish(job, anyway=True)

    seconds, _ = timed(published)
    return {f"huge_seconds_{mechanism}": seconds, f"huge_peak_gb_{mechanism}": peak_gb()}


def huge() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as temporary:
        facts = write_huge(Path(temporary))
        for mechanism in HUGE_MECHANISMS:
            facts |= in_process(__file__, temporary, mechanism)
        return facts


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    figures: dict[str, float] = {}
    for epsilon in ("1", "0.1"):
        figures |= {f"{name}_at_{epsilon}": value for name, value in pipeline(epsilon).items()}
    figures |= huge()
    bars = {"ratio_to": "at most 4", "huge_seconds": "at most 60", "huge_peak_gb": "at most 4"}
    print_figures(figures, bars)
    return figures


if __name__ == "__main__":
    serve_job(lambda folder, mechanism: publish_huge(Path(folder), mechanism))
    main()
