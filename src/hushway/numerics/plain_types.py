"""One machine code for a number, whether a caller writes it down or computes it.

Numba compiles a function again for each constant that compiled code calls it with, and once more
for a variable: `leap(-1, 0)` and `leap(last, layer)` are two of them, and so are all functions
below. Of deep calls that makes a third of the time of compiling, and nothing is faster for it,
because constants are carried on anyway when calls are put in line.
"""

from typing import Any

from numba import types

# Numba says nothing about the types of its own.
_TYPES: Any = types


def take_constants_as_numbers(code: Any) -> None:
    """Makes a compiled function take constants of its compiled callers like any other numbers."""
    usual = code.get_call_template

    def template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        named = {name: plain_type(kind) for name, kind in kws.items()}
        return usual(tuple(plain_type(kind) for kind in args), named)

    code.get_call_template = template


def plain_type(kind: Any) -> Any:
    """Returns a type without the values of constants in it, also within tuples."""
    if isinstance(kind, _TYPES.BaseTuple) and not isinstance(kind, _TYPES.BaseNamedTuple):
        return _TYPES.Tuple.from_types([plain_type(each) for each in kind.types])
    return _TYPES.unliteral(kind)
