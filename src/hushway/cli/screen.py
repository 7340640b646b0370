"""How the command speaks: to people by Rich, to programs by JSON."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]

_SHORT_DENOMINATOR = 1000


def failure(message: str, advice: str = "", *notes: str) -> None:
    """Says what went wrong, how things stand and what to do next, on standard error."""
    err.print(f"[bold red]Error:[/] {escape(message)}", soft_wrap=True)
    for note in notes:
        err.print(escape(note), soft_wrap=True)
    if advice:
        err.print(f"[bold]What to do:[/] {escape(advice)}", soft_wrap=True)


def notice(message: str) -> None:
    """Prints a line for people on standard error, where no program looks for an answer."""
    err.print(escape(message), soft_wrap=True)


def say(message: str) -> None:
    """Prints a line for people; square brackets in it are just brackets."""
    out.print(escape(message), soft_wrap=True)


def answer_json(facts: Any) -> None:
    """Prints facts as JSON; fractions become exact text."""
    typer.echo(json.dumps(facts, indent=2, default=str, ensure_ascii=False))


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Prints a table; columns whose name starts with '#' hold numbers."""
    grid = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        grid.add_column(column.lstrip("#"), justify="right" if column.startswith("#") else "left")
    for row in rows:
        grid.add_row(*(escape(cell) for cell in row))
    out.print(grid)


def number(amount: Fraction) -> str:
    """Writes an exact amount: as it is if that is short, else as a decimal marked as rounded."""
    if amount.denominator == 1:
        return f"{amount.numerator:,}"
    if 10**12 % amount.denominator == 0:
        return f"{float(amount):.12g}"
    if amount.denominator <= _SHORT_DENOMINATOR:
        return str(amount)
    return f"≈{float(amount):.6g}"


class Shower(Protocol):
    """Shows what is being done and, if known, how much of it is done (0 to 1)."""

    def __call__(self, step: str, share: float | None = None, /) -> None:
        """Shows a step."""
        ...


@contextmanager
def working() -> Iterator[Shower]:
    """Shows a spinner and a bar with what is being done, if a person is watching."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task("Starting", total=None)

        def show(step: str, share: float | None = None, /) -> None:
            total = None if share is None else 1.0
            progress.update(task, description=escape(step), total=total, completed=share or 0.0)

        yield show
