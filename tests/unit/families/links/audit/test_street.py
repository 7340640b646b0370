"""Drives along the straight road are what they are said to be, from the rows of a file on."""

from fractions import Fraction

import numpy as np
import pytest

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
from hushway.families.links.rows.noisy import MetricEnds, noisy_trips

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
