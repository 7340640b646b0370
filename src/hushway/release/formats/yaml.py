"""A small writer of YAML: nested mappings and lists, every text in quotes.

A quoted JSON string is a YAML string, apart from a few characters that YAML wants escaped; so text
can never turn into a number, a date, a truth value or a new key.
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

Value = str | int | bool | Decimal | None | Mapping[str, "Value"] | Sequence["Value"]

# JSON leaves these as they are, YAML calls them unprintable or reads them as the end of a line.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def yaml_text(facts: Mapping[str, Value]) -> str:
    """Returns facts as a YAML document."""
    return "".join(line + "\n" for line in _lines(facts))


def _lines(value: Value) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [line for key, part in value.items() for line in _entry(f"{_key(key)}:", part)]
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [line for part in value for line in _entry("-", part)]
    return [_scalar(value)]


def _entry(head: str, part: Value) -> list[str]:
    lines = _lines(part)
    nested = not isinstance(part, str) and isinstance(part, Mapping | Sequence) and bool(part)
    return [head, *("  " + line for line in lines)] if nested else [f"{head} {lines[0]}"]


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    return "{}" if isinstance(value, Mapping) else "[]"


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key not in _NOT_TEXT else _scalar(key)
