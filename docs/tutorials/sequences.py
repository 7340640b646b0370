# %% [markdown]
# # Journeys by card
#
# `docs/tutorials/sequences.py`, run when this page was built. Card taps say where people go next. What is published are records that nobody
# made, with the beginnings of journeys that are sure.

# %%
from collections import Counter
from pathlib import Path

import hushway
from hushway.steward.demo import build_city

city = build_city("sequences", Path("city"))
print(city.example.title, "with", city.example.rows)

# %% [markdown]
# ## Publish
#
# One budget goes to beginnings, turns, new stops and whole records. What is learnt from the noisy answers costs nothing more.

# %%
job = hushway.prepare(hushway.load_plan(city.plan))
loss = hushway.price(job).loss
print("This costs", loss.measure.symbol, "=", loss.amount)
published = hushway.publish(job)
show(published.folder / "picture.png", "What the release says of itself.")

# %% [markdown]
# ## Prefixes that are sure
#
# Each is how many records begin with these stops, with its standard error.

# %%
release = hushway.open(published.folder)
print(release.tables)
prefixes = release.arrow("prefixes").sort_by([("count", "descending")]).slice(0, 6)
for row in prefixes.to_pylist():
    print(" > ".join(row["prefix"]), row["count"], f"± {row['standard_error']:.0f}")

# %% [markdown]
# ## Records to compute with
#
# `sequences` has whole records with their number, as a model of the noisy answers draws them. Whatever can be counted in records can be
# counted in these, such as the pairs of stops that are passed one after the other:

# %%
pairs = Counter()
for row in release.arrow("sequences").to_pylist():
    for pair in zip(row["sequence"], row["sequence"][1:], strict=False):
        pairs[pair] += row["count"]
for (here, there), times in pairs.most_common(5):
    print(f"{here} > {there}: about {times}")

# %%
print(hushway.verify(published.folder).result)
