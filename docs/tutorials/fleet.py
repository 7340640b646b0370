# %% [markdown]
# # From raw trips to a fleet
#
# `docs/tutorials/fleet.py`, run when this page was built. A table is as good as what people do with it. Here a city sizes its fleet of shuttles by a
# release, and the steward checks privately whether the exact trips would have given the same fleet.

# %%
from pathlib import Path

import hushway
from hushway.steward.demo import build_city

city = build_city("od", Path("city"))
published = hushway.publish(city.job)
claim = published.certificate.claim
print(claim.measure.symbol, "=", claim.amount)

# %% [markdown]
# ## What an operator would buy
#
# From the release alone: days are drawn from it, lines and shuttles are planned for them, and the fleet is sized.

# %%
network = city.folder / "network.toml"
found = hushway.evaluate(published.folder, network=network, draws=2, hours="08:00-09:00")
print(found.verdict.value.sentence)

# %% [markdown]
# ## What the exact trips would have bought
#
# Internal: it is computed from everybody's exact trips, covered by no guarantee, and refused by everything that writes files.

# %%
internal = hushway.evaluate(
    published.folder, network=network, plan=city.plan, draws=2, hours="08:00-09:00"
)
print(type(internal.verdict).__name__)
print(internal.verdict.value.sentence)
