"""Positions become trips: split where somebody was not heard of, and cleaned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import DataError
from hushway.families.links.rows.rows import PeoplePositions
from hushway.families.links.rows.trips import Splitting, Trips, possible, split_trips, timed_trips
from hushway.geography.areas import Plane

PLANE = Plane(lon=0.0, lat=0.0)
METRE = 1 / 111_319.5  # degrees of longitude on the equator
Row = tuple[int, int, float, float]  # person, stated trip, seconds, metres east


def positions(rows: list[Row]) -> PeoplePositions:
    person, trip, seconds, east = (np.array(column) for column in zip(*rows, strict=True))
    people, first = np.unique(person, return_index=True)
    return PeoplePositions(
        start=np.append(first, len(rows)),
        salt=people,
        trip=trip.astype(np.int64),
        since_us=(seconds * 1e6).astype(np.int64),
        lon=east * METRE,
        lat=np.zeros(len(rows)),
    )


def split(rows: list[Row], splitting: Splitting | None = None) -> list[tuple[int, list[float]]]:
    """Each trip's person, and the seconds of its positions."""
    return listed(split_trips(positions(rows), PLANE, splitting or Splitting()))


def listed(trips: Trips) -> list[tuple[int, list[float]]]:
    start = trips.traces.start
    return [
        (int(person), trips.traces.seconds[low:high].tolist())
        for person, low, high in zip(trips.person, start[:-1], start[1:], strict=True)
    ]


def test_people_and_stated_trips_and_silences_split() -> None:
    rows = [
        (1, 0, 0.0, 0.0),
        (1, 0, 10.0, 100.0),
        (1, 0, 310.0, 200.0),
        (1, 0, 610.1, 300.0),
        (1, 0, 620.0, 310.0),
        (1, 7, 630.0, 320.0),
        (1, 7, 640.0, 330.0),
        (5, 7, 650.0, 340.0),
        (5, 7, 660.0, 350.0),
    ]
    assert split(rows) == [
        (0, [0.0, 10.0, 310.0]),
        (0, [610.1, 620.0]),
        (0, [630.0, 640.0]),
        (1, [650.0, 660.0]),
    ]
    assert split(rows, Splitting(gap_s=20.0))[0] == (0, [0.0, 10.0])


def test_positions_are_in_metres_on_the_plane() -> None:
    trips = split_trips(positions([(1, 0, 0.0, 0.0), (1, 0, 10.0, 100.0)]), PLANE, Splitting())
    assert trips.traces.x == pytest.approx([0.0, 100.0], abs=0.01)
    assert trips.traces.y == pytest.approx([0.0, 0.0], abs=0.01)


def test_a_lone_position_is_no_trip() -> None:
    assert split([(1, 0, 0.0, 0.0), (2, 0, 0.0, 0.0), (2, 1, 5.0, 0.0)]) == []


def test_of_positions_at_one_time_the_first_counts() -> None:
    rows = [(1, 0, 0.0, 0.0), (1, 0, 10.0, 10.0), (1, 0, 10.0, 20.0), (1, 0, 20.0, 30.0)]
    trips = split_trips(positions(rows), PLANE, Splitting())
    assert trips.traces.seconds.tolist() == [0.0, 10.0, 20.0]
    assert trips.traces.x == pytest.approx([0.0, 10.0, 30.0], abs=0.01)


def test_a_position_out_of_reach_is_left_out_if_the_next_is_back() -> None:
    rows = [(1, 0, 0.0, 0.0), (1, 0, 10.0, 9_000.0), (1, 0, 20.0, 200.0), (1, 0, 30.0, 300.0)]
    assert split(rows) == [(0, [0.0, 20.0, 30.0])]


def test_a_position_out_of_reach_at_the_end_is_left_out() -> None:
    rows = [(1, 0, 0.0, 0.0), (1, 0, 10.0, 100.0), (1, 0, 20.0, 9_000.0)]
    assert split(rows) == [(0, [0.0, 10.0])]


def test_going_on_from_elsewhere_is_another_trip() -> None:
    rows = [(1, 0, 10.0 * i, 100.0 * i + (9_000.0 if i >= 3 else 0.0)) for i in range(6)]
    assert split(rows) == [(0, [0.0, 10.0, 20.0]), (0, [30.0, 40.0, 50.0])]


def test_a_wrong_first_position_does_not_spoil_a_trip() -> None:
    rows = [(1, 0, 0.0, 9_000.0), *((1, 0, 10.0 * i, 100.0 * i) for i in range(1, 5))]
    assert split(rows) == [(0, [10.0, 20.0, 30.0, 40.0])]


ROW = st.tuples(
    st.integers(0, 3),
    st.integers(0, 1),
    st.integers(0, 900).map(float),
    st.sampled_from([0.0, 40.0, 900.0, 8_000.0]),
)


@given(rows=st.lists(ROW, min_size=1, max_size=40))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_trips_are_a_persons_own_and_possible(rows: list[Row]) -> None:
    """Nobody's trips depend on anybody else, and nothing that must split is left together."""
    rows.sort()
    every = split(rows)
    people = sorted({row[0] for row in rows})
    alone = [split([row for row in rows if row[0] == person]) for person in people]
    assert [seconds for _, seconds in every] == [s for own in alone for _, s in own]
    trips = split_trips(positions(rows), PLANE, Splitting()).traces
    for low, high in zip(trips.start[:-1], trips.start[1:], strict=True):
        took = np.diff(trips.seconds[low:high])
        went = np.abs(np.diff(trips.x[low:high]))
        assert len(took) >= 1
        assert ((took > 0) & (took <= 300.0)).all()
        assert (went <= 70.0 * took + 0.01).all()


def timed(rows: list[Row]) -> list[tuple[int, list[float]]]:
    return listed(timed_trips(positions(rows), PLANE, Splitting()))


def test_trips_told_by_times_are_split_by_people_stated_trips_and_silences() -> None:
    rows = [
        (1, 0, 0.0, 0.0),
        (1, 0, 300.0, 100.0),
        (1, 0, 600.5, 200.0),
        (1, 0, 610.0, 200.0),
        (1, 7, 620.0, 300.0),
        (1, 7, 630.0, 300.0),
        (5, 7, 640.0, 300.0),
        (5, 7, 650.0, 300.0),
    ]
    assert timed(rows) == [
        (0, [0.0, 300.0]),
        (0, [600.5, 610.0]),
        (0, [620.0, 630.0]),
        (1, [640.0, 650.0]),
    ]


def test_trips_told_by_times_keep_all_positions_and_need_two_times() -> None:
    lone = [(1, 0, 0.0, 0.0), (1, 0, 0.0, 50.0)]
    assert timed(lone) == []
    assert timed([*lone, (1, 0, 10.0, 9_000.0)]) == [(0, [0.0, 0.0, 10.0])]


@given(rows=st.lists(ROW, min_size=1, max_size=40))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_place_decides_about_trips_told_by_times(rows: list[Row]) -> None:
    rows.sort()
    nowhere = [(person, trip, seconds, 0.0) for person, trip, seconds, _ in rows]
    assert timed(rows) == timed(nowhere)


def test_cleaning_alone_leaves_out_what_is_out_of_reach_and_keeps_jumps() -> None:
    rows = [
        (1, 0, 0.0, 0.0),
        (1, 0, 0.0, 5.0),
        (1, 0, 10.0, 9_000.0),
        (1, 0, 20.0, 200.0),
        (1, 0, 30.0, 9_000.0),
        (1, 0, 40.0, 9_100.0),
    ]
    traces = timed_trips(positions(rows), PLANE, Splitting()).traces
    assert possible(traces, 70.0).tolist() == [True, False, False, True, True, True]


def test_many_positions_at_one_time_take_no_time() -> None:
    """A rule that looked for the next time from each would take hours."""
    rows = [(1, 0, 0.0, 0.0), *((1, 0, 10.0, 9_000.0) for _ in range(200_000)), (1, 0, 20.0, 0.0)]
    assert split(rows) == [(0, [0.0, 20.0])]


@pytest.mark.parametrize("numbers", [{"gap_s": 0.0}, {"most_speed": -1.0}])
def test_numbers_that_make_no_sense_are_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(DataError, match="must be above 0"):
        Splitting(**numbers)


def test_some_of_the_trips() -> None:
    rows = [(p, 0, float(t), 0.0) for p in range(4) for t in range(2 + p)]
    trips = split_trips(positions(rows), PLANE, Splitting())
    assert listed(trips.only(np.array([1, 3]))) == [listed(trips)[1], listed(trips)[3]]
    assert listed(trips.only(np.array([], dtype=np.int64))) == []
