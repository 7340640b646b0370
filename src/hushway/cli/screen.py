"""How the command speaks, to people by Rich and to programs by JSON; and how it is spoken to.

Whatever it says goes through here and is made visible on the way: names of files, ids and titles
may come from strangers, and must not be able to paint the screen.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.journal import write_down
from hushway.escaping import visible, visible_json
from hushway.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from hushway.privacy.ledger import Ledger

_quiet = False

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]

_SHORT_DENOMINATOR = 1000


def be_quiet(quiet: bool) -> None:
    """Says nothing from now on but errors and JSON; or speaks again."""
    global _quiet  # noqa: PLW0603  one screen, one state
    _quiet = quiet
    console().quiet = quiet


@cache
def console(*, stderr: bool = False) -> "Console":
    """Returns the screen, or standard error: made when something is first said.

    A page of help is plain text, and does not wait for Rich.
    """
    from rich.console import Console

    # Without emoji: to Rich ":white_check_mark:" in a name would be one.
    return Console(stderr=stderr, highlight=False, emoji=False)


def failure(message: str, advice: str = "", *notes: str) -> None:
    """Says what went wrong, how things stand and what to do next, on standard error.

    A message may be a list, one line each; lines after the first never begin at the margin, so that
    none of them can be taken for another message.
    """
    write_down(message)
    first, *more = message.split("\n")
    err = console(stderr=True)
    err.print(f"[bold red]Error:[/] {_plain(first)}", soft_wrap=True)
    for line in more:
        err.print(f"  {_plain(line.removeprefix('  '))}", soft_wrap=True)
    for note in notes:
        err.print(_plain(note), soft_wrap=True)
    if advice:
        err.print(f"[bold]What to do:[/] {_plain(advice)}", soft_wrap=True)


def notice(message: str) -> None:
    """Prints a line for people on standard error, where no program looks for an answer."""
    if not _quiet:
        console(stderr=True).print(_plain(message), soft_wrap=True)


def say(message: str) -> None:
    """Prints one line for people; square brackets in it are just brackets."""
    console().print(_plain(message), soft_wrap=True)


def step(position: int, title: str) -> None:
    """Prints the heading of one step of several."""
    console().rule(f"[bold]{position}[/]  {_plain(title)}", align="left")


def answer_json(facts: Any) -> None:
    """Prints facts as JSON; fractions become exact text."""
    typer.echo(visible_json(json.dumps(facts, indent=2, default=str, ensure_ascii=False)))


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Prints a table; columns whose name starts with '#' hold numbers."""
    from rich.table import Table

    grid = Table(title=_plain(title), title_justify="left", header_style="bold")
    for column in columns:
        grid.add_column(
            _plain(column.lstrip("#")), justify="right" if column.startswith("#") else "left"
        )
    for row in rows:
        grid.add_row(*map(_plain, row))
    console().print(grid)


def number(amount: Fraction) -> str:
    """Writes an exact amount: as it is if that is short, else as a decimal marked as rounded."""
    if amount.denominator == 1:
        return f"{amount.numerator:,}"
    if 10**12 % amount.denominator == 0:
        return f"{float(amount):.12g}"
    if amount.denominator <= _SHORT_DENOMINATOR:
        return str(amount)
    return f"≈{float(amount):.6g}"


@contextmanager
def working() -> Iterator[Progress]:
    """Shows a spinner and a bar with what is being done, if a person is watching."""
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as ProgressBar

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    # Elsewhere than on a terminal a bar would leave empty lines.
    err = console(stderr=True)
    hidden = _quiet or not err.is_terminal
    with ProgressBar(*columns, console=err, transient=True, disable=hidden) as progress:
        task = progress.add_task("Starting", total=None)

        def show(step: str, share: float | None = None, /) -> None:
            total = None if share is None else 1.0
            progress.update(task, description=visible(step), total=total, completed=share or 0.0)

        yield show


def _plain(text: str) -> str:
    """Returns a text as Rich shows it letter by letter, with everything in it visible."""
    from rich.markup import escape

    return escape(visible(text))


PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]
Address = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A plan, a ledger file or postgresql://...")
]

# Where the ledger is all that is asked for, the environment may name it.
AddressOrSet = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="A plan, a ledger file or postgresql://...",
        envvar="HUSHWAY_LEDGER",
    ),
]


def connect(address: str) -> "Ledger":
    """Opens the ledger named by a plan, a file or a URL; never makes a new one by accident."""
    from hushway.families.load import load_plan
    from hushway.privacy.ledger import Ledger

    url: str | Path = address
    if address.endswith(".toml"):
        url = load_plan(address).ledger_url()
    return Ledger.connect(url, create=False)


def say_cautions(cautions: list[str]) -> None:
    """Says what is worth knowing about a ledger, on standard error."""
    for caution in cautions:
        notice(f"Worth knowing: {caution}")
