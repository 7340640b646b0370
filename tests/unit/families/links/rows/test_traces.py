"""Traces in CSV and Parquet: which columns they have, and of which types."""

from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import DataError, PrivacyError
from hushway.families.links.rows.noisy import MetricEnds
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.tables.layout import layout_of

EVERYTHING = TraceColumns(trip="trip", speed="speed", heading="heading")


def parquet(folder: Path, **changes: Any) -> Path:
    columns = {
        "person": pa.array([1]),
        "trip": pa.array(["a"]),
        "time": pa.array([0], pa.timestamp("us")),
        "lon": pa.array([0.5]),
        "lat": pa.array([0.5]),
        "speed": pa.array([3.0]),
        "heading": pa.array([90.0]),
        **changes,
    }
    file = folder / "traces.parquet"
    pq.write_table(pa.table(columns), file)
    return file


def test_only_columns_in_use_have_a_purpose() -> None:
    assert TraceColumns().roles == {"person": "person", "time": "time", "lon": "lon", "lat": "lat"}
    assert len(EVERYTHING.roles) == 7


def test_a_column_has_one_purpose() -> None:
    with pytest.raises(DataError, match="named for two purposes"):
        TraceColumns(lon="x", lat="x")


def test_types_are_read_from_the_file(tmp_path: Path) -> None:
    layout = layout_of(TracesSource(parquet(tmp_path), EVERYTHING))
    assert layout.kinds == {
        "person": "integer",
        "trip": "text",
        "time": "naive time",
        "lon": "number",
        "lat": "number",
        "speed": "number",
        "heading": "number",
    }


@pytest.mark.parametrize("role", ["lon", "lat", "speed", "heading"])
def test_positions_must_be_floating_point_numbers(tmp_path: Path, role: str) -> None:
    file = parquet(tmp_path, **{role: pa.array([1])})
    with pytest.raises(DataError, match="does not hold floating-point numbers"):
        layout_of(TracesSource(file, EVERYTHING))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    file = tmp_path / "traces.csv"
    file.write_text("person,time,lon\nsecret,2026-03-02T08:00:00,0.5\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"no column 'lat' \(lat\)") as caught:
        layout_of(TracesSource(file, TraceColumns()))
    assert "secret" not in str(caught.value)


def test_nothing_there_is_called_traces(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There are no traces at"):
        layout_of(TracesSource(tmp_path / "none.csv", TraceColumns()))


def metric(**changes: Any) -> MetricEnds:
    chosen: dict[str, Any] = {"epsilon": Fraction(1), "radius": 100, "step": 10, "max_trips": 3}
    return MetricEnds(**chosen | changes)


@pytest.mark.parametrize(
    ("epsilon", "radius", "step"), [(Fraction(1), 100, 10), (Fraction(1, 3), 777, 50)]
)
def test_the_scale_is_never_too_small(epsilon: Fraction, radius: int, step: int) -> None:
    scale = metric(epsilon=epsilon, radius=radius, step=step).scale
    least = sqrt(2) * radius / (float(epsilon) * step)
    assert scale**2 >= 2 * (radius / (epsilon * step)) ** 2
    assert float(scale) == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("move", [(1, 0), (0, -3), (2, 2), (3, -4), (40, 9)])
def test_no_move_on_the_grid_shows_more_than_promised(move: tuple[int, int]) -> None:
    """The law itself: the ratio of the probabilities of any outcome, for two axes."""
    ends = metric()
    law = DiscreteLaplace(ends.scale)
    step_loss = 1 / law.scale
    loss = step_loss * (abs(move[0]) + abs(move[1]))
    metres = ends.step * sqrt(move[0] ** 2 + move[1] ** 2)
    assert float(loss) <= float(ends.epsilon) * metres / ends.radius * (1 + 1e-12)


@pytest.mark.parametrize(
    ("epsilon", "radius", "step"),
    [(Fraction(10), 1, 10), (Fraction(4), 10, 10), (Fraction(1), 100, 10), (Fraction(1), 300, 5)],
)
def test_the_noise_stays_within_its_reach_95_times_in_100(
    epsilon: Fraction, radius: int, step: int
) -> None:
    """The exact law, summed up; the way to the grid, at most half a diagonal, is taken off."""
    ends = metric(epsilon=epsilon, radius=radius, step=step)
    a = np.exp(-1 / float(ends.scale))
    steps = np.arange(int(60 * float(ends.scale)) + 60)
    size = np.where(steps == 0, 1.0, 2.0) * (1 - a) / (1 + a) * a**steps
    up_to = np.cumsum(size)
    most = ends.reach / step - sqrt(0.5)
    across = steps[steps <= most]
    inside = (size[across] * up_to[np.sqrt(most**2 - across**2).astype(np.int64)]).sum()
    assert inside >= 0.95
    # No wider than it has to be, where the grid is fine enough to tell.
    assert ends.scale < 10 or inside < 0.955


def test_the_loss_of_a_person_grows_with_the_trips_that_count() -> None:
    assert metric().loss_per_metre == Fraction(2 * 3, 100)
    assert metric(max_trips=30).loss_per_metre == Fraction(2 * 30, 100)


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilon": Fraction(0)},
        {"epsilon": 1.0},
        {"radius": 0},
        {"step": 0},
        {"max_trips": 0},
        {"epsilon": Fraction(1, 10**9)},
    ],
)
def test_noise_that_cannot_be_drawn_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PrivacyError):
        metric(**changes)
