"""Packages whose public names are imported when they are first used.

Importing everything at once would load DuckDB, numba and matplotlib for one function. A package
lists its public names in `__all__` and imports them under `if TYPE_CHECKING:`, where mypy and
editors follow them. At run time the same import statements are read from its source:

    if TYPE_CHECKING:
        from hushway.steward.price import price
    else:
        __getattr__, __dir__ = attach(__name__, __all__)
"""

import ast
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

LazyExports = tuple[Callable[[str], Any], Callable[[], list[str]]]


def attach(package: str, names: Sequence[str]) -> LazyExports:
    """Returns `__getattr__` and `__dir__` of a package that exports names lazily."""

    @cache
    def origins() -> dict[str, tuple[str, str]]:
        return _type_checking_imports(package)

    def getattr_(name: str) -> Any:
        if name not in names or name not in origins():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = origins()[name]
        found = import_module(module)
        if not hasattr(found, original):
            return import_module(f"{module}.{original}")
        return getattr(found, original)

    return getattr_, lambda: sorted(names)


def _type_checking_imports(package: str) -> dict[str, tuple[str, str]]:
    """Returns module and original name of what a package imports under `if TYPE_CHECKING:`."""
    spec = find_spec(package)
    source = None if spec is None else getattr(spec.loader, "get_source", lambda _: None)(package)
    blocks = [
        node.body
        for node in ast.parse(source or "").body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for block in blocks
        for node in block
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }
