"""The releases of the family density, held to what every family is held to."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.families.density.files.published import FILES
from hushway.families.density.fit.table import DensityTable
from hushway.geography.areas import Areas
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.events import Event
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.measured import Internal
from support.density_scenes import density_certificate
from support.family_suite import Case, MeasuredSuite, bounded, changes, put, swap
from support.wrong_terms import choice_of

Spoil = Callable[[DensityTable], Any]

EDITS = [
    ("areas.geojson", b"[2.3,48.8", b"[2.3,48.7", "geography"),
    ("areas.geojson", b"Quarter 1", b"Quarter 9", "geography"),
    ("areas.geojson", b"{", b"[", "geography"),
    ("areas.geojson", b'"Feature"', b' "Feature"', "geography"),
    ("periods.csv", b"2026-03-03", b"2026-03-04", "geography"),
    ("periods.csv", b"Europe/Paris", b"Europe/Berlin", "geography"),
    ("sites.csv", b"48.81", b"48.82", "geography"),
    ("sites.csv", b"1,t2", b"0,t2", "geography"),
    ("sites.csv", b"site,id", b"place,id", "geography"),
    ("cover.csv", b"0,site,0,0", b"0,site,0,1", "package"),
    ("cover.csv", b"0,site,0,0", b"0,site,0,5", "geography"),
    ("cover.csv", b"0,site,0,0", b"0,site,1,0", "geography"),
    ("cover.csv", b"kind", b"type", "geography"),
    ("pieces.csv", b"\n1,", b"\n0,", "geography"),
    ("pieces.csv", b",size", b",area", "geography"),
    ("density.parquet", b"PAR1", b"PAR2", "density"),
    ("density.csv", b"T06:00:00", b"T07:00:00", "formats"),
    ("density.csv", b",count,", b",counts,", "formats"),
    ("density.geo.parquet", b"1.1.0", b"1.2.0", "formats"),
    ("density.geo.parquet", b"PAR1", b"PAR2", "formats"),
    ("measured_series.parquet", b"PAR1", b"PAR2", "density"),
    ("measured_sites.csv", b"0,", b"1,", "density"),
    ("datapackage.json", b'"places": true', b'"places": false', "geography"),
    ("datapackage.json", b'"places": true', b'"places": 1', "table facts"),
    ("datapackage.json", b'"places": true', b'"place": true', "table facts"),
    ("datapackage.json", b'"quanta": 12', b'"quanta": 13', "terms"),
    ("datapackage.json", b'"quanta": 12', b'"quanta": 1e9', "table facts"),
    ("datapackage.json", b'"quanta": 12', b'"quanta": 999999999', "density"),
    ("datapackage.json", b'"sites_measured": true', b'"sites_measured": false', "terms"),
    ("datapackage.json", b'"measured_total": 12345', b'"measured_total": 2.5', "table facts"),
    ("datapackage.json", b'"measured_total": 12345', b'"measured_total": null', "terms"),
    ("datapackage.json", b'"kept": 4.5', b'"kept": 5.5', "none"),
    ("datapackage.json", b'"clusters": 2', b'"clusters": 3', "package"),
    ("datapackage.json", b'"visits": ', b'"visits": 1', "package"),
    ("datapackage.json", b"may be negative", b"is positive", "package"),
]

ROWS = {
    **changes(
        "density.parquet",
        {"formats", "package"},
        {"another count": put(3, count=lambda rows: rows[3]["count"] + 1)},
    ),
    **changes("density.parquet", {"formats"}, {"another error": put(3, standard_error=31.5)}),
    **changes(
        "density.parquet",
        {"density"},
        {
            "a negative count": put(3, count=-1.0),
            "a count of thousandths": put(3, count=1.001),
            "no error": put(3, standard_error=0.0),
            "another area": put(0, area=lambda rows: rows[-1]["area"]),
            "an unknown area": put(0, area="?"),
            "another period": put(0, period=1),
            "another start": put(0, starts=lambda rows: rows[1]["starts"]),
            "rows out of order": swap,
            "a missing row": lambda rows: rows.pop(),
            "a further row": lambda rows: rows.append(dict(rows[-1])),
        },
    ),
    **changes(
        "density.geo.parquet",
        {"formats"},
        {
            "another name on the map": put(0, name="Elsewhere"),
            "another shape on the map": put(0, geometry=lambda rows: rows[1]["geometry"]),
            "another total on the map": put(0, total=lambda rows: rows[0]["total"] + 0.01),
            "a shorter series on the map": put(0, counts=lambda rows: rows[0]["counts"][:-1]),
            "another series on the map": put(0, counts=lambda rows: rows[0]["counts"][::-1]),
            "a missing area on the map": lambda rows: rows.pop(),
        },
    ),
    **changes(
        "measured_series.parquet",
        {"density"},
        {
            "another cluster": put(0, cluster=1),
            "another period of a cluster": put(0, period=1),
            "a missing measurement": lambda rows: rows.pop(),
        },
    ),
}


def wrong_events(events: tuple[Event, ...]) -> dict[str, tuple[Event, ...]]:
    sites, people, visits, totals, series = events
    parts, visit = series.bound.total, series.bound.each
    one = counting_event("heads", 1, series.loss, Bound.of_records(1))
    coefficients = dataclasses.replace(series, query="coefficients of each cluster")

    def instead(at: int, event: Event) -> tuple[Event, ...]:
        return (*events[:at], event, *events[at + 1 :])

    def with_cells(at: int, cells: int) -> tuple[Event, ...]:
        return instead(at, dataclasses.replace(events[at], cells=cells))

    return {
        "no series": (sites, people, visits, totals),
        "two series": (*events, series),
        "no histogram": (people, visits, totals, series),
        "no activity": (sites, visits, totals, series),
        "no total": (sites, people, totals, series),
        "no totals of clusters": (sites, people, visits, series),
        "another order": (series, sites, people, visits, totals),
        "fewer clusters": with_cells(4, 8),
        "a cluster for every cell": with_cells(4, 24),
        "half the parts": instead(4, bounded(series, each=visit // 2)),
        "parts of a visit left over": instead(4, bounded(series, total=parts - 1)),
        "more visits than periods": instead(4, bounded(series, total=9 * visit)),
        "fewer cells touched": instead(4, bounded(series, cells=1)),
        "two visits a person": instead(0, bounded(sites, each=2, total=2)),
        "a person in two classes": instead(1, bounded(people, cells=2, total=2)),
        "other sites": with_cells(0, 3),
        "other classes": with_cells(1, 3),
        "two totals": with_cells(2, 2),
        "other totals of clusters": with_cells(3, 5),
        "something else": (*events, one),
        "something else instead": instead(3, one),
        "a choice instead of a measurement": instead(4, choice_of(series)),
        "a choice that is a measurement": (*events[:4], coefficients, series),
    }


SOME = counting_event("q", 1, ZCDPLoss(Fraction(1, 50)), Bound.of_records(12))


def shifted(table: DensityTable, name: str, value: float) -> DensityTable:
    """Changes the first number of an array."""
    array = getattr(table, name).copy()
    array.reshape(-1)[0] = value
    return dataclasses.replace(table, **{name: array})


class FullerAreas:
    """Looks like areas, and could carry anything."""

    def __init__(self, areas: Areas) -> None:
        self._areas = areas

    def __len__(self) -> int:
        return len(self._areas)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._areas, name)


def with_fuller_areas(table: DensityTable) -> DensityTable:
    areas = FullerAreas(table.universe.areas)
    return dataclasses.replace(table, universe=dataclasses.replace(table.universe, areas=areas))


SPOILT: dict[str, Spoil] = {
    "internal": Internal,
    "internal counts": lambda t: dataclasses.replace(t, counts=Internal(t.counts)),
    "no universe": lambda t: dataclasses.replace(t, universe="Paris"),
    "fuller areas": with_fuller_areas,
    "whole counts": lambda t: dataclasses.replace(t, counts=t.counts.astype(np.int64)),
    "flat counts": lambda t: dataclasses.replace(t, counts=t.counts.reshape(-1)),
    "a period too few": lambda t: dataclasses.replace(t, counts=t.counts[:, 1:]),
    "other errors": lambda t: dataclasses.replace(t, standard_error=t.standard_error[1:]),
    "a negative count": lambda t: shifted(t, "counts", -0.01),
    "no number": lambda t: shifted(t, "counts", float("nan")),
    "endless": lambda t: shifted(t, "counts", float("inf")),
    "huge": lambda t: shifted(t, "counts", 1e14),
    "thousandths": lambda t: shifted(t, "counts", 1.005),
    "an error of 0": lambda t: shifted(t, "standard_error", 0.0),
    "no error": lambda t: shifted(t, "standard_error", float("nan")),
    "thousandths of errors": lambda t: shifted(t, "standard_error", 1.001),
    "measured floats": lambda t: dataclasses.replace(
        t, measured_series=t.measured_series.astype(float)
    ),
    "flat series": lambda t: dataclasses.replace(t, measured_series=t.measured_series.reshape(-1)),
    "huge series": lambda t: shifted(t, "measured_series", 2**62),
    "a site too few": lambda t: dataclasses.replace(t, measured_sites=t.measured_sites[:, 1:]),
    "sites in a row": lambda t: dataclasses.replace(t, measured_sites=t.measured_sites[0]),
    "activity in floats": lambda t: dataclasses.replace(
        t, measured_activity=t.measured_activity.astype(float)
    ),
    "a list of sites": lambda t: dataclasses.replace(t, measured_sites=[1, 2]),
    "a total of numpy": lambda t: dataclasses.replace(t, measured_total=np.int64(5)),
    "half a total": lambda t: dataclasses.replace(t, measured_total=0.5),
    "a true total": lambda t: dataclasses.replace(t, measured_total=True),
    "gaps": lambda t: dataclasses.replace(t, cluster=t.cluster * 2),
    "negative clusters": lambda t: dataclasses.replace(t, cluster=t.cluster - 1),
    "short clusters": lambda t: dataclasses.replace(t, cluster=t.cluster[1:]),
    "float clusters": lambda t: dataclasses.replace(t, cluster=t.cluster.astype(float)),
    "no quanta": lambda t: dataclasses.replace(t, quanta=0),
    "quanta of numpy": lambda t: dataclasses.replace(t, quanta=np.int64(12)),
    "endless quanta": lambda t: dataclasses.replace(t, quanta=2**40),
    "diagnostics": lambda t: dataclasses.replace(t, diagnostics={"truth": Internal(3)}),
    "odd diagnostics": lambda t: dataclasses.replace(t, diagnostics={"gap": np.float64(3)}),
}

OF_AVERAGE_DAYS = {"average_day.csv", "average_periods.csv"}


class TestDensity(MeasuredSuite):
    case = Case(
        family="density",
        table="density",
        certify=density_certificate,
        release="tower_release",
        checks={
            name: ["geography", "density", "terms", "formats"]
            for name in ("tower_release", "plain_release")
        },
        edits=EDITS,
        others=["plain_density"],
        rows_release="tower_release",
        rows=ROWS,
        events=wrong_events,
        event_names=list(wrong_events((SOME,) * 5)),
        spoilt=SPOILT,
        edited=("tower_release", "density"),
        files=FILES,
        absent={
            "tower_release": OF_AVERAGE_DAYS,
            "plain_release": OF_AVERAGE_DAYS | {"measured_sites.csv", "sites.csv"},
        },
        numbers=("density.parquet", "density", ["count", "period", "starts"]),
        left_out=("density.csv", "hushway.families.density.files.rows.MOST_CSV_ROWS", 23),
        most_cells=("hushway.families.density.files.check.MOST_CELLS", 23),
    )
