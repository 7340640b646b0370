"""Courses of links: lengths, turning, hashes."""

import numpy as np
import pytest
from pyproj import Geod

from hushway.families.links.public.roads import (
    course_hashes,
    course_lengths,
    segment_lengths,
    starts_of,
    taken_points,
    without_repeats,
)


@pytest.mark.parametrize("lat", [0.0, 41.15, -33.9, 69.6])
def test_lengths_are_those_on_the_ellipsoid(lat: float) -> None:
    draw = np.random.default_rng(7)
    lon = 10 + np.cumsum(draw.normal(0, 0.003, 200))
    lats = lat + np.cumsum(draw.normal(0, 0.003, 200))
    _, _, exact = Geod(ellps="WGS84").inv(lon[:-1], lats[:-1], lon[1:], lats[1:])
    np.testing.assert_allclose(segment_lengths(lon, lats), exact, rtol=1e-6)


def test_a_course_does_not_run_on_into_the_next_one() -> None:
    start = np.array([0, 2, 5])
    lon = np.array([0.0, 0.001, 5.0, 5.001, 5.002])
    lat = np.zeros(5)
    one = float(segment_lengths(lon[:2], lat[:2])[0])
    np.testing.assert_allclose(course_lengths(start, lon, lat), [one, 2 * one], rtol=1e-9)


def test_courses_are_taken_in_any_order_and_turned() -> None:
    start = np.array([0, 2, 5, 9])
    points = taken_points(start, np.array([2, 0, 1]), np.array([True, False, True]))
    assert points.tolist() == [8, 7, 6, 5, 0, 1, 4, 3, 2]
    assert starts_of(np.array([4, 2, 3])).tolist() == [0, 4, 6, 9]


def test_a_course_and_its_reverse_agree_in_points_but_not_in_order() -> None:
    lon = np.array([1.0, 1.1, 1.3, 1.3, 1.1, 1.0, 1.0, 1.1, 1.3])
    start = np.array([0, 3, 6, 9])
    ordered, points = course_hashes(start, lon, lon / 2)
    assert points[0] == points[1] == points[2]
    assert ordered[0] == ordered[2] != ordered[1]


def test_courses_that_differ_by_a_centimetre_have_other_hashes() -> None:
    lon = np.array([1.0, 1.1, 1.0, 1.1000001])
    ordered, points = course_hashes(np.array([0, 2, 4]), lon, np.zeros(4))
    assert ordered[0] != ordered[1]
    assert points[0] != points[1]


def test_points_that_stand_still_are_marked_but_never_a_beginning() -> None:
    lon = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0])
    keep = without_repeats(np.array([0, 3, 6]), lon, np.zeros(6))
    assert keep.tolist() == [True, False, True, True, False, True]
