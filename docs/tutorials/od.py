# %% [markdown]
# # A table of trips, from rows to readers
#
# This page is a script, `docs/tutorials/od.py`, that was run when the page was built. It publishes who travels between which stops of a
# synthetic Ann Arbor, and then reads the release as a planner would. Nothing here needs data of your own.

# %%
from pathlib import Path

import hushway
from hushway.steward.demo import build_city

city = build_city("od", Path("city"))
print(city.example.title, "with", city.example.rows)

# %% [markdown]
# ## What is protected, and what is public
#
# The trips are protected. The stops, the hours and the limits are public: they come from the plan and from files that anybody may have.
# The plan says all of it.

# %%
plan = city.plan.read_text()
wanted = ("epsilon", "unit", "max_trips", "first_day", "last_day", "minutes")
for line in plan.splitlines():
    if line.startswith(wanted):
        print(line)

# %% [markdown]
# ## Look before you spend
#
# `check` reads the rows and says what is wrong with them. What it says is exact, and for your own eyes. `price` reads no row at all: it
# says what the noise will be.

# %%
job = hushway.prepare(hushway.load_plan(city.plan))
refused = [problem.kind for problem in hushway.check(job).everything if problem.refused]
print("refused:", refused or "nothing")
for forecast in hushway.price(job).forecasts:
    print(f"{forecast.figure}: ± {forecast.standard_error:.1f} trips")

# %% [markdown]
# ## Publish
#
# The ledger is charged first; then rows are counted with noise, and the table is fitted to all noisy answers.

# %%
published = hushway.publish(job)
claim = published.certificate.claim
print(claim.measure.symbol, "=", claim.amount)
show(
    published.folder / "picture.png",
    "The release as its own picture shows it: only published numbers are in it.",
)

# %% [markdown]
# ## Read it as a planner
#
# Every count has its error, and every interval is there to be used. The busiest flows first:

# %%
release = hushway.open(published.folder)
trips = release.arrow().sort_by([("count", "descending")]).slice(0, 5)
for row in trips.to_pylist():
    print(
        f"{row['period']}  {row['origin']} to {row['destination']}: {row['count']} trips, {row['low']:.0f} to {row['high']:.0f}"
    )

# %% [markdown]
# A single small cell is noise; a sum over many is not. `margins` has the sums that were measured, with an error of their own.

# %%
for row in release.arrow("margins").to_pylist()[:3]:
    print(
        f"{row['published_total']} {row['period'] or ''}: {row['count']} trips, ± {row['standard_error']:.0f}"
    )

# %% [markdown]
# ## Verify it
#
# Anybody can recompute what the certificate says, without the data.

# %%
found = hushway.verify(published.folder)
print(found.result, f"({len(found.checks)} checks)")

# %% [markdown]
# Next: [from raw data to a fleet](fleet.md), or [how to choose ε](epsilon.md).
