"""Features as a plan defines them: public columns that cells are counted together by."""

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field, model_validator

from hushway.release.plan_values import Section, Text

CELLS: Final = "cells"
TOTAL: Final = "total"
PERIOD: Final = "period"
ZONES: Final = "zones"
MODES: Final = "modes"

# What needs no column, so that no table of a plan can define it.
_FIXED: Final = (TOTAL, PERIOD)


class FeaturePlan(Section):
    """A feature made of a public column."""

    places: Text | None = Field(
        default=None, description='A column of the locations; "zone" is their zone.'
    )
    pairs: Text | None = Field(default=None, description="A column of the table of pairs.")
    side: Literal["origin", "destination", "both"] = "both"
    each_period: bool = True

    @model_validator(mode="after")
    def _one_column(self) -> "FeaturePlan":
        if (self.places is None) == (self.pairs is None):
            raise ValueError(
                "must name exactly one of places (a column of the locations) and pairs (a column "
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
