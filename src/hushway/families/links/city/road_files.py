"""Roads as files of the General Modeling Network Specification: node.csv and link.csv."""

import csv
from itertools import pairwise
from pathlib import Path

from hushway.families.links.public.roads import RoadNetwork

# What the classes are called in the files, from 1 on.
_FACILITIES = ("", "motorway", "primary", "secondary", "tertiary", "residential")


def write_gmns(roads: RoadNetwork, folder: Path) -> None:
    """Writes the roads: one row for each node, and one for each direction of a street.

    Lengths are in metres, speeds in km/h, courses as WKT in WGS84 degrees.
    """
    with (folder / "node.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("node_id", "x_coord", "y_coord"))
        columns = roads.node_id, roads.node_lon, roads.node_lat
        rows.writerows(zip(*(column.tolist() for column in columns), strict=True))
    with (folder / "link.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(
            ("link_id", "name", "from_node_id", "to_node_id", "directed", "geometry", "length",
             "facility_type", "free_speed", "lanes")
        )  # fmt: skip
        rows.writerows(
            zip(
                roads.link_id.tolist(),
                roads.name.tolist(),
                roads.node_id[roads.tail].tolist(),
                roads.node_id[roads.head].tolist(),
                [1] * roads.links,
                _wkt(roads),
                roads.length.tolist(),
                [_FACILITIES[road_class] for road_class in roads.road_class.tolist()],
                roads.speed.tolist(),
                roads.lanes.astype(int).tolist(),
                strict=True,
            )
        )


def _wkt(roads: RoadNetwork) -> list[str]:
    # A float's own text is the shortest that reads back as the same number.
    point = [f"{x!r} {y!r}" for x, y in zip(roads.lon.tolist(), roads.lat.tolist(), strict=True)]
    start = roads.start.tolist()
    return [f"LINESTRING ({', '.join(point[begin:end])})" for begin, end in pairwise(start)]
