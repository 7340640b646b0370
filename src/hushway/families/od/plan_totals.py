"""The published totals of an OD plan: their names, and those that a plan makes of columns."""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field, model_validator

from hushway.families.od.public.features import DESTINATIONS, ORIGINS
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Text

TOTAL: Final = "total"
PERIOD: Final = "period"
ZONES: Final = "zones"
MODES: Final = "modes"
CELLS: Final = "cells"

# What needs no column, so that no table of a plan can define it.
_FIXED: Final = (TOTAL, PERIOD, ORIGINS, DESTINATIONS)


class FeaturePlan(Section):
    """A feature made of a public column."""

    places: Text | None = Field(
        default=None, description='A column of the places; "zone" is their zone.'
    )
    pairs: Text | None = Field(default=None, description="A column of the table of pairs.")
    side: Literal["origin", "destination", "both"] = Field(
        default="both",
        description="By the labels of which end of a trip; for a column of places only.",
    )
    each_period: bool = Field(
        default=True,
        description="Whether trips are counted in each period, or over all periods together.",
    )

    @model_validator(mode="after")
    def _one_column(self) -> "FeaturePlan":
        if (self.places is None) == (self.pairs is None):
            raise ValueError(
                "must name exactly one of places (a column of the places) and pairs (a column "
                "of the table of pairs)"
            )
        if self.pairs is not None and "side" in self.model_fields_set:
            raise ValueError("side belongs to places: a label of pairs has both ends in it")
        return self


BUILT_IN: Final[Mapping[str, FeaturePlan]] = {
    ZONES: FeaturePlan(places="zone"),
    MODES: FeaturePlan(pairs="mode"),
}


def known_features(defined: Mapping[str, FeaturePlan]) -> tuple[str, ...]:
    """Returns the names that a mechanism may list, given the plan's own definitions."""
    return tuple(dict.fromkeys((*_FIXED, *BUILT_IN, *defined)))


def unnameable(defined: Mapping[str, FeaturePlan]) -> tuple[str, ...]:
    """Returns the definitions whose name is taken by what needs no definition."""
    return tuple(name for name in defined if name in (*_FIXED, CELLS))
