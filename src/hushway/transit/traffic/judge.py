"""Evaluates a trip table by the traffic that it puts on roads, and how far that is from the truth.

What links carry differs from draw to draw of a table as much as the table may be wrong, so draws
give every volume, speed and time an interval. The exact trips, put on roads likewise, say how far
off all of them are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from scipy.stats import t as student

from hushway.arrays import BoolArray, FloatArray
from hushway.errors import PlanError
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.transit.day_demand import DayDemand
from hushway.transit.traffic.day import DayTraffic, PlacesOnRoads, day_traffic

# The sizes of links that are told apart: vehicles an hour of the exact trips.
_SIZES: Final = (0.0, 50.0, 200.0, 500.0, np.inf)
_LEVEL: Final = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """The mean of draws, and where another draw would lie with a chance of 95%.

    Attributes:
        low: One number, or one for each link. Not a number if there is one draw only, as of a
            release that states no errors to draw from.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray

    def holds(self, values: FloatArray) -> BoolArray:
        """Returns which values lie within."""
        return np.asarray((self.low <= values) & (values <= self.high))


@dataclass(frozen=True, kw_only=True)
class SizeOfLinks:
    """How far off the volumes of links of one size are.

    Attributes:
        name: Such as "50 to 200 an hour".
        links: How many are of that size; empty ones count if a draw drives there.
        rmse_percent: Root mean square error of volumes, in percent of their mean.
        held: Which part of the intervals holds the volume of the exact trips.
    """

    name: str
    links: int
    rmse_percent: float
    held: float


@dataclass(frozen=True, kw_only=True, eq=False)
class TrueTraffic:
    """Traffic of the exact trips, and how far off that of the table is.

    Attributes:
        sizes: Links by their volumes, and all of them at the end.
        speed_rmse_kmh: Root mean square error of speeds on the same links.
    """

    day: DayTraffic
    sizes: tuple[SizeOfLinks, ...]
    speed_rmse_kmh: float


@dataclass(frozen=True, kw_only=True, eq=False)
class TrafficVerdict:
    """The traffic that a table asks for.

    Attributes:
        volumes: Vehicles on each link; seconds and speeds likewise.
        days: The traffic of each draw.
        off_roads: Which part of the trips ends where it begins, or far from roads.
    """

    volumes: Spread
    seconds: Spread
    speeds: Spread
    vehicle_hours: Spread
    vehicle_km: Spread
    days: tuple[DayTraffic, ...]
    off_roads: float
    truth: TrueTraffic | None

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        hours = self.vehicle_hours
        text = f"{hours.mean:,.0f} vehicle hours"
        if len(self.days) > 1:
            text += f", {hours.low:,.0f} to {hours.high:,.0f} by {len(self.days)} draws"
        return text if self.truth is None else f"{text}; truth {self.truth.day.vehicle_hours:,.0f}"


def judge_traffic(
    demand: DayDemand,
    places: PlacesOnRoads,
    *,
    truth: DayDemand | None,
    draws: int,
    progress: Progress,
) -> Internal[TrafficVerdict]:
    """Puts draws of a demand on roads; with the exact trips, also says how far off they are.

    Privacy:
        With the exact trips the verdict depends on all of them: it is for the steward's own eyes.
    """
    if draws < 1:
        raise PlanError("No day is to be drawn.", advice="Draw 1 day or more.")
    drawn = [demand] if demand.another is None else [demand.another(seed) for seed in range(draws)]
    days = []
    for number, one in enumerate(drawn):
        progress("Putting trips on roads", number / len(drawn))
        days.append(day_traffic(places, one))
    asked = places.vehicles_per_trip * sum(float(one.mean_trips.sum()) for one in drawn)
    volumes = spread([day.volumes for day in days])
    speeds = spread([day.speeds for day in days])
    return Internal(
        TrafficVerdict(
            volumes=volumes,
            seconds=spread([day.seconds for day in days]),
            speeds=speeds,
            vehicle_hours=spread([np.array(day.vehicle_hours) for day in days]),
            vehicle_km=spread([np.array(day.vehicle_km) for day in days]),
            days=tuple(days),
            off_roads=1 - sum(day.vehicles for day in days) / asked if asked else 0.0,
            truth=None
            if truth is None
            else _compared(day_traffic(places, truth), volumes, speeds, truth.window_s),
        )
    )


def spread(draws: Sequence[FloatArray]) -> Spread:
    """Returns the mean of draws, and by Student's law what one more would lie within."""
    values = np.stack(draws)
    count, mean = len(values), values.mean(axis=0)
    if count == 1:
        return Spread(mean=mean, low=np.full_like(mean, np.nan), high=np.full_like(mean, np.nan))
    reach = student.ppf((1 + _LEVEL) / 2, count - 1) * np.sqrt(1 + 1 / count)
    off = reach * values.std(axis=0, ddof=1)
    return Spread(mean=mean, low=np.maximum(mean - off, 0.0), high=mean + off)


def _compared(
    day: DayTraffic, volumes: Spread, speeds: Spread, window_s: tuple[int, int]
) -> TrueTraffic:
    an_hour = day.volumes * 3600 / (window_s[1] - window_s[0])
    used = (day.volumes > 0) | (volumes.mean > 0)
    sizes = [
        _of_size(f"{least:g} to {most:g} an hour" if most < np.inf else f"{least:g} and more",
                 used & (least <= an_hour) & (an_hour < most), day, volumes)
        for least, most in pairwise(_SIZES)
    ]  # fmt: skip
    everything = _of_size("all", used, day, volumes)
    off = (speeds.mean - day.speeds)[used]
    return TrueTraffic(
        day=day,
        sizes=tuple(size for size in (*sizes, everything) if size.links),
        speed_rmse_kmh=float(np.sqrt(np.mean(off**2))) if used.any() else 0.0,
    )


def _of_size(name: str, links: BoolArray, day: DayTraffic, volumes: Spread) -> SizeOfLinks:
    true, found = day.volumes[links], volumes.mean[links]
    return SizeOfLinks(
        name=name,
        links=int(links.sum()),
        rmse_percent=percent_rmse(found, true),
        held=float(np.mean(volumes.holds(day.volumes)[links])) if links.any() else 1.0,
    )


def percent_rmse(found: FloatArray, true: FloatArray) -> float:
    """Returns the root mean square error of volumes, in percent of the mean of the true ones."""
    if not true.any():
        return 0.0
    return 100 * float(np.sqrt(np.mean((found - true) ** 2)) / true.mean())
