"""The public list of areas, and its local map."""

import numpy as np
import pytest
import shapely

from hushway.errors import GeographyError
from hushway.geography.areas import Area, Areas, Plane


def area(key: str, column: float = 0.0, *, name: str = "") -> Area:
    return Area(
        id=key, name=name, shape=shapely.box(2.3 + column, 48.8, 2.3 + column + 0.01, 48.81)
    )


def test_areas_keep_their_order() -> None:
    areas = Areas(areas=(area("b"), area("a", 0.01)))
    assert areas.ids == ("b", "a")
    assert areas.index == {"b": 0, "a": 1}
    assert len(areas) == len(areas.shapes) == len(areas.projected) == 2


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(GeographyError, match="empty") as caught:
        Areas(areas=())
    assert caught.value.advice


def test_ids_that_repeat_are_refused_by_name() -> None:
    with pytest.raises(GeographyError, match=r"more than once: a\.") as caught:
        Areas(areas=(area("a"), area("a", 0.01), area("b", 0.02)))
    assert caught.value.advice


def test_sizes_are_those_on_the_ellipsoid() -> None:
    areas = Areas(areas=(area("a"), area("b", 0.3)))
    # A quadrangle of 0.01 degrees at 48.805 degrees north, by the formula for WGS84.
    assert areas.sizes == pytest.approx([816_000, 816_000], rel=2e-3)
    assert areas.sizes[0] == pytest.approx(areas.sizes[1], rel=1e-6)


def test_centres_are_in_metres_around_the_middle() -> None:
    areas = Areas(areas=(area("a"), area("b", 0.01)))
    assert areas.centres.sum(axis=0) == pytest.approx([0, 0], abs=0.5)
    assert areas.centres[1, 0] - areas.centres[0, 0] == pytest.approx(734, rel=2e-3)


def test_the_middle_of_the_map_is_its_origin() -> None:
    plane = Plane(lon=2.35, lat=48.85)
    there = plane.to_metres(np.array([2.35, 2.35]), np.array([48.85, 48.86]))
    assert there[0] == pytest.approx([0, 0], abs=1e-6)
    assert there[1] == pytest.approx([0, 1_112], abs=1)


def test_the_digest_names_every_public_fact() -> None:
    lists = [
        (area("a"), area("b", 0.01)),
        (area("b", 0.01), area("a")),
        (area("a"), area("b", 0.02)),
        (area("a"), area("c", 0.01)),
        (area("a", name="Alpha"), area("b", 0.01)),
        (area("a"),),
    ]
    assert len({Areas(areas=each).digest for each in lists}) == len(lists)
    assert Areas(areas=lists[0]).digest == Areas(areas=(area("a"), area("b", 0.01))).digest
