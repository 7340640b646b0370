# %% [markdown]
# # From single taps to a map of journeys with transfers
#
# `docs/tutorials/journeys.py`, run when this page was built. A file of taps that only tell where people got on, and a public timetable (GTFS), become a
# release of rides with transfers, and of journeys. The town is made up here: a bus along the river, one up the hill, and a metro with gates.

# %%
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

import hushway

LINES = {
    "river": [(f"R{n}", 13.30 + 0.012 * n, 52.500) for n in range(9)],
    "hill": [(f"H{n}", 13.348, 52.476 + 0.008 * n) for n in range(7)],
    "metro": [(f"M{n}", 13.396 + 0.02 * n, 52.5005) for n in range(5)],
}
feed = Path("feed")
feed.mkdir()


def write(name, *lines):
    (feed / f"{name}.txt").write_text("\n".join(lines) + "\n")


write(
    "stops",
    "stop_id,stop_name,stop_lon,stop_lat",
    *(f"{s},{line} {s},{lon},{lat}" for line, stops in LINES.items() for s, lon, lat in stops),
)
write("routes", "route_id,route_type", "river,3", "hill,3", "metro,1")
write(
    "calendar",
    "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date",
    "week,1,1,1,1,1,0,0,20260302,20260306",
)
runs = [
    (line, f"{line}-{way}-{hour}", hour, [stop for stop, _, _ in stops][:: 1 - 2 * way])
    for line, stops in LINES.items()
    for way in (0, 1)
    for hour in range(5, 24)
]
write("trips", "route_id,service_id,trip_id", *(f"{line},week,{trip}" for line, trip, _, _ in runs))
write(
    "stop_times",
    "trip_id,arrival_time,departure_time,stop_id,stop_sequence",
    *(
        f"{trip},{hour:02}:{3 * n:02}:00,{hour:02}:{3 * n:02}:00,{stop},{n}"
        for _, trip, hour, stops in runs
        for n, stop in enumerate(stops)
    ),
)

# %% [markdown]
# ## The taps
#
# People go to work and back on the first weekdays of March. Who lives on the hill changes to the bus along the river at R4, or goes on by metro from R8. At
# the gates of the metro no line is named. Nobody taps to get off.

# %%
random = np.random.default_rng(7)  # noqa: TID251  invented taps, not noise
rows = []


def tap(card, when, stop, line):
    rows.append(f"card-{card},{when:%Y-%m-%dT%H:%M:%S},{stop},{line}")


for card in range(6000):
    home, work = random.choice([0, 1, 1, 2, 5, 6]), random.choice(["R0", "R1", "R7", "M2", "M3"])
    for day in range(5):
        if random.random() < 0.2:
            continue
        leaves = timedelta(hours=float(random.normal(8, 1)))
        at = datetime(2026, 3, 2 + day, tzinfo=UTC) + leaves
        for start in (at, at + timedelta(hours=float(random.choice([5, 8, 9])))):
            there = start == at
            legs = [(f"H{home}", "hill"), ("R4", "river")]
            if work.startswith("M"):
                legs.append(("M0", ""))
            if not there:
                first = (
                    ("M2", "") if work == "M2" else ("M3", "") if work == "M3" else (work, "river")
                )
                legs = [first, *([("R8", "river")] if work.startswith("M") else []), ("H3", "hill")]
            for number, (stop, line) in enumerate(legs):
                tap(card, start + timedelta(minutes=17 * number), stop, line)
Path("taps.csv").write_text("card,when,stop,line\n" + "\n".join(sorted(rows)) + "\n")
print(f"{len(rows):,} taps")

# %% [markdown]
# ## The plan
#
# The timetable is public, the taps are protected. `count = "both"` counts rides, with places where people change apart from those where journeys begin and end, and
# besides them journeys of several rides; one budget pays for all.

# %%
Path("plan.toml").write_text("""
release_type = "od"

[data]
name = "taps"
trips = "taps.csv"
format = "taps"

[taps]
timetable = "feed"
count = "both"

[taps.columns]
person = "card"
time = "when"
stop = "stop"
line = "line"

[places]
file = "feed"

[time]
zone = "Europe/Berlin"
first_day = 2026-03-02
last_day = 2026-03-06
opens = "05:00"
closes = "24:00"
minutes = 1140
cycle = "day_type"
day_types = { weekday = ["Mon", "Tue", "Wed", "Thu", "Fri"] }

[privacy]
unit = "device"
epsilon = "2"

[ledger]
period = "2026-03"

[release]
folder = "journeys"
title = "Rides and transfers, first week of March"
""")
job = hushway.prepare(hushway.load_plan("plan.toml"))

# %% [markdown]
# ## What was inferred, and why not
#
# `check` is exact, and for the steward's eyes only. Every tap has a reason.

# %%
for problem in hushway.check(job).everything:
    if problem.count:
        print(f"{problem.count:>7,}  {problem.message}")

# %% [markdown]
# ## Publish
#
# How rides were made of taps costs nothing: every card's rides follow from its own taps and from the timetable.

# %%
hushway.ledger.open(job, epsilon="2")
published = hushway.publish(job)
show(
    published.folder / "picture.png",
    "Rides between stops, as published; transfers have places of their own.",
)

# %% [markdown]
# ## Transfers at stops, boardings and alightings
#
# All of them are sums of what was published, with errors of their own.

# %%
release = hushway.open(published.folder)


def said(what, answer):
    print(f"{what}: {answer.value:,.0f}, {answer.low:,.0f} to {answer.high:,.0f}")


for stop in ("R4", "H3", "M0", "R8"):
    said(f"transfers at {stop}", release.sum(origins=f"transfer at {stop}"))
said("boardings at R4 without a transfer", release.sum(origins="R4"))
said("alightings at R4 at the end of journeys", release.sum(destinations="R4"))
said("all transfers", release.sum(origins="transfer at *"))
said("rides whose end nobody knows", release.sum(destinations="not known"))
said("journeys of several rides", release.sum(origins="journey at *"))
said("of these, from H1 to R7", release.sum(origins="journey at H1", destinations="journey at R7"))

# %% [markdown]
# `hushway site journeys` makes a map of it in one file. [The guide](../guides/od.md#single-taps) has all options, and says how often the ends of rides are right.

# %%
print(hushway.verify(published.folder).result)
