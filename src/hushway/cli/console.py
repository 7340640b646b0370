"""Output for people by Rich and for programs by JSON, and options that commands share.

All output goes through here and is escaped: names of files, ids and titles may come from strangers,
and must not send control sequences to the terminal.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hushway.cli.log_file import log_error
from hushway.errors import OptionsError
from hushway.escaping import visible, visible_json
from hushway.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

_quiet = False

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]

_SHORT_DENOMINATOR = 1000


def be_quiet(quiet: bool) -> None:
    """Prints nothing but errors and JSON from now on, or everything again."""
    global _quiet  # noqa: PLW0603  one screen, one state
    _quiet = quiet
    console().quiet = quiet


@cache
def console(*, stderr: bool = False) -> "Console":
    """Returns the console of standard output or standard error; `--help` does not load Rich."""
    from rich.console import Console

    # Without emoji: to Rich ":white_check_mark:" in a name would be one.
    return Console(stderr=stderr, highlight=False, emoji=False)


def failure(message: str, advice: str = "", *notes: str) -> None:
    """Prints what went wrong, the current state and what to do next on standard error.

    Further lines of a message are indented, so that none can pass for a message of its own.
    """
    log_error(message)
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
    """Prints a line for people on standard error, unless quiet."""
    if not _quiet:
        console(stderr=True).print(_plain(message), soft_wrap=True)


def say(message: str) -> None:
    """Prints one line for people, without markup."""
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
    """Writes an exact amount; a long fraction becomes a decimal that is marked as rounded."""
    if amount.denominator == 1:
        return f"{amount.numerator:,}"
    if 10**12 % amount.denominator == 0:
        return f"{float(amount):.12g}"
    if amount.denominator <= _SHORT_DENOMINATOR:
        return str(amount)
    return f"≈{float(amount):.6g}"


@contextmanager
def working() -> Iterator[Progress]:
    """Shows a spinner and a progress bar on a terminal."""
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
    progress = ProgressBar(*columns, console=err, transient=True, disable=hidden)

    def show(step: str, share: float | None = None, /) -> None:
        # Started by the first step: until then there may be questions on the terminal.
        if not progress.tasks:
            progress.add_task(visible(step), total=None)
            progress.start()
        total = None if share is None else 1.0
        task = progress.task_ids[0]
        progress.update(task, description=visible(step), total=total, completed=share or 0.0)

    try:
        yield show
    finally:
        progress.stop()


def _plain(text: str) -> str:
    """Escapes control characters and the markup of Rich."""
    from rich.markup import escape

    return escape(visible(text))


PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]
Step = Annotated[
    str | None,
    typer.Option("--step", help="Of a series: the step, such as 2026-04; the plan's own if not."),
]
Address = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A plan, a ledger file or postgresql://...")
]

# Where the ledger is all that is asked for, the environment may name it.
AddressOrSet = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER", help="A plan, a ledger file or postgresql://...", envvar="HUSHWAY_LEDGER"
    ),
]


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turns options that contradict each other into errors of usage (exit code 2)."""
    try:
        yield
    except OptionsError as problem:
        raise typer.BadParameter(str(problem)) from None


def say_cautions(cautions: list[str]) -> None:
    """Prints warnings about a ledger or an engine on standard error."""
    for caution in cautions:
        notice(f"Worth knowing: {caution}")


# From here on two digits would be written as 1e+02.
_WHOLE_FROM = 99.5


def short(amount: float) -> str:
    """Writes a number with two digits, or whole if it is large."""
    return f"{amount:,.0f}" if amount >= _WHOLE_FROM else f"{amount:.2g}"
