"""Every mechanism with every value of every option, one at a time, as plans can choose them.

They are read off the models of plans, so a new mechanism or option is among them without a line
here. Only an option that is a number or a table needs values to try, in `OPTION_VALUES` of the
family's test material.
"""

import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hushway.errors import PlanError
from hushway.families.load import plan_from
from hushway.families.registry import FAMILIES
from hushway.release.plans.sections import Section
from support.little_plans import little_plan, material_of, plans_of
from support.same_bytes import PLANS

_NAME = "name"


@dataclass(frozen=True)
class Variant:
    """A mechanism as a plan can choose it.

    Attributes:
        family: The family.
        model: What describes the mechanism.
        option: The option that is not as usual; the name of the mechanism if all are.
        value: Its value.
        facts: The mechanism's table of the plan.
    """

    family: str
    model: type[Section]
    option: str
    value: Any
    facts: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.family} {self.facts[_NAME]} {self.option}={self.value}"

    @property
    def plan(self) -> dict[str, Any]:
        """The whole plan."""
        return _loud({**little_plan(self.family), "mechanism": self.facts})


def other_plans() -> dict[str, dict[str, Any]]:
    """Returns plans that differ in more than the options of their mechanism."""
    return {
        name: _loud({**little_plan(family), **changes})
        for name, (family, changes) in (PLANS | plans_of("REPLAYED_PLANS")).items()
    }


def usual_variants() -> list[Variant]:
    """Returns every mechanism of every family, with options as they are unless said."""
    return [
        Variant(family, model, _NAME, name, {_NAME: name}) for family, model, name in _mechanisms()
    ]


def changed_variants() -> list[Variant]:
    """Returns every mechanism with one option changed, as far as plans admit it."""
    found = [
        Variant(family, model, option, value, {_NAME: name, option: value, **more})
        for family, model, name in _mechanisms()
        for option, value in values_of(family, model)
        for more in [material_of(family).COMPANIONS.get((option, str(value)), {})]
    ]
    return [variant for variant in found if _is_admitted(variant.plan)]


def models_of(family: str) -> list[type[Section]]:
    """Returns the models of the mechanisms that plans of a family choose between."""
    return list(FAMILIES[family].mechanisms.values())


def values_of(family: str, model: type[Section]) -> Iterator[tuple[str, Any]]:
    """Yields the options of a mechanism, each with every value to try that is not as usual."""
    for option, field in model.model_fields.items():
        if option != _NAME:
            listed = [choice for part in _parts(field.annotation) for choice in _choices(part)]
            tried = [choice for choice in listed if choice not in (None, field.default)]
            free = any(not _choices(part) for part in _parts(field.annotation))
            more = material_of(family).OPTION_VALUES[option] if free else ()
            yield from ((option, value) for value in (*tried, *more))


def _mechanisms() -> list[tuple[str, type[Section], str]]:
    return [
        (family, model, name)
        for family in FAMILIES
        for name, model in FAMILIES[family].mechanisms.items()
    ]


def _is_admitted(plan: dict[str, Any]) -> bool:
    try:
        plan_from(plan, folder=Path())
    except PlanError:
        return False
    return True


def _loud(plan: dict[str, Any]) -> dict[str, Any]:
    """Returns a plan with so little noise that rows show in what is answered."""
    privacy = plan["privacy"] | {"epsilon": "8", "delta": "1e-6"}
    places = plan.get("places")
    if plan["release_type"] == "od":
        places = {**plan["places"], "pairs": "pairs.csv"}
    return plan | {"privacy": privacy} | ({} if places is None else {"places": places})


def _parts(annotation: Any) -> list[Any]:
    """Returns the types that a type is one of."""
    if get_origin(annotation) is Annotated:
        return _parts(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [part for one in get_args(annotation) for part in _parts(one)]
    return [annotation]


def _choices(annotation: Any) -> list[Any]:
    """Returns all values of a type, if they can be listed; None where nothing is said."""
    if annotation is type(None):
        return [None]
    if annotation is bool:
        return [True, False]
    return list(get_args(annotation)) if get_origin(annotation) is Literal else []
