"""Packages that offer names of the modules below them, each imported when it is first used.

Faces are what people outside import from. Importing everything at once would load DuckDB, numba and
matplotlib for whoever wants one function.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Homes = Mapping[str, tuple[str, ...]]


def face(package: str, homes: Homes, *, below: str | None = None) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a package.

    Args:
        package: The package that offers the names.
        homes: The names by the module that has them.
        below: Where those modules lie; in the package, unless said.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{below or package}.{home_of[name]}"), name)

    return find
