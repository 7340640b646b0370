"""Routes of shuttles: the insertion heuristic of dial-a-ride, with the least delay of all riders.

A shuttle on its way finishes the stretch that it drives. What comes after changes only by inserting
stops, never by moving or dropping one. So a stop can only become later than planned, and a deadline
that is set when a ride is promised keeps wait and detour within the rules, whatever is inserted
later. Driving through a third place is never shorter, so an insertion never makes a stop earlier.
"""

from typing import NamedTuple

from hushway.arrays import IntArray
from hushway.numerics.compiled import Rows, compiled_for_threads, whole_rows

# Three times what eight riders make: a longer plan would keep no promise about waits.
MOST_STOPS = 48
NOWHERE = -1


class Shuttles(NamedTuple):
    """Where shuttles are and what they will do.

    Attributes:
        shuttle: Rows of shuttles: the stand where it waits when there is nothing to do; the place
            of the last stop; when it was left (since); stops to come; riders on board; seconds with
            a rider on board within the window (busy_s); seconds of driving, without the way home
            after the last stop.
        stop: Rows of stops to come, a line a shuttle: place; the leg whose rider gets on or off;
            whether on; the planned time; the latest time that was promised; the least time to spare
            of this and all later stops (spare); riders on board after it (load); drop-offs from
            here on (drops).
    """

    shuttle: Rows
    stop: Rows
    drive_s: IntArray
    seats: int


class Ride(NamedTuple):
    """A ride that is asked for now, and what is promised about it."""

    leg: int
    pickup: int
    dropoff: int
    now_s: int
    latest_pickup_s: int
    direct_s: int
    longest_s: int


class Insertion(NamedTuple):
    """Where a ride fits in: the delay of all riders that it adds, and the stops that it precedes.

    Attributes:
        delay_s: Seconds until the new rider is there, and by which all others are there later.
        pickup: The number of stops before the pickup; -1 if the ride does not fit.
        dropoff: The number of old stops before the drop-off.
    """

    delay_s: int
    pickup: int
    dropoff: int


def parked(stands: IntArray, start_s: int, *, drive_s: IntArray, seats: int) -> Shuttles:
    """Returns idle shuttles, each at its stand."""
    shuttle = whole_rows(len(stands), "stand place since stops riders busy_s driven_s")
    shuttle["stand"], shuttle["place"], shuttle["since"] = stands, stands, start_s
    stop = whole_rows(len(stands) * MOST_STOPS, "place leg on time latest spare load drops")
    return Shuttles(
        shuttle=shuttle, stop=stop.reshape(len(stands), MOST_STOPS), drive_s=drive_s, seats=seats
    )


@compiled_for_threads
def best_insertion(shuttles: Shuttles, number: int, ride: Ride, best_s: int) -> Insertion:
    """Returns where a ride fits into the route of one shuttle with the least delay.

    Only a fit that is better than `best_s` is looked for.
    """
    count, stop = shuttles.shuttle[number].stops, shuttles.stop[number]
    found = Insertion(best_s, NOWHERE, NOWHERE)
    if count == 0:
        pickup_s = ride.now_s + _seconds_away(shuttles, number, ride)
        delay = pickup_s + ride.direct_s - ride.now_s
        if pickup_s <= ride.latest_pickup_s and delay < best_s:
            found = Insertion(delay, 0, 0)
        return found
    if count + 2 > MOST_STOPS:
        return found
    for first in range(1, count + 1):
        before = stop[first - 1]
        pickup_s = before.time + shuttles.drive_s[before.place, ride.pickup]
        # Later on the route the pickup is never earlier, so nothing better comes.
        if (
            pickup_s > ride.latest_pickup_s
            or pickup_s + ride.direct_s - ride.now_s >= found.delay_s
        ):
            break
        if before.load < shuttles.seats:
            found = _drop_off_next(shuttles, number, ride, first, found)
            found = _drop_off_later(shuttles, number, ride, first, found)
    return found


@compiled_for_threads
def _drop_off_next(
    shuttles: Shuttles, number: int, ride: Ride, first: int, found: Insertion
) -> Insertion:
    """Tries to drop the rider off right after the pickup, which follows the stop before `first`."""
    stop, drive_s = shuttles.stop[number], shuttles.drive_s
    before = stop[first - 1]
    dropoff_s = before.time + drive_s[before.place, ride.pickup] + ride.direct_s
    delay = dropoff_s - ride.now_s
    if first < shuttles.shuttle[number].stops:
        after = stop[first]
        later = dropoff_s + drive_s[ride.dropoff, after.place] - after.time
        if later > after.spare:
            return found
        delay += after.drops * later
    return Insertion(delay, first, first) if delay < found.delay_s else found


@compiled_for_threads
def _drop_off_later(
    shuttles: Shuttles, number: int, ride: Ride, first: int, found: Insertion
) -> Insertion:
    """Tries to drop the rider off after one or more of the stops from `first` on."""
    count, stop, drive_s = shuttles.shuttle[number].stops, shuttles.stop[number], shuttles.drive_s
    if first == count:
        return found
    before, after = stop[first - 1], stop[first]
    pickup_s = before.time + drive_s[before.place, ride.pickup]
    later = pickup_s + drive_s[ride.pickup, after.place] - after.time
    for last in range(first + 1, count + 1):
        before = stop[last - 1]
        dropoff_s = before.time + later + drive_s[before.place, ride.dropoff]
        # Full, too late for the stop just passed, or too long a ride: so it is further on.
        if (
            before.load >= shuttles.seats
            or later > before.latest - before.time
            or dropoff_s > pickup_s + ride.longest_s
        ):
            break
        delay = dropoff_s - ride.now_s + after.drops * later
        if last < count:
            onward = stop[last]
            latest = dropoff_s + drive_s[ride.dropoff, onward.place] - onward.time
            if latest > onward.spare:
                continue
            delay += onward.drops * (latest - later)
        if delay < found.delay_s:
            found = Insertion(delay, first, last)
    return found


@compiled_for_threads
def _seconds_away(shuttles: Shuttles, number: int, ride: Ride) -> int:
    """Returns how far an idle shuttle is from a pickup.

    On its way to the stand it turns round, or goes on and comes by the stand: whichever is shorter.
    """
    one, drive_s = shuttles.shuttle[number], shuttles.drive_s
    driven = ride.now_s - one.since
    left = drive_s[one.place, one.stand] - driven
    if left <= 0:
        return int(drive_s[one.stand, ride.pickup])
    return int(
        min(driven + drive_s[one.place, ride.pickup], left + drive_s[one.stand, ride.pickup])
    )


@compiled_for_threads
def insert(shuttles: Shuttles, number: int, ride: Ride, fit: Insertion) -> int:
    """Puts a ride into the route of a shuttle where it fits, and returns the planned pickup."""
    one, stop = shuttles.shuttle[number], shuttles.stop[number]
    count = one.stops
    first_s = ride.now_s
    if count == 0:
        first_s += _seconds_away(shuttles, number, ride)
        one.driven_s += min(ride.now_s - one.since, shuttles.drive_s[one.place, one.stand])
        one.since = ride.now_s
    for at in range(count - 1, fit.dropoff - 1, -1):
        _copy(shuttles, number, at, at + 2)
    for at in range(fit.dropoff - 1, fit.pickup - 1, -1):
        _copy(shuttles, number, at, at + 1)
    on, off = stop[fit.pickup], stop[fit.dropoff + 1]
    on.place, on.leg, on.on, on.latest = ride.pickup, ride.leg, 1, ride.latest_pickup_s
    off.place, off.leg, off.on = ride.dropoff, ride.leg, 0
    one.stops = count + 2
    _plan(shuttles, number, fit.pickup, first_s)
    off.latest = on.time + ride.longest_s
    _look_ahead(shuttles, number)
    return int(on.time)


@compiled_for_threads
def finish_stop(shuttles: Shuttles, number: int, start_s: int, end_s: int) -> None:
    """Lets a shuttle make its next stop; only time from start to end counts as busy."""
    one, done = shuttles.shuttle[number], shuttles.stop[number, 0]
    if one.riders > 0:
        one.busy_s += max(0, min(done.time, end_s) - max(one.since, start_s))
    one.driven_s += done.time - one.since
    one.place, one.since = done.place, done.time
    one.riders += 1 if done.on == 1 else -1
    one.stops -= 1
    for at in range(one.stops):
        _copy(shuttles, number, at + 1, at)


@compiled_for_threads
def _copy(shuttles: Shuttles, number: int, source: int, target: int) -> None:
    one, other = shuttles.stop[number, source], shuttles.stop[number, target]
    other.place, other.leg, other.on, other.time = one.place, one.leg, one.on, one.time
    other.latest, other.spare, other.load, other.drops = one.latest, one.spare, one.load, one.drops


@compiled_for_threads
def _plan(shuttles: Shuttles, number: int, first: int, first_s: int) -> None:
    """Sets the times of stops and the riders on board, from the first changed stop on.

    `first_s` is when the first stop of all is made, if that is the first changed one.
    """
    one, stop = shuttles.shuttle[number], shuttles.stop[number]
    place, time, load = stop[0].place, first_s, one.riders
    if first > 0:
        before = stop[first - 1]
        place, time, load = before.place, before.time, before.load
    for at in range(first, one.stops):
        here = stop[at]
        time += shuttles.drive_s[place, here.place]
        load += 1 if here.on == 1 else -1
        here.time, here.load, place = time, load, here.place


@compiled_for_threads
def _look_ahead(shuttles: Shuttles, number: int) -> None:
    """Sets what a route can still bear: time to spare and drop-offs to come."""
    one, stop = shuttles.shuttle[number], shuttles.stop[number]
    spare, drops = stop[one.stops - 1].latest - stop[one.stops - 1].time, 0
    for at in range(one.stops - 1, -1, -1):
        here = stop[at]
        spare = min(spare, here.latest - here.time)
        drops += 1 - here.on
        here.spare, here.drops = spare, drops
