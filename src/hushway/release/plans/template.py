"""Changes the options of a commented plan, and leaves its comments where they are."""

import json
import re
from collections.abc import Mapping
from typing import Final

_OPTION: Final = re.compile(
    r"(?P<off># )?(?P<key>[a-z_]+) = (?P<value>\S(?:.*?\S)?)(?:\s+(?P<comment>#.*))?"
)
_SECTION: Final = re.compile(r"(?:# )?\[(?P<name>[a-z_.]+)\].*")
_COLUMN: Final = 31


def filled(template: str, options: Mapping[str, object | None]) -> str:
    """Returns a template with options changed.

    Args:
        template: The plan to change.
        options: New values by option, such as "time.zone"; None to leave the option out. The name
            of a table and None leaves out the table, with everything in it.

    Raises:
        KeyError: The template has no such option.
    """
    left = dict(options)
    section, lines = "", []
    for line in template.split("\n"):
        heading = _SECTION.fullmatch(line)
        if heading is not None:
            section = heading["name"]
        if _within(section, options):
            left.pop(section, None)
            lines.append(line if not line or line.startswith("#") else f"# {line}")
            continue
        option = _OPTION.fullmatch(line)
        where = "" if option is None else f"{section}.{option['key']}".lstrip(".")
        if option is None or where not in left:
            lines.append(line)
            continue
        lines.append(_changed(option, left.pop(where)))
    for name, value in left.items():
        if value is not None:
            raise KeyError(name)
    return "\n".join(lines)


def _within(section: str, options: Mapping[str, object | None]) -> bool:
    """Whether a table, or one that it is part of, is left out."""
    parts = section.split(".")
    tables = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return any(table in options and options[table] is None for table in tables if section)


def _changed(option: "re.Match[str]", value: object | None) -> str:
    if value is None:
        text = f"# {option['key']} = {option['value']}"
    else:
        # TOML writes texts and numbers as JSON does.
        text = f"{option['key']} = {json.dumps(value, ensure_ascii=False)}"
    comment = option["comment"]
    return text if comment is None else f"{text.ljust(_COLUMN - 1)} {comment}"
