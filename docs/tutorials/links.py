# %% [markdown]
# # Traffic on roads
#
# `docs/tutorials/links.py`, run when this page was built. GPS traces are matched to a public road network, and people are counted on every
# link, driven on or not.

# %%
from pathlib import Path

import hushway
from hushway.steward.demo import build_city

city = build_city("links", Path("city"))
print(city.example.title, "with", city.example.rows)

# %% [markdown]
# ## Publish
#
# Noise goes on all links of the network, the empty ones too: which roads were driven on is part of what is protected.

# %%
job = hushway.prepare(hushway.load_plan(city.plan))
published = hushway.publish(job)
show(
    published.folder / "picture.png",
    "Links that stand out from the noise, and what the others add up to.",
)

# %% [markdown]
# ## What is shown, and what the rest adds up to
#
# Links are shown where they stand out. What the others carry is published by class of road and zone, so that kilometres add up.

# %%
release = hushway.open(published.folder)
links = release.arrow().sort_by([("count", "descending")])
print(f"{links.num_rows} links shown")
for row in links.slice(0, 5).to_pylist():
    print(f"link {row['link_id']}: {row['count']:.0f} ± {row['standard_error']:.0f}")
rest = release.arrow("rest").to_pylist()
print(
    f"the rest: {sum(row['km'] for row in rest):,.0f} km on {sum(row['links'] for row in rest):,} links"
)

# %%
print(hushway.verify(published.folder).result)
