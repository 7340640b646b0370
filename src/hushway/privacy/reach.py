"""How far one unit can move the answers of a grouped question."""

from typing import NamedTuple


class Reach(NamedTuple):
    """How far one person moves an answer: the parts of a `hushway.privacy.bound.Bound`."""

    cells: int
    each: int
    total: int
