"""Classes of public facts: the only ones whose code a curator lets near exact counts.

A partition is asked in which element each occupied cell lies, groups likewise, and an engine asks
cells where a row falls. So the code of such a class sees what nobody else may see. A class that is
declared here is one that somebody has read: a frozen dataclass, final, made of public facts alone
and keeping nothing of what it is asked.

That guards against accidents and against careless or clever code in mechanisms: look-alikes,
subclasses, methods that were replaced on an object, arrays that answer by themselves. It does not
guard against malice: code inside the process can declare a class of its own, replace a method of a
declared class, overwrite a value that an object has worked out, or read the memory.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn, TypeVar

import numpy as np

from hushway.errors import PrivacyError

Declared = TypeVar("Declared", bound=type)

# Values that do nothing by themselves. Only exactly these: a subclass of int may do anything.
_PLAIN: set[type] = {
    *(type(None), bool, int, float, str, bytes),
    *(date, datetime, time, timedelta, Fraction),
    *(np.bool_, np.int32, np.int64, np.float64, np.str_),
}
# What an object of each declared class may hold: its fields, and what it worked out from them.
_NAMES: dict[type, frozenset[str]] = {}


def public_facts(kind: Declared) -> Declared:
    """Declares a class to be one of public facts. It can have no subclasses from then on."""
    frozen = is_dataclass(kind) and getattr(kind, "__dataclass_params__").frozen  # noqa: B009
    if not frozen or not kind.__dictoffset__:
        raise PrivacyError(
            f"Public facts are frozen dataclasses without slots, and {kind.__name__} is not.",
            advice="Declare it with @dataclass(frozen=True).",
        )
    worked_out = (
        name
        for parent in kind.__mro__
        for name, value in vars(parent).items()
        if isinstance(value, cached_property)
    )
    _NAMES[kind] = frozenset([*(field.name for field in fields(kind)), *worked_out])
    setattr(kind, "__init_subclass__", classmethod(_refuse_subclass))  # noqa: B010
    return kind


def public_facts_with(*parts: type) -> Callable[[Declared], Declared]:
    """Declares a class likewise, and that exactly these classes of a library are plain values."""
    _PLAIN.update(parts)
    return public_facts


def refuse_undeclared(thing: object) -> None:
    """Refuses an object unless it, and all that it is made of, is public by declaration."""
    waiting: list[Any] = [thing]
    seen: dict[int, Any] = {}  # with the objects, so that no other one gets the same number
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        names = _NAMES.get(type(part))
        if names is None:
            waiting.extend(one for one in _items(part) if type(one) not in _PLAIN)
            continue
        held = vars(part)
        if not names.issuperset(held):
            raise PrivacyError(
                f"A {type(part).__name__} carries attributes that do not belong to it.",
                advice="Public facts stay as they were made: make another one instead.",
            )
        waiting.extend([one for one in held.values() if type(one) not in _PLAIN])


def _items(thing: Any) -> Iterable[Any]:
    """Returns what is in a container of Python or numpy, and refuses whatever else there is."""
    kind: Any = type(thing)
    if kind is np.ndarray:
        return list(thing.ravel().tolist()) if thing.dtype.hasobject else ()
    if kind in {tuple, list, set, frozenset}:
        return list(thing)
    if kind is dict:
        return [*thing, *thing.values()]
    raise PrivacyError(
        f"A question to the curator is made of something not declared public: {kind.__name__}.",
        advice="Ask with hushway's own queries and cells, or declare the class of your cells with "
        "hushway.privacy.public_facts.",
    )


def _refuse_subclass(kind: type, /, **_: object) -> NoReturn:
    raise PrivacyError(
        f"{kind.__name__} would change what is declared to be public facts.",
        advice="Write a class of its own, and declare that.",
    )


def digest_of(facts: dict[str, Any]) -> str:
    """Returns the SHA-256 of public facts, independent of key order and platform."""
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
