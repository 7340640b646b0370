"""Columns by purpose, each with a purpose of its own."""

from dataclasses import fields
from typing import TYPE_CHECKING

from hushway.errors import DataError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def roles_of(columns: "DataclassInstance") -> dict[str, str]:
    """Returns the columns in use, by purpose, from a dataclass with a field for each purpose.

    Raises:
        DataError: A column is named for two purposes.
    """
    purposes = [field.name for field in fields(columns)]
    named = {role: getattr(columns, role) for role in purposes}
    roles: dict[str, str] = {role: column for role, column in named.items() if column is not None}
    names = list(roles.values())
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise DataError(
            f"Column {', '.join(map(repr, twice))} is named for two purposes.",
            advice=f"Every purpose ({', '.join(purposes)}) needs its own.",
        )
    return roles
