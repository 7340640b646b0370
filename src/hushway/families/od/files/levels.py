"""Flows between groups of places, which are known where those between places are not."""

from dataclasses import replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.files.drawn_sums import (
    FlowSums,
    TimeAxis,
    flow_sums,
    origin_sums,
    parts_of_days,
    whole_days,
)
from hushway.families.od.public.cells import ODCells
from hushway.geography.clusters import nested_clusters, zones_of
from hushway.geography.locations import Locations
from hushway.release.drawing.atlas import AtlasPlaces, Drawing, Flows, Level, Numbers
from hushway.release.questions.cells import AskedCells

# Sums of more cells take long, so there are fewer groups of places then.
_MANY_CELLS: Final = 1_000_000
_FEW_GROUPS: Final = 64
_MEANING: Final = (
    "Published trips from one group of places to another, or within one, {counted}. The error is "
    "what is left in the sum, as learnt from all noisy counts."
)
_TOTALS: Final = (
    "Published trips that start in a group of places, {counted}. The error is what is left in the "
    "sum, as learnt from all noisy counts."
)


def with_levels(drawing: Drawing, universe: ODCells, cells: AskedCells) -> Drawing:
    """Returns a drawing with its flows between groups of places too, if it has many places."""
    axes = [parts_of_days(universe, cells)]
    if len(drawing.periods) > len(universe.periods):
        axes.append(whole_days(universe, cells))
    most = _FEW_GROUPS if len(cells.counts) > _MANY_CELLS else len(universe.locations)
    steps = (group for group in nested_clusters(universe.locations) if group.max() < most)
    return replace(drawing, levels=tuple(_level(universe, cells, axes, group) for group in steps))


def _level(universe: ODCells, cells: AskedCells, axes: list[TimeAxis], group: IntArray) -> Level:
    totals = [origin_sums(cells, axis, group) for axis in axes]
    count, error = (np.column_stack(part).ravel() for part in zip(*totals, strict=True))
    return Level(
        group=group,
        places=_groups(universe.locations, group),
        totals=Numbers(count=count, error=error, meaning=_TOTALS.format(counted=universe.counted)),
        flows=_flows(
            [flow_sums(cells, axis, group) for axis in axes],
            axes,
            _MEANING.format(counted=universe.counted),
        ),
    )


def _flows(parts: list[FlowSums], axes: list[TimeAxis], meaning: str) -> Flows:
    def joined(name: str) -> FloatArray:
        return np.concatenate([getattr(part, name) for part in parts])

    sizes = [
        np.bincount(part.time, minlength=len(axis)) for part, axis in zip(parts, axes, strict=True)
    ]
    return Flows(
        origin=joined("origin").astype(np.int64),
        destination=joined("destination").astype(np.int64),
        numbers=Numbers(count=joined("count"), error=joined("error"), meaning=meaning),
        starts=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
    )


def _groups(locations: Locations, group: IntArray) -> AtlasPlaces:
    """Returns groups in the middle of their places, each named by the place that is next to it."""
    size = int(group.max()) + 1
    points = np.array([(place.lon, place.lat) for place in locations.places])
    members = np.bincount(group, minlength=size)
    middle = np.column_stack(
        [np.bincount(group, column, minlength=size) / members for column in points.T]
    )
    away = ((points - middle[group]) ** 2).sum(axis=1)
    order = np.lexsort((away, group))
    first = order[np.searchsorted(group[order], np.arange(size))].tolist()
    return AtlasPlaces(
        ids=[locations.ids[i] for i in first],
        names=_names(locations, group, first),
        lon=middle[:, 0],
        lat=middle[:, 1],
    )


def _names(locations: Locations, group: IntArray, first: list[int]) -> list[str]:
    """Returns the zones where groups are zones, or else one place and how many there are beside."""
    places, zone = locations.places, zones_of(locations)
    if zone is not None and np.array_equal(zone, group):
        return [places[i].zone for i in first]
    others = (np.bincount(group) - 1).tolist()
    names = [places[i].name or places[i].id for i in first]
    return [
        name if more == 0 else f"{name} and {more} more"
        for name, more in zip(names, others, strict=True)
    ]
