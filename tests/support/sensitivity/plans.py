"""Every way in which a plan can ask and bound, found in the models of plans themselves.

A mechanism, a unit or an option that is added to a family's plan is in these lists without a line.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hushway.errors import PlanError
from hushway.families.load import plan_from
from hushway.families.registry import FAMILIES
from hushway.privacy.bound import Unit
from hushway.release.plans.sections import Section
from support.little_plans import little_plan, material_of

# Sections of a plan that have no say in what is asked, and how it is bounded.
_ELSEWHERE = {"data", "places", "areas", "roads", "ledger", "release", "engine", "problems"}
# A tree that asks again only where it found something asks much of a loss like this.
_LOSS = {"epsilon": "60", "delta": "1e-6"}
# What a limit is set to, besides what little plans have: the least, and another one.
_LIMITS = (1, 3)


@dataclass(frozen=True, kw_only=True)
class Bounding:
    """A plan of a family, as far as it decides on questions and bounds.

    Attributes:
        family: The release type.
        unit: Who is protected.
        columns: Columns that rows are told apart by; the little plan's own if empty.
        options: What else is set, by section and option.
        limited: Whether the plan has the limits of the little one.
    """

    family: str
    unit: Unit
    columns: Mapping[str, str]
    options: Mapping[tuple[str, str], Any]
    limited: bool = True

    def facts(self) -> dict[str, Any]:
        """Returns the plan as plain values."""
        facts = little_plan(self.family)
        facts["time"]["last_day"] = "2026-03-05"
        facts["mechanism"] = {}
        facts["privacy"] |= _LOSS | {"unit": self.unit.value}
        if not (self.limited and self.unit.has_many_records):
            for limit in limits(self.family):
                facts["privacy"].pop(limit, None)
        if self.columns:
            facts["data"]["columns"] = dict(self.columns)
        if "stops" in self.columns:
            facts["data"]["sequences"] = facts["data"].pop("taps")
        for (section, option), value in self.options.items():
            facts.setdefault(section, {})[option] = deepcopy(value)
        if facts["time"].get("publish") == "average day":
            # Of every type of days there must be one.
            facts["time"]["last_day"] = "2026-03-08"
        return facts

    @property
    def possible(self) -> bool:
        """Whether there is such a plan."""
        try:
            plan_from(self.facts(), folder=Path())
        except PlanError:
            return False
        return True

    def __str__(self) -> str:
        """Names it in a list of tests."""
        told = [f"{option} {value}" for (_, option), value in self.options.items()]
        ids = [f"told by {' and '.join(self.columns)}"] if self.columns else []
        return ", ".join([self.family, f"unit {self.unit.value}", *ids, *told])


@dataclass(frozen=True, kw_only=True)
class Group:
    """Plans of one family that are tried on the same rows.

    Attributes:
        name: What they have in common.
        plans: The plans, one at least.
        often: Whether they are in every run.
    """

    name: str
    plans: tuple[Bounding, ...]
    often: bool = False

    def __str__(self) -> str:
        """Names it in a list of tests."""
        return self.name


def _capped(*limits: tuple[object, object], often: bool) -> Group:
    """Returns plans with a cap: a bound of its own, which every engine has to enforce."""
    plans = (
        Bounding(
            family="od",
            unit=Unit.PERSON,
            columns={},
            options={
                ("mechanism", "name"): "learned",
                ("mechanism", "noise"): "gaussian",
                ("privacy", "max_trips"): limit,
                ("privacy", "max_trips_per_cell"): cap,
            },
        )
        for limit, cap in limits
    )
    caps = " or ".join(f"{cap}" for _, cap in limits)
    name = f"od, unit person, at most {caps} trips in a cell"
    return Group(name=name, plans=tuple(plans), often=often)


CAPPED = _capped((5, 1), ("auto", "auto"), often=True)
OTHERWISE_CAPPED = _capped((5, 2), ("auto", 1), often=False)


def every_mechanism() -> Iterator[Group]:
    """Yields all mechanisms of each family, for every unit and however its rows are told."""
    for family in FAMILIES:
        for unit in units(family):
            for place, columns in enumerate(_identified_by(family, unit)):
                plans = [_bounding(family, unit, columns, one) for one in _mechanisms(family)]
                told = f", told by {' and '.join(columns)}" if columns else ""
                yield Group(
                    name=f"{family}, unit {unit.value}{told}",
                    plans=tuple(plans),
                    # A device is bounded by the code that bounds a person.
                    often=place == 0 and unit is not Unit.DEVICE,
                )


def _identified_by(family: str, unit: Unit) -> tuple[dict[str, str], ...]:
    """Returns columns that rows are told apart by, where a family has several ways."""
    ways: dict[Unit, tuple[dict[str, str], ...]]
    ways = getattr(material_of(family), "IDENTIFIED_BY", {})
    return ways.get(unit, ({},))


def every_option() -> Iterator[Group]:
    """Yields every mechanism, with every other value of every option, one at a time."""
    for family in FAMILIES:
        for mechanism in _mechanisms(family):
            plans = tuple(_with_options(family, mechanism))
            yield Group(name=f"{family}, {mechanism}", plans=plans)


def _with_options(family: str, mechanism: str) -> Iterator[Bounding]:
    for place, values in _options(family, mechanism).items():
        for value in values:
            one = _bounding(family, Unit.PERSON, {}, mechanism, {place: value})
            # A record of the whole window leaves no limit to choose.
            another = one if one.possible else replace(one, limited=False)
            if another.possible:
                yield another


def units(family: str) -> tuple[Unit, ...]:
    """Returns the units that a family's plans may name."""
    return tuple(_choices(_section(family, "privacy").model_fields["unit"].annotation))


def limits(family: str) -> tuple[str, ...]:
    """Returns the contribution limits of a family's plans."""
    fields = _section(family, "privacy").model_fields
    return tuple(name for name, field in fields.items() if _is_whole(field.annotation))


def _is_whole(annotation: Any) -> bool:
    """Whether a whole number may be given, maybe besides a word."""
    kinds = (annotation, *get_args(annotation))
    return int in [getattr(kind, "__origin__", kind) for kind in kinds]


def _bounding(
    family: str,
    unit: Unit,
    columns: Mapping[str, str],
    mechanism: str,
    options: Mapping[tuple[str, str], Any] | None = None,
) -> Bounding:
    named = {("mechanism", "name"): mechanism, **(options or {})}
    return Bounding(family=family, unit=unit, columns=columns, options=named)


def _mechanisms(family: str) -> tuple[str, ...]:
    return tuple(FAMILIES[family].mechanisms)


def _options(family: str, mechanism: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    fields = _section(family, "privacy").model_fields
    found: dict[tuple[str, str], tuple[Any, ...]] = {
        # A limit that may be chosen is chosen, too.
        ("privacy", limit): (*_LIMITS, *_choices(fields[limit].annotation))
        for limit in limits(family)
    }
    for name, field in FAMILIES[family].plan.model_fields.items():
        given = isinstance(field.default, Section) or name in little_plan(family)
        if name in _ELSEWHERE | {"privacy"} or not given:
            continue
        chosen = (FAMILIES[family].mechanisms[mechanism],)
        for model in chosen if name == "mechanism" else _models(field.annotation):
            found |= {(name, option): values for option, values in _values(model)}
    return found


def _values(model: type[Section]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for option, field in model.model_fields.items():
        others = [value for value in _choices(field.annotation) if value != field.default]
        if isinstance(field.default, Fraction) and not field.default:
            # A share of the budget for a question that is not asked unless somebody wants it.
            others.append("1/10")
        if others and option != "name":
            yield option, tuple(others)


def _section(family: str, name: str) -> type[Section]:
    (model,) = _models(FAMILIES[family].plan.model_fields[name].annotation)
    return model


def _models(annotation: Any) -> tuple[type[Section], ...]:
    """Returns the sections that an option may be."""
    if get_origin(annotation) in (Union, UnionType, Annotated):
        return tuple(model for part in get_args(annotation) for model in _models(part))
    known = isinstance(annotation, type) and issubclass(annotation, Section)
    return (annotation,) if known else ()


def _choices(annotation: Any) -> tuple[Any, ...]:
    """Returns the values of an option that has only so many."""
    if annotation is bool:
        return (True, False)
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) in (Union, UnionType, Annotated):
        return tuple(value for part in get_args(annotation) for value in _choices(part))
    return ()
