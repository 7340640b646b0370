"""The smallest data that each family can publish, with plans as plain values.

A family's own part is in `tests/unit/families/NAME/material.py`, and is found by the registry.
"""

from copy import deepcopy
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from hushway.families import registry
from support.little_city import PLACES, write_table

_COMMON: dict[str, Any] = {
    "ledger": {"period": "2026-03"},
    "release": {"folder": "release", "title": "A little release"},
    # Loading what encrypts takes longer than counting these rows.
    "engine": {"threads": 1, "encrypt_spills": False},
}
_MATERIAL = Path(__file__).parents[1] / "unit" / "families"

FAMILIES = tuple(name for name in registry.FAMILIES if (_MATERIAL / name / "material.py").is_file())


def material_of(family: str) -> ModuleType:
    """Returns the test material of a family."""
    return import_module(f"unit.families.{family}.material")


def write_little_files(folder: Path) -> None:
    """Writes the files that all little plans name."""
    places = ((key, key, lon, lat, "east" if lon > -8.595 else "west") for key, lon, lat in PLACES)
    write_table(folder / "places.csv", "id,name,lon,lat,zone", places)
    for family in FAMILIES:
        material_of(family).write(folder)


def little_plan(family: str) -> dict[str, Any]:
    """Returns a plan as plain values, free to be changed."""
    return deepcopy(_COMMON | material_of(family).PLAN | {"release_type": family})


def rows_file(family: str) -> str:
    """Returns the file of protected rows."""
    name: str = material_of(family).ROWS
    return name


def good_row(family: str) -> dict[str, str]:
    """Returns a row that counts, column by column."""
    return dict(material_of(family).ROW)


def plans_of(kind: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Returns named changes to little plans, each with its family.

    Args:
        kind: What the families' material calls them.
    """
    return {
        name: (family, changes)
        for family in FAMILIES
        for name, changes in getattr(material_of(family), kind, {}).items()
    }
