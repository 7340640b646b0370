# %% [markdown]
# # A mechanism of your own in thirty lines
#
# `docs/tutorials/mechanism.py`, run when this page was built. A mechanism says what it asks and what it makes of the answers. Everything
# else is there: bounded counts, exact noise, a budget that cannot be passed, cities with a known truth, and errors.
#
# Here is the first idea of most people: add up noisy cells by origin and by destination, and multiply.

# %%
from dataclasses import dataclass

import numpy as np

from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.measuring import cells_query
from hushway.families.od.public.cells import ODCells
from hushway.privacy.loss import PureLoss
from hushway.release.mechanism import FixedQuestions


@dataclass(frozen=True, kw_only=True)
class Product(FixedQuestions[ODCells]):
    """Trips of a cell: those from its origin, times those to its destination, over all of the period."""

    spend: PureLoss
    name: str = "product"

    @property
    def losses(self):
        return (self.spend,)

    def questions(self, geography):
        return ((cells_query(geography), self.spend),)

    def fit(self, measured, geography):
        (answer,) = measured
        places, periods = len(geography.locations), len(geography.periods)
        table = np.zeros((periods, places, places))
        when, origin, destination = geography.decode(np.arange(geography.size))
        table[when, origin, destination] = answer.values
        out, into = (np.maximum(table.sum(axis=axis), 0) for axis in (2, 1))
        expected = (
            out[:, :, None] * into[:, None, :] / np.maximum(out.sum(axis=1), 1)[:, None, None]
        )
        counts = np.rint(expected[when, origin, destination]).astype(np.int64)
        return ODTable(
            universe=geography,
            cells=np.arange(geography.size),
            counts=counts,
            standard_errors=np.zeros(geography.size),
            threshold=None,
        )


# %% [markdown]
# `fit` has no curator in its signature, so whatever it does is post-processing: nothing that you write there can break the guarantee.
# `questions` is what costs. A question's noise follows from the bound that the counter enforces, not from what you believe it to be.
#
# ## Beside the others
#
# A scene is a city whose truth is known. Errors against it are `Internal`: no file takes them.

# %%
from fractions import Fraction

from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.learned import od_learned
from hushway.families.od.mechanism.shares import learned_shares
from hushway.families.od.planning.trial import try_out
from hushway.families.od.study.scene import city_scene
from hushway.privacy.randomness import SeededSource

scene = city_scene(ann_arbor(seed=7), periods=range(16, 20))
budget = PureLoss(Fraction(1))
shares = learned_shares(scene.features, budget, scene.counter.bound(cells_query(scene.cells)))
rivals = {
    "product": Product(spend=budget),
    "laplace": DenseLaplace(spend=budget),
    "learned": od_learned(scene.cells, scene.features, budget=budget, shares=shares),
}
for name, mechanism in rivals.items():
    errors = try_out(mechanism, scene, SeededSource(1)).value.errors
    print(
        f"{name:8} RMSE of cells {errors.cells_rmse:.2f}, misplaced trips {errors.cells_l1_share:.0%}"
    )

# %% [markdown]
# `SeededSource` makes the run repeatable, and a release made with it would be stamped NOT PRIVATE. One run on one city says little:
# `benchmarks/od_learning.py` has the scenes, peers and budgets that the project itself is judged by, and takes real data from the folder that
# `HUSHWAY_DATA` names.
#
# To make it a mechanism that plans can name, give it an entry in `families/od/mechanism/catalogue.py` and a model in
# `families/od/plan_mechanisms.py`; then write down an attack on it: [audits](../researchers/audits.md).
