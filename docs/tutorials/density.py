# %% [markdown]
# # How full a city is
#
# `docs/tutorials/density.py`, run when this page was built. Call records at towers become visits of every area in every hour.

# %%
from pathlib import Path

import hushway
from hushway.steward.demo import build_city

city = build_city("density", Path("city"))
print(city.example.title, "with", city.example.rows)

# %% [markdown]
# ## Is this crowd large enough?
#
# Ask before you spend, with a guess from public knowledge. Neither rows nor budget are touched.

# %%
expected = hushway.price(city.plan, trips=200_000, people=20_000).expected
for error in expected.errors:
    print(f"{error.figure}: about {error.size:,.1f}, off by {error.error:,.1f} on average")
for note in expected.notes:
    print(note)

# %% [markdown]
# ## Publish

# %%
published = hushway.publish(city.plan)
show(
    published.folder / "picture.png",
    "Visits by area at four hours, series with intervals, and the error of every area.",
)

# %% [markdown]
# ## The day of one area
#
# Every count has a standard error. Two standard errors on either side cover about 95 of 100 true counts.

# %%
release = hushway.open(published.folder)
rows = release.arrow().to_pylist()
busiest = max(rows, key=lambda row: row["count"])
for row in rows:
    if row["area"] == busiest["area"] and row["starts_local"][:10] == busiest["starts_local"][:10]:
        bar = "#" * round(40 * row["count"] / busiest["count"])
        print(
            f"{row['starts_local'][11:16]} {row['count']:7.1f} ± {2 * row['standard_error']:5.1f} {bar}"
        )

# %%
print(hushway.verify(published.folder).result)
