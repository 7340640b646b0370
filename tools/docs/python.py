"""The functions and classes of `import hushway` as a page, from their docstrings."""

import inspect
import re

import hushway

_SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Privacy|Example):$")


def python_page() -> str:
    """Returns the page of all public names."""
    lines = [
        "# In Python",
        "",
        (
            "Everything that `dir(hushway)` lists, from its docstrings. "
            "All else may change between versions."
        ),
        "",
    ]
    for name in hushway.__all__:
        if not name.startswith("__"):
            lines += _entry(name, getattr(hushway, name))
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str, thing: object) -> list[str]:
    lines = [f"## hushway.{name}", ""]
    if callable(thing):
        lines += ["```python", f"{name}{_signature(thing)}", "```", ""]
    lines += _prose(inspect.getdoc(thing) or "")
    if inspect.ismodule(thing):
        for function, value in inspect.getmembers(thing, inspect.isfunction):
            if value.__module__ == thing.__name__ and not function.startswith("_"):
                lines += _member(f"hushway.{name}", function, value)
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for method, value in vars(thing).items():
            if not method.startswith("_") and (
                inspect.isfunction(value) or isinstance(value, property)
            ):
                lines += _member(name, method, value)
    return lines


def _member(owner: str, name: str, value: object) -> list[str]:
    shown = "" if isinstance(value, property) else _signature(value)
    return [
        f"### {owner}.{name}",
        "",
        *(["```python", f"{name}{shown}", "```", ""] if shown else []),
        *_prose(inspect.getdoc(value) or ""),
    ]


def _signature(thing: object) -> str:
    try:
        text = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)"
    # A function's address says nothing; nor does where a class lives.
    text = re.sub(r"<function _?(\w+) at 0x[0-9a-f]+>", r"\1", text)
    text = re.sub(r"\*\*(\w+): \*<class '[\w.]+'>", r"**\1: str", text)
    # A default that is a text stays as it is written.
    parts = re.split(r"( = '[^']*')", text)
    parts[::2] = [re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", part) for part in parts[::2]]
    parts[::2] = [part.replace("'", "").replace('"', "") for part in parts[::2]]
    return "".join(parts)


def _prose(text: str) -> list[str]:
    """Returns a docstring in Google's form as Markdown."""
    lines: list[str] = []
    section = ""
    for line in text.splitlines():
        found = _SECTION.match(line)
        if found:
            section = found.group(1)
            lines += ["", f"**{section}**", ""]
            if section == "Example":
                lines.append("```python")
        elif section in {"Args", "Raises", "Attributes"} and re.match(r"^    \S", line):
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name}`: {rest}")
        elif section and section != "Example":
            lines.append(
                line.strip() if section in {"Privacy", "Returns"} else f"  {line.strip()}".rstrip()
            )
        else:
            lines.append(line.removeprefix("    ") if section else line)
    if section == "Example":
        while lines[-1] == "":
            lines.pop()
        lines.append("```")
    return [*lines, ""]
