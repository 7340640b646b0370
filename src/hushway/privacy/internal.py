"""The mark on everything that was computed against the truth."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Internal(Generic[T]):
    """A value that saw exact data: for the steward's own eyes, refused by every writer of releases.

    Privacy:
        Utility reports and attack results depend on exact counts and carry no guarantee at all.
    """

    value: T
