# %% [markdown]
# # A mechanism of your own
#
# `docs/tutorials/mechanism.py`, run when this page was built. A mechanism says what it asks, what it makes of the answers, and how plans and certificates name it.
# Everything else is there: bounded counts, exact noise, a budget that cannot be passed, files, verification, audits, and cities with a known truth.
#
# The idea: in a table with many empty cells most small noisy counts are noise alone. Publish those that stand out by some standard deviations, and 0 for the others.
#
# ## Options and mechanism

# %%
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from pydantic import Field

from hushway import families as hw
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.measuring import ODMechanism, cells_query
from hushway.families.od.mechanism.options import MechanismOptions
from hushway.families.od.mechanism.setting import ODSpec, PlannedMechanism


class TrimmedOptions(MechanismOptions):
    """Noise on every cell; counts that do not stand out are published as 0."""

    name: Literal["trimmed"] = Field(description="The mechanism.")
    cut: float = Field(
        default=2.0, ge=0, le=10, description="From how many standard deviations on a count stands."
    )


@dataclass(frozen=True, kw_only=True)
class Trimmed(ODMechanism):
    """Publishes the noisy counts that stand out."""

    spend: hw.PureLoss
    cut: float
    name: str = "trimmed"

    @property
    def parameters(self):
        return {"epsilon": str(self.spend.epsilon), "cut": self.cut}

    @property
    def losses(self):
        return (self.spend,)

    @property
    def post_processing(self):
        return (f"Noisy counts below {self.cut} standard deviations are published as 0.",)

    def questions(self, geography):
        return ((cells_query(geography), self.spend),)

    def fit(self, measured, geography):
        (answer,) = measured
        error = math.sqrt(answer.variance)
        return ODTable(
            universe=geography,
            cells=np.arange(geography.size),
            counts=np.where(answer.values >= self.cut * error, np.maximum(answer.values, 0), 0),
            standard_errors=np.full(geography.size, error),
            threshold=None,
        )


# %% [markdown]
# `fit` has no curator in its signature, so whatever it does is post-processing: nothing that you write there can break the guarantee.
# `questions` is what costs. A question's noise follows from the bound that the counter enforces, not from what you believe it to be.
#
# ## One value, and one line
#
# A plan's mechanism is made from the plan and its public files; a verifier makes it again from the public parameters in the certificate. An audit is a claim about
# two data sets that differ in one person. Here: fifty trips of one person, of whom one may count, against none.

# %%
from functools import partial

from hushway.auditing.cases import Case
from hushway.families.od.audit.stage import Form, ODProduct, Part, staged, toy_universe
from hushway.families.od.mechanism.catalogue import MECHANISMS
from hushway.families.od.plan import ODPlan


def from_plan(setting):
    plan = setting.plan
    spend = hw.PureLoss(plan.privacy.epsilon)
    return PlannedMechanism(mechanism=Trimmed(spend=spend, cut=plan.mechanism.cut))


def from_certificate(parameters, _cells, _features):
    return Trimmed(spend=hw.PureLoss(hw.exact(parameters["epsilon"])), cut=parameters["cut"])


def published(stage, curator):
    return stage.table(curator).counts


FIFTY_TRIPS = Case(
    "fifty trips of one person or none",
    "the published count of their cell",
    stage=partial(
        staged,
        toy=toy_universe(places=30, periods=1),
        form=Form("trimmed", lambda _cells, budget: Trimmed(spend=budget, cut=0.0)),
    ),
    look=published,
    one=(Part(times=50),),
)

TRIMMED = ODSpec(
    name="trimmed",
    options=TrimmedOptions,
    from_plan=from_plan,
    from_certificate=from_certificate,
    audits=lambda: hw.Suite(real=ODProduct(), audits=(FIFTY_TRIPS,)),
)
MECHANISMS.add(TRIMMED, ODPlan)

# %% [markdown]
# From here on every plan of this process can say `name = "trimmed"`. As part of hushway, the same file stands in `families/od/mechanism/`, with one line in `catalogue.py`
# instead of `add`.
#
# ## Check, price, publish, verify
#
# A made-up town of forty people, with a ledger and a release folder of its own.

# %%
from pathlib import Path

import hushway
from hushway.families.load import plan_from
from hushway.families.registry import FAMILIES

folder = Path("town")
folder.mkdir()
facts = {
    **FAMILIES["od"].little_plan(folder),
    "release_type": "od",
    "mechanism": {"name": "trimmed", "cut": 1.5},
    "ledger": {"period": "2026-03"},
    "release": {"folder": "release", "title": "Trips that stand out"},
}
job = hushway.prepare(plan_from(facts, folder=folder))
hushway.ledger.open(job, epsilon="4")
print("problems:", [problem.kind for problem in hushway.check(job).everything if problem.refused])
print("price:", hushway.price(job).loss)
# Of so few people next to nothing will be known, which would be refused otherwise.
release = hushway.publish(job, anyway=True)
print("verified:", hushway.verify(release.folder).passed)
print(hushway.open(release.folder).arrow().num_rows, "rows")

# %% [markdown]
# ## Audit
#
# A quick audit proves little and says how much. `hushway audit od` runs this one together with those of the release type; before you publish anything with a mechanism of your own,
# plant mistakes in it and see that an audit fails ([audits](../researchers/audits.md)).

# %%
for finding in TRIMMED.audits().audit(runs=20_000, epsilons=(1,), quick=True):
    print(f"{finding.name}: passed {finding.passed}, shows ε ≥ {finding.epsilon_lower:.2f} of 1")

# %% [markdown]
# ## Beside the others
#
# A scene is a city whose truth is known. Errors against it are `Internal`: no file takes them.

# %%
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.learned import od_learned
from hushway.families.od.mechanism.shares import learned_shares
from hushway.families.od.planning.trial import try_out
from hushway.families.od.study.reproduce import city_scene

scene = city_scene(ann_arbor(seed=7), periods=range(16, 20))
budget = hw.PureLoss(Fraction(1))
shares = learned_shares(scene.features, budget, scene.counter.bound(cells_query(scene.cells)))
rivals = {
    "trimmed": Trimmed(spend=budget, cut=2.0),
    "laplace": DenseLaplace(spend=budget),
    "learned": od_learned(scene.cells, scene.features, budget=budget, shares=shares),
}
for name, mechanism in rivals.items():
    errors = try_out(mechanism, scene, hw.SeededSource(1)).value.errors
    print(
        f"{name:8} RMSE of cells {errors.cells_rmse:.2f}, misplaced trips {errors.cells_l1_share:.0%}"
    )

# %% [markdown]
# `SeededSource` makes the run repeatable, and a release made with it would be stamped NOT PRIVATE. One run on one city says little:
# `benchmarks/od_learning.py` has the scenes, peers and budgets that the project itself is judged by, and takes real data from the folder that
# `HUSHWAY_DATA` names.
