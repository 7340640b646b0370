"""What the synthetic road cities hold, as tables.

Shown by `python -m hushway.families.links.city.describe`.
"""

from collections.abc import Mapping

import numpy as np

from hushway.families.links.city import berkeley as region
from hushway.families.links.city.berkeley import berkeley, departure_hours
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import some_trips
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.public.roads import CLASSES, RoadNetwork
from hushway.study.results import facts_table, matched_table, print_tables


def tables(seed: int) -> str:
    """Returns figures of a road network and of the synthetic Berkeley as Markdown tables."""
    day = berkeley(seed, hours=range(24))
    hour = some_trips(day, departure_hours(day) == region.HOUR)
    roads = {"road city": _roads(road_city(seed)), "Berkeley": _roads(hour.roads)}
    trips = {"1 pm to 2 pm": _trips(hour), "whole day": _trips(day)}
    return "\n".join([matched_table(_matched(hour, day)), facts_table(roads), facts_table(trips)])


def _matched(hour: TraceCity, day: TraceCity) -> Mapping[str, tuple[str, str]]:
    miles = hour.driven_m / region.METRES_OF_MILE
    size = np.diff(hour.start)
    lasted = hour.seconds[hour.start[1:] - 1] - hour.seconds[hour.start[:-1]]
    often = 100 * float((lasted / (size - 1) < 60).mean())
    hourly = np.bincount(departure_hours(day), minlength=24)
    morning, evening = int(hourly[:12].argmax()), 12 + int(hourly[12:].argmax())
    return {
        "trajectories, 1 pm to 2 pm": (f"about {region.TRAJECTORIES:,}", f"{len(hour):,}"),
        "length of the links driven, miles": (f"{region.DRIVEN_MILES}", f"{miles:.1f}"),
        "functional classes": (f"{len(CLASSES)}", f"{len(np.unique(hour.roads.road_class))}"),
        "trajectories with a position each minute": ("most", f"{often:.0f}%"),
        "busiest hours": ("two rush hours", f"{morning}:00 and {evening}:00"),
    }


def _roads(roads: RoadNetwork) -> Mapping[str, str]:
    share = 100 * np.bincount(roads.road_class, minlength=6) / roads.links
    _, first = np.unique(roads.street, return_index=True)
    ends = np.concatenate([roads.tail[first], roads.head[first]])
    degree = np.bincount(ends, minlength=roads.nodes)
    wide, high = np.ptp(roads.node_points, axis=0) / 1_000
    return {
        "links": f"{roads.links:,}",
        "nodes": f"{roads.nodes:,}",
        "length of all links, km": f"{roads.length.sum() / 1_000:,.0f}",
        "size, km": f"{wide:.1f} x {high:.1f}",
        "links of class 1 to 5": " / ".join(f"{each:.1f}%" for each in share[1:]),
        "one-way streets": f"{100 * (np.bincount(roads.street) == 1).mean():.0f}%",
        "nodes at dead ends": f"{100 * (degree == 1).mean():.0f}%",
        "nodes without a crossing": f"{100 * (degree == 2).mean():.0f}%",
        "length of a link, 5% / median / 95%, m": " / ".join(
            f"{each:.0f}" for each in np.quantile(roads.length, [0.05, 0.5, 0.95])
        ),
    }


def _trips(city: TraceCity) -> Mapping[str, str]:
    way, roads = city.truth, city.roads
    metres = np.add.reduceat(roads.length[way.link], way.start[:-1])
    lasts = way.left[way.start[1:] - 1] - way.entered[way.start[:-1]]
    used = np.bincount(way.link, minlength=roads.links)
    once = 100 * float((used[used > 0] == 1).mean())
    first = np.unique(roads.street, return_index=True)[1]
    driven = np.isin(roads.street[first], roads.street[way.link])
    return {
        "trajectories": f"{len(city):,}",
        "persons": f"{len(np.unique(city.person)):,}",
        "trajectories of fleets": f"{100 * city.fleet[city.person].mean():.0f}%",
        "positions": f"{len(city.lon):,}",
        "links of a trajectory, mean": f"{np.diff(way.start).mean():.1f}",
        "length of a trajectory, km, mean": f"{metres.mean() / 1_000:.2f}",
        "minutes of a trajectory, mean": f"{lasts.mean() / 60:.1f}",
        "links driven": f"{(used > 0).sum():,}",
        "links driven by one trajectory only": f"{once:.0f}%",
        "streets driven, counted once, miles": (
            f"{roads.length[first[driven]].sum() / region.METRES_OF_MILE:.1f}"
        ),
    }


if __name__ == "__main__":
    print_tables("road cities", tables)
