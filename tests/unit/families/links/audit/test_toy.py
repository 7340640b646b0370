"""Rings are what they say they are: corners have nothing to do with each other."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.auditing.product import Product
from hushway.families.links.audit.ends import (
    BEGIN,
    END,
    LINKS,
    METRES,
    NOTHING,
    Spot,
    nodes,
    street,
)
from hushway.families.links.audit.stage import CLASSES, KINDS, Drive, staged
from hushway.families.links.public.universe import ClassZones, MovementCells, SpeedSums
from hushway.families.links.rows.noisy import MetricEnds, noisy_trips

STAGE = staged(Product(), Fraction(1), most=3, corners=3, periods=2)
RINGS = STAGE.rings
UNIVERSE = RINGS.universe


def test_links_stay_within_their_corner() -> None:
    roads = UNIVERSE.roads
    assert (roads.tail // 10 == roads.head // 10).all()
    assert (np.bincount(roads.head) == 1).all()
    assert UNIVERSE.zone.tolist() == np.repeat([0, 1, 2], 10).tolist()


def test_opposite_nodes_are_five_kilometres_apart() -> None:
    points = UNIVERSE.roads.node_points
    assert np.hypot(*(points[5] - points[0])) == pytest.approx(5178, rel=0.01)


def test_a_scene_plays_at_every_corner_with_people_of_its_own() -> None:
    scene = (Drive(link=2, period=1, times=2, steps=-4), Drive(end=1, person=1))
    rows = STAGE.play(scene)
    assert rows["person"].tolist() == [0, 0, 2, 2, 4, 4, 1, 3, 5]
    assert rows["period"].tolist() == [1] * 6 + [0] * 3
    assert rows["item"].tolist() == [2, 2, 12, 12, 22, 22, 61, 71, 81]
    assert rows["steps"].tolist() == [-4] * 6 + [0] * 3


def test_an_empty_scene_has_no_rows() -> None:
    assert len(STAGE.play(())["person"]) == 0


@pytest.mark.parametrize("drive", [Drive(link=4), Drive(begin=3, period=1), Drive(end=9, period=1)])
def test_an_item_is_found_again_at_its_place_in_each_corner(drive: Drive) -> None:
    cells = MovementCells(universe=UNIVERSE)
    rows = STAGE.play((drive,))
    values = np.zeros(cells.size, dtype=np.int64)
    values[rows["period"] * UNIVERSE.items + rows["item"]] = [7, 8, 9]
    seen = RINGS.by_corner(cells, values)
    assert seen.shape == (3, 2 * KINDS * 10)
    assert seen[:, RINGS.place(drive)].tolist() == [7, 8, 9]
    assert seen.sum() == 24


def test_a_drive_is_one_thing() -> None:
    with pytest.raises(ValueError, match="unpack"):
        RINGS.place(Drive(link=1, end=1))


def test_speeds_and_classes_are_told_apart_by_corner() -> None:
    speeds, classes = SpeedSums(universe=UNIVERSE), ClassZones(universe=UNIVERSE)
    values = np.zeros(speeds.size, dtype=np.int64)
    values[30 + 12] = 5
    assert RINGS.by_corner(speeds, values)[1].tolist() == [0] * 12 + [5] + [0] * 7
    of_links = np.arange(30)
    sums = np.zeros(classes.size, dtype=np.int64)
    np.add.at(sums, classes.of(of_links), of_links)
    seen = RINGS.by_corner(classes, sums)
    assert seen.shape == (3, 2 * CLASSES)
    assert seen[2].tolist() == [20 + 25, 21 + 26, 22 + 27, 23 + 28, 24 + 29, 0, 0, 0, 0, 0]


# Noise of 0 but for one draw in 10^12.
STILL = MetricEnds(epsilon=Fraction(40), radius=10, step=10, max_trips=1)
WIDE = MetricEnds(epsilon=Fraction(1), radius=100, step=10, max_trips=1)
DRIVE = (Spot(second=0, north=-25.0), Spot(second=60, north=980.0))


def test_the_road_lies_along_an_axis() -> None:
    roads = street().roads
    assert np.abs(roads.points[:, 0]).max() < 1e-6
    assert roads.node_points[LINKS // 2].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    assert np.diff(roads.node_points[:, 1]) == pytest.approx(METRES, rel=1e-3)


def test_drives_begin_and_end_where_they_do() -> None:
    assert nodes(noisy_trips, STILL, DRIVE, BEGIN, 3).tolist() == [199] * 3
    assert nodes(noisy_trips, STILL, DRIVE, END, 3).tolist() == [220] * 3


def test_of_who_does_not_move_nothing_is_seen() -> None:
    assert nodes(noisy_trips, STILL, DRIVE[:1], BEGIN, 2).tolist() == [NOTHING] * 2


def test_every_drive_has_noise_of_its_own_and_they_come_in_no_order() -> None:
    seen = nodes(noisy_trips, WIDE, DRIVE, END, 1000)
    assert len(seen) == 1000
    assert len(np.unique(seen)) > 10
    there = seen[seen != NOTHING].astype(np.float64)
    apart = there[:450].mean() - there[450:900].mean()
    # In order, halves are 20 standard errors apart; by chance nine happen once in 10^18 times.
    assert abs(apart) < 9 * there.std() * np.sqrt(2 / 450)
