"""Packages that offer names of the modules below them, each imported when it is first used.

Faces are what people outside import from. Importing everything at once would load DuckDB, numba and
matplotlib for whoever wants one function.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

Names = Callable[[], list[str]]
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


def stub_exports(package: str, stub: Path) -> tuple[Callable[[str], Any], Names, list[str]]:
    """Returns `__getattr__`, `__dir__` and `__all__` of a package whose stub lists its names.

    Args:
        package: The package that offers the names.
        stub: Its file `__init__.pyi`, of lines `from module import name as offered`.
    """
    home_of = dict(_imported(stub.read_text(encoding="utf-8")))
    names = sorted(home_of)

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = home_of[name]
        return getattr(import_module(module), original)

    return find, lambda: names, names


def _imported(stub: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in stub.splitlines():
        _, module, _, original, _, name = line.split()
        yield name, (module, original)
