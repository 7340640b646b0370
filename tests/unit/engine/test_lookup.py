from datetime import date

import pytest

from hushway.engine.grids import TimeGrid, place_table, time_grid
from hushway.geography.periods import Periods
from hushway.tables.header import Clock
from support.small_cells import cells_of

MINUTE_US = 60_000_000


def window(zone: str, first: date, last: date, **changes: int) -> Periods:
    settings = {"opens": 0, "closes": 1440, "minutes": 60, **changes}
    return Periods(zone=zone, first_day=first, last_day=last, **settings)


def period_at(grid: TimeGrid, us: int) -> int | None:
    """The lookup that engines do."""
    if not grid.start_us <= us < grid.end_us:
        return None
    bucket = us - (us - grid.start_us) % grid.bucket_us
    known = dict(zip(grid.starts.tolist(), grid.periods.tolist(), strict=True))
    return known.get(bucket)


@pytest.mark.parametrize(
    "periods",
    [
        window("America/Detroit", date(2026, 3, 7), date(2026, 3, 9)),
        window("America/Detroit", date(2026, 10, 31), date(2026, 11, 1), opens=30, closes=1410),
        window("America/St_Johns", date(2006, 10, 28), date(2006, 10, 29), minutes=720),
        window("Europe/London", date(1968, 2, 17), date(1968, 2, 18), opens=420, closes=1140),
    ],
    ids=["forward", "back", "one past midnight", "before 1970"],
)
@pytest.mark.parametrize("clock", ["local", "utc"])
def test_a_bucket_finds_the_period_of_every_minute(periods: Periods, clock: Clock) -> None:
    grid = time_grid(periods, clock)
    slots = periods.wall_slots if clock == "local" else periods.instant_slots
    expected: dict[int, int | None] = {
        us: slot.period for slot in slots for us in range(slot.start_us, slot.end_us, MINUTE_US)
    }
    if clock == "local":
        never = {u for a, b in periods.skipped_wall for u in range(a, b, MINUTE_US)}
        expected |= dict.fromkeys(never)
    around = range(grid.start_us - 120 * MINUTE_US, grid.end_us + 120 * MINUTE_US, MINUTE_US)
    known = dict(zip(grid.starts.tolist(), grid.periods.tolist(), strict=True))
    for us in around:
        bucket = us - (us - grid.start_us) % grid.bucket_us
        inside = grid.start_us <= us < grid.end_us
        assert (known.get(bucket) if inside else None) == expected.get(us)
    assert len(known) == len(grid.starts)


def test_buckets_are_as_long_as_the_periods_allow() -> None:
    hours = window("America/Detroit", date(2026, 6, 1), date(2026, 6, 30))
    assert time_grid(hours, "local").bucket_us == 60 * MINUTE_US
    assert len(time_grid(hours, "utc").starts) == 30 * 24
    odd = window("America/Detroit", date(2026, 6, 1), date(2026, 6, 2), opens=30, minutes=94)
    assert time_grid(odd, "local").bucket_us == 2 * MINUTE_US


def test_the_last_microsecond_of_a_period_is_in_it() -> None:
    grid = time_grid(window("UTC", date(2026, 6, 1), date(2026, 6, 1)), "local")
    assert period_at(grid, grid.start_us + 60 * MINUTE_US - 1) == 0
    assert period_at(grid, grid.start_us + 60 * MINUTE_US) == 1
    assert period_at(grid, grid.end_us - 1) == 23
    assert period_at(grid, grid.end_us) is None


@pytest.mark.parametrize("clock", ["local", "utc"])
def test_a_day_that_never_was_has_no_buckets(clock: Clock) -> None:
    grid = time_grid(window("Pacific/Apia", date(2011, 12, 30), date(2011, 12, 30)), clock)
    assert len(grid.starts) == 0
    assert grid.start_us < grid.end_us


def test_integers_match_ids_that_are_written_like_integers() -> None:
    ids = ("7", "07", "-3", "-0", "0", "x", "٣", "7.0", " 7", "9223372036854775808", "1_000")
    locations = cells_of(ids).locations
    table = place_table(locations, integers=True).to_pydict()
    assert table == {"id": [7, -3, 0], "place": [0, 2, 4]}
    assert place_table(locations, integers=False).to_pydict()["id"] == list(ids)


def test_no_id_may_look_like_an_integer() -> None:
    assert place_table(cells_of(("a", "b")).locations, integers=True).num_rows == 0
