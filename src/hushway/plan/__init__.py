"""A release plan: everything a release depends on besides the rows, in one TOML file.

Paths are relative to the plan's own folder, so a plan can be moved together with its data. A key
that is not in the model is an error: a misspelt option must not silently fall back to a default.
"""

from hushway.plan.density import DensityPlan
from hushway.plan.features import FeaturePlan
from hushway.plan.links import LinksPlan
from hushway.plan.load import Plan, load_plan, plan_from
from hushway.plan.mechanisms import CBDPPlan, HierarchicalPlan, LaplacePlan
from hushway.plan.od import ODPlan
from hushway.plan.sequences import SequencesPlan

__all__ = [
    "CBDPPlan",
    "DensityPlan",
    "FeaturePlan",
    "HierarchicalPlan",
    "LaplacePlan",
    "LinksPlan",
    "ODPlan",
    "Plan",
    "SequencesPlan",
    "load_plan",
    "plan_from",
]
