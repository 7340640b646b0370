"""The releases of the family links, held to what every family is held to."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.links.files.published import FILES
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.roads import RoadNetwork
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.events import Event
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.measured import Internal
from support.family_suite import Case, MeasuredSuite, bounded, changes, put, swap
from support.link_scenes import links_certificate, links_of
from support.wrong_terms import choice_of

Spoil = Callable[[LinkTable], Any]

EDITS = [
    ("periods.csv", b"2026-03-03", b"2026-03-04", "geography"),
    ("periods.csv", b"Europe/Lisbon", b"Europe/Berlin", "geography"),
    ("zones.csv", b"west", b"best", "geography"),
    ("zones.csv", b"zone,", b"area,", "geography"),
    ("zones.csv", b"1,west\n", b"", "geography"),
    ("zones.csv", b"1,west\n", b"1,west\n2,north\n", "geography"),
    ("roads.parquet", b"PAR1", b"PAR2", "geography"),
    ("roads.parquet", b"1.1.0", b"1.2.0", "geography"),
    ("nodes.parquet", b"PAR1", b"PAR2", "geography"),
    ("links.parquet", b"PAR1", b"PAR2", "links"),
    ("links.geo.parquet", b"PAR1", b"PAR2", "formats"),
    ("links.geo.parquet", b"1.1.0", b"1.2.0", "formats"),
    ("links.geojson", b"way 9", b"way 8", "formats"),
    ("links.geojson", b'"total":', b'"total": ', "formats"),
    ("gmns/link.csv", b"way 9,", b"way 8,", "formats"),
    ("gmns/link.csv", b",true,", b",false,", "formats"),
    ("gmns/node.csv", b"n3", b"n4", "formats"),
    ("gmns/config.csv", b"km", b"mi", "formats"),
    ("measured_classes.csv", b'river",1,', b'river",1,1', "package"),
    ("measured_classes.csv", b'river",1,', b'river",2,', "links"),
    ("measured_classes.csv", b"of the river", b"of the liver", "links"),
    ("measured_classes.csv", b"ends,", b"stops,", "links"),
    ("datapackage.json", b'"classes_measured": true', b'"classes_measured": 1', "table facts"),
    ("datapackage.json", b'"classes_measured": true', b'"classes_measured": false', "terms"),
    ("datapackage.json", b'"speeds": false', b'"speeds": true', "links"),
    ("datapackage.json", b'"speeds": false', b'"speed": false', "table facts"),
    ("datapackage.json", b'"rounds": 7', b'"rounds": 8', "none"),
    ("datapackage.json", b'"links": 47', b'"links": 48', "package"),
    ("datapackage.json", b"is not known to be empty", b"is empty", "package"),
]

ROWS = {
    **changes(
        "links.parquet",
        {"formats"},
        {
            "another count": put(3, count=lambda rows: rows[3]["count"] + 1),
            "another error": put(3, standard_error=9.5),
            "a missing row": lambda rows: rows.pop(),
        },
    ),
    **changes(
        "links.parquet",
        {"links"},
        {
            "a count of 0": put(3, count=0.0),
            "a count of thousandths": put(3, count=1.001),
            "no error": put(3, standard_error=0.0),
            "the same link": lambda rows: rows[1].update(rows[0] | {"count": rows[1]["count"]}),
            "an unknown link": put(0, link_id="?"),
            "an unknown period": put(0, period="?"),
            "another period": put(0, period_number=1),
            "another class": put(0, **{"class": 5}),
            "another length": put(0, length_m=1.0),
            "another speed": put(0, speed=1.0),
            "a negative speed": put(0, speed=-1.0, speed_error=1.0),
            "another time": put(0, travel_time_s=1.0),
            "a speed without an error": put(0, speed_error=None),
            "rows out of order": swap,
            "a further row": lambda rows: rows.append(dict(rows[-1])),
        },
    ),
    **changes(
        "links.geo.parquet",
        {"formats"},
        {
            "another name on the map": put(0, name="Elsewhere"),
            "another course on the map": put(0, geometry=lambda rows: rows[1]["geometry"]),
            "another total on the map": put(0, total=lambda rows: rows[0]["total"] + 0.01),
            "a smaller error on the map": put(0, total_error=0.01),
            "a shorter list on the map": put(0, counts=lambda rows: rows[0]["counts"][:-1]),
            "a missing link on the map": lambda rows: rows.pop(),
        },
    ),
    **changes(
        "roads.parquet",
        {"geography"},
        {
            "another length of a road": put(0, length_m=1.0),
            "another course of a road": put(0, geometry=lambda rows: rows[1]["geometry"]),
            "another zone of a road": put(0, zone=0),
            "a zone without a name": put(0, zone=7),
            "a missing road": lambda rows: rows.pop(),
            "a link from nowhere": put(0, from_node_id="nowhere"),
        },
    ),
    **changes(
        "nodes.parquet",
        {"geography"},
        {
            "a moved node": put(0, lon=0.0),
            "another place of a node on the map": put(0, geometry=lambda rows: rows[1]["geometry"]),
            "a missing node": lambda rows: rows.pop(),
        },
    ),
}


def wrong_events(events: tuple[Event, ...]) -> dict[str, tuple[Event, ...]]:
    items, classes, fast = events
    most, steps = items.bound.total, fast.bound.each
    fewer = most - 1
    one = counting_event("heads", 1, items.loss, Bound.of_records(1))
    return {
        "no items": (classes, fast),
        "two of items": (items, *events),
        "no classes": (items, fast),
        "two of classes": (*events, classes),
        "no speeds": (items, classes),
        "another order": (classes, items, fast),
        "other cells": (dataclasses.replace(items, cells=47), classes, fast),
        "other groups": (items, dataclasses.replace(classes, cells=3), fast),
        "other links": (items, classes, dataclasses.replace(fast, cells=3)),
        "an item that counts twice": (bounded(items, each=2), classes, fast),
        "fewer cells than items": (bounded(items, cells=fewer), classes, fast),
        "fewer items in all": (bounded(items, total=fewer), classes, fast),
        "fewer items by class": (items, bounded(classes, each=fewer, total=fewer), fast),
        "one item by class": (items, bounded(classes, each=1), fast),
        "fewer speeds": (items, classes, bounded(fast, total=fewer * steps)),
        "fewer links with speeds": (
            items,
            classes,
            bounded(fast, cells=fewer, total=fewer * steps),
        ),
        "something else": (*events, one),
        "something else instead": (items, one, fast),
        "a choice instead of a measurement": (choice_of(items), classes, fast),
    }


SOME = counting_event("q", 9, ZCDPLoss(Fraction(1, 50)), Bound.of_records(9))


def with_number(table: LinkTable, name: str, value: float, row: int = 0) -> LinkTable:
    column = getattr(table, name).copy()
    column[row] = value
    return dataclasses.replace(table, **{name: column})


class FullerRoads:
    """Looks like roads, and knows more."""

    def __init__(self, roads: RoadNetwork) -> None:
        self._roads = roads

    def __getattr__(self, name: str) -> Any:
        return getattr(self._roads, name)


def with_fuller_roads(table: LinkTable) -> LinkTable:
    universe = dataclasses.replace(table.universe, roads=FullerRoads(table.universe.roads))
    return dataclasses.replace(table, universe=universe)


def in_zones(table: LinkTable, zone: Any, zones: Any = ("east", "west")) -> LinkTable:
    universe = dataclasses.replace(table.universe, zone=zone, zones=zones)
    return dataclasses.replace(table, universe=universe)


def with_speeds(table: LinkTable, speed: Any, error: Any) -> LinkTable:
    return dataclasses.replace(table, speed=speed, speed_error=error)


def speeds(table: LinkTable, first: float) -> Any:
    column = np.full(len(table.link), 9.5)
    column[0] = first
    return column


NAN = float("nan")
SPOILT: dict[str, Spoil] = {
    "internal": Internal,
    "internal counts": lambda t: dataclasses.replace(t, counts=Internal(t.counts)),
    "no universe": lambda t: dataclasses.replace(t, universe="Porto"),
    "fuller roads": with_fuller_roads,
    "negative zones": lambda t: in_zones(t, t.universe.zone - 1),
    "float zones": lambda t: in_zones(t, t.universe.zone.astype(float)),
    "zones without names": lambda t: in_zones(t, t.universe.zone, (1, 2)),
    "listed zones": lambda t: in_zones(t, t.universe.zone, ["east", "west"]),
    "float links": lambda t: dataclasses.replace(t, link=t.link.astype(float)),
    "a link too few": lambda t: dataclasses.replace(t, link=t.link[1:]),
    "float periods": lambda t: dataclasses.replace(t, period=t.period.astype(float)),
    "a period outside": lambda t: with_number(t, "period", 1, -1),
    "a negative period": lambda t: with_number(t, "period", -1),
    "a link outside": lambda t: with_number(t, "link", 47, -1),
    "a negative link": lambda t: with_number(t, "link", -1),
    "out of order": lambda t: with_number(t, "link", 46),
    "a link twice": lambda t: with_number(t, "link", int(t.link[1])),
    "whole counts": lambda t: dataclasses.replace(t, counts=t.counts.astype(np.int64)),
    "square counts": lambda t: dataclasses.replace(t, counts=t.counts[:, None]),
    "other errors": lambda t: dataclasses.replace(t, standard_error=t.standard_error[1:]),
    "a count of 0": lambda t: with_number(t, "counts", 0.0),
    "a negative count": lambda t: with_number(t, "counts", -0.01),
    "no number": lambda t: with_number(t, "counts", NAN),
    "endless": lambda t: with_number(t, "counts", float("inf")),
    "huge": lambda t: with_number(t, "counts", 1e14),
    "thousandths": lambda t: with_number(t, "counts", 1.005),
    "an error of 0": lambda t: with_number(t, "standard_error", 0.0),
    "no error": lambda t: with_number(t, "standard_error", NAN),
    "thousandths of errors": lambda t: with_number(t, "standard_error", 1.001),
    "speeds without errors": lambda t: with_speeds(t, speeds(t, 9.5), None),
    "errors without speeds": lambda t: with_speeds(t, None, speeds(t, 9.5)),
    "a speed without an error": lambda t: with_speeds(t, speeds(t, 9.5), speeds(t, NAN)),
    "a speed of 0": lambda t: with_speeds(t, speeds(t, 0.0), speeds(t, 1.0)),
    "an endless speed": lambda t: with_speeds(t, speeds(t, float("inf")), speeds(t, 1.0)),
    "hundredths of speeds": lambda t: with_speeds(t, speeds(t, 9.55), speeds(t, 1.0)),
    "a speed too few": lambda t: with_speeds(t, speeds(t, 9.5)[1:], speeds(t, 1.0)[1:]),
    "measured floats": lambda t: dataclasses.replace(t, class_totals=t.class_totals.astype(float)),
    "a group too few": lambda t: dataclasses.replace(t, class_totals=t.class_totals[1:]),
    "huge groups": lambda t: with_number(t, "class_totals", 2**62),
    "a threshold of numpy": lambda t: dataclasses.replace(t, threshold=np.float64(3)),
    "an endless threshold": lambda t: dataclasses.replace(t, threshold=float("inf")),
    "an internal threshold": lambda t: dataclasses.replace(t, threshold=Internal(3.0)),
    "diagnostics": lambda t: dataclasses.replace(t, diagnostics={"truth": Internal(3)}),
    "odd diagnostics": lambda t: dataclasses.replace(t, diagnostics={"gap": np.float64(3)}),
}


class TestLinks(MeasuredSuite):
    case = Case(
        family="links",
        table="links",
        certify=links_certificate,
        release="plain_release",
        checks={
            name: ["geography", "links", "terms", "formats"]
            for name in ("plain_release", "fast_release")
        },
        edits=EDITS,
        others=["fast_links"],
        rows_release="fast_release",
        rows=ROWS,
        events=wrong_events,
        event_names=list(wrong_events((SOME,) * 3)),
        spoilt=SPOILT,
        edited=("fast_release", "fast_links"),
        files=FILES,
        absent={
            "plain_release": {"gmns/link_measurement.csv"},
            "fast_release": {"measured_classes.csv"},
        },
        numbers=("links.parquet", "links", ["count", "period_number", "speed"]),
        left_out=("links.geojson", "hushway.families.links.files.geo.MOST_GEOJSON_NUMBERS", 5),
        most_cells=("hushway.families.links.files.check.MOST_CELLS", 46),
    )

    @pytest.fixture
    def measured_table(self) -> LinkTable:
        return links_of(speeds=True)
