"""The fields of a certificate as a page, from the classes that write and read it."""

import inspect
import re
from dataclasses import fields, is_dataclass

from hushway.privacy import certificate as parts

_SHOWN = (
    parts.Certificate,
    parts.Terms,
    parts.MechanismRecord,
    parts.Contribution,
    parts.Domain,
    parts.EpsilonDelta,
    parts.AccountStatement,
    parts.Randomness,
    parts.Tuning,
)


def certificate_page() -> str:
    """Returns the page of all fields."""
    lines = [
        "# Fields of a certificate",
        "",
        (
            f"What stands in `certificate.json`, version {parts.VERSION}, from the classes that "
            "write it. Numbers of a guarantee are exact fractions in quotes. What a verifier "
            "recomputes of it: [checking a release](verify.md)."
        ),
        "",
    ]
    for part in _SHOWN:
        lines += _part(part)
    return "\n".join(lines) + "\n"


def _part(part: type) -> list[str]:
    text = inspect.getdoc(part) or ""
    first, _, rest = text.partition("\n\n")
    said = dict(
        re.findall(
            r"^    (\w+): (.*(?:\n        .*)*)", rest.partition("Attributes:")[2], re.MULTILINE
        )
    )
    rows = [
        f"| `{field.name}` | {' '.join(said.get(field.name, '').split())} |"
        for field in (fields(part) if is_dataclass(part) else ())
        if not field.name.startswith("_")
    ]
    table = ["| field | holds |", "|---|---|", *rows, ""] if rows else []
    return [f"## {part.__name__}", "", " ".join(first.split()), "", *table]
