from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy.public_facts import public_facts, public_facts_with, refuse_undeclared


class Shape:
    """A class of some library, which does nothing by itself."""


@public_facts
@dataclass(frozen=True)
class Place:
    name: str
    lon: float = 0.0

    def near(self) -> str:
        return self.name


@public_facts_with(Shape)
@dataclass(frozen=True)
class City:
    places: tuple[Place, ...]
    held: Any = None

    @cached_property
    def size(self) -> int:
        return len(self.places)


class Sly(int):
    """A number with ideas of its own."""


class SlyArray(np.ndarray):
    """An array with ideas of its own."""


def city(held: Any = None) -> City:
    return City(places=(Place("north"), Place("south")), held=held)


@pytest.mark.parametrize(
    "held",
    [
        None,
        7,
        np.int64(7),
        Fraction(1, 2),
        date(2024, 1, 15),
        {"a": (1, 2), "b": [Place("east")]},
        np.arange(3),
        np.array(["a", "b"]),
        np.array([Shape(), Shape()], dtype=object),
        city(),
    ],
    ids=lambda held: type(held).__name__,
)
def test_what_is_made_of_public_facts_is_let_through(held: Any) -> None:
    whole = city(held)
    assert whole.size == 2  # worked out, and kept on the object
    refuse_undeclared(whole)


@pytest.mark.parametrize(
    "held",
    [
        Sly(7),
        np.arange(3).view(SlyArray),
        np.array([Sly(7)], dtype=object),
        {"a": Sly(7)},
        {Sly(7): "a"},
        [(Sly(7),)],
        object(),
        print,
        city(Sly(7)),
        City,
    ],
    ids=lambda held: type(held).__name__,
)
def test_what_is_made_of_anything_else_is_refused_however_deep(held: Any) -> None:
    with pytest.raises(PrivacyError, match="not declared public"):
        refuse_undeclared(city(held))
    with pytest.raises(PrivacyError, match="not declared public"):
        refuse_undeclared(city([city({"deeper": held})]))


def test_an_array_of_rows_is_looked_into() -> None:
    rows = np.array([(1, Sly(7)), (2, Sly(8))], dtype=[("a", np.int64), ("b", object)])
    with pytest.raises(PrivacyError, match="not declared public"):
        refuse_undeclared(city(rows))


@pytest.mark.parametrize("name", ["near", "places_seen", "__len__"])
def test_an_object_with_an_attribute_of_its_own_is_refused(name: str) -> None:
    place = Place("east")
    object.__setattr__(place, name, print)
    with pytest.raises(PrivacyError, match="do not belong"):
        refuse_undeclared(city(place))


def test_what_an_object_has_worked_out_must_be_public_as_well() -> None:
    whole = city()
    vars(whole)["size"] = Sly(2)
    with pytest.raises(PrivacyError, match="not declared public"):
        refuse_undeclared(whole)


def test_declared_classes_have_no_subclasses() -> None:
    with pytest.raises(PrivacyError, match="would change"):

        class Village(City):
            pass

    with pytest.raises(PrivacyError, match="would change"):
        type("Village", (City,), {})


@dataclass
class Soft:
    name: str


@dataclass(frozen=True, slots=True)
class Slotted:
    name: str


class Loose:
    name = "loose"


@pytest.mark.parametrize("kind", [Soft, Slotted, Loose])
@pytest.mark.parametrize("declare", [public_facts, public_facts_with()])
def test_only_frozen_dataclasses_can_be_declared(
    kind: type, declare: Callable[[type], type]
) -> None:
    with pytest.raises(PrivacyError, match="frozen dataclasses"):
        declare(kind)
