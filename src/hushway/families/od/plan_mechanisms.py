"""The mechanisms of a plan, each with the options that are its own."""

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from hushway.families.od.plan_features import CELLS, MODES, PERIOD, TOTAL, ZONES
from hushway.release.plan_values import Section, Texts, exact_positive

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
        raise ValueError('must name at least one feature, such as "total"')
    if CELLS in names:
        raise ValueError('must not name "cells": they are always measured')
    if len(set(names)) != len(names):
        raise ValueError("must name every feature once")
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

    name: Literal["laplace"] = "laplace"
    form: Literal["auto", "dense", "sparse"] = "auto"
    expected_false: float = Field(default=100.0, gt=0, allow_inf_nan=False)


class _FeaturesMechanism(Section):
    """What mechanisms that measure features have in common.

    Neither variant nor features means all features that the public files allow.
    """

    variant: str | None = None
    features: Features | None = None
    noise: NoiseChoice = "laplace"

    @model_validator(mode="after")
    def _one_list_of_features(self) -> "_FeaturesMechanism":
        if self.variant is not None and self.features is not None:
            raise ValueError("variant is short for a list of features: give one of the two")
        return self

    @property
    def coarse_features(self) -> tuple[str, ...] | None:
        """The features to measure besides the cells; None means all that are possible."""
        return self.features if self.variant is None else _VARIANTS[self.variant[1]]


class HierarchicalPlan(_FeaturesMechanism):
    """Noise on every node of a tree of features, and sums made consistent."""

    name: Literal["hierarchical"]
    variant: Literal["H3", "H4", "H5"] | None = None
    split: (
        Annotated[
            Literal["uniform", "optimised", "geometric"] | Shares,
            _split_by("uniform", "optimised", "geometric"),
        ]
        | None
    ) = None
    prune: bool = True


class CBDPPlan(_FeaturesMechanism):
    """Noise on cells and features, and the closest table that adds up."""

    name: Literal["cbdp"]
    variant: Literal["O3", "O4", "O5"] | None = None
    weights: Literal["size", "uniform", "inverse_variance", "size_over_variance"] | None = None
    structure: Literal["flat", "hierarchical"] = "flat"
    split: (
        Annotated[Literal["uniform", "optimised"] | Shares, _split_by("uniform", "optimised")]
        | None
    ) = None
    importance: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = None
    rounding: Literal["controlled", "plain"] = "controlled"
    form: Literal["auto", "dense", "lazy"] = "auto"

    @model_validator(mode="after")
    def _importance_needs_a_split(self) -> "CBDPPlan":
        if self.importance is not None and self.split not in (None, "optimised"):
            raise ValueError('importance decides on the split, which must then be "optimised"')
        return self


MECHANISMS: Final[dict[str, type[Section]]] = {
    "laplace": LaplacePlan,
    "hierarchical": HierarchicalPlan,
    "cbdp": CBDPPlan,
}


def _named(value: Any) -> Any:
    # The oldest plans have no other mechanism and may leave its name out.
    return {"name": "laplace", **value} if isinstance(value, dict) else value


MechanismPlan = Annotated[
    Annotated[LaplacePlan | HierarchicalPlan | CBDPPlan, Field(discriminator="name")],
    BeforeValidator(_named),
]
