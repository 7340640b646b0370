"""The mechanisms that an OD plan chooses between, and their options."""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    field_validator,
    model_validator,
)

from hushway.families.od.plan_totals import CELLS, MODES, PERIOD, TOTAL, ZONES
from hushway.release.plans.sections import Section
from hushway.release.plans.values import Texts, exact_positive

NoiseChoice = Literal["laplace", "gaussian", "auto"]
Shares = dict[str, Fraction]

# The paper counts the cells too: O3 measures cells, total and period.
_VARIANTS: Final = {
    "3": (TOTAL, PERIOD),
    "4": (TOTAL, PERIOD, ZONES),
    "5": (TOTAL, PERIOD, ZONES, MODES),
}


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError('must name at least one published total, such as "total"')
    if CELLS in names:
        raise ValueError('must not name "cells": they are always measured')
    if len(set(names)) != len(names):
        raise ValueError("must name every published total once")
    return names


def _split_by(*names: str) -> PlainValidator:
    return PlainValidator(_reader_of_splits(names))


def _reader_of_splits(names: tuple[str, ...]) -> Callable[[Any], str | Shares]:
    def read(value: Any) -> str | Shares:
        if isinstance(value, dict):
            return _shares(value)
        if isinstance(value, str) and value in names:
            return value
        known = ", ".join(f'"{name}"' for name in names)
        raise ValueError(
            f'must be one of {known}, or a table of shares such as {{ cells = "0.4", ... }}'
        )

    return read


def _shares(given: dict[str, Any]) -> Shares:
    shares = {}
    for name, value in given.items():
        try:
            shares[name] = exact_positive(value)
        except ValueError as error:
            raise ValueError(f"the share of {name} {error}") from None
    if sum(shares.values()) != 1:
        raise ValueError(
            'must have shares that add up to exactly 1; write them in quotes: "0.4" or "1/3"'
        )
    return shares


Features = Annotated[Texts, AfterValidator(_distinct)]


class LaplacePlan(Section):
    """Noise on every cell, and nothing else."""

    name: Literal["laplace"] = Field(description="The mechanism.")
    form: Literal["auto", "dense", "sparse"] = Field(
        default="auto", description="Whether every cell is published, or cells above a threshold."
    )
    expected_false: float = Field(
        default=100.0,
        ge=1e-9,
        le=1e9,
        allow_inf_nan=False,
        description="Sparse form only: so many empty cells appear by chance, on average.",
    )


class _FeaturesMechanism(Section):
    """What mechanisms that measure features have in common.

    Neither variant nor features means all features that the public files allow.
    """

    variant: str | None = Field(default=None, description="Short for a list of published totals.")
    published_totals: Features | None = Field(
        default=None,
        description="The published totals to measure besides the cells; all that the public files "
        "allow if left out.",
    )
    noise: NoiseChoice = Field(
        default="laplace",
        description="Which noise is drawn; gaussian and auto, whichever is smaller, need "
        "privacy.delta.",
    )

    @model_validator(mode="after")
    def _one_list_of_features(self) -> "_FeaturesMechanism":
        if self.variant is not None and self.published_totals is not None:
            raise ValueError("variant is short for a list of published totals: give one of the two")
        return self

    @property
    def coarse_features(self) -> tuple[str, ...] | None:
        """The features to measure besides the cells; None means all that are possible."""
        return self.published_totals if self.variant is None else _VARIANTS[self.variant[1]]


class LearnedPlan(_FeaturesMechanism):
    """Noise on cells and sums, and the best estimate that all of it allows: the default."""

    name: Literal["learned"] = Field(default="learned", description="The mechanism.")
    variant: None = Field(default=None, description="Not an option of this mechanism.")
    budget_shares: Shares | None = Field(
        default=None,
        description="Budget shares of the cells and of each published total, which add up to 1.",
    )

    @field_validator("budget_shares", mode="before")
    @classmethod
    def _split_is_exact(cls, value: Any) -> Any:
        return _shares(value) if isinstance(value, dict) else value


class HierarchicalPlan(_FeaturesMechanism):
    """Noise on every node of a tree of features, and sums made consistent."""

    name: Literal["hierarchical"] = Field(description="The mechanism.")
    variant: Literal["H3", "H4", "H5"] | None = Field(
        default=None, description="Short for a list of published totals, as in the paper."
    )
    budget_shares: (
        Annotated[
            Literal["uniform", "optimised", "geometric"] | Shares,
            _split_by("uniform", "optimised", "geometric"),
        ]
        | None
    ) = Field(default=None, description="Budget shares, by rule or as a table that adds up to 1.")
    prune: bool = Field(
        default=True,
        description="Whether a node at or below 0 is emptied with everything under it.",
    )


class CBDPPlan(_FeaturesMechanism):
    """Noise on cells and features, and the closest table that adds up."""

    name: Literal["cbdp"] = Field(description="The mechanism.")
    variant: Literal["O3", "O4", "O5"] | None = Field(
        default=None, description="Short for a list of published totals, as in the paper."
    )
    weights: Literal["size", "uniform", "inverse_variance", "size_over_variance"] | None = Field(
        default=None, description="How published totals weigh in the fit."
    )
    structure: Literal["flat", "hierarchical"] = Field(
        default="flat", description="Whether each published total is crossed with those before it."
    )
    budget_shares: (
        Annotated[Literal["uniform", "optimised"] | Shares, _split_by("uniform", "optimised")]
        | None
    ) = Field(default=None, description="Budget shares, by rule or as a table that adds up to 1.")
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = Field(
        default=None,
        description="What a squared error of the cells and of each published total weighs with "
        "you.",
    )
    rounding: Literal["controlled", "plain"] = Field(
        default="controlled",
        description="Whether published totals stay within 1 of the fit, or each cell goes to the "
        "nearest number.",
    )
    form: Literal["auto", "dense", "lazy"] = Field(
        default="auto",
        description="Whether every cell gets its noise, or empty cells are drawn as needed; the "
        "result is the same.",
    )

    @model_validator(mode="after")
    def _importance_needs_a_split(self) -> "CBDPPlan":
        if self.importance is not None and self.budget_shares not in (None, "optimised"):
            raise ValueError(
                'importance decides on the budget shares, which must then be "optimised"'
            )
        return self


MECHANISMS: Final[dict[str, type[Section]]] = {
    "learned": LearnedPlan,
    "laplace": LaplacePlan,
    "hierarchical": HierarchicalPlan,
    "cbdp": CBDPPlan,
}


def _named(value: Any) -> Any:
    return {"name": "learned", **value} if isinstance(value, dict) else value


MechanismPlan = Annotated[
    Annotated[LearnedPlan | LaplacePlan | HierarchicalPlan | CBDPPlan, Field(discriminator="name")],
    BeforeValidator(_named),
]
