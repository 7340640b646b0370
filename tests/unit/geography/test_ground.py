import json
import math
from typing import Any

import pytest
import shapely

from hushway.errors import ReleaseError
from hushway.geography.ground import MOST_GROUND_BYTES, Ground, around, ground_of

_BOX = around((-8.7, 41.1, -8.5, 41.2))


def _spiral(turns: int, points: int) -> shapely.LineString:
    """A line that never gets simple: every point of it matters."""
    steps = ((turns * 2 * math.pi * k / points, k / points) for k in range(1, points))
    return shapely.LineString(
        [
            (-8.6 + 0.09 * r * math.cos(angle), 41.15 + 0.09 * r * math.sin(angle))
            for angle, r in steps
        ]
    )


def test_much_ground_is_coarser_and_never_larger_than_said() -> None:
    streets = [
        shapely.affinity.translate(_spiral(3, 400), 0.0004 * k, 0.0003 * k) for k in range(120)
    ]
    few, many = ground_of({"road": streets[:2]}, _BOX), ground_of({"road": streets}, _BOX)
    assert MOST_GROUND_BYTES / 2 < len(many.to_json()) <= MOST_GROUND_BYTES
    # What has room keeps its form: no point is further away than a few metres.
    assert shapely.hausdorff_distance(few.shapes["road"], shapely.union_all(streets[:2])) < 2e-4


def test_the_same_files_give_the_same_bytes() -> None:
    shapes = {"water": [shapely.box(-8.6, 41.1, -8.5, 41.15)], "line": [_spiral(4, 500)]}
    data = ground_of(shapes, _BOX).to_json()
    assert data == ground_of(shapes, _BOX).to_json()
    assert Ground.from_json(data).to_json() == data


def test_what_several_lines_draw_is_drawn_once() -> None:
    line = shapely.LineString([(-8.7, 41.1), (-8.6, 41.15), (-8.5, 41.2)])
    once = ground_of({"transit": [line]}, _BOX)
    again = ground_of({"transit": [line, shapely.reverse(line), line]}, _BOX)
    assert once.to_json() == again.to_json()


def _changed(**changes: Any) -> bytes:
    facts = json.loads(ground_of({"line": [_spiral(2, 50)]}, _BOX).to_json())
    facts["features"][0] |= changes
    return (json.dumps(facts, separators=(",", ":")) + "\n").encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]\n",
        b'{"features":[{}]}',
        b"[" * 100_000,
        _changed(properties={"kind": "people"}),
        _changed(properties={"kind": "line", "who": "somebody"}),
        _changed(properties={"kind": "water"}),
        _changed(geometry={"type": "Point", "coordinates": [0, 0]}),
        _changed(geometry={"type": "MultiLineString", "coordinates": [[[0, 0], [500.0, 1.0]]]}),
        _changed(geometry={"type": "MultiLineString", "coordinates": [[[0.5, 1.0, 7.0], [1, 2]]]}),
        _changed(geometry={"type": "MultiLineString", "coordinates": []}),
        _changed(geometry=None),
    ],
)
def test_a_stranger_s_ground_is_read_strictly(data: bytes) -> None:
    with pytest.raises(ReleaseError, match="ground under the map"):
        Ground.from_json(data)
