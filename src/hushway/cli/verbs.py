"""The verbs of the `hushway` command.

Heavy libraries are imported by the verbs that need them, so that `hushway --help` answers at once.
"""

from pathlib import Path
from typing import Annotated

import typer

from hushway import __version__
from hushway.cli.compare import compare
from hushway.cli.demo import audit, demo
from hushway.cli.evaluate import design, evaluate
from hushway.cli.examples import add_examples
from hushway.cli.init import init
from hushway.cli.journal import keep_journal
from hushway.cli.ledger import ledger
from hushway.cli.plans import check, plan, publish
from hushway.cli.price import price
from hushway.cli.recommend import recommend
from hushway.cli.releases import keys, synthesize, verify
from hushway.cli.reproduce import reproduce
from hushway.cli.screen import be_quiet

app = typer.Typer(
    name="hushway",
    help="Publish how a city moves without publishing how anyone moves.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(init)
app.command()(check)
app.command()(price)
app.command()(recommend)
app.command()(publish)
app.command()(verify)
app.command()(compare)
app.command()(synthesize)
app.command("synthesise", hidden=True)(synthesize)
app.command()(design)
app.command()(evaluate)
app.command()(audit)
app.add_typer(plan, name="plan")
app.add_typer(ledger, name="ledger")
app.add_typer(keys, name="keys")
app.add_typer(reproduce, name="reproduce")
add_examples(app)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"hushway {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    *,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Say nothing but errors, and what --json answers."),
    ] = False,
    log_file: Annotated[
        Path | None,
        typer.Option(
            "--log-file",
            help="Also write down there when commands begin and end, warnings and errors; never "
            "what is for your screen only.",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = False,
) -> None:
    """Publish how a city moves without publishing how anyone moves."""
    del version
    be_quiet(quiet)
    keep_journal(log_file, context)
