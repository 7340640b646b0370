"""One machine code for all whole numbers: numba makes one for each number that is written out."""

from typing import Any

from numba import types


def for_any_number(code: Any) -> Any:
    """Lets compiled functions call this one with numbers as such, not as the values they have.

    Where a kernel calls `advance(0)` in a loop that goes on with other numbers, numba compiles
    `advance` and all that it calls for the type "the number 0" first, and then for all numbers.
    That was more than a quarter of what roads took to compile; what is computed is the same.

    Args:
        code: What numba made of a function; it is changed.
    """
    resolve = code.get_call_template
    plain: Any = types.unliteral

    def resolve_plain(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return resolve(tuple(map(plain, args)), {name: plain(kind) for name, kind in kws.items()})

    code.get_call_template = resolve_plain
    return code
