# %% [markdown]
# # A month, and then the next: a series and its trend
#
# `docs/tutorials/series.py`, run when this page was built. Three months of a made-up tram line are published from one account, which limits what any twelve consecutive months
# may cost together; then they are read as one series: by month, by quarter, and what changed by more than noise.

# %%
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np

import hushway

STOPS = {f"S{n:02}": (f"Stop {n}", 13.30 + 0.01 * n, 52.50) for n in range(16)}
places = "\n".join(f"{key},{name},{lon},{lat}" for key, (name, lon, lat) in STOPS.items())
Path("stops.csv").write_text(f"id,name,lon,lat\n{places}\n")

# %% [markdown]
# ## Three months of rows
#
# 3,000 people ride to work and back on weekdays, each on about half of them. In March the stop where most work, S12, is closed: who worked there goes on to S13.

# %%
rng = np.random.default_rng(39)  # noqa: TID251  invented trips, not noise
home = rng.integers(0, 10, 3000)
work = rng.choice([10, 11, 12, 12, 12, 14, 15], 3000)


def rows_of(month):
    first = date.fromisoformat(f"{month}-01")
    days = [first + timedelta(days=n) for n in range(31)]
    for day in (day for day in days if day.month == first.month and day.weekday() < 5):
        for person in np.flatnonzero(rng.random(3000) < 0.5):
            at = 13 if month == "2026-03" and work[person] == 12 else work[person]
            for start, end, hour in ((home[person], at, 8), (at, home[person], 17)):
                time = datetime.combine(day, datetime.min.time()) + timedelta(hours=hour)
                yield f"card-{person},S{start:02},S{end:02},{time.isoformat()}"


for month in ("2026-01", "2026-02", "2026-03"):
    rows = "\n".join(rows_of(month))
    Path(f"trips-{month}.csv").write_text(f"card,from,to,time\n{rows}\n")

# %% [markdown]
# ## One plan, one account
#
# `[series]` says what a step is and what any twelve consecutive steps may cost; `[privacy]` says what one of them spends. `{step}` stands for the month. Noise is Gaussian: the losses of twelve
# such months add up to far less than twelve times one, where those of Laplace noise would not.

# %%
Path("plan.toml").write_text("""
release_type = "od"
[data]
trips = "trips-{step}.csv"
name = "tram"
columns = { person = "card", origin = "from", destination = "to", time = "time" }
[places]
file = "stops.csv"
[time]
zone = "Europe/Berlin"
minutes = 720
opens = "06:00"
closes = "18:00"
[series]
step = "month"
steps_per_span = 12
budget = "8"
[privacy]
unit = "person"
epsilon = "2"
delta = "1e-6"
[mechanism]
name = "learned"
noise = "gaussian"
[ledger]
period = "from 2026 on"
[release]
folder = "releases/{step}"
title = "Tram trips in {step}"
""")
hushway.ledger.open("plan.toml", step="2026-01")
for month in ("2026-01", "2026-02", "2026-03"):
    account = hushway.publish("plan.toml", step=month).certificate.account
    print(
        f"{month}: the fullest twelve months hold {float(account.spent / account.budget_limit):.0%} "
        f"of their limit"
    )

# %% [markdown]
# ## Read the trend
#
# A month answers what its release answers, and months add up to quarters exactly. Noise is drawn anew every month, but what a fit expects of a place is wrong in the same direction every
# month: so errors are added up, and the interval of the quarter holds whatever the months share.

# %%
city = hushway.series("releases")
print(city)
for answer in (*city.sum(), *city.sum(by="quarter")):
    print(f"{answer.label}: {answer.value:,.0f} trips, {answer.low:,.0f} to {answer.high:,.0f}")

# %% [markdown]
# January has 22 weekdays, February has 20 and March 22. What changed from month to month by more than noise? Of what is listed one in twenty is noise at most, on average; the surest come first.

# %%
for change in city.changes("destinations"):
    print(
        f"{change.label}, {change.earlier} to {change.later}: {change.value:+,.0f} trips, "
        f"{change.low:+,.0f} to {change.high:+,.0f}"
    )

# %% [markdown]
# The stop that was closed, month by month:

# %%
for answer in city.sum(destinations="S12"):
    print(f"{answer.label}: {answer.value:,.0f} trips, {answer.low:,.0f} to {answer.high:,.0f}")

# %% [markdown]
# ## Hand it on
#
# One folder has the releases, one table of sums over all steps, and what catalogues need: a series, its members, and how often one appears.

# %%
hushway.series("releases", to="tram-2026")
table = Path("tram-2026/series.csv").read_text().splitlines()
print(*(line for line in table if line.startswith(("by,", "everything"))), sep="\n")

# %% [markdown]
# The same by command: `hushway series releases --to tram-2026`, `hushway ask releases --each quarter` and `hushway ask releases --changes --by destinations`.
# [What answers are made of](../reference/asking.md#several-releases-a-series); [how the account keeps its limit](../operations/ledger.md#series).
