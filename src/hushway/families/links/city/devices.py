"""What devices make of true positions: noise, jumps, gaps, duplicates and missing columns."""

import math

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.city.positions import Positions
from hushway.families.links.city.settings import Devices
from hushway.numerics.compiled import compiled

# Errors of positions are alike within about this time, as the same satellites are in sight.
_ALIKE_S = 60.0
_JUMP_M = (150.0, 900.0)
_GAP_S = (120.0, 300.0)
_METRES_OF_LAT = 111_195.0
_SPEED_NOISE, _HEADING_NOISE = 0.05, 6.0
_DECIMALS = 6


def recorded(
    true: Positions,
    noise_m: FloatArray,
    reporting: BoolArray,
    devices: Devices,
    rng: np.random.Generator,
) -> Positions:
    """Returns positions as devices send them. Each still has its true link.

    Args:
        true: The true positions.
        noise_m: Deviation of the positions of each trip.
        reporting: Whether the device of each trip reports speed and heading.
        devices: How often what goes wrong.
        rng: A stream of draws.
    """
    size = np.diff(true.start)
    count = len(true.lon)
    east, north = (
        np.repeat(noise_m, size) * _alike(true.start, true.seconds, _normal(rng, count))
        for _ in range(2)
    )
    jumps = rng.random(count) < devices.jumps
    far = jumps * (_JUMP_M[0] + (_JUMP_M[1] - _JUMP_M[0]) * rng.random(count))
    angle = 2 * math.pi * rng.random(count)
    east, north = east + far * np.cos(angle), north + far * np.sin(angle)
    missing = ~np.repeat(reporting, size)
    faster = 1 + _SPEED_NOISE * _normal(rng, count)
    turned = true.heading + _HEADING_NOISE * _normal(rng, count)
    metres_of_lon = _METRES_OF_LAT * np.cos(np.radians(true.lat))
    noisy = true._replace(
        lon=np.round(true.lon + east / metres_of_lon, _DECIMALS),
        lat=np.round(true.lat + north / _METRES_OF_LAT, _DECIMALS),
        speed=np.where(missing, np.nan, np.round(np.maximum(true.speed * faster, 0), 1)),
        heading=np.where(missing, np.nan, np.round(turned) % 360.0),
    )
    times = _kept(true, devices, rng).astype(np.int64)
    times += (times > 0) & (rng.random(count) < devices.duplicates)
    return _repeated(noisy, times)


def _kept(true: Positions, devices: Devices, rng: np.random.Generator) -> BoolArray:
    """Returns which positions do not fall into a gap. The ends of a trip never do."""
    size = np.diff(true.start)
    trips = len(size)
    first, last = true.seconds[true.start[:-1]], true.seconds[true.start[1:] - 1]
    lasts = _GAP_S[0] + (_GAP_S[1] - _GAP_S[0]) * rng.random(trips)
    begins = first + (last - first) * rng.random(trips)
    lasts[rng.random(trips) >= devices.gaps] = 0.0
    since = true.seconds - np.repeat(begins, size)
    inside = (since > 0) & (since < np.repeat(lasts, size))
    inside[true.start[:-1]] = False
    inside[true.start[1:] - 1] = False
    return ~inside


def _repeated(positions: Positions, times: IntArray) -> Positions:
    row = np.repeat(np.arange(len(times)), times)
    counts = np.concatenate([[0], np.cumsum(times)])
    return Positions(
        start=counts[positions.start],
        lon=positions.lon[row],
        lat=positions.lat[row],
        seconds=positions.seconds[row],
        link=positions.link[row],
        speed=positions.speed[row],
        heading=positions.heading[row],
    )


def _normal(rng: np.random.Generator, count: int) -> FloatArray:
    # By Box and Muller, because only uniform draws are the same with every version of numpy.
    radius = np.sqrt(-2 * np.log1p(-rng.random(count)))
    return np.asarray(radius * np.cos(2 * math.pi * rng.random(count)), dtype=np.float64)


@compiled
def _alike(start: IntArray, seconds: FloatArray, fresh: FloatArray) -> FloatArray:
    """Returns draws of deviation 1 that forget the one before with time."""
    drawn = fresh.copy()
    for trip in range(len(start) - 1):
        for i in range(start[trip] + 1, start[trip + 1]):
            kept = np.exp((seconds[i - 1] - seconds[i]) / _ALIKE_S)
            drawn[i] = kept * drawn[i - 1] + np.sqrt(1.0 - kept * kept) * fresh[i]
    return drawn
