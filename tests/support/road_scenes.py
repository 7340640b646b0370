"""Small road networks to find ways on."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.public.roads import RoadNetwork

_DEGREE = 111_195.0


def roads_of(
    x: FloatArray, y: FloatArray, tail: IntArray, head: IntArray, *, bend: float = 0.0
) -> RoadNetwork:
    """Returns a network on the equator; courses bend to the side by a share of their length."""
    lon, lat = x / _DEGREE, y / _DEGREE
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    _, street = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    # The two directions of a street have the same course.
    side = np.column_stack([lat[low] - lat[high], lon[high] - lon[low]]) * bend
    middle = np.column_stack([lon[tail] + lon[head], lat[tail] + lat[head]]) / 2 + side
    course_lon = np.column_stack([lon[tail], middle[:, 0], lon[head]])
    course_lat = np.column_stack([lat[tail], middle[:, 1], lat[head]])
    metres = np.hypot(np.diff(course_lon), np.diff(course_lat)).sum(axis=1) * _DEGREE
    links = len(tail)
    return RoadNetwork(
        node_id=np.arange(len(x)).astype(np.str_),
        node_lon=lon,
        node_lat=lat,
        link_id=np.arange(links).astype(np.str_),
        tail=tail,
        head=head,
        length=metres,
        speed=np.full(links, 50.0),
        lanes=np.ones(links),
        road_class=np.full(links, 5),
        street=street.ravel().astype(np.int64),
        name=np.full(links, ""),
        start=np.arange(links + 1) * 3,
        lon=course_lon.ravel(),
        lat=course_lat.ravel(),
    )


def jittered_grid(
    size: int, *, step: float = 120.0, jitter: float = 0.25, one_way: float = 0.2, seed: int = 1
) -> RoadNetwork:
    """Returns a town of `size` times `size` crossings, some of its streets one-way."""
    rng = np.random.default_rng(seed)
    across, up = (
        (grid.ravel() + rng.uniform(-jitter, jitter, size * size)) * step
        for grid in np.meshgrid(np.arange(size), np.arange(size))
    )
    node = np.arange(size * size).reshape(size, size)
    pairs = np.concatenate(
        [
            np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()]),
            np.column_stack([node[:-1].ravel(), node[1:].ravel()]),
        ]
    )
    pairs = np.where(rng.random(len(pairs))[:, None] < 0.5, pairs, pairs[:, ::-1])
    both = rng.random(len(pairs)) >= one_way
    links = np.concatenate([pairs, pairs[both][:, ::-1]])
    return roads_of(across, up, links[:, 0].copy(), links[:, 1].copy(), bend=0.05)
