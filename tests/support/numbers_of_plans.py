"""Every number that a plan may hold, and every odd value that somebody may write there.

The fields are read from the models of all families, so a new one is asked about as well.
"""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any, get_args

from pydantic import BaseModel

from hushway.families.registry import FAMILIES

# What a float cannot hold, what it can just hold, and what is no number of anything.
ODD_NUMBERS: tuple[Any, ...] = (
    0,
    -1,
    2**63,
    10**30,
    1e308,
    -1e308,
    5e-324,
    "1e308",
    "1e-400",
    float("nan"),
    float("inf"),
)
_NUMBERS = (int, float, Fraction, date)


def numbers_of(family: str) -> list[str]:
    """Returns the options of a family's plans that hold a number or a day."""
    models = FAMILIES[family].mechanisms.values()
    options = (option for model in models for option in _numbers(model, "mechanism."))
    return sorted({*_numbers(FAMILIES[family].plan, ""), *options})


def _numbers(model: type[BaseModel], above: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        for kind in _kinds(field.annotation):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from _numbers(kind, f"{above}{name}.")
            elif kind in _NUMBERS:
                yield f"{above}{name}"


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yields the types of which a union or a list is made."""
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _kinds(part)
