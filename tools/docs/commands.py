"""The command line as a page, from the code that runs it."""

from collections.abc import Iterator
from typing import Any

import typer.main

from hushway.cli.examples import EXAMPLES
from hushway.cli.verbs import app


def commands_page() -> str:
    """Returns the page of all commands with their arguments, options and examples."""
    lines = [
        "# Commands",
        "",
        (
            "Every command with its options, as `hushway COMMAND --help` prints them. What holds "
            "for all of them: [the command line](command-line.md)."
        ),
        "",
    ]
    root = typer.main.get_command(app)
    for words, command in _commands(root, ()):
        lines += _section(words, command)
    return "\n".join(lines) + "\n"


# The library that typer is built on has no public names for its classes: they are told by what
# they have.
def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "list_commands"):
        yield words, command
        return
    context = command.context_class(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        if found is not None and not found.hidden:
            yield from _commands(found, (*words, name))


def _section(words: tuple[str, ...], command: Any) -> list[str]:
    name = " ".join(words)
    lines = [f"## hushway {name}", "", *_paragraphs(command.help or "")]
    rows = [
        _row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)
    ]
    if rows:
        lines += ["| argument or option | for |", "|---|---|", *rows, ""]
    if EXAMPLES.get(name):
        lines += ["```", *EXAMPLES[name], "```", ""]
    return lines


def _paragraphs(text: str) -> list[str]:
    # What comes after a form feed is not for the screen.
    shown = text.partition("\f")[0].partition("Examples:")[0]
    return [line for part in shown.strip().split("\n\n") for line in (" ".join(part.split()), "")]


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = (parameter.metavar or parameter.name.upper()).strip("[]")
        return f"| `{name}` | {_cell(parameter.help)} |"
    return f"| `{', '.join(parameter.opts)}` | {_cell(parameter.help)} |"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
